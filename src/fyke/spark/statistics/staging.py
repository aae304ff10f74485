"""Staging: attributes from the most general to the most special, and which of them a stage keeps.

The most general attribute splits events into few large classes, the most special one into many
small ones. Where subscribers stand at stage 0 and events come in at the last stage, each stage
weakens filters to fewer attributes, the most general ones:

    stages(distribution, 3)     0: year, conference, author, title
                                1: year, conference, author
                                2: year, conference
                                3: year

Events of different types have different attributes: give the distribution of one type.
Source. MSF-17, MSF-19.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError, shown
from fyke.spark.columns import need_columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NEEDED: Final = {
    "attribute": "string",
    "share": "double",
    "distinct": "bigint",
    "agreement": "double",
}


def generality(distribution: DataFrame, attributes: Sequence[str] | None = None) -> DataFrame:
    """position (from 0, most general first), attribute, agreement, distinct, share."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    need_columns(distribution, _NEEDED, "distribution")
    if attributes is not None:
        distribution = distribution.where(f.col("attribute").isin(_names(attributes)))
    order = Window.partitionBy(f.lit(0)).orderBy(f.desc("agreement"), "distinct", "attribute")
    position = (f.row_number().over(order) - 1).alias("position")
    found = distribution.select(position, "attribute", "agreement", "distinct", "share")
    return found.orderBy("position")


def stages(
    distribution: DataFrame, count: int, attributes: Sequence[str] | None = None
) -> DataFrame:
    """stage (0 to `count`) and the attributes that it keeps, most general first.

    Stage 0 keeps all, and every stage some of those of the one before, the last at least one.
    """
    if type(count) is not int or count < 0:
        raise FykeError(f"count={shown(count)}; expected a whole number from 0 on")
    rows = generality(distribution, attributes).select("attribute").collect()
    names = [row["attribute"] for row in rows]
    kept = [(stage, names[: _kept(len(names), stage, count)]) for stage in range(count + 1)]
    session = distribution.sparkSession
    return session.createDataFrame(kept, "stage int, attributes array<string>").coalesce(1)


def _kept(attributes: int, stage: int, last: int) -> int:
    """In even steps, rounded up."""
    return -(-attributes * (last + 1 - stage) // (last + 1))


def _names(attributes: Sequence[str]) -> list[str]:
    if isinstance(attributes, str) or not all(isinstance(name, str) for name in attributes):
        raise FykeError(f"attributes={shown(attributes)}; expected a list of names")
    return list(attributes)
