"""Redundancy: subscriptions that say the same, and subscriptions that another one covers.

    duplicates(subscriptions)   a row per subscription that repeats another:
        subscription            its id
        first                   the least id of those with an equal filter, up to the order of
                                operands, repetition and where `not` stands

    coverings(subscriptions)    a row per pair of different filters of which one covers the other:
        wide, narrow            the least ids that have these filters: wide accepts whatever
                                narrow accepts

Idea. If W covers N then N implies every necessary predicate of W, so N must speak of what one of
them needs. W waits at a *place*: a value that it needs (`symbol = 'A'`), else an attribute, and of
several places at the one where the fewest ask; N asks at all values that it names and all
attributes that it speaks of. Those that meet are held against each other by the algebra.
Invariant. Every pair is proved (`filters.covering`). A pair can be missed only where that proof
gives up, or where N implies a value that it does not name.
Cost. One proof per pair that meets. Their number is known before any is tried, and bounded.
Never. A filter that accepts nothing is covered by all; it is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from fyke.errors import FykeError
from fyke.events.value import sort_key
from fyke.filters.analysis import canonical_form
from fyke.filters.covering import covers, is_never_true
from fyke.filters.filter import Filter, walk
from fyke.filters.necessary import necessary
from fyke.filters.parser import parse_text
from fyke.filters.predicate import In, TypeIs
from fyke.filters.subsumption import COVERING_BUDGET, spoken_of, value_place
from fyke.spark.compiling import subscription_rows
from fyke.spark.statistics.filters import read_filters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.columns import Batches

PAIRS_MAX: Final = 20_000_000
"""So many pairs are tried at most."""
_ROWS_MAX: Final = 10_000
_ANYWHERE: Final = ""


def duplicates(subscriptions: DataFrame, *, dialect: str = "fyke") -> DataFrame:
    """The first table that the module describes."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    forms = _forms(subscriptions, dialect)
    first = f.min("id").over(Window.partitionBy("form"))
    found = forms.select(f.col("id").alias("subscription"), first.alias("first"))
    return found.where("subscription != first")


def coverings(
    subscriptions: DataFrame, *, dialect: str = "fyke", pairs_max: int = PAIRS_MAX
) -> DataFrame:
    """The second table that the module describes; the number of pairs is counted at once."""
    from pyspark.sql import functions as f

    forms = _forms(subscriptions, dialect)
    distinct = forms.groupBy("form").agg(f.min("id").alias("id")).select("id", "form")
    meeting = _meeting(distinct.mapInArrow(_places, "id string, form string, place string, "
                                                    "waits boolean"))  # fmt: skip
    tried = meeting.count()
    if tried > pairs_max:
        raise FykeError(
            f"{tried} pairs of subscriptions would have to be held against each other, more than "
            f"pairs_max={pairs_max}; raise it, or look at a part of the subscriptions"
        )
    dealt = meeting.repartition("wide").sortWithinPartitions("wide")
    return dealt.mapInArrow(_covering, "wide string, narrow string")


def _meeting(places: DataFrame) -> DataFrame:
    """wide, narrow and their filters: each W at the place where the fewest ask."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    asking = places.where("not waits").select("place", f.col("id").alias("narrow"),
                                              f.col("form").alias("narrow_form"))  # fmt: skip
    crowds = asking.groupBy("place").agg(f.count("*").alias("crowd"))
    known = places.where("waits").join(crowds, "place", "left")
    emptiest = Window.partitionBy("id").orderBy(f.coalesce("crowd", f.lit(0)), "place")
    waiting = known.select("*", f.row_number().over(emptiest).alias("rank")).where("rank = 1")
    chosen = waiting.select("place", f.col("id").alias("wide"), f.col("form").alias("wide_form"))
    return chosen.join(asking, "place").where("wide != narrow").drop("place")


def _forms(subscriptions: DataFrame, dialect: str) -> DataFrame:
    """id and canonical form, as text."""
    return subscription_rows(subscriptions, dialect).mapInArrow(
        _canonical, "id string, form string"
    )


# --- in the workers ------------------------------------------------------------------------------


def _canonical(batches: Batches) -> Iterator[pa.RecordBatch]:
    found = ((id, str(canonical_form(filter))) for id, filter in read_filters(batches))
    yield from _in_batches(found, ("id", "form"))


def _places(batches: Batches) -> Iterator[pa.RecordBatch]:
    names = ("id", "form", "place", "waits")
    yield from _in_batches(_all_places(batches), names)


def _all_places(batches: Batches) -> Iterator[tuple[object, ...]]:
    for batch in batches:
        for id, text in zip(*(batch.column(at).to_pylist() for at in (0, 1)), strict=True):
            filter = parse_text(text)
            if is_never_true(filter, budget=COVERING_BUDGET):
                continue
            yield from ((id, text, place, False) for place in asked(filter))
            yield from ((id, text, place, True) for place in waited(filter))


def waited(filter: Filter) -> set[str]:
    """The places at each of which whatever the filter covers asks."""
    found = set()
    for need in necessary(filter):
        place = value_place(need)
        found.add(_attribute(need.attribute) if place is None else _value(*place))
    return found or {_ANYWHERE}


def asked(filter: Filter) -> set[str]:
    """The places of all values that the filter names and all attributes that it speaks of."""
    found = {_ANYWHERE}
    for leaf in walk(filter):
        found.update(map(_attribute, spoken_of(leaf)))
        if isinstance(leaf, In):
            found.update(_value(leaf.attribute, sort_key(value)) for value in leaf.values)
        elif isinstance(leaf, TypeIs):
            found.add(_value("type", sort_key(leaf.name)))
    return found


def _attribute(name: str) -> str:
    return f"attribute {name}"


def _value(attribute: str, key: object) -> str:
    """The text tells apart whatever the key does: 1 and true, 1 and '1'."""
    return f"value {key!r} of {attribute}"


def _covering(batches: Batches) -> Iterator[pa.RecordBatch]:
    yield from _in_batches(_proved(batches), ("wide", "narrow"))


def _proved(batches: Batches) -> Iterator[tuple[object, ...]]:
    for batch in batches:
        for row in batch.to_pylist():
            wide, narrow = _kept(row["wide_form"]), _kept(row["narrow_form"])
            if covers(wide, narrow, budget=COVERING_BUDGET):
                yield row["wide"], row["narrow"]


@lru_cache(maxsize=16_384)
def _kept(text: str) -> Filter:
    return parse_text(text)


def _in_batches(
    rows: Iterable[tuple[object, ...]], names: tuple[str, ...]
) -> Iterator[pa.RecordBatch]:
    """Rows of texts, and of booleans under the name `waits`."""
    types = [pa.bool_() if name == "waits" else pa.string() for name in names]
    held: list[tuple[object, ...]] = []

    def batch() -> pa.RecordBatch:
        columns = zip(*held, strict=True) if held else [() for _ in names]
        arrays = [pa.array(column, type) for column, type in zip(columns, types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=list(names))

    for row in rows:
        held.append(row)
        if len(held) >= _ROWS_MAX:
            yield batch()
            held.clear()
    yield batch()
