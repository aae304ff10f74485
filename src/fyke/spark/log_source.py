"""Spark's data source `fyke`: logs on a disk as tables and as streams.

    session.read.format("fyke").load(path)              all records there are
    session.readStream.format("fyke").load(path)        and those that come
    rows.write.format("fyke").mode("append").save(path)
    rows.writeStream.format("fyke").option("checkpointLocation", ..).start(path)

Rows are (value string, offset long, time timestamp, partition int) on the way out, (value string)
on the way in. The folder has to be visible to the driver and all workers.

A stream's offsets are the ends of the partitions, as a dictionary from their numbers. The option
`maxRecordsPerTrigger` bounds a micro-batch, by the same share of each partition that has more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from fyke.errors import FykeError, shown
from fyke.logs.log import Record
from fyke.logs.partitions import Partitions
from fyke.spark.log_writer import LogStreamWriter, LogWriter, need_value

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME: Final = "fyke"
LIMIT: Final = "maxRecordsPerTrigger"
_DDL: Final = "value string, offset long, time timestamp, partition int"
_SCHEMA: Final = pa.schema(
    [
        ("value", pa.string()),
        ("offset", pa.int64()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("partition", pa.int32()),
    ]
)
_BATCH: Final = 10_000
_TASK_MAX: Final = 250_000
"""Records that a task reads, at most."""


def register(session: SparkSession) -> None:
    """Make the format `fyke` known to a session; `fyke.spark.session` has done so."""
    session.dataSource.register(LogSource)


class LogSource(DataSource):
    """A log in a folder."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        return _DDL

    def reader(self, schema: StructType) -> LogReader:
        return LogReader(self._path())

    def streamReader(self, schema: StructType) -> LogStreamReader:
        return LogStreamReader(self._path(), self._number(LIMIT))

    def writer(self, schema: StructType, overwrite: bool) -> LogWriter:
        self._check_write(schema, overwrite)
        return LogWriter(self._path(), self._number("partitions"))

    def streamWriter(self, schema: StructType, overwrite: bool) -> LogStreamWriter:
        self._check_write(schema, overwrite)
        return LogStreamWriter(
            self._path(),
            self._number("partitions"),
            self.options.get("checkpointLocation"),
            self.options.get("writer"),
        )

    def _path(self) -> str:
        """Return the absolute path; a relative one would lead workers anywhere."""
        path = self.options.get("path")
        if not path or ":/" in path or not Path(path).is_absolute():
            raise FykeError(
                f"path={shown(path)}; the format {NAME} expects the absolute path of a folder"
            )
        return str(path)

    def _number(self, name: str) -> int | None:
        text = self.options.get(name)
        if text is None:
            return None
        if not text.isdecimal() or int(text) < 1:
            raise FykeError(f"{name}={shown(text)}; expected a whole number from 1 on")
        return int(text)

    @staticmethod
    def _check_write(schema: StructType, overwrite: bool) -> None:
        need_value(schema)
        if overwrite:
            raise FykeError('a log is never overwritten: use mode("append"), outputMode("append")')


# --- reading -------------------------------------------------------------------------------------


@dataclass
class OffsetRange(InputPartition):
    """Records that one task reads."""

    partition: int
    start: int
    end: int


def ranges(starts: dict[int, int], ends: dict[int, int]) -> list[OffsetRange]:
    """Return what lies between the offsets, in pieces for tasks."""
    return [
        OffsetRange(number, start, min(start + _TASK_MAX, end))
        for number, end in ends.items()
        for start in range(starts.get(number, 0), end, _TASK_MAX)
    ]


def batches(path: str, wanted: OffsetRange) -> Iterator[pa.RecordBatch]:
    """In a worker: yield the records as Arrow batches."""
    records = Partitions.open(path).log(wanted.partition).read(wanted.start, wanted.end)
    while rows := list(islice(records, _BATCH)):
        yield _as_batch(rows, wanted.partition)


def _as_batch(rows: list[Record], partition: int) -> pa.RecordBatch:
    columns: list[Iterable[Any]] = [
        [row.value for row in rows],
        [row.offset for row in rows],
        [row.time for row in rows],
        [partition] * len(rows),
    ]
    arrays = [pa.array(each, type) for each, type in zip(columns, _SCHEMA.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


class LogReader(DataSourceReader):
    """A reader of what the log holds at the moment of the query."""

    def __init__(self, path: str) -> None:
        self.path = path

    def partitions(self) -> Sequence[OffsetRange]:
        logs = Partitions.open(self.path).logs()
        return ranges({}, {number: log.end() for number, log in enumerate(logs)})

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, OffsetRange)
        return batches(self.path, partition)


class LogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A reader of what comes, in pieces that Spark chooses and notes in its checkpoint."""

    def __init__(self, path: str, limit: int | None) -> None:
        self.path = path
        self.limit = limit
        self.logs = Partitions.open(path).logs()
        self.target: dict[int, int] | None = None

    def initialOffset(self) -> dict[str, int]:
        return {str(number): 0 for number in range(len(self.logs))}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable() if self.limit is None else ReadMaxRows(self.limit)

    def prepareForTriggerAvailableNow(self) -> None:
        self.target = self._ends()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        ends = self._ends() if self.target is None else self.target
        starts = numbers(start)
        if isinstance(limit, ReadMaxRows):
            ends = limited(starts, ends, limit.max_rows)
        return {str(number): max(end, starts.get(number, 0)) for number, end in ends.items()}

    def reportLatestOffset(self) -> dict[str, int]:
        return {str(number): end for number, end in self._ends().items()}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[OffsetRange]:
        return ranges(numbers(start), numbers(end))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, OffsetRange)
        return batches(self.path, partition)

    def _ends(self) -> dict[int, int]:
        return {number: log.end() for number, log in enumerate(self.logs)}


def numbers(offsets: dict[str, int]) -> dict[int, int]:
    """Return offsets as numbers, as they come back from JSON."""
    return {int(number): offset for number, offset in offsets.items()}


def limited(starts: dict[int, int], ends: dict[int, int], most: int) -> dict[int, int]:
    """Return ends that leave at most `most` records; partitions with few give to others."""
    waiting = {number: end - starts.get(number, 0) for number, end in ends.items()}
    taken: dict[int, int] = {}
    for left, number in zip(
        range(len(waiting), 0, -1), sorted(waiting, key=waiting.__getitem__), strict=True
    ):
        taken[number] = min(waiting[number], -(-most // left))
        most -= taken[number]
    return {number: starts.get(number, 0) + taken[number] for number in ends}
