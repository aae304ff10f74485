"""Refusals: the subscriptions of a version that could not be read, as Parquet beside its shards."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from fyke.spark.sessions.connect import shares_disk

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

REFUSAL: Final = [
    ("id", pa.string()),
    ("filter", pa.string()),
    ("dialect", pa.string()),
    ("reason", pa.string()),
]
_SCHEMA: Final = pa.schema(REFUSAL)
_ROWS_MAX: Final = 10_000
"""Refusals are written as soon as this many wait."""


class Report:
    """Writes refusals to a folder, as they come."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.rows = 0
        self._waiting: list[dict[str, Any]] = []
        self._writer = pq.ParquetWriter(folder / "part-00000.parquet", _SCHEMA)

    def __enter__(self) -> Report:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._write()
        self._writer.close()

    def add(self, row: Row) -> None:
        self.rows += 1
        self._waiting.append({name: row[name] for name in _SCHEMA.names})
        if len(self._waiting) >= _ROWS_MAX:
            self._write()

    def _write(self) -> None:
        self._writer.write_table(pa.Table.from_pylist(self._waiting, _SCHEMA))
        self._waiting = []


def refusals(folder: Path, session: SparkSession) -> DataFrame:
    """Return the refusals in a folder: id, filter, dialect and the reason."""
    if shares_disk(session):
        return session.read.parquet(str(folder)).select(*_SCHEMA.names)
    return session.createDataFrame(pq.read_table(folder, columns=_SCHEMA.names))
