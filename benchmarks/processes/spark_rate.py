"""How fast Spark matches on some cores: `spark_rate CORES SNAPSHOT EVENTS SPINS`.

Beside it the same number of cores spins; and how much memory the workers take while they match.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

import fyke.spark
from benchmarks.machine import spin
from benchmarks.processes.on_spark import events, session, tell, w1, written

ROUNDS = 3
SAMPLE_S = 0.1


def main(cores: str, snapshot: str, count: str, spins: str) -> None:
    with tempfile.TemporaryDirectory(prefix="fyke-rate-") as folder:
        tell(measured(int(cores), snapshot, int(count), int(spins), folder))


def measured(cores: int, snapshot: str, count: int, spins: int, folder: str) -> dict[str, Any]:
    spark = session(cores)
    names = [attribute.name for attribute in w1().attributes]
    rows = events(spark, count, cores, f"{folder}/events")
    matches = fyke.spark.match(rows, snapshot, key="k", attributes=names, placement="replicate")
    spinning = spark.range(0, cores, 1, cores).mapInArrow(spun(spins), "id long")
    found = matches.count()
    written(spinning)
    matching, idling = float("inf"), float("inf")
    with Sampled() as sampled:
        for _ in range(ROUNDS):
            matching = min(matching, written(matches))
            idling = min(idling, written(spinning))
    return {"match_s": matching, "spin_s": idling, "rows": found, "workers": sampled.most}


def spun(steps: int) -> Any:
    """In a worker: nothing but arithmetic."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            spin(steps)()
            yield batch

    return run


class Sampled:
    """What the workers take together (their proportional set size) when it is most."""

    def __init__(self) -> None:
        self.most: list[int] = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Sampled:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            self.most = max(self.most, workers(), key=sum)


def workers() -> list[int]:
    """The proportional set sizes of this session's Python workers: the daemon's children."""
    parents = {int(path.name): _parent(path) for path in Path("/proc").glob("[0-9]*")}
    java = {process for process, parent in parents.items() if parent == os.getpid()}
    daemons = {process for process, parent in parents.items() if parent in java}
    return sorted(_size(process) for process, parent in parents.items() if parent in daemons)


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def _size(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return 0


if __name__ == "__main__":
    main(*sys.argv[1:])
