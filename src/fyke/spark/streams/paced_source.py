"""Spark's data source `fyke-paced`: the events of a workload as a stream, so many a second.

    session.dataSource.register(PacedSource)
    session.readStream.format("fyke-paced").option("workload", json).option("rate", 2000).load()

The option `workload` is a workload's description as JSON. Rows are the workload's events with their
numbers in the column `event`; event i is the same in every run. An offset is the number of events
so far: a stream that is started again goes on with the next event.

Time. Events come due while the stream runs, those of a second at its start; at most PAUSE_MAX_S of
them at once, so that a machine that slept, or is too slow, is not buried in events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import monotonic
from typing import Final

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit
from pyspark.sql.types import StructType

from fyke.errors import FykeError, shown
from fyke.spark.generating import NUMBER, numbered
from fyke.workloads.named import described
from fyke.workloads.workload import Workload

NAME: Final = "fyke-paced"
PAUSE_MAX_S: Final = 10.0
_TASK_ROWS: Final = 4_096
"""A task gets at most this many rows, unless there would be too many tasks."""
_TASKS_MAX: Final = 64
_BATCH: Final = 10_000


class PacedSource(DataSource):
    """A workload as a stream."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> StructType:
        from pyspark.sql.pandas.types import from_arrow_schema

        return from_arrow_schema(numbered(self._workload(), 0, 0).schema)

    def streamReader(self, schema: StructType) -> PacedReader:
        rate = self.options.get("rate", "")
        if not rate.isdecimal() or int(rate) < 1:
            raise FykeError(f"rate={shown(rate)}; expected a whole number from 1 on")
        return PacedReader(self._workload(), int(rate))

    def _workload(self) -> Workload:
        text = self.options.get("workload", "")
        try:
            return described(json.loads(text))
        except (ValueError, TypeError):
            raise FykeError(
                f"workload={shown(text)}; expected the description of a workload as JSON"
            ) from None


@dataclass(frozen=True)
class Stretch(InputPartition):
    """Events from one number to before another."""

    start: int
    end: int


class PacedReader(DataSourceStreamReader):
    """Events that have come due."""

    def __init__(self, workload: Workload, rate: int) -> None:
        self.workload = workload
        self.rate = rate
        self.due = 0.0
        self.asked: float | None = None

    def initialOffset(self) -> dict[str, int]:
        return {NUMBER: 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        now, first = monotonic(), start[NUMBER]
        passed = 1.0 if self.asked is None else min(now - self.asked, PAUSE_MAX_S)
        self.asked = now
        self.due = min(max(self.due, first) + passed * self.rate, first + PAUSE_MAX_S * self.rate)
        return {NUMBER: int(self.due)}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Stretch]:
        return stretches(start[NUMBER], end[NUMBER])

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Stretch)
        rows = numbered(self.workload, partition.end - partition.start, partition.start)
        return iter(rows.combine_chunks().to_batches(max_chunksize=_BATCH))


def stretches(start: int, end: int) -> list[Stretch]:
    """Cut the numbers from `start` to before `end` into tasks of about one size."""
    tasks = max(1, min(_TASKS_MAX, -(-(end - start) // _TASK_ROWS)))
    ends = [start + (end - start) * at // tasks for at in range(tasks + 1)]
    return [Stretch(*each) for each in pairwise(ends) if each[0] < each[1]]
