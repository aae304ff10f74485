"""Drawn workloads: sketches of codes, written as columns of events and of text.

A plan says all there is to a workload: the types of its events and the kinds of its subscriptions,
each with a sketch that draws codes and the forms these codes take. Rows of several kinds are made
kind by kind and put back in order.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from fyke.workloads.draw import Codes, Draw, RandomStream, row_numbers
from fyke.workloads.form import Form, Sentence
from fyke.workloads.workload import Workload, in_order

Sketch: TypeAlias = Callable[[Draw], dict[str, Codes]]
"""The codes that are drawn of rows, by name."""
Which: TypeAlias = Callable[[Draw], Codes]
"""Which of several kinds each row is."""


def only(draw: Draw) -> Codes:
    """Return the kind of every row, if there is one kind only."""
    return draw.number * 0


@dataclass(frozen=True, slots=True, eq=False)
class RecordForm:
    """A type of events and its attributes."""

    type: str
    forms: Mapping[str, Form]
    sketch: Sketch

    def table(self, draw: Draw) -> pa.Table:
        """Return the events of this type."""
        codes = self.sketch(draw)
        columns = {name: form.column(codes[name]) for name, form in self.forms.items()}
        return pa.table({"type": pa.repeat(self.type, len(draw.number)), **columns})


@dataclass(frozen=True, slots=True, eq=False)
class Wording:
    """A kind of texts; `label` is the class of subscriptions that have it."""

    sentence: Sentence
    sketch: Sketch
    label: int | None = None

    def column(self, draw: Draw) -> pa.Array:
        """Return the texts."""
        return self.sentence.column(self.sketch(draw))

    def table(self, draw: Draw) -> pa.Table:
        """Return the texts as filters, with their class if they have one."""
        columns = {"filter": self.column(draw)}
        if self.label is not None:
            columns["class"] = pa.repeat(self.label, len(draw.number))
        return pa.table(columns)


@dataclass(frozen=True, slots=True, eq=False)
class DrawPlan:
    """The columns from which rows are drawn, and the forms in which they are written."""

    events: RandomStream
    records: tuple[RecordForm, ...]
    filters: RandomStream
    wordings: tuple[Wording, ...]
    subscriber: Wording
    which_record: Which = only
    which_wording: Which = only


@dataclass(frozen=True, slots=True)
class DrawnWorkload(Workload):
    """A workload that is a plan."""

    @abstractmethod
    def plan(self) -> DrawPlan:
        """Return the plan; always the same object for equal workloads."""

    def columns(self, count: int, start: int = 0) -> pa.Table:
        plan = self.plan()
        draw = Draw(plan.events, row_numbers(count, start))
        makers = [record.table for record in plan.records]
        return kind_by_kind(draw, plan.which_record(draw), makers)

    def filter_columns(self, count: int, start: int = 0) -> pa.Table:
        plan = self.plan()
        draw = Draw(plan.filters, row_numbers(count, start))
        makers = [wording.table for wording in plan.wordings]
        table = kind_by_kind(draw, plan.which_wording(draw), makers)
        return table.add_column(1, "subscriber", plan.subscriber.column(draw))


def kind_by_kind(
    draw: Draw, which: Codes, makers: Sequence[Callable[[Draw], pa.Table]]
) -> pa.Table:
    """Make the table of each kind's rows, in the order of the rows; what a kind lacks is null."""
    if len(makers) == 1:
        return makers[0](draw)
    places = [np.flatnonzero(which == kind) for kind in range(len(makers))]
    tables = [make(draw.seek(draw.number[at])) for make, at in zip(makers, places, strict=True)]
    return in_order(tables, places)
