"""On Spark: what is left of a core's speed, and what workers share of their memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Bar, Line, at_least, at_most, micros
from benchmarks.subjects import Subject
from benchmarks.timing import Competitor, best

BATCH = 20_000
"""Events that `match_batch` gets at once: as many as a worker does."""
EVENTS = {1: 1_000_000, 2: 5_000_000}
"""By the number of cores; one alone needs no more to show its rate."""
SPINS = 1_000_000_000
SHARES = {1_000_000: 0.50, 100_000: 0.45}
"""Of the speed of `match_batch`, by the number of subscriptions."""


def lines(bench: Bench) -> Iterator[Line]:
    for full, share in SHARES.items():
        yield from _rates(bench, full, at_least(share * 100, aim=85))


@dataclass(frozen=True, slots=True)
class Rate:
    """What was seen on some cores: seconds, and the memory of the workers when it was most."""

    cores: int
    events: int
    match_s: float
    spin_s: float
    workers: list[int]

    @property
    def each(self) -> float:
        """Seconds of wall time for an event."""
        return self.match_s / self.events

    @property
    def memory(self) -> int:
        """Of those that match; Spark keeps others for its own questions."""
        return sum(sorted(self.workers)[-self.cores :])

    @classmethod
    def on(cls, cores: int, snapshot: object, events: int, spins: int) -> Rate:
        told: dict[str, Any] = processes.run("spark_rate", cores, snapshot, events, spins)
        return cls(cores, events, told["match_s"], told["spin_s"], told["workers"])


def _rates(bench: Bench, full: int, bar: Bar) -> Iterator[Line]:
    count = bench.size(full)
    subject = bench.w1(count)
    snapshot = bench.subjects.snapshot(subject.workload, count)
    spins = SPINS // (1_000 if bench.is_quick else 1)
    bench.say(f"Spark, W1 {short(count)}, on one core")
    one = Rate.on(1, snapshot, bench.events(EVENTS[1]), spins)
    bench.say(f"Spark, W1 {short(count)}, on two cores")
    alone = _alone(subject, bench.events(EVENTS[1]))
    two = Rate.on(2, snapshot, bench.events(EVENTS[2]), spins)
    title, each = f"Spark, W1 {short(count)}", two.each * two.cores
    yield Line(
        f"{title}, throughput of a core / of match_batch", micros(each), micros(alone),
        100 * alone / each, "%", bar,
        note=f"{short(two.events)} events in {two.match_s:.1f} s wall on two cores; key and id "
        f"out, noop sink; one core alone {micros(one.each)}; match_batch on "
        f"{short(one.events)} of them",
    )  # fmt: skip
    ours, spinning = one.each / two.each, 2 * one.spin_s / two.spin_s
    yield Line(
        f"{title}, two cores / spin job", f"scales {ours:.2f}", f"scales {spinning:.2f}",
        ours / spinning, bar=at_least(0.85),
        note="wall; all processes on one core, then on two",
    )  # fmt: skip
    if full == max(SHARES):
        yield Line(
            f"{title}, memory of two workers / of one", f"{two.memory / 1e6:.0f} MB",
            f"{one.memory / 1e6:.0f} MB", two.memory / max(one.memory, 1), bar=at_most(1.3),
            note="proportional set size, when it is most",
        )  # fmt: skip


def _alone(subject: Subject, events: int) -> float:
    """Seconds that `match_batch` takes for an event. All are different, as they are on Spark:
    the same few again and again would find their way in the processor's caches.
    """
    tables = [
        subject.workload.columns(min(BATCH, events - start), start).combine_chunks()
        for start in range(0, events, BATCH)
    ]

    def work() -> None:
        for table in tables:
            subject.matcher.match_batch(table)

    (taken,) = best(Competitor("match_batch", work, events))
    return taken
