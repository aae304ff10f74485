"""Matches a batch, and with the argument `stream` a stream, once for each master= and remote=.

With the argument `alone` it also matches in all ways subscriptions that only the driver sees.
Prints what was found, as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from fyke.logs.partitions import Partitions

SUBSCRIPTIONS = {f"s{number}": f"n = {20 * number} and n < 5000" for number in range(100)}
SCHEMA = "event long, subscription string, worker string"


def matches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows (event, subscription, what the worker says of itself)."""
    import gc
    import os

    from fyke.matching.compiled.kernels import kernel, kernel_cache
    from fyke.matching.compiled.search import search

    matcher = fyke.Matcher()
    matcher.add_many(SUBSCRIPTIONS.items())
    was_loaded = bool(search.find.signatures)
    for batch in batches:
        found = matcher.match_batch(pa.Table.from_batches([batch]))
        worker = {
            "python": sys.executable,
            "process": os.getpid(),
            "parent": os.getppid(),
            "frozen": gc.get_freeze_count(),
            "was_loaded": was_loaded,
            "cache": str(kernel_cache.kernel_cache(kernel.MODE)),
            "compiled": sum(search.find.stats.cache_misses.values()),
        }
        told = pa.array([json.dumps(worker)] * found.num_rows, pa.string())
        yield from found.append_column("worker", told).to_batches()


def keep(rows: DataFrame, number: int) -> None:
    rows.write.mode("overwrite").parquet(f"kept/{number}")


def streamed(session: SparkSession, kind: str) -> list[str]:
    """The subscriptions that a stream of files finds."""
    stream = session.readStream.schema("n long").parquet("events").mapInArrow(matches, SCHEMA)
    query = (
        stream.writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(Path(f"checkpoint-{kind}").absolute()))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return sorted(row.subscription for row in session.read.parquet("kept/*").collect())


def matched(session: SparkSession, kind: str) -> list[str]:
    """The subscriptions that `match_stream` finds in a log."""
    events = [json.dumps({"n": number}) for number in range(2000)]
    Partitions.create(f"log-{kind}").log(0).append([*events, "not json"])
    matcher = fyke.Matcher()
    matcher.add_many(SUBSCRIPTIONS.items())
    stream = fyke.spark.match_stream(
        session.readStream.format("fyke").load(str(Path(f"log-{kind}").absolute())),
        matcher,
        f"matched-{kind}",
        checkpoint=f"checkpoint-of-{kind}",
        json="value",
        trigger="available",
    )
    assert stream.await_end() and stream.exception is None
    assert stream.progress().errors == 1
    found = session.read.parquet(f"matched-{kind}").collect()
    return sorted(row.subscription for row in found)


def alone(session: SparkSession) -> dict[str, list[str]]:
    """What is found in all ways where subscriptions lie on the driver."""
    events = session.range(0, 2000, 1, 4).withColumnRenamed("id", "n")
    table = session.createDataFrame(list(SUBSCRIPTIONS.items()), "id string, filter string")
    matcher = fyke.Matcher()
    matcher.add_many(SUBSCRIPTIONS.items())
    matcher.save("/proc/self/cwd/snapshot")
    version = fyke.spark.compile(table, "/proc/self/cwd/versions", shards=2)
    bad = session.createDataFrame([("bad", "n <"), ("good", "n < 5")], table.schema)
    refused = fyke.spark.compile(bad, "/proc/self/cwd/refused").errors(session)
    match = fyke.spark.match
    found = {
        "table": match(events, table),
        "matcher": match(events, matcher),
        "snapshot": match(events, "/proc/self/cwd/snapshot"),
        "version": match(events, version),
        "split": match(events, matcher, placement="split"),
        "rendezvous": match(events, matcher, placement="rendezvous", on="n", parts=3),
    }
    rows = {way: [row.subscription for row in frame.collect()] for way, frame in found.items()}
    fractions = fyke.spark.statistics.match_fractions(events, matcher)
    rows["fractions"] = [row.subscription for row in fractions.where("matches = 1").collect()]
    rows["refused"] = [row.id for row in refused.collect()]
    return {way: sorted(ids) for way, ids in rows.items()}


def run(kind: str, place: str) -> dict[str, object]:
    session = fyke.spark.session(**{kind: place})
    events = session.range(0, 2000, 1, 4).withColumnRenamed("id", "n")
    batch = events.mapInArrow(matches, SCHEMA).collect()
    found: dict[str, object] = {
        "batch": sorted(row.subscription for row in batch),
        "workers": [json.loads(text) for text in sorted({row.worker for row in batch})],
    }
    if "stream" in sys.argv:
        events.write.mode("overwrite").parquet("events")
        found["stream"] = streamed(session, kind)
        found["matched"] = matched(session, kind)
    if "alone" in sys.argv:
        found["alone"] = alone(session)
    if kind == "master":
        found["java"] = session._jvm.System.getProperty("java.home")
    session.stop()
    return found


if __name__ == "__main__":
    places = [argument.split("=") for argument in sys.argv[1:] if "=" in argument]
    print(json.dumps([run(kind, place) for kind, place in places]))
