"""Filters: the subscriptions of a DataFrame, read in workers, and what they are made of.

predicates(subscriptions)   a row per distinct predicate:
    predicate               its text, which parses to it
    attribute               what it speaks about; null for what only a dialect understands
    subscriptions           how many subscriptions have it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from fyke.errors import FilterError, FykeError, shown
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import Predicate
from fyke.filters.residual import Residual
from fyke.spark.versions.compiling import subscription_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.columns import Batches

PREDICATES_HELD_MAX: Final = 200_000
"""Predicates that a worker holds before it hands on what it has counted."""
_PREDICATES: Final = pa.schema(
    [("predicate", pa.string()), ("attribute", pa.string()), ("subscriptions", pa.int64())]
)
_PREDICATES_DDL: Final = "predicate string, attribute string, subscriptions long"


def predicates(subscriptions: DataFrame, *, dialect: str = "fyke") -> DataFrame:
    """Return the table that the module describes, of a table (id, filter[, dialect])."""
    from pyspark.sql import functions as f

    table = subscription_rows(subscriptions, dialect)
    counts = table.mapInArrow(_predicates, _PREDICATES_DDL)
    return counts.groupBy("predicate", "attribute").agg(
        f.sum("subscriptions").alias("subscriptions")
    )


def read_filters(batches: Batches) -> Iterator[tuple[str, Filter]]:
    """In a worker: yield ids and filters; FykeError names one that cannot be read."""
    for batch in batches:
        for row in batch.to_pylist():
            yield row["id"], _read(row)


def _read(row: dict[str, Any]) -> Filter:
    if row["id"] is None or row["filter"] is None:
        raise FykeError(f"a subscription is null: id {shown(row['id'])}")
    try:
        return parse(row["filter"], row["dialect"])
    except FilterError as refused:
        raise FykeError(
            f"the subscription {shown(row['id'])} cannot be read: {refused}; fyke.spark.compile "
            "lists all that cannot"
        ) from None


def leaves(filter: Filter) -> set[Filter]:
    """Return the distinct predicates of a filter, residuals among them."""
    return {leaf for leaf in walk(filter) if isinstance(leaf, Predicate | Residual)}


def attribute_of(leaf: Filter) -> str | None:
    return leaf.attribute if isinstance(leaf, Predicate) else None


def _predicates(batches: Batches) -> Iterator[pa.RecordBatch]:
    counts: Counter[Filter] = Counter()
    for _, filter in read_filters(batches):
        counts.update(leaves(filter))
        if len(counts) > PREDICATES_HELD_MAX:
            yield _counted(counts.items())
            counts.clear()
    yield _counted(counts.items())


def _counted(counts: Iterable[tuple[Filter, int]]) -> pa.RecordBatch:
    rows = [
        {"predicate": str(leaf), "attribute": attribute_of(leaf), "subscriptions": count}
        for leaf, count in counts
    ]
    return pa.RecordBatch.from_pylist(rows, _PREDICATES)
