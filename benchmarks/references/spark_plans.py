"""Plans that Spark runs without us, on the codes of W1: what somebody would write by hand.

    nested loop   every event beside every subscription, all predicates as one condition
    hash joins    a broadcast hash join per attribute on the subscriptions whose rarest equality is
                  there, the rest as residual; all of them together
    exploded      an event becomes a row per attribute with equalities; one hash join on attribute
                  and value, the rest as residual

Rarity is the true one, of the generator. Rows are (k, subscription), as ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from benchmarks.references.broadcast import dense
from benchmarks.references.hash_join import access
from fyke.workloads.conjunctive import ConjunctiveWorkload

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

KEY, CODE = "at", "code"


def table(workload: ConjunctiveWorkload, count: int) -> pa.Table:
    """Subscriptions with their bounds, and the attribute and value of the rarest equality."""
    filters = workload.conjunctions(count)
    rarest = np.arange(count), access(workload, filters)
    low, high = dense(filters, len(workload.attributes))
    columns: dict[str, Any] = {
        "subscription": pa.array([workload.id(number) for number in range(count)]),
        KEY: filters.attribute[rarest].astype(np.int32),
        CODE: filters.low[rarest].astype(np.int32),
    }
    for at, (lows, highs) in enumerate(zip(low, high, strict=True)):
        columns |= {f"low_{at}": lows, f"high_{at}": highs}
    return pa.table(columns)


def nested_loop(events: DataFrame, subscriptions: DataFrame) -> DataFrame:
    from pyspark.sql.functions import broadcast

    condition = _inside(events, subscriptions)
    return _out(events.join(broadcast(subscriptions.drop(KEY, CODE)), condition))


def hash_joins(events: DataFrame, subscriptions: DataFrame) -> DataFrame:
    from functools import reduce

    from pyspark.sql.functions import broadcast

    joins = []
    for at in _keys(subscriptions):
        some = subscriptions.where(f"{KEY} = {at}")
        condition = (events[f"a{at}"] == some[CODE]) & _inside(events, some, without=at)
        joins.append(_out(events.join(broadcast(some), condition)))
    return reduce(lambda one, other: one.unionAll(other), joins)


def exploded(events: DataFrame, subscriptions: DataFrame) -> DataFrame:
    from pyspark.sql import functions as f

    keys = [
        f.struct(f.lit(at).alias("event_at"), f.col(f"a{at}").alias("event_code"))
        for at in _keys(subscriptions)
    ]
    rows = events.withColumn("one", f.explode(f.array(*keys))).select("*", "one.*").drop("one")
    same = (rows["event_at"] == subscriptions[KEY]) & (rows["event_code"] == subscriptions[CODE])
    condition = same & _inside(rows, subscriptions)
    return _out(rows.join(f.broadcast(subscriptions), condition))


def _keys(subscriptions: DataFrame) -> list[int]:
    return sorted(row[KEY] for row in subscriptions.select(KEY).distinct().collect())


def _inside(events: DataFrame, subscriptions: DataFrame, without: int | None = None) -> Any:
    """Every attribute lies between its bounds."""
    from functools import reduce

    attributes = [int(name[4:]) for name in subscriptions.columns if name.startswith("low_")]
    tests = [
        events[f"a{at}"].between(subscriptions[f"low_{at}"], subscriptions[f"high_{at}"])
        for at in attributes
        if at != without
    ]
    return reduce(lambda one, other: one & other, tests)


def _out(joined: DataFrame) -> DataFrame:
    return joined.select("k", "subscription")
