"""Statistics of yesterday against events of today: what it costs if shares have changed.

A plan goes by how often predicates held. It is measured on events of today, whatever it goes by:
other events of today; those of another market, where other titles and categories are popular; or
nothing, so that shares are guessed by the form of predicates.
"""

from __future__ import annotations

from typing import Final

from fyke.experiments.experiment import (
    Axis,
    Claim,
    Figure,
    Finding,
    Panel,
    Parameters,
    Results,
    Study,
)
from fyke.experiments.table import Row
from fyke.matching.matcher import Matcher
from fyke.pruning import PredicateStatistics, prune
from fyke.pruning.predicate_statistics import leaves_of
from fyke.workloads.auction import AuctionWorkload

KNOWN: Final = ("today", "yesterday", "nothing")
PARTS: Final = 40
_SUBSCRIPTIONS: Final = {"tiny": 100, "small": 1_000, "paper": 10_000}
_EVENTS: Final = {"tiny": 500, "small": 10_000, "paper": 100_000}


def _grid(scale: str) -> list[Parameters]:
    sizes = {"subscriptions": _SUBSCRIPTIONS[scale], "events": _EVENTS[scale]}
    return [{"known": known, **sizes} for known in KNOWN]


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Return what is let in by the prunings of a plan that goes by certain statistics."""
    today = AuctionWorkload(seed, typed=False, joint=True)
    matcher = Matcher("scan")
    texts = today.texts(parameters["subscriptions"])
    matcher.add_many((today.id(number), text) for number, text in enumerate(texts))
    events = parameters["events"]
    statistics = PredicateStatistics()
    if parameters["known"] != "nothing":
        seen = today if parameters["known"] == "today" else AuctionWorkload(
            seed + 1, typed=False, joint=True
        )  # fmt: skip
        leaves = list(leaves_of(filter for _, filter in matcher.items()))
        statistics = PredicateStatistics.of(seen.columns(events), leaves)
    plan = prune(matcher, today.columns(events, events), statistics=statistics)
    curve = plan.curve
    return [
        {
            "known": parameters["known"],
            "removed": 1 - int(curve.predicates[at]) / int(curve.predicates[0]),
            "selectivity": float(curve.fraction[at]),
            "matches": float(curve.matches[at]),
            "is_bend": at == curve.bend(),
        }
        for at in sorted({*(part * len(plan) // PARTS for part in range(PARTS + 1)), curve.bend()})
    ]


STUDY: Final = Study("aging", run, _grid, lambda parameters: 2.0 * parameters["subscriptions"])
_X: Final = Axis("removed", "predicates removed, of all")
FIGURES: Final = (
    Figure(
        "aging",
        "Statistics of yesterday",
        "What pruning lets in today, by where its statistics come from. Yesterday, other titles "
        "and categories were popular.",
        "aging",
        (
            Panel("events", _X, Axis("selectivity", "events that match at least one"), ("known",)),
            Panel("matches", _X, Axis("matches", "matches per event", is_log=True), ("known",)),
        ),
    ),
)


def _judge(results: Results) -> Finding:
    rows = results["aging"]
    removed = rows.one("removed", known="today", is_bend=True)
    first = rows.where(known="today").sort("removed").column("selectivity")[0]
    found = {}
    for known in KNOWN:
        points = rows.where(known=known).sort("removed").rows
        after = next(row for row in points if row["removed"] >= removed)
        found[known] = after["selectivity"] - first
    ours = ", ".join(f"{name} {increase:.4f}" for name, increase in found.items())
    why = "Which titles are rare is what statistics say, and titles are others the next day."
    holds = found["yesterday"] <= 2 * found["today"]
    return Finding(f"increase of the selectivity: {ours}", holds, "" if holds else why)


CLAIMS: Final = (
    Claim(
        "PRU-13.1",
        "Statistics of another day do nearly as well.",
        "We can calculate the selectivity of predicates based on historical information",
        ("aging",),
        _judge,
        rule="With as many predicates removed as at the bend by today's statistics, the "
        "selectivity has grown by at most twice as much.",
    ),
)
