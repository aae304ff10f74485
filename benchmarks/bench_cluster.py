"""Spark on a cluster that shares nothing, beside the same cluster with a shared folder."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_least, at_most
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
    title = f"cluster, stock, {short(events)} events x {short(rules)} subscriptions"
    bench.say(title)
    told = processes.run("cluster", events, rules)
    rows = f"wall, two workers, warm, the same {told['rows']:,} rows to a noop sink"
    alone, shared = told["alone"], told["shared"]
    yield Line(
        f"{title}: nothing shared / a shared folder", f"{alone:.2f} s", f"{shared:.2f} s",
        alone / shared, bar=at_most(ALONE_MAX), note=rows,
    )  # fmt: skip
    for count, two in told["two"].items():
        one, size = (
            told["one"][count],
            f"{short(events)} events x {short(int(count))} subscriptions",
        )
        yield Line(
            f"cluster, stock, {size}: one worker / two", f"{one:.2f} s", f"{two:.2f} s",
            one / two, bar=at_least(SPEEDUP_MIN), note="a core each, nothing shared",
        )  # fmt: skip
    cold, warm = told["cold"], told["warm"]
    yield Line(
        "cluster: a first match on cold hosts, kernels shipped / on warm ones", f"{cold:.2f} s",
        f"{warm:.2f} s", cold, "s", bar=at_most(COLD_MAX * warm + COLD_S_MAX),
        note="new executors both times; the bar is 1.5 x + 3 s",
    )  # fmt: skip
    for name in ("split", "rendezvous"):
        ours, best = told[name], min(told[f"{name} by parts"].values())
        tried = ", ".join(
            f"{key}: {value:.2f} s" for key, value in told[f"{name} by parts"].items()
        )
        yield Line(
            f"{title}: {name} / with the best number of parts", f"{ours:.2f} s", f"{best:.2f} s",
            ours / best, bar=at_most(PARTS_MAX), note=tried,
        )  # fmt: skip
    yield Line(
        f"cluster: shipping {short(rules)} subscriptions", f"{told['shipped']:.2f} s", "",
        told["shipped"], "s", bar=at_most(SHIPPED_S_MAX),
        note=f"{told['size'] / 1e6:.1f} MB, from the driver to both workers, opened and verified",
    )  # fmt: skip
