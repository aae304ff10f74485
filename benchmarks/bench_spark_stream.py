"""On Spark: how long an event of a stream waits for its notification."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_most


def lines(bench: Bench) -> Iterator[Line]:
    yield _latency(bench)


def _latency(bench: Bench) -> Line:
    subject = bench.w1(bench.hundred_thousand)
    snapshot = bench.subjects.snapshot(subject.workload, subject.count)
    bench.say("Spark, a stream in small batches")
    told = processes.run(
        "spark_latency", snapshot, bench.events(1_000), 3 if bench.is_quick else 50
    )
    return Line(
        f"Spark, a stream, W1 {short(subject.count)}, 1,000 events a batch, p50",
        f"p95 {told['p95_s']:.3f} s", "", told["p50_s"], "s", at_most(0.4),
        note=f"wall, from the append to a log until the batch's folder is there; Spark's own "
        f"figure {told['spark_p50_s']:.3f} s",
    )  # fmt: skip
