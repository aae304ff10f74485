"""Workload: endless events and subscriptions, each known by its number.

Law. `event(i)` and `subscription(i)` depend on the workload's fields and on i alone, however they
are reached: alone, in a range, or as columns; so tests, benchmarks, experiments and Spark jobs of
one workload see the same rows. A workload is plain data: `description()` says which it is, and
`named.described` makes it again, in another process too.

Rows are made as columns. Who asks for them one by one gets them out of blocks (`row_of`): a lone
row costs a batch of one, a tenth of a millisecond to a few; rows in turn cost microseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from typing import Any, ClassVar, Final, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fyke.errors import FykeError, shown
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.language.parser import parse_text
from fyke.filters.subscription import Subscription
from fyke.workloads.draw import Codes, row_numbers

SUBSCRIBERS: Final = 5_000
FILTERS_AT_ONCE: Final = 8_192
READ_AHEAD_MAX: Final = 1_024
READ_AHEAD_GROWTH: Final = 32
"""A batch of 32 rows costs hardly more than one of a single row."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Workload(ABC):
    """A named, seeded source of events and subscriptions; a value."""

    name: ClassVar[str]
    supertypes: ClassVar[tuple[str, ...]] = ()
    """The types to which all events conform."""

    seed: int = 0

    @abstractmethod
    def columns(self, count: int, start: int = 0) -> pa.Table:
        """Return `count` events from number `start` on, an Arrow column per attribute.

        A null is an attribute that the event does not have; supertypes have no column. Every piece
        has the same schema. A million rows at a time are enough: strings of one piece fit 2 GiB.
        """

    @abstractmethod
    def filter_columns(self, count: int, start: int = 0) -> pa.Table:
        """Return `text` and `subscriber` of many subscriptions, and `class` if there are any."""

    def event(self, number: int) -> Event:
        """Return event `number`, counted from 0."""
        return Event.flat(dict(row_of(_documents, self, number)), self.supertypes)

    def text(self, number: int) -> str:
        """Return the filter of subscription `number`, in the native language."""
        return row_of(_wishes, self, number)[0]

    def subscriber(self, number: int) -> str:
        """Return the subscriber of subscription `number`."""
        return row_of(_wishes, self, number)[1]

    def subscription_class(self, number: int) -> int | None:
        """Return the class of subscription `number`; None if there are no classes."""
        return row_of(_wishes, self, number)[2]

    def id(self, number: int) -> str:
        return f"{self.name}-{number}"

    def ids(self, count: int, start: int = 0) -> pa.Array:
        """Return `id` for many subscriptions."""
        return counted(f"{self.name}-", row_numbers(count, start))

    def subscription_columns(self, count: int, start: int = 0) -> pa.Table:
        """Return `count` subscriptions from number `start` on.

        The columns are id, filter (its text), subscriber and, if there are classes, class.
        """
        return self.filter_columns(count, start).add_column(0, "id", self.ids(count, start))

    def description(self) -> dict[str, Any]:
        """Return the workload as plain data: its name, its seed and its options."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        lists = {key: list(value) for key, value in options.items() if isinstance(value, tuple)}
        return {"name": self.name, **options, **lists}

    def filter(self, number: int) -> Filter:
        """Return the filter of subscription `number`, read from `text(number)`."""
        return parse_text(self.text(number))

    def subscription(self, number: int) -> Subscription:
        """Return subscription `number`, counted from 0."""
        return Subscription(self.id(number), self.filter(number), self.subscriber(number))

    def events(self, count: int, start: int = 0) -> Iterator[Event]:
        """Yield `count` events from number `start` on."""
        return map(self.event, range(start, start + count))

    def texts(self, count: int, start: int = 0) -> Iterator[str]:
        """Yield the filters of `count` subscriptions from number `start` on, as text."""
        return map(self.text, range(start, start + count))

    def filters(self, count: int, start: int = 0) -> Iterator[Filter]:
        """Yield the filters of `count` subscriptions from number `start` on."""
        return map(self.filter, range(start, start + count))

    def subscriptions(self, count: int, start: int = 0) -> Iterator[Subscription]:
        """Yield `count` subscriptions from number `start` on."""
        for number, filter in enumerate(self.filters(count, start), start):
            yield Subscription(self.id(number), filter, self.subscriber(number))


@dataclass(frozen=True, slots=True)
class ColumnarWorkload(Workload):
    """A workload that makes filters without reading text; its text is their canonical text."""

    @abstractmethod
    def make_filters(self, count: int, start: int) -> Iterable[Filter]:
        """Draw all filters at once."""

    @abstractmethod
    def text_column(self, count: int, start: int = 0) -> pa.Array:
        """Return `text` for many subscriptions."""

    def filter(self, number: int) -> Filter:
        return row_of(_filters, self, number)

    def filters(self, count: int, start: int = 0) -> Iterator[Filter]:
        for first in range(start, start + count, FILTERS_AT_ONCE):
            yield from self.make_filters(min(FILTERS_AT_ONCE, start + count - first), first)

    def subscriber(self, number: int) -> str:
        return f"subscriber-{number % SUBSCRIBERS}"

    def filter_columns(self, count: int, start: int = 0) -> pa.Table:
        subscribers = counted("subscriber-", row_numbers(count, start) % SUBSCRIBERS)
        return pa.table({"filter": self.text_column(count, start), "subscriber": subscribers})


# --- rows, one by one ----------------------------------------------------------------------------


def row_of(make: Callable[[Any, int, int], Sequence[Row]], workload: Workload, number: int) -> Row:
    """Return row `number` of what `make(workload, count, start)` makes, which is made in blocks."""
    reader: _Reader[Row] = _reader(make, workload)
    return reader.row(number)


class _Reader(Generic[Row]):
    """Reads ahead: a lone row is made alone, blocks grow as long as rows are read in turn."""

    __slots__ = ("_block", "_make")

    def __init__(self, make: Callable[[int, int], Sequence[Row]]) -> None:
        self._make = make
        self._block: tuple[int, Sequence[Row]] = 0, ()

    def row(self, number: int) -> Row:
        first, rows = self._block
        if not 0 <= number - first < len(rows):
            is_next = number == first + len(rows)
            size = min(READ_AHEAD_GROWTH * len(rows), READ_AHEAD_MAX) if is_next else 0
            first, rows = self._block = number, self._make(max(size, 1), number)
        return rows[number - first]


@lru_cache(maxsize=16)
def _reader(make: Callable[[Any, int, int], Sequence[Row]], workload: Workload) -> _Reader[Row]:
    return _Reader(partial(make, workload))


def _documents(workload: Workload, count: int, start: int) -> list[dict[str, Any]]:
    """Return the attributes of events."""
    table = workload.columns(count, start)
    rows, names = zip(*map(_values, table.columns), strict=True), table.column_names
    return [
        {name: value for name, value in zip(names, row, strict=True) if value is not None}
        for row in rows
    ]


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return the values of a column; times are in Python's own UTC."""
    if pa.types.is_timestamp(column.type):
        since = column.cast(pa.int64()).to_pylist()
        return [_EPOCH + timedelta(microseconds=each) for each in since]
    values: list[Any] = column.to_pylist()
    return values


def _wishes(workload: Workload, count: int, start: int) -> list[tuple[str, str, int | None]]:
    """Return text, subscriber and class of subscriptions."""
    table = workload.filter_columns(count, start)
    columns = [column.to_pylist() for column in table.columns]
    if "class" not in table.column_names:
        columns.append([None] * count)
    return list(zip(*columns, strict=True))


def _filters(workload: ColumnarWorkload, count: int, start: int) -> list[Filter]:
    return list(workload.make_filters(count, start))


# --- columns -------------------------------------------------------------------------------------


def counted(prefix: str, numbers: Codes) -> pa.Array:
    """Return the prefix with each number."""
    return pc.binary_join_element_wise(prefix, pa.array(numbers).cast(pa.string()), "")


def in_order(tables: Sequence[pa.Table], places: Sequence[Codes]) -> pa.Table:
    """Return one table made of several: row i of table k goes to `places[k][i]`.

    Missing columns are null.
    """
    order = np.argsort(np.concatenate(places), kind="stable")
    whole = pa.concat_tables(tables, promote_options="default").combine_chunks()
    return whole.take(pa.array(order))


def check_size(name: str, size: int, most: int) -> None:
    """Raise FykeError if an option is not a number from 1 to `most`."""
    if not 1 <= size <= most:
        raise FykeError(f"{name} is {shown(size)}; expected 1 to {most}")
