"""Writing DataFrames to a log: tasks stage, the driver appends.

    staged/<job>-<task>         the values of a task, until its batch is appended

Tasks write their values to files of their own. When all of them are done, the values of all files
are appended together, which is one step: whole or not at all. A micro-batch that Spark repeats is
known by the id of the query, from its checkpoint, and its number, and not appended again. Files
that failed tasks and killed drivers have left are removed with the next batch.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from fyke.errors import FykeError, shown
from fyke.logs import partitions
from fyke.logs.log import Origin
from fyke.logs.partitions import Partitions

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

STAGED_S_MAX: Final = 7 * 24 * 3600
"""A job that takes longer than that from a task's end to its own is taken for dead."""
_STAGED: Final = "staged"
_SCHEME: Final = "file:"
_COLUMN: Final = pa.schema([("value", pa.string())])


def need_value(schema: StructType) -> None:
    """Raise FykeError unless there is one column of text."""
    found = ", ".join(f"{each.name} {each.dataType.simpleString()}" for each in schema.fields)
    if found != "value string":
        raise FykeError(f"a log takes rows (value string), not ({found})")


@dataclass
class StagedFile(WriterCommitMessage):
    """The file with the values of a task, and how many there must be."""

    file: str
    count: int


def opened(path: str, count: int | None) -> Partitions:
    """Return the log; make it if it is not there yet."""
    if count is None and partitions.exists(path):
        return Partitions.open(path)
    return Partitions.create(path, count or 1)


def stage(path: str, job: str, batches: Iterator[pa.RecordBatch]) -> StagedFile:
    """In a worker: keep the values of a task in a file."""
    folder = Path(path) / _STAGED
    folder.mkdir(exist_ok=True)
    file = folder / f"{job}-{secrets.token_hex(8)}"
    count = 0
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, _COLUMN) as out:
        for batch in batches:
            values = batch.column(0)
            if values.null_count:
                raise FykeError("a row without a value cannot be written to a log")
            out.write_batch(pa.RecordBatch.from_arrays([values.cast(pa.string())], schema=_COLUMN))
            count += len(values)
    return StagedFile(str(file), count)


def values_of(messages: list[Any]) -> list[str]:
    """Return the values that all tasks have staged."""
    values: list[str] = []
    for message in messages:
        if message is None:
            continue
        with pa.OSFile(message.file, "rb") as source:
            found = pa.ipc.open_file(source).read_all()["value"].to_pylist()
        if len(found) != message.count:
            raise FykeError(f"{message.file} holds {len(found)} values, not {message.count}")
        values += found
    return values


def sweep(path: str, job: str) -> None:
    """Remove what the tasks of a job have staged, and what nobody has touched for long."""
    old = time.time() - STAGED_S_MAX
    for file in (Path(path) / _STAGED).glob("*"):
        with suppress(FileNotFoundError):
            if file.name.startswith(f"{job}-") or file.stat().st_mtime < old:
                file.unlink()


class LogWriter(DataSourceArrowWriter):
    """Appends a DataFrame, once."""

    def __init__(self, path: str, count: int | None) -> None:
        self.path = path
        self.job = secrets.token_hex(8)
        self.count = opened(path, count).count

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedFile:
        return stage(self.path, self.job, iterator)

    def commit(self, messages: list[Any]) -> None:
        number = int(self.job, 16) % self.count
        Partitions(self.path, self.count).log(number).append(values_of(messages))
        sweep(self.path, self.job)

    def abort(self, messages: list[Any]) -> None:
        sweep(self.path, self.job)


class LogStreamWriter(DataSourceStreamArrowWriter):
    """Appends the micro-batches of a query, each once."""

    def __init__(
        self, path: str, count: int | None, checkpoint: str | None, writer: str | None
    ) -> None:
        if not (checkpoint or writer):
            raise FykeError(
                'give the query an .option("checkpointLocation", folder) of its own, or an '
                '.option("writer", name) that is its own for ever'
            )
        self.path = path
        self.checkpoint = checkpoint
        self.name = writer
        self.job = sha256(f"{writer} {checkpoint}".encode()).hexdigest()[:16]
        self.count = opened(path, count).count

    def write(self, iterator: Iterator[pa.RecordBatch]) -> StagedFile:
        return stage(self.path, self.job, iterator)

    def commit(self, messages: list[Any], batchId: int) -> None:
        origin = Origin(self._writer(), batchId)
        number = (crc32(origin.writer.encode()) + batchId) % self.count
        log = Partitions(self.path, self.count).log(number)
        log.append(values_of(messages), origin)
        sweep(self.path, self.job)

    def abort(self, messages: list[Any], batchId: int) -> None:
        sweep(self.path, self.job)

    def _writer(self) -> str:
        """Return the id of the query: a new checkpoint is another query, even in an old place."""
        if self.name is not None:
            return self.name
        file = Path(str(self.checkpoint).removeprefix(_SCHEME)) / "metadata"
        try:
            return str(json.loads(file.read_text("utf-8"))["id"])
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise FykeError(
                f"the query's id cannot be read from its checkpoint ({shown(error)}); give it an "
                '.option("writer", name) that is its own for ever'
            ) from None
