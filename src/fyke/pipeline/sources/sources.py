"""Sources of rows: events and subscriptions as DataFrames.

    workload         made in the workers, each task its own stretch of numbers
    parquet, csv     a column per attribute
    json             a document a line, read by the library itself, so that it means the same

What the files hold but no row can be made of is put aside with its text and the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from fyke.errors import FykeError, shown
from fyke.pipeline.sources.origins import Files, Generated, Log, Source, Topic
from fyke.spark.columns import need_names, quoted
from fyke.spark.generating import NUMBER, numbered
from fyke.workloads.named import described
from fyke.workloads.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.readwriter import DataFrameReader
    from pyspark.sql.streaming.readwriter import DataStreamReader

TASK_ROWS: Final = 65_536
"""The generated rows of a task."""
DOCUMENT: Final = "value"
_BROKEN: Final = "_broken"
_SUBSCRIPTION: Final = "id string, filter string, dialect string, subscriber string"

Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of rows: the column of the key, those of attributes, or the JSON column.

    `broken` is a column with the text of rows that fit no schema, null for all others.
    """

    key: str
    attributes: tuple[str, ...] | None
    json: str | None = None
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class Events:
    """A frame of events, and how to read it."""

    frame: DataFrame
    shape: Shape


def events(session: SparkSession, source: Source) -> Events:
    """Return the events of a source."""
    if isinstance(source, Generated):
        return generated(_made(session, source, _Table(source.workload.description(), numbered)))
    if source.format == "json":
        return documents(lines(session.read, source), source)
    return in_columns(read(session.read, source, source.schema), source)


def generated(frame: DataFrame) -> Events:
    """Read events that a workload made: their key is no attribute."""
    return _columns(frame, NUMBER, {NUMBER})


def in_columns(frame: DataFrame, source: Files) -> Events:
    """Read events with a column per attribute, the key too."""
    assert source.key is not None
    need_names(frame, [source.key], str(source))
    return _columns(frame, source.key)


def documents(rows: DataFrame, source: Files | Log | Topic) -> Events:
    """Read documents in the column `value`, as they are, with the key beside them.

    The library reads the documents, as bytes: other bytes than UTF-8 are refused like any mistake.
    """
    from pyspark.sql import functions as f

    key = source.key
    if key is None or key == DOCUMENT:
        raise FykeError(f"{source}: the key {shown(key)} is how Spark names the line; rename it")
    text = f.make_valid_utf8(f.col(DOCUMENT).cast("string"))
    found = f.get_json_object(text, f"$['{key}']")
    frame = rows.select(found.alias(key), f.col(DOCUMENT).cast("binary").alias(DOCUMENT))
    return Events(frame, Shape(key, None, json=DOCUMENT))


def _columns(frame: DataFrame, key: str, apart: Set[str] = frozenset()) -> Events:
    apart = {*apart, _BROKEN}
    names = tuple(name for name in frame.columns if name not in apart)
    broken = _BROKEN if _BROKEN in frame.columns else None
    return Events(frame, Shape(key, names, broken=broken))


def subscriptions(session: SparkSession, source: Source, dialect: str) -> DataFrame:
    """Read rows of id, filter, dialect, subscriber, `broken`, and `class` if there are classes.

    Without a subscriber, a subscription is its own.
    """
    from pyspark.sql import functions as f

    if isinstance(source, Generated):
        frame = _made(
            session, source, _Table(source.workload.description(), Workload.subscription_columns)
        ).withColumn(_BROKEN, f.lit(None).cast("string"))
    else:
        frame = _subscription_files(session, source)
    others = {"dialect": f.lit(dialect), "subscriber": f.col("id")}
    filled = [
        (f.coalesce(f.col(name), other) if name in frame.columns else other).alias(name)
        for name, other in others.items()
    ]
    classes = [
        name for name in ("class",) if isinstance(source, Generated) and name in frame.columns
    ]
    return frame.select("id", "filter", *filled, *classes, f.col(_BROKEN).alias("broken"))


# --- workloads -----------------------------------------------------------------------------------


def _made(session: SparkSession, source: Generated, table: _Table) -> DataFrame:
    """Return the rows of a workload, by number."""
    from pyspark.sql.pandas.types import from_arrow_schema

    tasks = -(-source.count // TASK_ROWS)
    numbers = session.range(0, source.count, 1, max(tasks, 2))
    return numbers.mapInArrow(table.rows, from_arrow_schema(table.piece(0, 0).schema))


@dataclass(frozen=True, slots=True)
class _Table:
    """Stretches of a workload's rows, made from its description in any process."""

    description: dict[str, Any]
    columns: Callable[[Workload, int, int], pa.Table]

    def rows(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield from self.piece(batch.num_rows, batch.column(0)[0].as_py()).to_batches()

    def piece(self, count: int, start: int) -> pa.Table:
        return self.columns(described(self.description), count, start)


# --- files ---------------------------------------------------------------------------------------


def read(
    reader: DataFrameReader | DataStreamReader, source: Files, schema: str | None
) -> DataFrame:
    """Read files with Spark; rows that do not fit the schema keep their text."""
    from pyspark.errors import PySparkException

    reader = reader.format(source.format).options(**source.options)
    if schema is not None and source.format != "parquet":
        reader = reader.schema(f"{schema}, {_BROKEN} string")
        reader = reader.option("columnNameOfCorruptRecord", _BROKEN).option("mode", "PERMISSIVE")
    elif schema is not None:
        reader = reader.schema(schema)
    try:
        frame = reader.load(source.path)
        frame.schema  # noqa: B018 - over Spark Connect the files are looked at only now
    except PySparkException as refused:
        raise FykeError(f"{source} cannot be read: {str(refused).splitlines()[0]}") from None
    return frame


def lines(reader: DataFrameReader | DataStreamReader, source: Files) -> DataFrame:
    """Return the lines of files that hold documents."""
    from pyspark.sql import functions as f

    found = read(reader, replace(source, format="text"), None)
    return found.where(f.trim(DOCUMENT) != "")


def _subscription_files(session: SparkSession, source: Files) -> DataFrame:
    from pyspark.sql import functions as f

    if source.format != "parquet":
        return read(session.read, source, _SUBSCRIPTION)
    frame = read(session.read, source, None)
    need_names(frame, ["id", "filter"], str(source))
    wanted = ["id", "filter", "dialect", "subscriber"]
    columns = [f.col(quoted(name)) for name in wanted if name in frame.columns]
    return frame.select(*columns, f.lit(None).cast("string").alias(_BROKEN))
