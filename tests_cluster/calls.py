"""All calls on one session, and what they find: rows by number and hash.

calls.py ADDRESS

on a session of its own; prints what was found, as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Final

from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from fyke.workloads.named import workload

EVENTS: Final = 6_000
SUBSCRIPTIONS: Final = 500
NAMES: Final = (
    *("table", "matcher", "snapshot", "compiled", "kept", "planned"),
    *("fractions", "split", "rendezvous", "multistage"),
)

Found = tuple[int, str]


def digest(rows: list[str]) -> Found:
    """The number of some rows and a hash of them, in any order."""
    return len(rows), sha256("\n".join(sorted(rows)).encode()).hexdigest()


def expected() -> Found:
    """What one matcher finds in this process."""
    stock = workload("stock")
    found = the_matcher().match_batch(stock.columns(EVENTS))
    symbols = stock.columns(EVENTS)["symbol"].take(found["event"]).to_pylist()
    return digest(
        [f"{a} {b}" for a, b in zip(symbols, found["subscription"].to_pylist(), strict=False)]
    )


def the_matcher() -> fyke.Matcher:
    """The subscriptions, under the ids that the table has."""
    table = workload("stock").subscription_columns(SUBSCRIPTIONS)
    matcher = fyke.Matcher()
    matcher.add_many(zip(table["id"].to_pylist(), table["filter"].to_pylist(), strict=False))
    return matcher


def found(frame: DataFrame) -> Found:
    return digest([f"{row.symbol} {row.subscription}" for row in frame.collect()])


def ways(session: SparkSession, folder: str | None = None) -> dict[str, Callable[[], Found]]:
    """Every call by its name; a path lies in a folder of the driver's, or in the shared one."""
    events = fyke.spark.events(session, "stock", EVENTS)
    table = fyke.spark.subscriptions(session, "stock", SUBSCRIPTIONS)
    matcher = the_matcher()
    place = Path(tempfile.mkdtemp(dir=folder))

    def of(subscriptions: object, **more: object) -> Callable[[], Found]:
        options = {"key": "symbol", "folder": folder, **more}
        return lambda: found(fyke.spark.match(events, subscriptions, **options))  # type: ignore[arg-type]

    def snapshot() -> Found:
        matcher.save(place / "snapshot")
        return of(place / "snapshot")()

    def compiled() -> Found:
        return of(fyke.spark.compile(table, place / "compiled", shards=2))()

    def kept() -> Found:
        more = {"placement": "rendezvous", "on": "symbol", "parts": 3}
        return of(fyke.spark.compile(table, place / "kept", **more))()

    def planned() -> Found:
        return of(matcher, placement=fyke.spark.plan(events, table))()

    def fractions() -> Found:
        counted = fyke.spark.statistics.match_fractions(events, matcher).collect()
        assert len(counted) == SUBSCRIPTIONS
        assert sum(row.matches for row in counted) == expected()[0]
        return expected()

    return {
        "table": of(table),
        "matcher": of(matcher),
        "snapshot": snapshot,
        "compiled": compiled,
        "kept": kept,
        "planned": planned,
        "fractions": fractions,
        "split": of(matcher, placement="split"),
        "rendezvous": of(matcher, placement="rendezvous", on="symbol", parts=4),
        "multistage": of(matcher, placement="multistage"),
    }


if __name__ == "__main__":
    session = fyke.spark.session(remote=sys.argv[1])
    print(json.dumps({name: call() for name, call in ways(session).items()}))
    session.stop()
