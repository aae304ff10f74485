"""Selecting: which share of the events satisfies a predicate, or matches a subscription.

    selectivities(events, subscriptions)        a row per distinct predicate of the subscriptions:
        predicate, attribute, subscriptions     as in `predicates`
        events, satisfied, share                how many events there are, how many satisfy it

    match_fractions(events, subscriptions)      a row per subscription:
        subscription                            its id
        events, matches, share                  how many events there are, how many it accepts

Source. PRU-13.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Unpack

import pyarrow as pa
import pyarrow.compute as pc

from fyke.errors import FykeError
from fyke.filters.language.parser import parse_text
from fyke.matching.predicate_counts import PredicateCounts
from fyke.spark.shipping.shipping import ship
from fyke.spark.statistics.filters import predicates
from fyke.spark.statistics.source import Options, Rows, Source
from fyke.spark.versions.pinning import Subscriptions, pin_subscriptions
from fyke.spark.versions.snapshots import Pin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from fyke.spark.columns import Batches

PREDICATES_MAX: Final = 1_000_000
"""All distinct predicates travel to all workers."""
_HELD_MAX: Final = 500_000
_HELD: Final = pa.schema([("number", pa.int64()), ("satisfied", pa.int64())])
_MATCHED: Final = pa.schema([("subscription", pa.string()), ("matches", pa.int64())])
_WHOLE: Final = -1
"""In place of a predicate's number: the row is about all events."""


def selectivities(
    events: DataFrame,
    subscriptions: DataFrame,
    *,
    dialect: str = "fyke",
    predicates_max: int = PREDICATES_MAX,
    **options: Unpack[Options],
) -> DataFrame:
    """Collect the predicates at once; count events when the table is asked for."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    source = Source.of(events, options)
    found = predicates(subscriptions, dialect=dialect)
    table = found.orderBy("predicate").limit(predicates_max + 1).toArrow()
    if table.num_rows > predicates_max:
        raise FykeError(
            f"the subscriptions have more than {predicates_max} distinct predicates; raise "
            "predicates_max=, or look at a sample of the subscriptions"
        )
    numbered = table.append_column("number", pa.array(range(table.num_rows), pa.int64()))
    texts = tuple(table["predicate"].to_pylist())
    counts = source.mapped(_Held(source.rows, texts).counts, "number long, satisfied long")
    summed = counts.groupBy("number").agg(f.sum("satisfied").alias("satisfied"))
    whole = f.max(f.when(f.col("number") == _WHOLE, f.col("satisfied"))).over(
        Window.partitionBy(f.lit(0))
    )
    counted = summed.select("number", "satisfied", whole.alias("events")).where(
        f.col("number") != _WHOLE
    )
    known = events.sparkSession.createDataFrame(numbered)
    return known.join(counted, "number").select(
        "predicate",
        "attribute",
        "subscriptions",
        "events",
        "satisfied",
        _share("satisfied").alias("share"),
    )


def match_fractions(
    events: DataFrame, subscriptions: Subscriptions, **options: Unpack[Options]
) -> DataFrame:
    """Count the matches of each subscription, which are given as in `fyke.spark.match`."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    source = Source.of(events, options)
    work = _Matched(source.rows, pin_subscriptions(subscriptions))
    ship(work.pin, events.sparkSession)
    counts = source.mapped(work.counts, "subscription string, matches long")
    every = events.sparkSession.range(1).mapInArrow(work.ids, "subscription string, matches long")
    summed = counts.union(every).groupBy("subscription").agg(f.sum("matches").alias("matches"))
    whole = f.max(f.when(f.isnull("subscription"), f.col("matches"))).over(
        Window.partitionBy(f.lit(0))
    )
    counted = summed.select("subscription", whole.alias("events"), "matches")
    return counted.where("subscription is not null").select("*", _share("matches").alias("share"))


def _share(count: str) -> Any:
    """Return the share; null where there are no events."""
    from pyspark.sql import functions as f

    return f.try_divide(f.col(count).cast("double"), f.col("events").cast("double"))


# --- in the workers ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Held:
    """Counts of the events that satisfy each predicate; no predicate is left out."""

    rows: Rows
    texts: tuple[str, ...]

    def counts(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        counter = PredicateCounts(_read(self.texts))
        for batch in batches:
            counter.count(self.rows.columns(batch))
        counter.settle()
        numbers = pa.array(range(_WHOLE, len(self.texts)), pa.int64())
        satisfied = pa.array([counter.events, *counter.satisfied.tolist()], pa.int64())
        yield pa.RecordBatch.from_arrays([numbers, satisfied], schema=_HELD)


@lru_cache(maxsize=2)
def _read(texts: tuple[str, ...]) -> Sequence[Any]:
    """Read the predicates of a job once in a worker."""
    return tuple(map(parse_text, texts))


@dataclass(frozen=True, slots=True)
class _Matched:
    """Counts of the events that each subscription accepts; the row without one counts all."""

    rows: Rows
    pin: Pin

    def counts(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        matchers = self.pin.matchers()
        matches: Counter[str | None] = Counter()
        for batch in batches:
            found = self.rows.reading.match(matchers, batch)
            self.rows.check(found.bad)
            matches[None] += batch.num_rows - len(found.bad)
            counted = pc.value_counts(found.ids)
            ids, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
            matches.update(dict(zip(ids, counts, strict=True)))
            if len(matches) > _HELD_MAX:
                yield _matched(matches)
                matches.clear()
        yield _matched(matches)

    def ids(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        """Return all subscriptions, with no match, and no event."""
        for _ in batches:
            yield _matched(Counter({None: 0}))
            for matcher in self.pin.matchers():
                ids = pa.array(iter(matcher), pa.string())
                none = pa.repeat(pa.scalar(0, pa.int64()), len(ids))
                yield pa.RecordBatch.from_arrays([ids, none], schema=_MATCHED)


def _matched(matches: Counter[str | None]) -> pa.RecordBatch:
    columns = [pa.array(list(matches), pa.string()), pa.array(list(matches.values()), pa.int64())]
    return pa.RecordBatch.from_arrays(columns, schema=_MATCHED)
