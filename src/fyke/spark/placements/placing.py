"""The parts that all placements share: their shape, and what happens to rows on their way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from fyke.spark.columns import quoted
from fyke.spark.task import Output, Task

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

Batches = Iterable[pa.RecordBatch]


class Placement(Protocol):
    """A way to bring events and subscriptions together."""

    def matches(self, events: DataFrame, needed: list[str], task: Task) -> DataFrame:
        """Return the rows that the task puts out, of events with the columns that are needed."""
        ...


def free_name(wanted: str, frame: DataFrame) -> str:
    """Return a name that no column of the frame has."""
    while wanted in frame.columns:
        wanted = f"_{wanted}"
    return wanted


def columns(names: Iterable[str]) -> list[Column]:
    from pyspark.sql import functions as f

    return [f.col(quoted(name)) for name in names]


def by_value(batch: pa.RecordBatch, name: str) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows of a batch by the number in one of its columns; mostly all have the same."""
    numbers = batch.column(name)
    different = pc.unique(numbers).to_pylist()
    if len(different) == 1:
        yield different[0], batch
        return
    for number in different:
        yield number, batch.filter(pc.equal(numbers, number))


def numbering(task: Task, number: str) -> Task:
    """Return the task that keeps the number of each event."""
    kept = (*task.output.columns, number)
    return replace(task, output=Output(kept, task.output.arrays))


def gathered(matches: DataFrame, number: str) -> DataFrame:
    """Return one row per event, of the arrays that several tasks put out for it."""
    from pyspark.sql import functions as f

    *kept, ids = (name for name in matches.columns if name != number)
    parts = [f.first(quoted(name)).alias(name) for name in kept]
    lists = f.flatten(f.collect_list(quoted(ids))).alias(ids)
    return matches.groupBy(quoted(number)).agg(*parts, lists).drop(number)
