"""Placements on Spark: where each of the others beats replication, and what the planner chooses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks import processes
from benchmarks.bench import Bench
from benchmarks.line import Line, at_least, at_most

CHOICE_MAX = 1.3
NAMES = {
    "plain": "W1 20k, spread evenly",
    "costly": "1,000 CESQL rules, costly events in one file",
    "costly_evenly": "1,000 CESQL rules, costly events everywhere",
    "large": "subscriptions beyond a worker's memory",
    "typed": "many types, beyond a worker's memory",
    "either": "a symbol or a sector, beyond a worker's memory",
}
BEATS = {"costly": "multistage", "large": "split", "typed": "rendezvous"}
LIMITED = ("large", "typed", "either")
STAGED_MIN = 1.3


def lines(bench: Bench) -> Iterator[Line]:
    share = 100 if bench.is_quick else 1
    used = 0
    for name, title in NAMES.items():
        bench.say(f"placements, {title}")
        limit = (used,) if name in LIMITED and not bench.is_quick else ()
        told = processes.run("placements", name, share, *limit)
        if name == "plain":
            used = told["addresses"]
        if name in BEATS:
            yield _beats(title, BEATS[name], told)
        if name == "either":
            yield _staged(title, told)
        yield _choice(title, told)


def _staged(title: str, told: dict[str, Any]) -> Line:
    """How much faster a first stage is than the best of what deals subscriptions out otherwise."""
    times: dict[str, float] = told["times"]
    ours = times["multistage"]
    others = {name: times[name] for name in ("split", "rendezvous") if name in times}
    best = min(others, key=others.__getitem__)
    return Line(f"{title}: multistage / {best}", f"{ours:.2f} s", f"{others[best]:.2f} s",
                others[best] / ours, bar=at_least(STAGED_MIN))  # fmt: skip


def _beats(title: str, placement: str, told: dict[str, Any]) -> Line:
    """How much faster a placement is than replication, if that comes to an end at all."""
    ours, theirs = told["times"][placement], told["times"].get("replicate")
    name = f"{title}: {placement} / replicate"
    if theirs is None:
        why = f"replication fails: {told['failed']['replicate']}"
        return Line(name, f"{ours:.2f} s", "fails", note=why)
    return Line(name, f"{ours:.2f} s", f"{theirs:.2f} s", theirs / ours, bar=at_least(1))


def _choice(title: str, told: dict[str, Any]) -> Line:
    """The planner's choice against the best of all that were tried."""
    times: dict[str, float] = told["times"]
    best = min(times, key=times.__getitem__)
    chosen = times.get(told["placement"], float("inf"))
    tried = ", ".join(f"{key} {value:.2f} s" for key, value in sorted(times.items()))
    failed = "".join(f", {key} fails" for key in told["failed"])
    return Line(
        f"{title}: the planner's choice / the best, {best}", f"{chosen:.2f} s",
        f"{times[best]:.2f} s", chosen / times[best], bar=at_most(CHOICE_MAX),
        note=f"{told['plan']}; {tried}{failed}",
    )  # fmt: skip
