"""The journal of matching: what tasks write while they match, in one table.

A task gathers the matches of many events and writes them by subscription. With a million events and
tens of millions of matches this is what makes notifications cheap: a string for each subscription
and task instead of one for each match. Every row is of one of four kinds:

    digest     subscription, events, rows     the keys of the events it accepts, and how many
    refusal    event, text, reason            a row that is no event
    size       size, rows                     so many events had `size` matches
    progress   at, rows                       so many events were matched at that moment

Idea of the gathering: codes of ids and positions packed into one integer each, sorted; a million
matches take some ten milliseconds. Memory: 12 bytes a match, up to MATCHES_MAX matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fyke.pipeline.sources import Events
from fyke.spark.columns import map_batches, need_names
from fyke.spark.reading import Found, Reading
from fyke.spark.shipping import ship
from fyke.spark.snapshots import Pin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.matching.matcher import Matcher

MATCHES_MAX: Final = 4_000_000
_POSITION_BITS: Final = 32


def journal(events: Events, pin: Pin) -> DataFrame:
    """The journal of matching events against pinned subscriptions; nothing runs yet."""
    from pyspark.sql import types as t

    frame, shape = events.frame, events.shape
    reading = Reading.of(frame, shape.attributes, shape.json, None).under(pin.schema())
    key = frame.schema[shape.key].dataType
    kept = [name for name in (shape.key, shape.broken) if name is not None]
    wanted = {*reading.names, *need_names(frame, kept, "events")}
    schema = t.StructType(
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
    task = Task(pin, reading, shape.key, shape.broken or shape.json)
    columns = [name for name in frame.columns if name in wanted]
    ship(pin, frame.sparkSession)
    return map_batches(frame, columns, task.run, schema)


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker does with batches of events; `text` names a column that refusals show."""

    pin: Pin
    reading: Reading
    key: str
    text: str | None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        matchers = self.pin.matchers()
        gathered: _Gathered | None = None
        for batch in batches:
            whole, broken = self._unbroken(batch)
            keys = whole.column(self.key)
            parts = [_with_keys(found, keys) for found in self._found(matchers, whole)]
            gathered = gathered or _Gathered(keys.type)
            gathered.add(keys, parts)
            yield from self._refused(gathered, whole, parts[0].bad)
            yield from self._refused(gathered, broken, dict.fromkeys(range(len(broken)), _MISFIT))
            yield gathered.row(at=time(), rows=batch.num_rows)
            if gathered.matches >= MATCHES_MAX:
                yield from gathered.digests()
        if gathered is not None:
            yield from gathered.digests()
            yield from gathered.sizes()

    def _found(self, matchers: list[Matcher], batch: pa.RecordBatch) -> list[Found]:
        """The matches, for each shard where events lie in columns: no need to sort them here."""
        if self.reading.form != "columns":
            return [self.reading.match(matchers, batch)]
        return [self.reading.match([matcher], batch) for matcher in matchers]

    def _unbroken(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The rows that fit the schema of their file, and those that do not."""
        if self.text is None or self.reading.form != "columns":
            return batch, batch.slice(0, 0)
        fits = pc.is_null(batch.column(self.text))
        return batch.filter(fits), batch.filter(pc.invert(fits))

    def _refused(
        self, gathered: _Gathered, batch: pa.RecordBatch, bad: dict[int, str]
    ) -> Iterator[pa.RecordBatch]:
        if not bad:
            return
        rows = batch.take(pa.array(list(bad), pa.int64()))
        columns = {"event": rows.column(self.key), "reason": pa.array(bad.values(), pa.string())}
        if self.text is not None:
            columns["text"] = _readable(rows.column(self.text))
        yield gathered.rows(len(bad), columns)


_MISFIT: Final = "the row does not fit the schema"
NAMELESS: Final = "the event has no key"


def _readable(texts: pa.Array) -> pa.Array:
    """Texts to show, whatever the bytes."""
    if not pa.types.is_binary(texts.type):
        return texts.cast(pa.string())
    shown = [
        None if text is None else text.decode("utf-8", "replace") for text in texts.to_pylist()
    ]
    return pa.array(shown, pa.string())


def _with_keys(found: Found, keys: pa.Array) -> Found:
    """What was found, less the events that a notification could not name."""
    if not keys.null_count:
        return found
    nameless = np.flatnonzero(pc.is_null(keys).to_numpy(zero_copy_only=False)).tolist()
    named = pc.is_valid(keys.take(found.rows))
    bad = {**dict.fromkeys(nameless, NAMELESS), **found.bad}
    return Found(found.rows.filter(named), found.ids.filter(named), bad)


@dataclass(slots=True)
class _Gathered:
    """Matches of several batches."""

    key_type: Any
    matches: int = 0
    _keys: list[pa.Array] = field(default_factory=list)
    _ids: list[pa.Array] = field(default_factory=list)
    _by_size: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))

    def add(self, keys: pa.Array, parts: list[Found]) -> None:
        """Adds what the shards found in one batch."""
        sizes = np.zeros(len(keys), np.int64)
        for found in parts:
            self._keys.append(keys.take(found.rows))
            self._ids.append(found.ids)
            self.matches += len(found.ids)
            sizes += np.bincount(found.rows.to_numpy(zero_copy_only=False), minlength=len(keys))
        by_size = np.bincount(sizes[~np.isin(np.arange(len(keys)), list(parts[0].bad))])
        longer, shorter = sorted((by_size, self._by_size), key=len, reverse=True)
        longer[: len(shorter)] += shorter
        self._by_size = longer

    def digests(self) -> Iterator[pa.RecordBatch]:
        """The matches by subscription; they are forgotten then."""
        if not self.matches:
            return
        coded = pa.chunked_array(self._ids).combine_chunks().dictionary_encode()
        keys = pa.chunked_array(self._keys).combine_chunks()
        codes = coded.indices.to_numpy().astype(np.int64)
        packed = codes << _POSITION_BITS | np.arange(len(codes))
        packed.sort()
        counts = np.bincount(codes)
        offsets = pa.array(np.concatenate([[0], np.cumsum(counts)]).astype(np.int32))
        order = pa.array(packed & ((1 << _POSITION_BITS) - 1))
        columns = {
            "subscription": coded.dictionary,
            "events": pa.ListArray.from_arrays(offsets, keys.take(order)),
            "rows": pa.array(counts),
        }
        self._keys, self._ids, self.matches = [], [], 0
        whole = self.rows(len(counts), columns)
        yield from (whole.slice(at, _ROWS_MAX) for at in range(0, len(counts), _ROWS_MAX))

    def sizes(self) -> Iterator[pa.RecordBatch]:
        (sizes,) = np.nonzero(self._by_size)
        columns = {"size": pa.array(sizes), "rows": pa.array(self._by_size[sizes])}
        yield self.rows(len(sizes), columns)

    def row(self, *, at: float, rows: int) -> pa.RecordBatch:
        return self.rows(1, {"at": pa.array([at]), "rows": pa.array([rows], pa.int64())})

    def rows(self, count: int, columns: dict[str, pa.Array]) -> pa.RecordBatch:
        """Rows of the journal; what is not given is null."""
        types = {
            **{"subscription": pa.string(), "events": pa.list_(self.key_type)},
            **{"event": self.key_type, "text": pa.string(), "reason": pa.string()},
            **{"size": pa.int64(), "at": pa.float64(), "rows": pa.int64()},
        }
        arrays = [columns.get(name, pa.nulls(count, type)) for name, type in types.items()]
        return pa.RecordBatch.from_arrays(arrays, names=list(types))


_ROWS_MAX: Final = 10_000
"""So many digests are handed on at once."""
