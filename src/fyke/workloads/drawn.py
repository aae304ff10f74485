"""Drawn workloads: sketches of codes, written as events, as text, and as columns of either.

A plan says all there is to a workload: the types of its events and the kinds of its subscriptions,
each with a sketch that draws codes and the forms these codes take. Rows of several kinds are made
kind by kind and put back in order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fyke.events.event import Event
from fyke.workloads.draw import Stream
from fyke.workloads.form import Form
from fyke.workloads.row import Code, Draw, Row, Sketch, Which
from fyke.workloads.sentence import Sentence
from fyke.workloads.workload import Workload, in_order

if TYPE_CHECKING:
    import pyarrow as pa

    from fyke.workloads.rows import Codes, Rows


def only(draw: Draw[Code]) -> Code:
    """Where there is one kind of rows."""
    return draw.number * 0


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A type of events: its name, what it is a kind of, and its attributes."""

    type: str
    supertypes: tuple[str, ...]
    forms: Mapping[str, Form]
    sketch: Sketch

    def event(self, row: Row) -> Event:
        codes = self.sketch(row)
        values = {name: form.value(codes[name]) for name, form in self.forms.items()}
        return Event.flat({"type": self.type, **values}, self.supertypes)

    def table(self, rows: Rows) -> pa.Table:
        """`event` for many rows."""
        import pyarrow as pa

        codes = self.sketch(rows)
        columns = {name: form.column(codes[name]) for name, form in self.forms.items()}
        return pa.table({"type": pa.repeat(self.type, len(rows.number)), **columns})


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """A kind of texts; `label` is the class of subscriptions that have it."""

    sentence: Sentence
    sketch: Sketch
    label: int | None = None

    def text(self, row: Row) -> str:
        return self.sentence.text(self.sketch(row))

    def column(self, rows: Rows) -> pa.Array:
        """`text` for many rows."""
        return self.sentence.column(self.sketch(rows))

    def table(self, rows: Rows) -> pa.Table:
        import pyarrow as pa

        columns = {"filter": self.column(rows)}
        if self.label is not None:
            columns["class"] = pa.repeat(self.label, len(rows.number))
        return pa.table(columns)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a workload's rows are drawn from, and how they are written."""

    events: Stream
    records: tuple[Record, ...]
    filters: Stream
    wordings: tuple[Wording, ...]
    subscriber: Wording
    which_record: Which = only
    which_wording: Which = only


@dataclass(frozen=True, slots=True)
class DrawnWorkload(Workload):
    """A workload that is a plan."""

    @abstractmethod
    def plan(self) -> Plan:
        """Always the same object for equal workloads."""

    def event(self, number: int) -> Event:
        plan = self.plan()
        row = Row(plan.events, number)
        return plan.records[plan.which_record(row)].event(row)

    def text(self, number: int) -> str:
        plan = self.plan()
        row = Row(plan.filters, number)
        return plan.wordings[plan.which_wording(row)].text(row)

    def subscriber(self, number: int) -> str:
        plan = self.plan()
        return plan.subscriber.text(Row(plan.filters, number))

    def subscription_class(self, number: int) -> int | None:
        plan = self.plan()
        return plan.wordings[plan.which_wording(Row(plan.filters, number))].label

    def columns(self, count: int, start: int = 0) -> pa.Table:
        from fyke.workloads.rows import rows_of

        plan = self.plan()
        rows = rows_of(plan.events, count, start)
        return kind_by_kind(
            rows, plan.which_record(rows), [record.table for record in plan.records]
        )

    def filter_columns(self, count: int, start: int = 0) -> pa.Table:
        from fyke.workloads.rows import rows_of

        plan = self.plan()
        rows = rows_of(plan.filters, count, start)
        makers = [wording.table for wording in plan.wordings]
        table = kind_by_kind(rows, plan.which_wording(rows), makers)
        return table.add_column(1, "subscriber", plan.subscriber.column(rows))


def kind_by_kind(
    rows: Rows, which: Codes, makers: Sequence[Callable[[Rows], pa.Table]]
) -> pa.Table:
    """The table of each kind's rows, in the order of the rows; what a kind has not is null."""
    import numpy as np

    if len(makers) == 1:
        return makers[0](rows)
    places = [np.flatnonzero(which == kind) for kind in range(len(makers))]
    tables = [make(rows.seek(rows.number[at])) for make, at in zip(makers, places, strict=True)]
    return in_order(tables, places)
