"""On Spark: our match beside Spark's own plans."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Bar, Line, at_least


def lines(bench: Bench) -> Iterator[Line]:
    yield from _joins(bench, 100_000, 10_000, 1, at_least(10))
    yield from _joins(bench, 1_000_000, 100_000, 100, at_least(100))


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
