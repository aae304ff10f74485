"""Matching: a row per event and subscription that accepts it.

match(events, subscriptions)                       the event's columns and `subscription`
match(events, subscriptions, key="id")             only the key and `subscription`
match(events, subscriptions, arrays=True)          a row per event, `subscriptions` an array
match(events, subscriptions, errors=True)          (matches, rows that cannot be read)
match(events, subscriptions, placement="split")    the same rows in another way; `planning` chooses
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeAlias, overload

import pyarrow as pa

from fyke.errors import EventError, FykeError, shown
from fyke.events.schema import Schema
from fyke.matching.matcher import Matcher
from fyke.spark.columns import map_batches, need_frame, need_names
from fyke.spark.reading import Found, Reading
from fyke.spark.sessions.workers import check_workers
from fyke.spark.streams.pace import Pace
from fyke.spark.typed_frames import typed_matcher
from fyke.spark.versions import versions
from fyke.spark.versions.compiling import compile
from fyke.spark.versions.snapshots import Pin
from fyke.spark.versions.temporary import temporary_folder
from fyke.spark.versions.versions import Version

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from fyke.spark.placements.planning import Plan

Subscriptions: TypeAlias = "DataFrame | Matcher | Mapping[str, object] | Version | str | Path"

REASON: Final = "reason"
_SUBSCRIPTION: Final = "subscription"
_SUBSCRIPTIONS: Final = "subscriptions"
_OUT_MAX: Final = 32_768
"""At most this many matches are handed on at once."""


@overload
def match(
    events: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str | Sequence[str] | None = ...,
    arrays: bool = ...,
    attributes: Sequence[str] | None = ...,
    json: str | None = ...,
    cloudevents: str | None = ...,
    errors: Literal[False] = ...,
    placement: str | Plan = ...,
    on: str | None = ...,
    parts: int | None = ...,
    folder: str | Path | None = ...,
    memory: int | str | None = ...,
    schema: Schema | None = ...,
    timestamps: Sequence[str] = ...,
) -> DataFrame: ...


@overload
def match(
    events: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str | Sequence[str] | None = ...,
    arrays: bool = ...,
    attributes: Sequence[str] | None = ...,
    json: str | None = ...,
    cloudevents: str | None = ...,
    errors: Literal[True],
    placement: str | Plan = ...,
    on: str | None = ...,
    parts: int | None = ...,
    folder: str | Path | None = ...,
    memory: int | str | None = ...,
    schema: Schema | None = ...,
    timestamps: Sequence[str] = ...,
) -> tuple[DataFrame, DataFrame]: ...


def match(
    events: DataFrame,
    subscriptions: Subscriptions,
    *,
    key: str | Sequence[str] | None = None,
    arrays: bool = False,
    attributes: Sequence[str] | None = None,
    json: str | None = None,
    cloudevents: str | None = None,
    errors: bool = False,
    placement: str | Plan = "auto",
    on: str | None = None,
    parts: int | None = None,
    folder: str | Path | None = None,
    memory: int | str | None = None,
    schema: Schema | None = None,
    timestamps: Sequence[str] = (),
) -> DataFrame | tuple[DataFrame, DataFrame]:
    """Return the matches of a DataFrame of events; its rows are made when they are asked for.

    `subscriptions` is a DataFrame (id, filter[, dialect]), a Matcher, a mapping from ids to
    filters, event classes and conditions on their fields, what `compile` gave, or the path of a
    snapshot; its state is that of the moment of this call. A row that cannot be read as
    an event stops the job, unless `errors` asks for a second DataFrame with these rows and the
    reason. Of JSON only what subscriptions read is read, as by `Matcher.match_json`; with `errors`
    the whole is, and strictly, so that the rows put aside do not depend on the placement.

    `placement` says how events and subscriptions come together: replicate, split, rendezvous (on
    the values of the attribute `on`), multistage, what `plan` gave, or auto, which asks `plan`. The
    rows are the same. `parts` is the number of shards or buckets. With `memory`, as in "64 MB", the
    first stage of multistage is the subscriptions pruned until they fit, and no worker maps all of
    the originals.

    On a cluster, subscriptions are sent to the workers; `folder` names a place that the driver and
    all workers see, where they are put instead.

    `schema` and `timestamps` are those of `compile`, for a DataFrame of subscriptions; a Matcher
    and what was compiled have their own.
    """
    from fyke.spark.placements.planning import prepare_placement

    need_frame(events, "events")
    reading = Reading.of(events, attributes, json, cloudevents)
    output = Output.of(events, key, arrays)
    check_workers(events.sparkSession)
    pin = pin_subscriptions(subscriptions, schema, timestamps, folder)
    reading = reading.under(pin.schema())
    needed = [name for name in events.columns if name in {*reading.names, *output.columns}]
    task = Task(pin, reading, output, errors, is_strict=errors)
    chosen = prepare_placement(events, task, placement, on, parts, memory)
    matches = chosen.matches(events, needed, task)
    if not errors:
        return matches
    refused = map_batches(events, needed, task.refusals, output.schema(events, REASON))
    return matches, refused


def pin_subscriptions(
    subscriptions: Subscriptions,
    schema: Schema | None = None,
    timestamps: Sequence[str] = (),
    folder: str | Path | None = None,
) -> Pin:
    """Pin the snapshots of some subscriptions; make them where there are none."""
    place = None if folder is None else _place(folder)
    if isinstance(subscriptions, Mapping):
        subscriptions = typed_matcher(subscriptions)
    if isinstance(subscriptions, Version | Matcher | str | Path) and (schema or timestamps):
        raise FykeError(
            "schema= and timestamps= belong to a DataFrame of subscriptions; give them to the "
            "Matcher, or to fyke.spark.compile"
        )
    if isinstance(subscriptions, Version):
        return replace(subscriptions.pin(), place=place)
    if isinstance(subscriptions, str | Path):
        return replace(versions.pin(str(subscriptions)), place=place)
    made_in = temporary_folder(place)
    if isinstance(subscriptions, Matcher):
        subscriptions.save(f"{made_in}/matcher")
        return Pin.of([f"{made_in}/matcher"], place)
    need_frame(subscriptions, "subscriptions")
    made = compile(subscriptions, f"{made_in}/compiled", schema=schema, timestamps=timestamps)
    if made.refused:
        first = made.errors(subscriptions.sparkSession).first()
        assert first is not None
        raise FykeError(
            f"{made.refused} of the subscriptions cannot be read, among them {shown(first['id'])}: "
            f"{first['reason']}; fyke.spark.compile puts them aside and goes on with the others"
        )
    return replace(made.pin(), place=place)


def _place(folder: str | Path) -> str:
    path = Path(folder).absolute()
    if "://" in str(folder) or not path.is_dir():
        raise FykeError(
            f"folder={shown(str(folder))}; expected a folder that is there, and that the driver "
            "and all workers see"
        )
    return str(path)


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
