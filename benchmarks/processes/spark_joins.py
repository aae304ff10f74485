"""Our match beside Spark's own plans: `spark_joins EVENTS SUBSCRIPTIONS SHARE`.

Of the nested loop only each SHARE-th part of the events is timed.
"""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING, Any

import fyke.spark
from benchmarks.pairs import Disagreement
from benchmarks.processes.on_spark import events, fingerprint, session, tell, w1, written
from benchmarks.references import spark_plans
from fyke.matching.matcher import Matcher

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CORES = 2
ROUNDS = 2


def main(count: int, subscriptions: int, share: int) -> None:
    with tempfile.TemporaryDirectory(prefix="fyke-joins-") as folder:
        tell(measured(count, subscriptions, share, folder))


def measured(count: int, subscriptions: int, share: int, folder: str) -> dict[str, Any]:
    given = w1()
    matcher = Matcher()
    numbers = range(subscriptions)
    matcher.add_many(zip(map(given.id, numbers), given.filters(subscriptions), strict=True))
    matcher.save(f"{folder}/snapshot")
    spark = session(CORES)
    table = spark.createDataFrame(spark_plans.table(given, subscriptions)).cache()
    rows = events(spark, count, CORES, f"{folder}/events")
    few = rows.where(f"k < {count // share}").cache()
    few.count()
    names = [attribute.name for attribute in given.attributes]

    def ours(frame: DataFrame) -> DataFrame:
        return fyke.spark.match(frame, f"{folder}/snapshot", key="k", attributes=names)

    plans = {
        "match": ours(rows),
        "hash_joins": spark_plans.hash_joins(rows, table),
        "exploded": spark_plans.exploded(rows, table),
    }
    alone = {"match": ours(few), "nested_loop": spark_plans.nested_loop(few, table)}
    found = {name: fingerprint(plan) for name, plan in plans.items()}
    agree(found)
    agree({name: fingerprint(plan) for name, plan in alone.items()})
    times = best({**plans, "nested_loop": alone["nested_loop"]})
    times["nested_loop"] *= share
    return {"times": times, "rows": found["match"][0]}


def agree(found: dict[str, tuple[int, int]]) -> None:
    if len(set(found.values())) != 1:
        raise Disagreement(f"results differ: {found}")


def best(plans: dict[str, DataFrame]) -> dict[str, float]:
    """Wall times; plans take turns and have run before."""
    times = dict.fromkeys(plans, float("inf"))
    for _ in range(ROUNDS):
        for name, plan in plans.items():
            times[name] = min(times[name], written(plan))
    return times


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
