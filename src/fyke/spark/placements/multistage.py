"""Multistage: weakened subscriptions sift the events, what is left is checked exactly elsewhere.

Where the last word is costly (a dialect's own interpreter, thousands of times an index's price) and
the events that need it come in lumps, a few tasks would work long after the others are done. Here
the first stage only looks candidates up: subscriptions without their costly leaves cover what they
were. The events that are left, with their candidates, are spread evenly over all tasks, which ask
the exact filters.
Cost. One shuffle of the events that are left; an event with many candidates travels in several rows
of at most `CANDIDATES_MAX`, unless one array is wanted of it.
Source. Multistage filtering (MSF-12b, MSF-20), with two stages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.spark.columns import map_batches
from fyke.spark.matching import Task, with_column
from fyke.spark.placements.placing import Batches, free_name
from fyke.spark.reading import Found
from fyke.spark.snapshots import Pin, opened

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CANDIDATES_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class Multistage:
    """What is decided at once and what is only sifted, and how many tasks check it."""

    parts: Pin
    tasks: int

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        from pyspark.sql.types import ArrayType, StringType, StructField, StructType

        added = free_name("certain", events), free_name("doubtful", events)
        fields = [events.schema[name] for name in needed]
        lists = [StructField(name, ArrayType(StringType())) for name in added]
        parts, most = self.parts, None if task.output.arrays else CANDIDATES_MAX

        def sift(batches: Batches) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                yield _sifted(batch, task, parts, added, most)

        def check(batches: Batches) -> Iterator[pa.RecordBatch]:
            filters = _Filters(task.pin)
            for batch in batches:
                *_, decided, asked = batch.columns
                found = _checked(task.reading.events(batch), decided, asked, filters)
                yield from task.output.batches(batch, found)

        left = map_batches(events, needed, sift, StructType([*fields, *lists]))
        spread = left.repartition(self.tasks)
        return map_batches(spread, spread.columns, check, task.output.schema(events))


class _Filters(dict[str, Filter]):
    """The exact filters by id, as far as they were asked for."""

    def __init__(self, pin: Pin) -> None:
        super().__init__()
        self._matchers = pin.matchers()

    def __missing__(self, id: str) -> Filter:
        matcher = next(each for each in self._matchers if id in each)
        self[id] = filter = matcher.filter(id)
        return filter


def _sifted(
    batch: pa.RecordBatch, task: Task, parts: Pin, added: tuple[str, str], most: int | None
) -> pa.RecordBatch:
    """Rows with the ids that are certain and those that are in doubt.

    Rows without any are left out, unless arrays are wanted, which have no limit.
    """
    decided, sifting = (opened(part) for part in parts.parts)
    found = task.found([decided, sifting], batch)
    certain: defaultdict[int, list[str]] = defaultdict(list)
    doubtful: defaultdict[int, list[str]] = defaultdict(list)
    for row, id in zip(found.rows.to_pylist(), found.ids.to_pylist(), strict=True):
        (doubtful if id in sifting else certain)[row].append(id)
    wanted = range(batch.num_rows) if most is None else sorted({*certain, *doubtful})
    rows = [
        (row, known, asked)
        for row in wanted
        if row not in found.bad
        for known, asked in _pieces(certain[row], doubtful[row], most)
    ]
    kept = batch.take(pa.array([row for row, _, _ in rows], pa.int64()))
    for at, name in enumerate(added, 1):
        ids = pa.array([row[at] for row in rows], pa.list_(pa.string()))
        kept = with_column(kept, name, ids)
    return kept


def _pieces(
    certain: list[str], doubtful: list[str], most: int | None
) -> Iterator[tuple[list[str], list[str]]]:
    yield certain, doubtful[:most]
    if most is not None:
        for start in range(most, len(doubtful), most):
            yield [], doubtful[start : start + most]


def _checked(
    event: Callable[[int], Event], decided: pa.Array, asked: pa.Array, filters: _Filters
) -> Found:
    """The verdicts on events that were sifted."""
    rows: list[int] = []
    ids: list[str] = []
    for row, (known, open) in enumerate(zip(decided.to_pylist(), asked.to_pylist(), strict=True)):
        found = [*known, *(id for id in open if filters[id].matches(event(row)))]
        rows += [row] * len(found)
        ids += found
    return Found(pa.array(rows, pa.int64()), pa.array(ids, pa.string()), {})
