"""Sinks: where the rows of a micro-batch go.

Spark repeats a batch when the driver died before the batch was noted as done. A sink that knows
which batches it has published is told of each only once; one that can tell which rows it has is
asked to complete the batch.

    FolderSink      a folder batch=12 for batch 12, whole or not there
    UriSink         the same in any place that Spark writes, with manifests (uri_sink.py)
    KafkaSink       a message per row; of a repeated batch, what the topic does not have (kafka.py)
    a function      called with the rows and the number of the batch, for whatever else
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

import pyarrow.parquet as pq

from fyke.durable import make_folder, publish_folder, write_whole
from fyke.errors import FykeError, shown
from fyke.spark.sessions.connect import shares_disk
from fyke.spark.uri_sink import BATCH, UriSink, check_columns
from fyke.spark.versions.places import absolute, is_address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_OWNER: Final = "_stream.json"
_STAGING: Final = "_staging-"


@runtime_checkable
class Sink(Protocol):
    """Takes the rows of one batch after the other.

    `is_atomic` says that `write` publishes a batch whole or not at all, and that `has` tells
    whether it did. Then no row is lost or doubled; otherwise rows may be doubled after a crash,
    unless the sink is also `Completing`.
    """

    @property
    def is_atomic(self) -> bool: ...

    def claim(self, stream: str, columns: list[str]) -> Sink | None:
        """Take the id of the stream and the columns to come. Called once before it starts.

        The sink that is to be used for this stream, if it is another one.
        """

    def has(self, batch: int) -> bool: ...

    def write(self, rows: DataFrame, batch: int) -> None: ...


@runtime_checkable
class Completing(Protocol):
    """A sink that knows which rows of a batch it has."""

    def complete(self, rows: DataFrame, batch: int, begun: float) -> None:
        """Complete a batch that may have been written in part. Called instead of `write`.

        It was begun at that time (seconds since 1970), and the rows are those of then.
        """


def publish(sink: Sink, rows: DataFrame, batch: int, begun: float | None) -> None:
    """Write a batch that is new, or complete one that was begun before."""
    if begun is not None and isinstance(sink, Completing):
        sink.complete(rows, batch, begun)
    else:
        sink.write(rows, batch)


def sink_of(given: object, what: str) -> Sink:
    """Return a path, a function or a sink as a sink."""
    if isinstance(given, str | Path):
        path = absolute(given)
        return UriSink(path.rstrip("/")) if is_address(path) else FolderSink(path)
    if isinstance(given, Sink):
        return given
    if callable(given):
        return FunctionSink(given)
    raise FykeError(f"{what}={shown(given)}; expected a path, a sink or a function")


@dataclass(frozen=True, slots=True)
class FolderSink:
    """Files, a folder per batch; Spark reads all of them as one table.

    Batches are known by their number, so that a folder belongs to the one stream that counts them.
    """

    path: str
    format: str = "parquet"

    @property
    def is_atomic(self) -> bool:
        return True

    def claim(self, stream: str, columns: list[str]) -> None:
        check_columns(columns)
        owner = Path(self.path) / _OWNER
        try:
            make_folder(owner.parent)
            if not owner.exists():
                self._check_empty()
                write_whole(owner, json.dumps({"stream": stream}))
            found = json.loads(owner.read_text("utf-8"))["stream"]
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise FykeError(f"{self.path} cannot be used as a sink: {shown(error)}") from None
        if found != stream:
            raise FykeError(
                f"{self.path} holds the batches of another stream; go on with that one's "
                "checkpoint, or choose another folder"
            )

    def _check_empty(self) -> None:
        if any(Path(self.path).iterdir()):
            raise FykeError(f"{self.path} exists and is no sink; nothing was written")

    def has(self, batch: int) -> bool:
        return self.folder(batch).exists()

    def write(self, rows: DataFrame, batch: int) -> None:
        self._sweep()
        # Named anew each time: the JVM of a driver that was killed may still write to its own.
        staging = Path(self.path) / f"{_STAGING}{batch}-{secrets.token_hex(8)}"
        self._save(rows, staging)
        try:
            publish_folder(staging, self.folder(batch))
        except OSError as error:
            if not self.has(batch):
                raise FykeError(f"batch {batch} cannot be published: {error}") from None

    def _save(self, rows: DataFrame, staging: Path) -> None:
        """Write rows; FykeError if this process does not find all of them in the folder.

        Workers that do not share the folder would write to one of their own, and say nothing.
        """
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        if shares_disk(rows.sparkSession):
            rows.write.format(self.format).save(str(staging))
            return
        passing = Observation()
        rows = rows.observe(passing, f.count("*").alias("rows"))
        rows.write.format(self.format).save(str(staging))
        written, found = passing.get["rows"], _rows_in(staging, self.format)
        if written != found:
            raise FykeError(
                f"of {written:,} rows that workers wrote to {self.path}, {found:,} are there: "
                "some worker does not see that folder; name one that the driver and all workers see"
            )

    def folder(self, batch: int) -> Path:
        """Return where a batch lies, once it is published."""
        return Path(self.path) / f"{BATCH}={batch}"

    def _sweep(self) -> None:
        for stale in Path(self.path).glob(f"{_STAGING}*"):
            shutil.rmtree(stale, ignore_errors=True)


def _rows_in(folder: Path, format: str) -> int:
    """Return how many rows Spark has written to a folder, as Parquet or as lines of text."""
    files = [file for file in folder.glob("part-*") if file.is_file()]
    if format == "parquet":
        return sum(pq.read_metadata(file).num_rows for file in files)
    return sum(file.read_bytes().count(b"\n") for file in files)


@dataclass(frozen=True, slots=True)
class FunctionSink:
    """A sink that calls a function, which sees a repeated batch again, under the same number."""

    function: Callable[[DataFrame, int], object]

    @property
    def is_atomic(self) -> bool:
        return False

    def claim(self, stream: str, columns: list[str]) -> None: ...

    def has(self, batch: int) -> bool:
        return False

    def write(self, rows: DataFrame, batch: int) -> None:
        self.function(rows, batch)
