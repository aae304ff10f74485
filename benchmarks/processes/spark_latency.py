"""How long events take through a stream: `spark_latency SNAPSHOT EVENTS BATCHES`.

Events are appended to a log; the clock runs from then until the folder of their batch is there.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import fyke.spark
from benchmarks.processes.on_spark import session, tell, w1
from benchmarks.timing import percentile
from fyke.events.json import encode
from fyke.logs.log import Log
from fyke.logs.partitions import Partitions

CORES = 2
WARM_UP = 10
LIMIT_S = 120


def main(snapshot: str, count: str, batches: str) -> None:
    with tempfile.TemporaryDirectory(prefix="fyke-latency-") as folder:
        tell(measured(snapshot, int(count), int(batches), Path(folder)))


def measured(snapshot: str, count: int, batches: int, folder: Path) -> dict[str, Any]:
    given = w1()
    texts = [encode(event.attributes) for event in given.events(count)]
    log = Partitions.create(folder / "events").log(0)
    rows = session(CORES).readStream.format("fyke").load(str(folder / "events"))
    stream = fyke.spark.match_stream(
        rows, snapshot, folder / "out", checkpoint=folder / "checkpoint", json="value", key="offset"
    )
    taken = [once(log, texts, folder / "out" / f"batch={at}") for at in range(WARM_UP + batches)]
    progress = stream.query.recentProgress[-batches:]
    stream.stop()
    return {
        "p50_s": percentile(taken[WARM_UP:], 50),
        "p95_s": percentile(taken[WARM_UP:], 95),
        "spark_p50_s": percentile([each.batchDuration / 1000 for each in progress], 50),
        "matches": stream.progress().matches,
    }


def once(log: Log, texts: list[str], batch: Path) -> float:
    started = time.perf_counter()
    log.append(texts)
    while not batch.exists():
        if time.perf_counter() - started > LIMIT_S:
            raise TimeoutError(f"there is no {batch} after {LIMIT_S} s")
        time.sleep(0.001)
    return time.perf_counter() - started


if __name__ == "__main__":
    main(*sys.argv[1:])
