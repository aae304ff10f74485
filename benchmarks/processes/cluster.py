"""A cluster of two workers that share nothing: `cluster EVENTS SUBSCRIPTIONS`."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from benchmarks.pairs import Disagreement
from benchmarks.processes.on_spark import tell, written
from fyke.matching.compiled.kernels.compiling import warm
from fyke.spark.shipping.shipping import ship
from fyke.spark.versions.snapshots import Pin
from fyke.workloads.named import workload
from tests_cluster.cluster import Cluster

ROUNDS = 3
LARGER = 3
FIRST = 10_000
"""So many events have a first match."""
PARTS = {"split": (2, 4), "rendezvous": (4, 16, 64)}


def main(events: int, subscriptions: int) -> None:
    warm()
    with tempfile.TemporaryDirectory(prefix="fyke-cluster-") as folder:
        shared = Path(folder) / "shared"
        shared.mkdir()
        with Cluster(Path(folder) / "cluster", (shared,)) as cluster:
            for _ in range(2):
                cluster.add_worker(cores=1, warm=False)
            few, many = the_matcher(subscriptions), the_matcher(LARGER * subscriptions)
            told = first_matches(cluster, shared, events, few)
            with on(cluster, 2) as session:
                two = session.read.parquet(f"{shared}/events")
                told |= placements(two, few, shared)
                told |= shipping(few, session, shared.parent)
                told["two"] = {len(each): best(two, each) for each in (few, many)}
            with on(cluster, 1) as session:
                one = session.read.parquet(f"{shared}/events")
                told["one"] = {len(each): best(one, each) for each in (few, many)}
            tell(told)


@contextmanager
def on(cluster: Cluster, cores: int) -> Iterator[SparkSession]:
    """A session on so many workers, each of which has one core."""
    conf = {**cluster.conf, "spark.cores.max": cores}
    session = fyke.spark.session(master=cluster.master, conf=conf, logs="off")
    try:
        yield session
    finally:
        session.stop()


def the_matcher(count: int) -> fyke.Matcher:
    table = workload("stock").subscription_columns(count)
    made = fyke.Matcher()
    made.add_many(zip(table["id"].to_pylist(), table["filter"].to_pylist(), strict=True))
    return made


def matched(events: DataFrame, matcher: fyke.Matcher, **more: Any) -> DataFrame:
    return fyke.spark.match(events, matcher, key="symbol", **more)


def best(events: DataFrame, matcher: fyke.Matcher) -> float:
    """The least time of a match, when all is warm."""
    way = matched(events, matcher)
    written(way.limit(1))
    return min(written(way) for _ in range(ROUNDS))


def first_matches(
    cluster: Cluster, shared: Path, count: int, matcher: fyke.Matcher
) -> dict[str, Any]:
    """How long the first match of a session takes: on hosts without kernels, and again.

    The executors are new both times; Java's part of the driver has worked before.
    """
    took: list[float] = []
    for _ in range(2):
        with on(cluster, 2) as session:
            events = made(session, count, shared).limit(FIRST)
            events.count()
            began = time.perf_counter()
            matched(events, matcher).count()
            took.append(time.perf_counter() - began)
    return {"cold": took[0], "warm": took[1]}


def placements(events: DataFrame, matcher: fyke.Matcher, shared: Path) -> dict[str, Any]:
    """Each way of matching, in turn; and the best number of parts, among some."""
    ways = {"alone": matched(events, matcher), "shared": matched(events, matcher, folder=shared)}
    ways |= {"split": matched(events, matcher, placement="split")}
    ways |= {"rendezvous": matched(events, matcher, placement="rendezvous", on="symbol")}
    rows = {name: way.count() for name, way in ways.items()}
    if len(set(rows.values())) != 1:
        raise Disagreement(f"results differ: {rows}")
    rounds = [{name: written(way) for name, way in ways.items()} for _ in range(ROUNDS)]
    told: dict[str, Any] = {name: min(each[name] for each in rounds) for name in ways}
    for name, parts in PARTS.items():
        on = {"on": "symbol"} if name == "rendezvous" else {}
        frames = {
            str(each): matched(events, matcher, placement=name, parts=each, **on) for each in parts
        }
        tries = [{each: written(way) for each, way in frames.items()} for _ in range(ROUNDS)]
        told[f"{name} by parts"] = {each: min(one[each] for one in tries) for each in frames}
    return told | {"rows": rows["alone"]}


def made(session: SparkSession, count: int, shared: Path) -> DataFrame:
    """Events that both workers read from files, made by the first who asks."""
    if not (shared / "events").exists():
        rows = fyke.spark.events(session, "stock", count).repartition(4)
        rows.write.parquet(f"{shared}/events")
    return session.read.parquet(f"{shared}/events")


def shipping(matcher: fyke.Matcher, session: SparkSession, folder: Path) -> dict[str, float]:
    """How long until both workers have a set that none of them had, and how large it is."""
    matcher.add("one more", "price < 0")
    matcher.save(folder / "shipped")
    pin = Pin.of([str(folder / "shipped")])

    def opening(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pin.matchers()
        yield from batches

    began = time.perf_counter()
    ship(pin, session)
    session.range(0, 4, 1, 4).mapInArrow(opening, "id long").collect()
    took = time.perf_counter() - began
    matcher.remove("one more")
    return {
        "shipped": took,
        "size": sum(file.stat().st_size for file in (folder / "shipped").rglob("*.bin")),
    }


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
