"""Tasks: what workers do with batches of events, and the rows that come out.

`matching` makes a task of a call. A placement (`placements`) says which rows meet which
subscriptions, and the task matches them in the workers. A `Collector` makes rows of the matches:
`Output` those that users ask for, the pipeline digests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

import pyarrow as pa

from fyke.errors import EventError, FykeError, shown
from fyke.matching.matcher import Matcher
from fyke.spark.columns import need_names
from fyke.spark.reading import Found, Reading
from fyke.spark.streams.pace import Pace
from fyke.spark.versions.snapshots import Pin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

REASON: Final = "reason"
_SUBSCRIPTION: Final = "subscription"
_SUBSCRIPTIONS: Final = "subscriptions"
_OUT_MAX: Final = 32_768
"""At most this many matches are handed on at once."""

# --- what comes out ------------------------------------------------------------------------------

Batches: TypeAlias = Iterable[pa.RecordBatch]
Pieces: TypeAlias = Iterable[tuple[pa.RecordBatch, Found]]
"""Rows of events, and what was found in them."""


class Collector(Protocol):
    """The results that a task makes of matches: rows for users (`Output`) or digests."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the events that it needs."""
        ...

    @property
    def arrays(self) -> bool:
        """True if it puts out a row for each event, with all that accepts it."""
        ...

    def schema(self, events: DataFrame) -> StructType: ...

    def collect(self, pieces: Pieces) -> Iterator[pa.RecordBatch]:
        """Make rows of all pieces of a task."""
        ...


@dataclass(frozen=True, slots=True)
class Output:
    """Which of the event's columns are kept, and how ids are added."""

    columns: tuple[str, ...]
    arrays: bool

    @classmethod
    def of(cls, events: DataFrame, key: str | Sequence[str] | None, arrays: bool) -> Output:
        if key is None:
            names = events.columns
        else:
            names = need_names(events, [key] if isinstance(key, str) else key, "events")
        added = {REASON, _SUBSCRIPTIONS if arrays else _SUBSCRIPTION}
        for name in names:
            if name in added:
                raise FykeError(
                    f"events have a column {shown(name)}, which the result adds; rename it, or "
                    "choose other columns with key="
                )
        return cls(tuple(names), arrays)

    def schema(
        self, events: DataFrame, added: str | None = None, *, all_match: bool = True
    ) -> StructType:
        """Return the columns that Spark is told; `added` is a text in place of the ids.

        Where rows are matches and nothing else, ids are never null: it spares Java a look at each.
        """
        from pyspark.sql.types import ArrayType, StringType, StructField, StructType

        kept = [events.schema[name] for name in self.columns]
        if added is not None:
            return StructType([*kept, StructField(added, StringType())])
        if self.arrays:
            many = ArrayType(StringType(), containsNull=False)
            ids = StructField(_SUBSCRIPTIONS, many, nullable=not all_match)
        else:
            ids = StructField(_SUBSCRIPTION, StringType(), nullable=not all_match)
        return StructType([*kept, ids])

    def collect(self, pieces: Pieces) -> Iterator[pa.RecordBatch]:
        """Put out matches as they come."""
        for batch, found in pieces:
            yield from self.batches(batch, found)

    def batches(self, batch: pa.RecordBatch, found: Found) -> Iterator[pa.RecordBatch]:
        kept = batch.select(list(self.columns))
        if self.arrays:
            yield self._as_arrays(kept, found)
            return
        for rows, ids in found.parts:
            for start in range(0, len(rows), _OUT_MAX):
                texts = ids.slice(start, _OUT_MAX).dictionary_decode()
                yield with_column(kept.take(rows.slice(start, _OUT_MAX)), _SUBSCRIPTION, texts)

    def refused(self, batch: pa.RecordBatch, bad: dict[int, str]) -> pa.RecordBatch:
        """Return rows that cannot be read, without ids, and with the reason."""
        rows = batch.select(list(self.columns)).take(pa.array(list(bad), pa.int64()))
        if self.arrays:
            rows = with_column(rows, _SUBSCRIPTIONS, pa.nulls(len(bad), pa.list_(pa.string())))
        else:
            rows = with_column(rows, _SUBSCRIPTION, pa.nulls(len(bad), pa.string()))
        return with_column(rows, REASON, pa.array(list(bad.values()), pa.string()))

    def _as_arrays(self, kept: pa.RecordBatch, found: Found) -> pa.RecordBatch:
        import numpy as np

        good = [row for row in range(kept.num_rows) if row not in found.bad]
        ends = np.searchsorted(found.rows.to_numpy(zero_copy_only=False), good, side="right")
        offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
        ids = pa.ListArray.from_arrays(offsets, found.ids)
        rows = kept.take(pa.array(good, pa.int64())) if found.bad else kept
        return with_column(rows, _SUBSCRIPTIONS, ids)


@dataclass(frozen=True, slots=True)
class WithErrors:
    """Matches, and rows that cannot be read: those have a reason in place of an id."""

    output: Output

    @property
    def columns(self) -> tuple[str, ...]:
        return self.output.columns

    @property
    def arrays(self) -> bool:
        return self.output.arrays

    def schema(self, events: DataFrame) -> StructType:
        from pyspark.sql.types import StringType, StructField, StructType

        found = self.output.schema(events, all_match=False).fields
        return StructType([*found, StructField(REASON, StringType())])

    def collect(self, pieces: Pieces) -> Iterator[pa.RecordBatch]:
        for batch, found in pieces:
            for matches in self.output.batches(batch, found):
                none = pa.nulls(matches.num_rows, pa.string())
                yield with_column(matches, REASON, none)
            if found.bad:
                yield self.output.refused(batch, found.bad)


def with_column(batch: pa.RecordBatch, name: str, column: pa.Array) -> pa.RecordBatch:
    fields = [*batch.schema, pa.field(name, column.type)]
    return pa.RecordBatch.from_arrays([*batch.columns, column], schema=pa.schema(fields))


# --- in the workers ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """The work that a worker does with batches of events."""

    pin: Pin
    reading: Reading
    output: Collector
    sets_aside: bool
    is_strict: bool = False
    """True if the whole of a document is read."""

    def matches(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Match events with all subscriptions."""
        return self.output.collect(self._pieces(batches))

    def search(
        self, searches: Iterable[tuple[list[Matcher], pa.RecordBatch]]
    ) -> Iterator[pa.RecordBatch]:
        """Match events with some subscriptions, each batch with those that are named beside it."""
        return self.output.collect((rows, self.found(some, rows)) for some, rows in searches)

    def _pieces(self, batches: Batches) -> Iterator[tuple[pa.RecordBatch, Found]]:
        """Cut batches into pieces and match each."""
        matchers, pace = self.pin.matchers(), Pace()
        for batch in pace.cut(batches):
            found = self.found(matchers, batch)
            pace.saw(batch.num_rows, len(found))
            yield batch, found

    def found(self, matchers: list[Matcher], batch: pa.RecordBatch) -> Found:
        """Return the matches of a batch; EventError if a row that is no event is not put aside."""
        found = self.reading.match(matchers, batch, strict=self.is_strict)
        if found.bad and not self.sets_aside:
            raise EventError(
                f"a row cannot be read as an event: {next(iter(found.bad.values()))}; with "
                "errors=True such rows are put aside"
            )
        return found

    def refusals(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            bad = self.reading.bad(batch)
            if bad:
                kept = batch.select(list(self.output.columns))
                rows = kept.take(pa.array(list(bad), pa.int64()))
                yield with_column(rows, REASON, pa.array(list(bad.values()), pa.string()))
