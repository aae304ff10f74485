"""Times the placements in a Spark session of its own: `placements WORKLOAD SHARE [ADDRESSES]`.

With ADDRESSES, in bytes, workers may use so many, and room for a part of the subscriptions beyond.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

import fyke.spark
from benchmarks.pairs import Disagreement
from benchmarks.processes.on_spark import fingerprint, written
from fyke.spark.placements.profiles import profile
from fyke.workloads.named import workload

PLACEMENTS = ("replicate", "split", "rendezvous", "multistage")
ROUNDS = 3
SHARDS = 8
ROOM_SHARE = 0.75
"""Of all subscriptions, beyond what a worker needs with none."""
KINDS = 20
LONG = 4_000


@dataclass(frozen=True, slots=True)
class Case:
    """Events in several files, and subscriptions (id, filter, dialect)."""

    events: list[pa.Table]
    subscriptions: pa.Table
    on: str | None = None


def plain(share: int) -> Case:
    """W1: an index decides all, events are spread evenly."""
    given = workload("w1", 0)
    table = given.columns(200_000 // share)
    half = table.num_rows // 2
    subscriptions = given.subscription_columns(20_000 // share).select(["id", "filter"])
    return Case([table.slice(0, half), table.slice(half)], _native(subscriptions), "s10k")


def costly(share: int) -> Case:
    """A dialect's own interpreter decides, and the events that need it lie in one file."""
    number = np.arange(80_000 // share)
    return _ruled(number, number < number.size // 10)


def costly_evenly(share: int) -> Case:
    """The same, but they lie everywhere."""
    number = np.arange(80_000 // share)
    return _ruled(number, number % 10 == 0)


def _ruled(number: Any, is_costly: Any) -> Case:
    """Rules of CESQL for events of some kinds."""
    kinds = np.where(is_costly, number // 10 % KINDS, KINDS + number % 1000)
    table = pa.table(
        {
            "kind": pa.array([f"kind-{kind}" for kind in kinds]),
            "message": pa.array([f"{at} of many, granted after some thought" for at in number]),
        }
    )
    texts = [
        f"kind = 'kind-{at % KINDS}' AND (UPPER(message) LIKE '%DENIED {at}%' OR "
        f"SUBSTRING(UPPER(message), 3) = '{at}' OR LENGTH(TRIM(message)) > {1000 + at})"
        for at in range(50 * KINDS)
    ]
    half = number.size // 2
    return Case([table.slice(0, half), table.slice(half)], _named(texts, "cesql"))


def large(share: int) -> Case:
    """Long ids make subscriptions large; none needs a value."""
    texts = [
        f"x between {at % 9973 / 10} and {at % 9973 / 10 + 0.5} and y between {at % 997} and "
        f"{at % 997 + 1}"
        for at in range(48_000 // share)
    ]
    return Case(_points(share), _named(texts, "fyke", LONG))


def typed(share: int) -> Case:
    """The same, but each subscription needs a type."""
    texts = [
        f"type = 'type-{at % 500}' and x between {at % 997} and {at % 997 + 30} and y < 500"
        for at in range(48_000 // share)
    ]
    return Case(_points(share), _named(texts, "fyke", LONG), "type")


def either(share: int) -> Case:
    """Half of the subscriptions need a symbol, the others a sector: no attribute is good to meet on
    for all, but an event's symbol and sector name the parts that it is for.
    """
    texts = [
        f"{'symbol' if at % 2 else 'sector'} = 'v-{at // 2 % 4_000}' and x between {at % 997} and "
        f"{at % 997 + 30}"
        for at in range(48_000 // share)
    ]
    count, draw = 1_500_000 // share, np.random.default_rng(0)
    names = [f"v-{number}" for number in range(4_000)]
    table = pa.table(
        {
            "symbol": pa.array(names).take(pa.array(draw.integers(0, 4_000, count))),
            "sector": pa.array(names).take(pa.array(draw.integers(0, 4_000, count))),
            "x": draw.random(count) * 1000,
        }
    )
    halves = [table.slice(0, count // 2), table.slice(count // 2)]
    return Case(halves, _named(texts, "fyke", LONG), "symbol")


CASES = {
    "plain": plain,
    "costly": costly,
    "costly_evenly": costly_evenly,
    "large": large,
    "typed": typed,
    "either": either,
}


def _points(share: int) -> list[pa.Table]:
    count, draw = 50_000 // share, np.random.default_rng(0)
    types = pa.array([f"type-{number}" for number in draw.integers(0, 500, count)])
    table = pa.table(
        {"type": types, "x": draw.random(count) * 1000, "y": draw.random(count) * 1000}
    )
    return [table.slice(0, count // 2), table.slice(count // 2)]


def _named(texts: list[str], dialect: str, length: int = 8) -> pa.Table:
    ids = [f"{at:0{length}}" for at in range(len(texts))]
    return pa.table({"id": ids, "filter": texts, "dialect": [dialect] * len(texts)})


def _native(table: pa.Table) -> pa.Table:
    return table.append_column("dialect", pa.array(["fyke"] * table.num_rows))


# --- timing --------------------------------------------------------------------------------------


def addresses(batches: Any) -> Iterator[pa.RecordBatch]:
    """In a worker: how many bytes of addresses it uses."""
    for _ in batches:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        yield pa.RecordBatch.from_pydict({"bytes": [pages * os.sysconf("SC_PAGE_SIZE")]})


def measured(name: str, share: int, used: int | None, folder: Path) -> dict[str, Any]:
    case = CASES[name](share)
    for at, table in enumerate(case.events):
        numbers = pa.array(np.arange(table.num_rows) + at * table.num_rows)
        (folder / "events").mkdir(exist_ok=True)
        pq.write_table(table.append_column("k", numbers), folder / "events" / f"{at}.parquet")
    size = case.subscriptions.nbytes
    conf = {"spark.sql.files.openCostInBytes": str(2**30)}  # a task per file
    if used is not None:
        conf["spark.sql.execution.arrow.maxRecordsPerBatch"] = "1000"
        conf["spark.executor.pyspark.memory"] = f"{(used + int(ROOM_SHARE * size)) >> 20}m"
    # Arenas of glibc and of Arrow take addresses, used or not.
    os.environ |= {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    session = fyke.spark.session(master="local[2]", conf=conf)
    table = session.createDataFrame(case.subscriptions)
    shards = SHARDS if used is not None else None
    version = fyke.spark.compile(table, folder / "compiled", shards=shards)
    events = session.read.parquet(str(folder / "events"))
    plan = fyke.spark.plan(events, version)
    times: dict[str, float] = {}
    failed: dict[str, str] = {}
    found = {}
    for placement in PLACEMENTS:
        if placement == "rendezvous" and case.on is None:
            continue
        on = case.on if placement == "rendezvous" else None
        chosen: dict[str, Any] = {"placement": placement, "on": on}
        if plan.placement == placement:
            chosen = {"placement": plan}
        try:
            matches = fyke.spark.match(events, version, key="k", **chosen)
            found[placement] = fingerprint(matches)
            times[placement] = min(written(matches) for _ in range(ROUNDS))
        except (PySparkException, Py4JJavaError) as error:
            failed[placement] = _reason(error)
    if len(set(found.values())) > 1:
        raise Disagreement(f"results differ: {found}")
    spoken = session.range(0, 2, 1, 2).mapInArrow(addresses, "bytes long").collect()
    return {
        "plan": str(plan),
        "placement": plan.placement,
        "size": profile(version.pin()).size,
        "times": times,
        "failed": failed,
        "addresses": max(row["bytes"] for row in spoken),
    }


def _reason(error: Exception) -> str:
    """What Python said, of all that Java says; names of folders are long and mean nothing."""
    lines = [line.strip() for line in str(error).splitlines() if "Error" in line]
    said = re.sub(r"/\S*/", "", lines[-1]) if lines else type(error).__name__
    return said[:200]


def main(name: str, share: str, used: str | None = None) -> None:
    with tempfile.TemporaryDirectory(prefix="fyke-placements-") as folder:
        told = measured(name, int(share), None if used is None else int(used), Path(folder))
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
