"""Batches by URI: rows of a stream in any place that Spark writes, each batch once and whole.

    _stream/                            the stream whose batches lie here
    _attempts/batch=12/attempt=a5f0c/   rows that somebody wrote, whole or not
    _batches/batch=12/attempt=a5f0c/    a manifest: these rows are batch 12

Idea. An object store has no rename, so rows are written under a name of their own, and a manifest
that comes last makes them count. All of it goes through Spark, which has the connectors and the
passwords; nothing is asked of this process. Names with an underscore are hidden from Spark's
readers: who reads the place as a folder finds nothing, instead of rows that do not count.
Invariant. A batch that is done again sees the same version and the same events. So if a driver that
was thought to be dead publishes its attempt as well, both hold the same rows, and any one counts.
What it rests on. The place lists what was written at once, as all object stores do today.
Cost. A small job to look for a manifest and one to write it, for each batch; attempts that do not
count stay until somebody removes them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fyke.errors import FykeError, shown
from fyke.spark.sessions.reasons import reason
from fyke.spark.versions.places import joined, told

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BATCH: Final = "batch"
"""The column that reading batches adds."""
_ATTEMPT: Final = "attempt"
_ATTEMPTS: Final = "_attempts"
_MANIFESTS: Final = "_batches"
_OWNER: Final = "_stream"


@dataclass(frozen=True, slots=True)
class UriSink:
    """A place by URI, written by Spark; `read_batches` gives its rows."""

    address: str
    format: str = "parquet"

    @property
    def is_atomic(self) -> bool:
        return True

    def claim(self, stream: str, columns: list[str]) -> None:
        """Write down whose batches lie here; FykeError if they are those of another stream."""
        check_columns(columns)
        session = _session()
        with _troubles(self.address, "used as a sink"):
            if not read_documents(session, self._at(_OWNER, "*")):
                if _has_files(session, self.address):
                    raise FykeError(f"{told(self.address)} exists and is no sink")
                write_document(session, self._at(_OWNER, stream), {"stream": stream})
            owners = {each.get("stream") for each in read_documents(session, self._at(_OWNER, "*"))}
        if owners != {stream}:
            raise FykeError(
                f"{told(self.address)} holds the batches of another stream; go on with that one's "
                "checkpoint, or choose another place"
            )

    def has(self, batch: int) -> bool:
        with _troubles(self.address, "read"):
            return bool(read_documents(_session(), self._at(_MANIFESTS, f"{BATCH}={batch}", "*")))

    def write(self, rows: DataFrame, batch: int) -> None:
        """Write the rows under a new name, then the manifest."""
        attempt = f"a{secrets.token_hex(8)}"
        names = f"{BATCH}={batch}", f"{_ATTEMPT}={attempt}"
        with _troubles(self.address, "written to"):
            rows.write.format(self.format).save(self._at(_ATTEMPTS, *names))
            document = {BATCH: batch, _ATTEMPT: attempt}
            write_document(rows.sparkSession, self._at(_MANIFESTS, *names), document)

    def rows(self, session: SparkSession) -> DataFrame:
        """Return the rows of all batches that are published, with their number."""
        with _troubles(self.address, "read"):
            found = read_documents(session, self._at(_MANIFESTS, "*", "*"))
            if not found:
                raise FykeError(f"{told(self.address)} holds no batch of a stream")
            published = sorted(((each[BATCH], each[_ATTEMPT]) for each in found), reverse=True)
            paths = [
                self._at(_ATTEMPTS, f"{BATCH}={batch}", f"{_ATTEMPT}={attempt}")
                for batch, attempt in dict(published).items()  # the first of each batch
            ]
            reader = session.read.option("basePath", self._at(_ATTEMPTS)).format(self.format)
            return reader.load(paths).drop(_ATTEMPT)

    def _at(self, *names: str) -> str:
        return joined(self.address, *names)


def read_batches(session: SparkSession, address: str, format: str = "parquet") -> DataFrame:
    """Return the rows that a stream has published to a URI, with the column `batch`."""
    return UriSink(address.rstrip("/"), format).rows(session)


def check_columns(names: list[str]) -> None:
    """Raise FykeError if the rows have the column that reading adds."""
    if any(name.casefold() == BATCH for name in names):
        raise FykeError(
            f"the rows have a column {shown(BATCH)}, which a folder of batches adds; rename "
            "it, or choose other columns with key="
        )


# --- small files through Spark -------------------------------------------------------------------


def write_document(session: SparkSession, address: str, document: dict[str, Any]) -> None:
    """Write a JSON document as the only line of a new folder."""
    text = session.createDataFrame([(json.dumps(document),)], "value string")
    text.coalesce(1).write.text(address)


def read_documents(session: SparkSession, pattern: str) -> list[dict[str, Any]]:
    """Return the documents in folders; one that is not whole yet is left out."""
    from pyspark.errors import AnalysisException

    try:
        lines = [row[0] for row in session.read.text(pattern).collect()]
    except AnalysisException as error:
        if _is_absent(error):
            return []
        raise
    return [found for found in map(_document, lines) if found is not None]


def _document(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _has_files(session: SparkSession, address: str) -> bool:
    from pyspark.errors import AnalysisException

    files = session.read.format("binaryFile").option("recursiveFileLookup", True)
    try:
        return not files.load(address).select("path").isEmpty()
    except AnalysisException as error:
        if _is_absent(error):
            return False
        raise


def _is_absent(error: Any) -> bool:
    return bool(error.getCondition() == "PATH_NOT_FOUND")


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    return SparkSession.active()


@contextmanager
def _troubles(address: str, what: str) -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise FykeError(f"{told(address)} cannot be {what}: {reason(str(error))}") from None
