"""Spark on a cluster that shares nothing, beside the same cluster with a shared folder."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Bar, Line, at_least, at_most
from tests_cluster.cluster import missing

ALONE_MAX = 1.1
COLD_MAX, COLD_S_MAX = 1.5, 3
PARTS_MAX = 1.3
SHIPPED_S_MAX = 2
SPEEDUP_MIN = 1.75


def lines(bench: Bench) -> Iterator[Line]:
    reason = missing()
    if reason is not None:
        yield Line("a cluster", note=reason)
        return
    events, rules = bench.events(1_000_000), bench.size(100_000)
    title = f"cluster, W1, {short(events)} events x {short(rules)} subscriptions"
    bench.say(title)
    told = processes.run("cluster", events, rules)
    rows = f"two workers, warm, the same {told['rows']:,} rows to a noop sink"
    name = f"{title}: nothing shared / a shared folder"
    yield _line(name, told["alone"], told["shared"], at_most(ALONE_MAX), rows)
    for count, two in told["two"].items():
        one, size = (
            told["one"][count],
            f"{short(events)} events x {short(int(count))} subscriptions",
        )
        name = f"cluster, W1, {size}: one worker / two"
        yield _line(name, one, two, at_least(SPEEDUP_MIN), "a processor each, nothing shared")
    cold, warm = told["cold"], told["warm"]
    yield Line(
        "cluster: a first match on cold hosts, kernels shipped / on warm ones", f"{cold:.2f} s",
        f"{warm:.2f} s", cold, "s", bar=at_most(COLD_MAX * warm + COLD_S_MAX),
        note="wall, new executors both times; the bar is 1.5 x + 3 s",
    )  # fmt: skip
    for placement in ("split", "rendezvous"):
        ours, others = told[placement]["ours"], told[placement]
        best = min(others, key=lambda each: float(others[each]["wall"]))
        tried = ", ".join(f"{parts}: {each['wall']:.2f} s" for parts, each in others.items())
        name = f"{title}: {placement} / with the best number of parts"
        note = f"a fourth of the events; parts {tried}"
        yield _line(name, ours, others[best], at_most(PARTS_MAX), note)
    yield Line(
        f"cluster: shipping {short(rules)} subscriptions", f"{told['shipped']:.2f} s", "",
        told["shipped"], "s", bar=at_most(SHIPPED_S_MAX),
        note=f"wall, {told['size'] / 1e6:.1f} MB, from the driver to both workers, opened and "
        f"verified; CPU of the driver and a worker {told['shipping cpu']:.2f} s",
    )  # fmt: skip


def _line(name: str, ours: dict[str, float], other: dict[str, float], bar: Bar, note: str) -> Line:
    """Compare wall times; CPU times of the worker that had most to do stand beside them."""
    cpu = f"{ours['cpu']:.2f} s and {other['cpu']:.2f} s, {ours['cpu'] / other['cpu']:.2f}x"
    return Line(
        name, f"{ours['wall']:.2f} s", f"{other['wall']:.2f} s", ours["wall"] / other["wall"],
        bar=bar, note=f"wall, {note}; CPU of the worker with most to do {cpu}",
    )  # fmt: skip
