"""Two workers that share nothing, each with a processor of its own: `cluster EVENTS SUBSCRIPTIONS`.

The driver has both processors; it does little while the workers match.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import fyke
import fyke.spark
from benchmarks.pairs import Disagreement
from benchmarks.processes.on_spark import tell, w1, written
from fyke.matching.compiled.kernels.compiling import warm
from fyke.spark.shipping.shipping import ship
from fyke.spark.versions.snapshots import Pin
from tests_cluster.cluster import Cluster

ROUNDS = 3
LARGER = 3
FIRST = 10_000
"""So many events have a first match."""
DEALT = 4
"""Other placements get a fourth of the events, in two rounds: they are many."""
ON = "s10k"
PARTS = {"split": (2, 4), "rendezvous": (2, 4, 16)}


def main(events: int, subscriptions: int) -> None:
    warm()
    with tempfile.TemporaryDirectory(prefix="fyke-cluster-") as folder:
        shared = Path(folder) / "shared"
        shared.mkdir()
        with Cluster(Path(folder) / "cluster", (shared,)) as cluster:
            for cpu in sorted(os.sched_getaffinity(0))[:2]:
                cluster.add_worker(cores=1, cpu=cpu, warm=False)
            few, many = the_matcher(subscriptions), the_matcher(LARGER * subscriptions)
            told = first_matches(cluster, shared, events, few)
            with on(cluster, 2) as session:
                two = made(session, events, shared)
                told |= shipping(cluster, few, session, shared.parent)
                told |= alone_and_shared(cluster, two, few, shared)
                fewer = made(session, max(1, events // DEALT), shared)
                told |= placements(cluster, fewer, few)
                told["two"] = {len(each): best(cluster, two, each) for each in (few, many)}
            with on(cluster, 1) as session:
                one = made(session, events, shared)
                told["one"] = {len(each): best(cluster, one, each) for each in (few, many)}
            tell(told)


@contextmanager
def on(cluster: Cluster, workers: int) -> Iterator[SparkSession]:
    """A session on so many workers, each of which has one core."""
    conf = {**cluster.conf, "spark.cores.max": workers, "spark.executor.memory": "1g"}
    session = fyke.spark.session(master=cluster.master, conf=conf, logs="off")
    try:
        yield session
    finally:
        session.stop()


def the_matcher(count: int) -> fyke.Matcher:
    table = w1().subscription_columns(count)
    made = fyke.Matcher()
    made.add_many(zip(table["id"].to_pylist(), table["filter"].to_pylist(), strict=True))
    return made


def made(session: SparkSession, count: int, shared: Path) -> DataFrame:
    """Events that both workers read from files, made by the first who asks."""
    if not (shared / f"events-{count}").exists():
        rows = fyke.spark.events(session, w1(), count).repartition(4)
        numbered = rows.withColumn("k", f.monotonically_increasing_id())
        numbered.write.parquet(f"{shared}/events-{count}")
    return session.read.parquet(f"{shared}/events-{count}")


def matched(events: DataFrame, matcher: fyke.Matcher, **more: Any) -> DataFrame:
    names = [name for name in events.columns if name != "k"]
    return fyke.spark.match(events, matcher, key="k", attributes=names, **more)


def times(cluster: Cluster, ways: dict[str, DataFrame], rounds: int) -> dict[str, dict[str, float]]:
    """The least wall time of each way when all is warm, and CPU of the worker with most to do."""
    tries = [{name: _once(cluster, way) for name, way in ways.items()} for _ in range(rounds)]
    return {
        name: {kind: min(each[name][kind] for each in tries) for kind in ("wall", "cpu")}
        for name in ways
    }


def _once(cluster: Cluster, way: DataFrame) -> dict[str, float]:
    before = workers_s(cluster)
    wall = written(way)
    return {
        "wall": wall,
        "cpu": max(now - had for now, had in zip(workers_s(cluster), before, strict=True)),
    }


def counted(ways: dict[str, DataFrame]) -> int:
    """How many rows there are, of each the same."""
    rows = {name: way.count() for name, way in ways.items()}
    if len(set(rows.values())) != 1:
        raise Disagreement(f"results differ: {rows}")
    return next(iter(rows.values()))


def best(cluster: Cluster, events: DataFrame, matcher: fyke.Matcher) -> dict[str, float]:
    ways = {"match": matched(events, matcher)}
    counted(ways)
    return times(cluster, ways, ROUNDS)["match"]


def workers_s(cluster: Cluster) -> list[float]:
    return [cpu_s(each.process.pid) for each in cluster.workers]


def driver_s(cluster: Cluster) -> float:
    """The driver has started the cluster, too."""
    return cpu_s(os.getpid()) - sum(cpu_s(each.process.pid) for each in cluster.members)


def cpu_s(process: int) -> float:
    """The seconds of CPU that a process and all that it started have had."""
    parents, spent = {}, {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            facts = each.read_text().rpartition(")")[2].split()
            number = int(each.parent.name)
            parents[number], spent[number] = int(facts[1]), sum(map(int, facts[11:15]))
    tree = {process}
    while more := {one for one, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sum(spent.get(one, 0) for one in tree) / os.sysconf("SC_CLK_TCK")


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


def alone_and_shared(
    cluster: Cluster, events: DataFrame, matcher: fyke.Matcher, shared: Path
) -> dict[str, Any]:
    ways = {"alone": matched(events, matcher), "shared": matched(events, matcher, folder=shared)}
    return {"rows": counted(ways), **times(cluster, ways, ROUNDS)}


def placements(cluster: Cluster, events: DataFrame, matcher: fyke.Matcher) -> dict[str, Any]:
    """The other placements, each with our number of parts, and with others."""
    told: dict[str, Any] = {}
    for name, parts in PARTS.items():
        options = {"placement": name, **({"on": ON} if name == "rendezvous" else {})}
        ways = {"ours": matched(events, matcher, **options)}
        ways |= {str(each): matched(events, matcher, parts=each, **options) for each in parts}
        counted(ways)
        told[name] = times(cluster, ways, ROUNDS - 1)
    return told


def shipping(
    cluster: Cluster, matcher: fyke.Matcher, session: SparkSession, folder: Path
) -> dict[str, float]:
    """How long until both workers have a set that none of them had, and how large it is."""
    matcher.add("one more", f"{ON} = 'nothing'")
    matcher.save(folder / "shipped")
    pin = Pin.of([str(folder / "shipped")])

    def opening(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        pin.matchers()
        yield from batches

    matched(session.range(1).selectExpr("id as k", f"'x' as {ON}"), fyke.Matcher()).count()  # warm
    before = [driver_s(cluster), *workers_s(cluster)]
    began = time.perf_counter()
    ship(pin, session)
    session.range(0, 4, 1, 4).mapInArrow(opening, "id long").collect()
    took = time.perf_counter() - began
    driver, *workers = (
        now - had for now, had in zip([driver_s(cluster), *workers_s(cluster)], before, strict=True)
    )
    matcher.remove("one more")
    return {
        "shipped": took,
        "shipping cpu": driver + max(workers),
        "size": sum(file.stat().st_size for file in (folder / "shipped").rglob("*.bin")),
    }


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
