"""Where rows come from: events and subscriptions as DataFrames.

    workload         made in the workers, each task its own stretch of numbers
    parquet, csv     a column per attribute
    json             a document a line, read by the library itself, so that it means the same

What the files hold but no row can be made of is put aside with its text and the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from fyke.errors import FykeError, shown
from fyke.pipeline.configuration import Files, Generated, Source
from fyke.spark.columns import need_names, quoted
from fyke.workloads.named import described
from fyke.workloads.workload import Workload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KEY: Final = "event"
TASK_ROWS: Final = 65_536
"""So many generated rows make a task."""
_DOCUMENT: Final = "value"
_BROKEN: Final = "_broken"
_SUBSCRIPTION: Final = "id string, filter string, dialect string, subscriber string"

Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True, slots=True)
class Events:
    """A frame of events: which column is the key, which hold attributes, or the JSON column.

    `broken` is a column with the text of rows that fit no schema, null for all others.
    """

    frame: DataFrame
    key: str
    attributes: tuple[str, ...] | None
    json: str | None = None
    broken: str | None = None


def events(session: SparkSession, source: Source) -> Events:
    """The events of a source."""
    if isinstance(source, Generated):
        return generated(_made(session, source, _event_table(source.workload)))
    assert source.key is not None
    if source.format == "json":
        return _documents(session, source, source.key)
    frame = _read(session, source, source.schema)
    need_names(frame, [source.key], str(source))
    return _in_columns(frame, source.key)


def generated(frame: DataFrame) -> Events:
    """Events that a workload made: their key is no attribute."""
    return _in_columns(frame, KEY, {KEY})


def _in_columns(frame: DataFrame, key: str, apart: Set[str] = frozenset()) -> Events:
    apart = {*apart, _BROKEN}
    names = tuple(name for name in frame.columns if name not in apart)
    return Events(frame, key, names, broken=_BROKEN if _BROKEN in frame.columns else None)


def subscriptions(session: SparkSession, source: Source, dialect: str) -> DataFrame:
    """Rows of id, filter, dialect and subscriber, `class` where there are classes, and `broken`.

    Without a subscriber, a subscription is its own.
    """
    from pyspark.sql import functions as f

    if isinstance(source, Generated):
        frame = _made(session, source, _subscription_table(source.workload)).withColumn(
            _BROKEN, f.lit(None).cast("string")
        )
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
    """The rows of a workload, by number."""
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


def _event_table(workload: Workload) -> _Table:
    return _Table(workload.description(), _numbered_events)


def _subscription_table(workload: Workload) -> _Table:
    return _Table(workload.description(), Workload.subscription_columns)


def _numbered_events(workload: Workload, count: int, start: int) -> pa.Table:
    numbers = pa.array(range(start, start + count), pa.int64())
    return workload.columns(count, start).combine_chunks().add_column(0, KEY, numbers)


# --- files ---------------------------------------------------------------------------------------


def _read(session: SparkSession, source: Files, schema: str | None) -> DataFrame:
    """What Spark's reader finds; rows that do not fit the schema keep their text."""
    from pyspark.errors import PySparkException

    reader = session.read.format(source.format).options(**source.options)
    if schema is not None:
        reader = reader.schema(f"{schema}, {_BROKEN} string")
        reader = reader.option("columnNameOfCorruptRecord", _BROKEN).option("mode", "PERMISSIVE")
    try:
        frame = reader.load(source.path)
        frame.schema  # noqa: B018 - over Spark Connect the files are looked at only now
    except PySparkException as refused:
        raise FykeError(f"{source} cannot be read: {str(refused).splitlines()[0]}") from None
    return frame


def _documents(session: SparkSession, source: Files, key: str) -> Events:
    """Lines of JSON, with the key beside them; the library reads the documents."""
    from pyspark.sql import functions as f

    lines = _read(session, Files("text", source.path, source.options), None)
    found = f.get_json_object(f.col(_DOCUMENT), f"$['{key}']")
    frame = lines.where(f.trim(_DOCUMENT) != "").select(found.alias(key), f.col(_DOCUMENT))
    if key == _DOCUMENT:
        raise FykeError(f"{source}: the key {shown(key)} is how Spark names the line; rename it")
    return Events(frame, key, None, json=_DOCUMENT)


def _subscription_files(session: SparkSession, source: Files) -> DataFrame:
    from pyspark.sql import functions as f

    if source.format != "parquet":
        return _read(session, source, _SUBSCRIPTION)
    frame = _read(session, source, None)
    need_names(frame, ["id", "filter"], str(source))
    wanted = ["id", "filter", "dialect", "subscriber"]
    columns = [f.col(quoted(name)) for name in wanted if name in frame.columns]
    return frame.select(*columns, f.lit(None).cast("string").alias(_BROKEN))
