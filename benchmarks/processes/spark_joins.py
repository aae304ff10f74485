"""Our match beside Spark's own plans: `spark_joins EVENTS SUBSCRIPTIONS SHARE`.

All plans are compared on the first SHARE-th part of the events, and the better of those that are
tuned by hand is chosen there. The nested loop is timed on that part alone, the others on all.
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
ROUNDS = 3


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
    rows = events(spark, count, CORES, f"{folder}/events", codes=True)
    few = rows.where(f"k < {count // share}").cache()
    few.count()
    names = [attribute.name for attribute in given.attributes]

    def ours(frame: DataFrame) -> DataFrame:
        return fyke.spark.match(frame, f"{folder}/snapshot", key="k", attributes=names)

    tuned = {"hash_joins": spark_plans.hash_joins, "exploded": spark_plans.exploded}
    tries = {name: plan(few, table) for name, plan in tuned.items()}
    slow = spark_plans.nested_loop(few, table)
    plans = {**tries, "match": ours(few), "nested_loop": slow}
    agree({name: fingerprint(plan) for name, plan in plans.items()})
    chosen = min(tries, key=lambda name: written(tries[name]))
    matches = ours(rows)
    found, _ = fingerprint(matches)
    return {
        "match": min(written(matches) for _ in range(ROUNDS)),
        "tuned": written(tuned[chosen](rows, table)),
        "plan": chosen,
        "nested_loop": written(slow) * share,
        "rows": found,
    }


def agree(found: dict[str, tuple[int, int]]) -> None:
    if len(set(found.values())) != 1:
        raise Disagreement(f"results differ: {found}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
