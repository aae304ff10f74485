"""Staging: attributes from the most general to the most special, and which of them a stage keeps.

The most general attribute splits events into few large classes, the most special one into many
small ones. Where subscribers stand at stage 0 and events come in at the last stage, each stage
weakens filters to fewer attributes, the most general ones:

    stages(distribution, 3)     0: year, conference, author, title
                                1: year, conference, author
                                2: year, conference
                                3: year

A stage filters nothing by what a subscription does not read. With `subscriptions`, attributes that
more of them read stay longer (`routing/stages/generality`). Events of different types have other
attributes: `stages_by_type` looks at each type by itself, and at the subscriptions to it.
Cost. A job for each type; what comes to the driver is a row for each attribute.
Source. MSF-17, MSF-19.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Unpack

import pyarrow as pa

from fyke.errors import FykeError, shown
from fyke.filters.filter import walk
from fyke.filters.predicate import Predicate
from fyke.routing.stages.attributes import Stages, classes_of
from fyke.routing.stages.generality import Generality, in_order, stages_of
from fyke.spark.columns import need_columns, quoted
from fyke.spark.statistics.distributions import distribution
from fyke.spark.statistics.filters import read_filters
from fyke.spark.statistics.source import Options
from fyke.spark.versions.compiling import subscription_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.columns import Batches

TYPES_MAX: Final = 1_000
"""Each type takes a job."""
_NEEDED: Final = {
    "attribute": "string",
    "share": "double",
    "distinct": "bigint",
    "agreement": "double",
}
_READS: Final = pa.schema(
    [("type", pa.string()), ("attribute", pa.string()), ("subscriptions", pa.int64())]
)
_READS_DDL: Final = "type string, attribute string, subscriptions long"
_TYPE: Final = "type"


def generality(distribution: DataFrame, attributes: Sequence[str] | None = None) -> DataFrame:
    """Return position (from 0, most general first), attribute, agreement, distinct, share."""
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
    distribution: DataFrame,
    count: int,
    attributes: Sequence[str] | None = None,
    *,
    subscriptions: DataFrame | None = None,
    dialect: str = "fyke",
) -> DataFrame:
    """Return stage (0 to `count`) and the attributes that it keeps, the longest kept first.

    Stage 0 keeps all, and every stage some of those of the one before, the last at least one.
    """
    _check_count(count)
    reads = None if subscriptions is None else _Reads(subscriptions, dialect).of_all()
    kept = _kept(generality(distribution, attributes), count, reads)
    session = distribution.sparkSession
    rows = [(stage, list(names)) for stage, names in enumerate(kept)]
    return session.createDataFrame(rows, "stage int, attributes array<string>").coalesce(1)


def stages_by_type(
    events: DataFrame,
    count: int,
    *,
    subscriptions: DataFrame | None = None,
    dialect: str = "fyke",
    **options: Unpack[Options],
) -> DataFrame:
    """Return type, stage and the attributes that it keeps, of each value of the column `type`.

    With `subscriptions` (id, filter[, dialect]), attributes that more of those to a type read stay
    longer; one that names no type counts for all.
    """
    from pyspark.sql import functions as f

    _check_count(count)
    need_columns(events, {_TYPE: "string"}, "events")
    names = events.select(_TYPE).where(f.isnotnull(_TYPE)).distinct().limit(TYPES_MAX + 1)
    types = sorted(row[_TYPE] for row in names.collect())
    if len(types) > TYPES_MAX:
        raise FykeError(f"more than {TYPES_MAX:,} types; give the distribution of each to `stages`")
    counted = None if subscriptions is None else _Reads(subscriptions, dialect)
    rows: list[tuple[str, int, list[str]]] = []
    for name in types:
        of_type = events.where(f.col(quoted(_TYPE)) == f.lit(name))
        found = distribution(of_type, top=0, quantiles=(), **options)
        facts = generality(found.where(f.col("attribute") != _TYPE))
        reads = None if counted is None else counted.of_type(name)
        kept = _kept(facts, count, reads)
        rows += [(name, stage, list(attributes)) for stage, attributes in enumerate(kept)]
    schema = "type string, stage int, attributes array<string>"
    return events.sparkSession.createDataFrame(rows, schema).coalesce(1)


def _check_count(count: int) -> None:
    if type(count) is not int or count < 0:
        raise FykeError(f"count={shown(count)}; expected a whole number from 0 on")


def _kept(facts: DataFrame, count: int, reads: Mapping[str, float] | None) -> Stages:
    rows = facts.select("attribute", "agreement", "distinct").collect()
    known = {row["attribute"]: Generality(row["agreement"], row["distinct"]) for row in rows}
    return stages_of(in_order(known, reads), count)


def _names(attributes: Sequence[str]) -> list[str]:
    if isinstance(attributes, str) or not all(isinstance(name, str) for name in attributes):
        raise FykeError(f"attributes={shown(attributes)}; expected a list of names")
    return list(attributes)


# --- what subscriptions read ----------------------------------------------------------------------


class _Reads:
    """Counts how many subscriptions to each type read which attribute."""

    def __init__(self, subscriptions: DataFrame, dialect: str) -> None:
        from pyspark.sql import functions as f

        table = subscription_rows(subscriptions, dialect).mapInArrow(_count_reads, _READS_DDL)
        summed = table.groupBy("type", "attribute").agg(f.sum("subscriptions").alias("count"))
        self._counts: dict[str | None, Counter[str | None]] = {}
        for row in summed.collect():
            self._counts.setdefault(row["type"], Counter())[row["attribute"]] += row["count"]

    def of_type(self, name: str) -> dict[str, float]:
        """Return the shares of the subscriptions to a type that read each attribute."""
        return _shares(self._counts.get(name, Counter()) + self._counts.get(None, Counter()))

    def of_all(self) -> dict[str, float]:
        return _shares(sum(self._counts.values(), Counter()))


def _shares(counts: Counter[str | None]) -> dict[str, float]:
    total = counts[None]
    return {name: count / total for name, count in counts.items() if name is not None}


def _count_reads(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Count, in a worker, the filters that read an attribute, by type; null is all, or any type."""
    counts: Counter[tuple[str | None, str | None]] = Counter()
    for _, filter in read_filters(batches):
        read = {each.attribute for each in walk(filter) if isinstance(each, Predicate)} - {_TYPE}
        for name in classes_of(filter) or (None,):
            counts.update([(name, None), *((name, each) for each in read)])
    rows = [
        {"type": name, "attribute": attribute, "subscriptions": count}
        for (name, attribute), count in counts.items()
    ]
    yield pa.RecordBatch.from_pylist(rows, _READS)
