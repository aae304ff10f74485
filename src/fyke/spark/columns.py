"""Columns of DataFrames: are they there, are they of the right type, and how workers get them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fyke.errors import FykeError, shown

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    Batches = Iterable[pa.RecordBatch]
    Work = Callable[[Batches], Iterator[pa.RecordBatch]]


def need_frame(frame: object, what: str) -> None:
    """Raise FykeError unless it is a DataFrame, of a session of our own or over Spark Connect."""
    from pyspark.sql import DataFrame

    if not isinstance(frame, DataFrame):
        raise FykeError(f"{what}: expected a Spark DataFrame, not {type(frame).__name__}")


def need_names(frame: DataFrame, names: Iterable[str], what: str) -> list[str]:
    """Return the names; FykeError unless the frame has one column for each."""
    need_frame(frame, what)
    twice = [name for name, count in Counter(frame.columns).items() if count > 1]
    if twice:
        raise FykeError(f"{what}: several columns are named {shown(twice[0])}; rename them first")
    names = list(names)
    for name in names:
        if name not in frame.columns:
            known = ", ".join(map(shown, frame.columns))
            raise FykeError(f"{what}: there is no column {shown(name)}; there are {known}")
    return names


def need_columns(frame: DataFrame, types: Mapping[str, str], what: str) -> None:
    """Raise FykeError unless the frame has these columns, of these types (`simpleString`)."""
    need_names(frame, types, what)
    for name, type in types.items():
        found = frame.schema[name].dataType.simpleString()
        if found != type:
            raise FykeError(f"{what}: the column {shown(name)} is {found}; expected {type}")


def arrow_schema(frame: DataFrame) -> pa.Schema:
    """Return the types in which workers get the columns."""
    import pyarrow as pa
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type
    from pyspark.sql.types import StructField

    def field(column: StructField) -> Any:
        try:
            return pa.field(column.name, to_arrow_type(column.dataType, timezone="UTC"))
        except PySparkException:
            kind = column.dataType.simpleString()
            raise FykeError(
                f"the column {shown(column.name)} is {kind}, which has no meaning in events; "
                "leave it out, or cast it"
            ) from None

    return pa.schema([field(column) for column in frame.schema.fields])


def map_batches(frame: DataFrame, names: list[str], work: Work, schema: StructType) -> DataFrame:
    """Return what workers make of some columns, batch by batch.

    `mapInArrow` stumbles over dots and backticks in names, so columns travel under plain ones.
    """
    from pyspark.sql import functions as f

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        yield from work(batch.rename_columns(names) for batch in batches)

    plain = [f.col(quoted(name)).alias(f"c{at}") for at, name in enumerate(names)]
    return frame.select(*plain).mapInArrow(run, schema)


def quoted(name: str) -> str:
    """Return a column's name as Spark's functions take it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
