"""Redundancy: subscriptions that say the same, and subscriptions that another one covers.

    duplicates(subscriptions)   a row per subscription that repeats another:
        subscription            its id
        first                   the least id of those with an equal filter, up to the order of
                                operands, repetition and where `not` stands

    coverings(subscriptions)    a row per pair of different filters of which one covers the other:
        wide, narrow            the least ids that have these filters: wide accepts whatever
                                narrow accepts

Idea. Who covers waits at places where whatever it covers asks (`places`), of several at those where
the fewest do. Where few wait, all are tried; where many do, an index of covering says which.
Invariant. Every pair is proved (`filters.covering`). A pair can be missed only where that proof
gives up, or where a filter implies a value that it does not name.
Cost. A place is the work of one task: a question to an index per subscription that asks there, and
the pairs that are found. They are passed on as they are found, however many.
Never. A filter that accepts nothing is covered by all; it is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from fyke.filters.algebra.covering import covers, is_never_true
from fyke.filters.algebra.subsumption import COVERING_BUDGET
from fyke.filters.analysis import canonical_form
from fyke.filters.covering_index.covering_index import CoveringIndex
from fyke.filters.filter import Filter
from fyke.filters.language.parser import parse_text
from fyke.spark.statistics.filters import read_filters
from fyke.spark.statistics.places import asked, waited
from fyke.spark.versions.compiling import subscription_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.columns import Batches

_FEW: Final = 16
"""Up to this many filters that wait are tried one by one."""
_ROWS_MAX: Final = 10_000


def duplicates(subscriptions: DataFrame, *, dialect: str = "fyke") -> DataFrame:
    """Return the first table that the module describes."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    forms = _forms(subscriptions, dialect)
    first = f.min("id").over(Window.partitionBy("form"))
    found = forms.select(f.col("id").alias("subscription"), first.alias("first"))
    return found.where("subscription != first")


def coverings(subscriptions: DataFrame, *, dialect: str = "fyke") -> DataFrame:
    """Return the second table that the module describes."""
    from pyspark.sql import functions as f

    forms = _forms(subscriptions, dialect)
    distinct = forms.groupBy("form").agg(f.min("id").alias("id")).select("id", "form")
    asking = distinct.mapInArrow(_asking, "id string, form string, place string")
    crowds = asking.groupBy("place").agg(f.count("*").alias("crowd"))
    waiting = _waiting(distinct, crowds).select("*", f.lit(True).alias("waits"))
    heard = asking.join(waiting.select("place").distinct(), "place", "left_semi")
    both = waiting.unionByName(heard.select("*", f.lit(False).alias("waits")))
    dealt = both.repartition("place").sortWithinPartitions("place", f.desc("waits"))
    needed = dealt.select("place", "waits", "id", "form")
    found = needed.mapInArrow(_covering, "wide string, narrow string")
    return found.dropDuplicates(["wide", "narrow"])


def _waiting(distinct: DataFrame, crowds: DataFrame) -> DataFrame:
    """Return id, form, and the places of the clause where the fewest ask."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    places = distinct.mapInArrow(_places, "id string, form string, clause string, place string")
    known = places.join(crowds, "place")
    crowd = f.sum("crowd").over(Window.partitionBy("id", "clause"))
    emptiest = Window.partitionBy("id").orderBy("crowded", "clause")
    ranked = known.select("*", crowd.alias("crowded")).select(
        "*", f.dense_rank().over(emptiest).alias("rank")
    )
    return ranked.where("rank = 1").select("id", "form", "place")


def _forms(subscriptions: DataFrame, dialect: str) -> DataFrame:
    """Return id and canonical form, as text."""
    return subscription_rows(subscriptions, dialect).mapInArrow(
        _canonical, "id string, form string"
    )


# --- in the workers ------------------------------------------------------------------------------


def _canonical(batches: Batches) -> Iterator[pa.RecordBatch]:
    found = ((id, str(canonical_form(filter))) for id, filter in read_filters(batches))
    yield from _in_batches(found, ("id", "form"))


def _asking(batches: Batches) -> Iterator[pa.RecordBatch]:
    found = ((id, text, place) for id, text, filter in _read(batches) for place in asked(filter))
    yield from _in_batches(found, ("id", "form", "place"))


def _places(batches: Batches) -> Iterator[pa.RecordBatch]:
    found = (
        (id, text, str(number), place)
        for id, text, filter in _read(batches)
        for number, clause in enumerate(waited(filter))
        for place in clause
    )
    yield from _in_batches(found, ("id", "form", "clause", "place"))


def _read(batches: Batches) -> Iterator[tuple[str, str, Filter]]:
    for batch in batches:
        for id, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            filter = parse_text(text)
            if not is_never_true(filter, budget=COVERING_BUDGET):
                yield id, text, filter


def _covering(batches: Batches) -> Iterator[pa.RecordBatch]:
    yield from _in_batches(_proved(batches), ("wide", "narrow"))


def _proved(batches: Batches) -> Iterator[tuple[object, ...]]:
    rows = (row for batch in batches for row in batch.to_pylist())
    for _, met in groupby(rows, itemgetter("place")):
        waiting: list[tuple[str, Filter]] = []
        index: CoveringIndex[str] | None = None
        for row in met:
            filter = _kept(row["form"])
            if row["waits"]:
                waiting.append((row["id"], filter))
                continue
            if index is None and len(waiting) > _FEW:
                index = CoveringIndex[str]()
                for id, wide in waiting:
                    index.add(id, wide)
            if index is None:
                found = [id for id, wide in waiting if covers(wide, filter)]
            else:
                found = index.covering(filter)
            yield from ((id, row["id"]) for id in found if id != row["id"])


@lru_cache(maxsize=65_536)
def _kept(text: str) -> Filter:
    return parse_text(text)


def _in_batches(
    rows: Iterable[tuple[object, ...]], names: tuple[str, ...]
) -> Iterator[pa.RecordBatch]:
    """Yield rows of texts."""
    todo = iter(rows)
    while held := list(islice(todo, _ROWS_MAX)):
        columns = [pa.array(column, pa.string()) for column in zip(*held, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, names=list(names))
