"""A cluster of two workers that share nothing: `cluster EVENTS SUBSCRIPTIONS`."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from benchmarks.pairs import Disagreement
from benchmarks.processes.on_spark import tell, written
from fyke.matching.compiled.compiling import warm
from fyke.spark.shipping import ship
from fyke.spark.snapshots import Pin
from fyke.workloads.named import workload
from tests_cluster.cluster import Cluster

ROUNDS = 3
PARTS = {"split": (2, 4), "rendezvous": (4, 16, 64)}


def main(events: int, subscriptions: int) -> None:
    warm()
    with tempfile.TemporaryDirectory(prefix="fyke-cluster-") as folder:
        shared = Path(folder) / "shared"
        shared.mkdir()
        with Cluster(Path(folder) / "cluster", (shared,)) as cluster:
            for _ in range(2):
                cluster.add_worker(cores=1)
            tell(measured(cluster, shared, events, subscriptions))


def measured(cluster: Cluster, shared: Path, count: int, subscriptions: int) -> dict[str, Any]:
    table = workload("stock").subscription_columns(subscriptions)
    matcher = fyke.Matcher()
    matcher.add_many(zip(table["id"].to_pylist(), table["filter"].to_pylist(), strict=True))
    conf = {**cluster.conf, "spark.cores.max": 2}
    session = fyke.spark.session(master=cluster.master, conf=conf, logs="off")
    events = made(session, count, shared)

    def matched(**more: Any) -> DataFrame:
        return fyke.spark.match(events, matcher, key="symbol", **more)

    ways = {"alone": matched(), "shared": matched(folder=shared)}
    ways |= {"split": matched(placement="split")}
    ways |= {"rendezvous": matched(placement="rendezvous", on="symbol")}
    rows = {name: way.count() for name, way in ways.items()}
    if len(set(rows.values())) != 1:
        raise Disagreement(f"results differ: {rows}")
    rounds = [{name: written(way) for name, way in ways.items()} for _ in range(ROUNDS)]
    told: dict[str, Any] = {name: min(each[name] for each in rounds) for name in ways}
    for name, parts in PARTS.items():
        on = {"on": "symbol"} if name == "rendezvous" else {}
        frames = {each: matched(placement=name, parts=each, **on) for each in parts}
        told[f"{name} by parts"] = {str(each): written(way) for each, way in frames.items()}
    told |= shipping(matcher, session, shared.parent) | {"rows": rows["alone"]}
    session.stop()
    alone = {**conf, "spark.cores.max": 1}
    session = fyke.spark.session(master=cluster.master, conf=alone, logs="off")
    events = session.read.parquet(f"{shared}/events")
    single = matched()
    single.count()
    told["single"] = min(written(single) for _ in range(ROUNDS - 1))
    session.stop()
    return told


def made(session: SparkSession, count: int, shared: Path) -> DataFrame:
    """Events that both workers read from files."""
    fyke.spark.events(session, "stock", count).repartition(4).write.parquet(f"{shared}/events")
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
    return {
        "shipped": took,
        "size": sum(file.stat().st_size for file in (folder / "shipped").rglob("*.bin")),
    }


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
