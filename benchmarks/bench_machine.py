"""The distance to the machine: bytes touched per event against what memory delivers."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Line, micros
from benchmarks.machine import bandwidth
from benchmarks.timing import best

SIZES = (1, 16, 256)
"""Mebibytes that are read again and again: of the second cache, of the last one, of memory."""
READ_BYTES = 1 << 30
EVENTS = 8_192
COUNTED = 200


def lines(bench: Bench) -> Iterator[Line]:
    subject = bench.w1(bench.million)
    bench.say("memory bandwidth")
    speeds = {size: bandwidth(size, READ_BYTES >> (6 if bench.is_quick else 0)) for size in SIZES}
    for size, speed in speeds.items():
        yield Line(f"read bandwidth, {size} MiB", value=speed / 1e9, unit="GB/s")
    bench.say("bytes touched")
    path = bench.subjects.snapshot(subject.workload, subject.count)
    touched = processes.run("touched", path, bench.events(COUNTED), FYKE_KERNELS="plain")["bytes"]
    (ours,) = best(subject.competitor("kernel", subject.encoded(bench.events(EVENTS))))
    for size, speed in speeds.items():
        yield Line(
            f"W1 {short(subject.count)}, kernel time / reading its bytes at {size} MiB speed",
            micros(ours), micros(touched / speed), ours * speed / touched,
            note=(
                f"{touched / 1e3:,.1f} kB an event: the distinct cache lines of the index that the "
                "kernels' plain twin reads, event by event"
            ),
        )  # fmt: skip
