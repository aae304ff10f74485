"""Generating: the rows of a workload, made by Spark's workers.

Row i of a workload depends on i alone, so a job is a range of numbers: each worker makes the blocks
of its part. The rows, and their order, are those of `workload.columns` and
`workload.subscription_columns` in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from fyke.errors import FykeError, shown
from fyke.workloads.named import described
from fyke.workloads.named import workload as named
from fyke.workloads.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from fyke.spark.columns import Batches

NUMBER: Final = "event"
BLOCK: Final = 65_536
"""At most this many rows are made at a time."""
BATCH: Final = 16_384
"""At most this many rows are handed on at once."""

Make = Callable[[Workload, int, int], pa.Table]


def events(
    session: SparkSession, workload: str | Workload | Mapping[str, Any], count: int, start: int = 0
) -> DataFrame:
    """Return `count` events of a workload from `start` on; a null is a missing attribute."""
    return _generated(session, workload, _events, count, start)


def subscriptions(
    session: SparkSession, workload: str | Workload | Mapping[str, Any], count: int, start: int = 0
) -> DataFrame:
    """Return `count` subscriptions: id, filter, subscriber, and class if there are any."""
    return _generated(session, workload, _subscriptions, count, start)


def numbered(workload: Workload, count: int, start: int) -> pa.Table:
    """Return events as columns, with their numbers in front."""
    numbers = pa.array(range(start, start + count), pa.int64())
    return workload.columns(count, start).combine_chunks().add_column(0, NUMBER, numbers)


def _events(workload: Workload, count: int, start: int) -> pa.Table:
    return workload.columns(count, start)


def _subscriptions(workload: Workload, count: int, start: int) -> pa.Table:
    return workload.subscription_columns(count, start)


def _generated(
    session: SparkSession,
    workload: str | Workload | Mapping[str, Any],
    make: Make,
    count: int,
    start: int,
) -> DataFrame:
    from pyspark.sql.pandas.types import from_arrow_schema

    known = _known(workload)
    for name, number in (("count", count), ("start", start)):
        if type(number) is not int or number < 0:
            raise FykeError(f"{name}={shown(number)}; expected a whole number from 0 on")
    description, end = known.description(), start + count

    def blocks(batches: Batches) -> Iterator[pa.RecordBatch]:
        rows = described(description)
        for batch in batches:
            for first in batch.column(0).to_pylist():
                table = make(rows, min(BLOCK, end - first), first)
                yield from table.combine_chunks().to_batches(max_chunksize=BATCH)

    schema = from_arrow_schema(make(known, 0, 0).schema)
    return session.range(start, end, BLOCK).mapInArrow(blocks, schema)


def _known(workload: str | Workload | Mapping[str, Any]) -> Workload:
    """Return the workload that is meant; workers make it again from its description."""
    if isinstance(workload, Workload):
        return described(workload.description())
    return named(workload) if isinstance(workload, str) else described(workload)
