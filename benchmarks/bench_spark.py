"""On Spark: our match beside Spark's own plans, what is left of a core's speed, memory, latency."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Bar, Line, at_least, at_most, micros
from benchmarks.timing import Competitor, best

BATCH = 20_000
EVENTS = 5_000_000
SPINS = 1_000_000_000
SHARES = {100_000: 0.45, 1_000_000: 0.50}
"""Of the speed of `match_batch`, by the number of subscriptions."""


def lines(bench: Bench) -> Iterator[Line]:
    yield from _joins(bench, 100_000, 10_000, 1, at_least(10))
    yield from _joins(bench, 1_000_000, 100_000, 100, at_least(100))
    for full, share in SHARES.items():
        yield from _rates(bench, full, at_least(share * 100, aim=85))
    yield _latency(bench)


# --- beside Spark's own plans --------------------------------------------------------------------


def _joins(bench: Bench, events: int, rules: int, share: int, bar: Bar) -> Iterator[Line]:
    events, rules = bench.events(events), bench.size(rules)
    share = 1 if bench.is_quick else share
    title = f"Spark, W1, {short(events)} events x {short(rules)} subscriptions"
    bench.say(title)
    told = processes.run("spark_joins", events, rules, share)
    ours, rows = told["match"], f"the same {told['rows']:,} rows to a noop sink"
    part = f"; on {100 / share:g} % of the events, scaled" if share > 1 else ""
    yield Line(
        f"{title} / broadcast nested-loop join", f"{ours:.2f} s", f"{told['nested_loop']:.1f} s",
        told["nested_loop"] / ours, bar=bar, note=f"wall, two cores, warm, {rows}{part}",
    )  # fmt: skip
    yield Line(
        f"{title} / the best hand-tuned plan", f"{ours:.2f} s", f"{told['tuned']:.1f} s",
        told["tuned"] / ours, bar=at_least(10) if share > 1 else None,
        note=f"{told['plan']}, the best of the plans that were tried",
    )  # fmt: skip


# --- what is left of a core's speed --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rate:
    """What was seen on some cores: seconds, and the memory of the workers when it was most."""

    cores: int
    match_s: float
    spin_s: float
    workers: list[int]

    @property
    def memory(self) -> int:
        """Of those that match; Spark keeps others for its own questions."""
        return sum(sorted(self.workers)[-self.cores :])

    @classmethod
    def on(cls, cores: int, *arguments: object) -> Rate:
        told: dict[str, Any] = processes.run("spark_rate", cores, *arguments)
        return cls(cores, told["match_s"], told["spin_s"], told["workers"])


def _rates(bench: Bench, full: int, bar: Bar) -> Iterator[Line]:
    count, events = bench.size(full), bench.events(EVENTS)
    subject = bench.w1(count)
    table = subject.workload.columns(bench.events(BATCH))
    (alone,) = best(
        Competitor("match_batch", lambda: subject.matcher.match_batch(table), table.num_rows)
    )
    snapshot = bench.subjects.snapshot(subject.workload, count)
    bench.say(f"Spark, W1 {short(count)}, {short(events)} events on one and two cores")
    spins = SPINS // (1_000 if bench.is_quick else 1)
    one, two = (Rate.on(cores, snapshot, events, spins) for cores in (1, 2))
    title, each = f"Spark, W1 {short(count)}", two.match_s * two.cores / events
    yield Line(
        f"{title}, throughput of a core / of match_batch", micros(each), micros(alone),
        100 * alone / each, "%", bar,
        note=f"{short(events)} events in {two.match_s:.1f} s wall on two cores; key and id out, "
        f"noop sink; one core alone {micros(one.match_s / events)}",
    )  # fmt: skip
    ours, spinning = one.match_s / two.match_s, 2 * one.spin_s / two.spin_s
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


# --- streams -------------------------------------------------------------------------------------


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
