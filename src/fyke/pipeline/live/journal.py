"""The journal of matching: what tasks write while they match, in one table.

A task gathers the matches of many events and writes them by subscription. With a million events and
tens of millions of matches this is what makes notifications cheap: a string for each subscription
and task instead of one for each match. Every row is of one of four kinds:

    digest     subscription, events, rows     the keys of the events it accepts, and how many
    refusal    event, text, reason            a row that is no event
    size       size, rows                     `rows` events had `size` matches
    progress   at, rows                       `rows` events were matched at that moment

Idea of the gathering: slots of subscriptions and positions packed into one integer each, sorted; a
million matches take some ten milliseconds. No id is made into a string before it leaves. Memory: 20
bytes a match, up to MATCHES_MAX matches.

Where events meet all subscriptions in one place, all of it is written in one pass. Where they are
copied to parts of the subscriptions, the parts write digests, and `refusals_and_progress` the rest;
sizes then are those of keys (`sizes_of`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from time import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fyke.pipeline.sources.sources import Events
from fyke.spark.columns import map_batches, need_names
from fyke.spark.placements.choice import Plan
from fyke.spark.placements.planning import prepare_placement
from fyke.spark.placements.replicate import Replicate
from fyke.spark.reading import Found, Reading
from fyke.spark.task import Batches, Pieces, Task
from fyke.spark.versions.snapshots import Pin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

MATCHES_MAX: Final = 4_000_000
DIGESTS_MAX: Final = 10_000
"""Digests that are handed on at once."""
NAMELESS: Final = "the event has no key"
_POSITION_BITS: Final = 32


def journal(events: Events, pin: Pin) -> DataFrame:
    """Return the journal of matching events against all pinned subscriptions; nothing runs yet."""
    task = task_of(events, pin)
    return Replicate().matches(events.frame, _needed(events, task), task)


def planned_journal(events: Events, pin: Pin, plan: Plan) -> DataFrame:
    """Return the journal, of events and subscriptions that meet as planned.

    It lacks sizes where events meet the subscriptions part by part.
    """
    task = task_of(events, pin)
    placement = prepare_placement(events.frame, task, plan, None, None)
    needed = _needed(events, task)
    if isinstance(placement, Replicate):
        return placement.matches(events.frame, needed, task)
    rest = map_batches(events.frame, needed, _Rest(task).rows, task.output.schema(events.frame))
    parts = replace(task, output=replace(_digests(events), is_whole=False))
    return placement.matches(events.frame, needed, parts).unionByName(rest)


def sizes_of(found: DataFrame, events: int) -> DataFrame:
    """Return the sizes of that number of events, from the digests and refusals of a journal."""
    from pyspark.sql import functions as f

    keys = found.where("subscription is not null").select(f.explode("events").alias("event"))
    sizes = keys.groupBy("event").agg(f.count("*").alias("size"))
    by_size = sizes.groupBy("size").agg(f.count("*").alias("rows"))
    matched = by_size.agg(f.coalesce(f.sum("rows"), f.lit(0)).alias("matched"))
    refused = found.agg(f.count("reason").alias("refused"))
    silent = matched.crossJoin(refused).select(
        f.lit(0).cast("long").alias("size"),
        (f.lit(events) - f.col("matched") - f.col("refused")).cast("long").alias("rows"),
    )
    others = [
        f.lit(None).cast(field.dataType).alias(field.name)
        for field in found.schema.fields
        if field.name not in ("size", "rows")
    ]
    every = by_size.unionByName(silent).where("rows > 0").select("size", "rows", *others)
    return every.select(*found.columns)


def task_of(events: Events, pin: Pin) -> Task:
    frame, shape = events.frame, events.shape
    reading = Reading.of(frame, shape.attributes, shape.json, None).under(pin.schema())
    reading = replace(reading, misfits=shape.broken)
    # Strict, so that which events are refused does not depend on where they meet subscriptions.
    return Task(pin, reading, _digests(events), sets_aside=True, is_strict=True)


def _digests(events: Events) -> Digests:
    shape = events.shape
    return Digests(shape.key, shape.broken or shape.json)


def _needed(events: Events, task: Task) -> list[str]:
    need_names(events.frame, task.output.columns, "events")
    wanted = {*task.reading.names, *task.output.columns}
    return [name for name in events.frame.columns if name in wanted]


@dataclass(frozen=True, slots=True)
class Digests:
    """Makes the rows of a journal of matches; `text` names a column that refusals show.

    `is_whole` says that each event meets all subscriptions here: then sizes, refusals and progress
    are written as well.
    """

    key: str
    text: str | None
    is_whole: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.key,) if self.text is None else (self.key, self.text)

    @property
    def arrays(self) -> bool:
        return False

    def schema(self, events: DataFrame) -> StructType:
        return _schema(events.schema[self.key].dataType)

    def collect(self, pieces: Pieces) -> Iterator[pa.RecordBatch]:
        gathered: _Gathered | None = None
        for batch, found in pieces:
            keys = batch.column(self.key)
            gathered = gathered or _Gathered(keys.type)
            bad = self.bad(keys, found.bad)
            gathered.add(keys, found, bad)
            if self.is_whole:
                yield from self.refused(gathered, batch, bad)
                gathered.saw(batch.num_rows)
            if gathered.matches >= MATCHES_MAX:
                yield from gathered.digests()
        if gathered is not None:
            yield from gathered.digests()
            if self.is_whole:
                yield from gathered.sizes()
                yield from gathered.progress()

    def bad(self, keys: pa.Array, bad: dict[int, str]) -> dict[int, str]:
        """Return why rows are refused: a notification could not name an event without a key."""
        if not keys.null_count:
            return bad
        nameless = np.flatnonzero(pc.is_null(keys).to_numpy(zero_copy_only=False)).tolist()
        return {**dict.fromkeys(nameless, NAMELESS), **bad}

    def refused(
        self, gathered: _Gathered, batch: pa.RecordBatch, bad: dict[int, str]
    ) -> Iterator[pa.RecordBatch]:
        if not bad:
            return
        rows = batch.take(pa.array(list(bad), pa.int64()))
        columns = {"event": rows.column(self.key), "reason": pa.array(bad.values(), pa.string())}
        if self.text is not None:
            columns["text"] = _readable(rows.column(self.text))
        yield gathered.rows(len(bad), columns)


@dataclass(frozen=True, slots=True)
class _Rest:
    """Reads events that are matched elsewhere: which are refused, and how many there are."""

    task: Task

    def rows(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        digests = self.task.output
        assert isinstance(digests, Digests)
        gathered: _Gathered | None = None
        for batch in batches:
            keys = batch.column(digests.key)
            gathered = gathered or _Gathered(keys.type)
            bad = digests.bad(keys, self.task.reading.bad(batch))
            yield from digests.refused(gathered, batch, bad)
            gathered.saw(batch.num_rows)
        if gathered is not None:
            yield from gathered.progress()


def _schema(key: DataType) -> StructType:
    from pyspark.sql import types as t

    return t.StructType(
        [
            t.StructField("subscription", t.StringType()),
            t.StructField("events", t.ArrayType(key)),
            t.StructField("event", key),
            t.StructField("text", t.StringType()),
            t.StructField("reason", t.StringType()),
            t.StructField("size", t.LongType()),
            t.StructField("at", t.DoubleType()),
            t.StructField("rows", t.LongType()),
        ]
    )


def _readable(texts: pa.Array) -> pa.Array:
    """Return texts to show, whatever the bytes."""
    if not pa.types.is_binary(texts.type):
        return texts.cast(pa.string())
    shown = [
        None if text is None else text.decode("utf-8", "replace") for text in texts.to_pylist()
    ]
    return pa.array(shown, pa.string())


@dataclass(slots=True)
class _Slots:
    """Matches of one matcher: slots and keys, and the ids of all slots."""

    ids: pa.Array
    slots: list[npt.NDArray[np.int64]] = field(default_factory=list)
    keys: list[pa.Array] = field(default_factory=list)


@dataclass(slots=True)
class _Gathered:
    """Matches of several batches."""

    key_type: Any
    matches: int = 0
    _by_matcher: dict[int, _Slots] = field(default_factory=dict)
    """By the address of where their ids begin; ids are held, so that no others take it."""
    _by_size: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    _seen: list[tuple[float, int]] = field(default_factory=list)

    def add(self, keys: pa.Array, found: Found, bad: dict[int, str]) -> None:
        """Add what was found in one batch, but for rows that are bad."""
        is_good = np.ones(len(keys), bool)
        is_good[list(bad)] = False
        sizes = np.zeros(len(keys), np.int64)
        for at, ids in found.parts:
            rows = at.to_numpy(zero_copy_only=False)
            slots = ids.indices.to_numpy(zero_copy_only=False)
            if bad:
                kept = is_good[rows]
                rows, slots = rows[kept], slots[kept]
            if len(rows):
                held = self._held(ids.dictionary)
                held.keys.append(keys.take(pa.array(rows)))
                held.slots.append(slots.astype(np.int64))
                self.matches += len(rows)
                sizes += np.bincount(rows, minlength=len(keys))
        by_size = np.bincount(sizes[is_good])
        longer, shorter = sorted((by_size, self._by_size), key=len, reverse=True)
        longer[: len(shorter)] += shorter
        self._by_size = longer

    def _held(self, ids: pa.Array) -> _Slots:
        return self._by_matcher.setdefault(ids.buffers()[1].address, _Slots(ids))

    def saw(self, rows: int) -> None:
        """Note that rows were matched by now."""
        self._seen.append((time(), rows))

    def digests(self) -> Iterator[pa.RecordBatch]:
        """Yield the matches by subscription, and forget them."""
        for held in self._by_matcher.values():
            whole = self._digested(held)
            yield from (whole.slice(at, DIGESTS_MAX) for at in range(0, len(whole), DIGESTS_MAX))
        self.matches = 0
        self._by_matcher.clear()

    def _digested(self, held: _Slots) -> pa.RecordBatch:
        slots = np.concatenate(held.slots)
        keys = pa.concat_arrays(held.keys)
        packed = slots << _POSITION_BITS | np.arange(len(slots))
        packed.sort()
        ordered = packed >> _POSITION_BITS
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        offsets = np.append(starts, len(ordered)).astype(np.int32)
        order = pa.array(packed & ((1 << _POSITION_BITS) - 1))
        columns = {
            "subscription": held.ids.take(pa.array(ordered[starts])).cast(pa.string()),
            "events": pa.ListArray.from_arrays(pa.array(offsets), keys.take(order)),
            "rows": pa.array(np.diff(offsets).astype(np.int64)),
        }
        return self.rows(len(starts), columns)

    def sizes(self) -> Iterator[pa.RecordBatch]:
        (sizes,) = np.nonzero(self._by_size)
        columns = {"size": pa.array(sizes), "rows": pa.array(self._by_size[sizes])}
        yield self.rows(len(sizes), columns)

    def progress(self) -> Iterator[pa.RecordBatch]:
        at, rows = zip(*self._seen, strict=True)
        columns = {"at": pa.array(at, pa.float64()), "rows": pa.array(rows, pa.int64())}
        yield self.rows(len(at), columns)

    def rows(self, count: int, columns: dict[str, pa.Array]) -> pa.RecordBatch:
        """Return rows of the journal; what is not given is null."""
        types = {
            **{"subscription": pa.string(), "events": pa.list_(self.key_type)},
            **{"event": self.key_type, "text": pa.string(), "reason": pa.string()},
            **{"size": pa.int64(), "at": pa.float64(), "rows": pa.int64()},
        }
        arrays = [columns.get(name, pa.nulls(count, type)) for name, type in types.items()]
        return pa.RecordBatch.from_arrays(arrays, names=list(types))
