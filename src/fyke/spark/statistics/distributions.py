"""Distributions: of each attribute, how many events have it and which values how often.

    distribution(events)    a row per attribute:
        attribute           its path
        events, present     how many events there are, and have it; `share` is present / events
        distinct            how many different values it has
        agreement           which share of the events an equality on it lets through, on average
                            over the values as they occur: near 1 it is general, near 0 special
        numbers, quantiles  how many numbers there are, and the least number that has a share of
                            at least q of them at or below it, for each q of `quantiles`
        values              the most common values: (kind, value, events, share)

A value is written as in JSON (`written`). An event whose list has a value counts once for it.

Idea. Workers count the distinct values of their part and hand on what they counted; Spark adds up
by value and then ranks values within their attribute. All of it is exact.
Cost. Linear in the cells; what travels are the distinct values of each part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Unpack

import pyarrow as pa

from fyke.errors import FykeError, shown
from fyke.events.value import Kind, kind
from fyke.matching.value_counts import ValueCounts, scalar, value_counts
from fyke.spark.statistics.source import Options, Rows, Source
from fyke.spark.statistics.written import kind_name, written

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from fyke.spark.columns import Batches

TOP: Final = 1_000
QUANTILES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
KEYS_MAX: Final = 500_000
"""Values that a worker holds before it hands on what it has counted."""
_COUNTS: Final = pa.schema(
    [
        ("attribute", pa.string()),
        ("kind", pa.string()),
        ("value", pa.string()),
        ("number", pa.float64()),
        ("events", pa.int64()),
    ]
)
_COUNTS_DDL: Final = "attribute string, kind string, value string, number double, events long"


def distribution(
    events: DataFrame,
    *,
    top: int = TOP,
    quantiles: Sequence[float] = QUANTILES,
    **options: Unpack[Options],
) -> DataFrame:
    """Return the table that the module describes; it lists `top` values of each attribute."""
    if type(top) is not int or top < 0:
        raise FykeError(f"top={shown(top)}; expected a whole number from 0 on")
    for q in quantiles:
        if not isinstance(q, int | float) or not 0 <= q <= 1:
            raise FykeError(f"quantiles: {shown(q)}; expected shares from 0 to 1")
    source = Source.of(events, options)
    counts = source.mapped(Counting(source.rows).counts, _COUNTS_DDL)
    return _described(counts, top, [float(q) for q in quantiles])


def _described(counts: DataFrame, top: int, quantiles: list[float]) -> DataFrame:
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    summed = counts.groupBy("attribute", "kind", "value").agg(
        f.sum("events").alias("events"), f.max("number").alias("number")
    )
    alike = Window.partitionBy("attribute")
    rank = f.row_number().over(alike.orderBy(f.isnull("value"), f.desc("events"), "value"))
    counted = f.when(f.col("kind") == "number", f.col("events"))
    upward = alike.orderBy(f.asc_nulls_last("number"), "value")
    below = f.sum(counted).over(upward.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    ranked = summed.select(
        "*", rank.alias("rank"), below.alias("below"), f.sum(counted).over(alike).alias("numbers")
    )
    per_attribute = ranked.groupBy("attribute").agg(*_facts(top, quantiles))
    whole = f.max(f.when(f.isnull("attribute"), f.col("present"))).over(
        Window.partitionBy(f.lit(0))
    )
    return _shares(per_attribute.select("*", whole.alias("events")).where("attribute is not null"))


def _facts(top: int, quantiles: list[float]) -> list[Column]:
    """Return what is known of an attribute, from the rows of its values and the row without."""
    from pyspark.sql import functions as f

    is_value, events = f.isnotnull("value"), f.col("events").cast("double")
    listed = f.when(is_value & (f.col("rank") <= top), f.struct("rank", "kind", "value", "events"))
    levels = [
        f.min(f.when(f.col("below") >= f.lit(q) * f.col("numbers"), f.col("number")))
        for q in quantiles
    ]
    numbers = f.coalesce(f.max("numbers"), f.lit(0))
    return [
        f.max(f.when(~is_value, f.col("events"))).alias("present"),
        f.count("value").alias("distinct"),
        f.sum(f.when(is_value, events)).alias("elements"),
        f.sum(f.when(is_value, events * events)).alias("squares"),
        numbers.alias("numbers"),
        f.when(numbers > 0, f.array(*levels)).alias("quantiles"),
        f.array_sort(f.collect_list(listed)).alias("listed"),
    ]


def _shares(facts: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    events = f.col("events").cast("double")
    mean = f.col("squares") / events / f.greatest(events, f.col("elements"))
    values = f.transform(
        "listed",
        lambda each: f.struct(
            each["kind"].alias("kind"),
            each["value"].alias("value"),
            each["events"].alias("events"),
            (each["events"] / f.col("events")).alias("share"),
        ),
    )
    return facts.select(
        "attribute",
        "events",
        "present",
        (f.col("present") / f.col("events")).alias("share"),
        "distinct",
        f.coalesce(mean, f.lit(0.0)).alias("agreement"),
        "numbers",
        "quantiles",
        values.alias("values"),
    )


# --- in the workers ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counting:
    """Values with their numbers of events; a row without a value is the attribute's presence.

    The row without an attribute is the number of events.
    """

    rows: Rows

    def counts(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        events, held = 0, 0
        known: dict[str, ValueCounts] = {}
        for batch in batches:
            columns = self.rows.columns(batch)
            events += len(columns) if isinstance(columns, list) else columns.rows
            for path, counts in value_counts(columns).items():
                mine = known.setdefault(path, ValueCounts())
                held -= len(mine)
                mine.merge(counts)
                held += len(mine)
            if held > KEYS_MAX:
                yield from _counted(known)
                known, held = {}, 0
        yield from _counted(known)
        yield pa.RecordBatch.from_pylist([{"events": events}], _COUNTS)


def _counted(known: dict[str, ValueCounts]) -> Iterator[pa.RecordBatch]:
    for path, counts in known.items():
        kinds: list[str | None] = [None]
        values: list[str | None] = [None]
        numbers: list[float | None] = [None]
        events = [counts.present]
        for key, count in counts.by_element():
            value = scalar(key)
            kinds.append(kind_name(value))
            values.append(written(value))
            numbers.append(float(value) if kind(value) is Kind.NUMBER else None)  # type: ignore[arg-type]
            events.append(count)
        paths = pa.repeat(pa.scalar(path, pa.string()), len(events))
        columns = (pa.array(kinds), pa.array(values), pa.array(numbers), pa.array(events))
        cells = [paths, *(a.cast(t) for a, t in zip(columns, _COUNTS.types[1:], strict=True))]
        yield pa.RecordBatch.from_arrays(cells, schema=_COUNTS)
