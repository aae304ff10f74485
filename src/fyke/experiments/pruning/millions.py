"""Many more subscriptions than the paper's: a plan of some, applied to a million.

Nobody holds a million subscriptions to plan them. So a plan of the first few says how dear a step
may be (`cutting`), and each part of all is pruned up to there. The parts are added up: at the same
cost they are one plan, because its order is that of costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

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
from fyke.experiments.pruning.comparing import of_name
from fyke.experiments.table import Row, Table
from fyke.matching.matcher import Matcher
from fyke.pruning import PredicateStatistics, prune
from fyke.pruning.predicate_statistics import leaves_of

if TYPE_CHECKING:
    from fyke.pruning.plan import PruningPlan

PLACES: Final = 20
"""Costs at which sample and all are compared: after so many parts of the plan of the sample."""
NEAR_REMOVED: Final = 0.02
NEAR_MATCHES: Final = 0.1
_SAMPLED: Final = {"tiny": 100, "small": 1_000, "paper": 5_000}
_PARTS: Final = {"tiny": 2, "small": 5, "paper": 20}
_SUBSCRIPTIONS: Final = {"tiny": 200, "small": 4_000, "paper": 50_000}
"""Of a part."""
_EVENTS: Final = {"tiny": 500, "small": 4_000, "paper": 10_000}


def _grid(scale: str) -> list[Parameters]:
    sizes = {"sampled": _SAMPLED[scale], "events": _EVENTS[scale]}
    sizes["subscriptions"] = _SUBSCRIPTIONS[scale]
    return [{"part": part, **sizes} for part in range(_PARTS[scale])]


def run(parameters: Parameters, seed: int) -> list[Row]:
    """Prune a part of all subscriptions as far as the plan of the sample says, in steps."""
    sampled, count = parameters["sampled"], parameters["subscriptions"]
    sample = _plan(seed, sampled, 0, parameters["events"])
    places = [place * len(sample) // PLACES for place in range(PLACES + 1)]
    costs = [sample.cut(place) for place in places]
    part = _plan(seed, count, parameters["part"] * count, parameters["events"])
    rows = _points("all", part, [part.steps_within(cost) for cost in costs], count)
    if parameters["part"] == 0:
        steps = [sample.steps_within(cost) for cost in costs]
        rows += _points("sample", sample, steps, sampled)
        bend = sample.curve.bend("matches")
        rows[-1 - sum(place > bend for place in places)]["is_bend"] = True
    return rows


def _plan(seed: int, count: int, start: int, events: int) -> PruningPlan:
    work = of_name("auction", seed)
    matcher = Matcher("scan")
    texts = work.texts(count, start)
    matcher.add_many((work.id(number), text) for number, text in enumerate(texts, start))
    leaves = leaves_of(filter for _, filter in matcher.items())
    statistics = PredicateStatistics.of(work.columns(events), list(leaves))
    return prune(matcher, work.columns(events, events), statistics=statistics)


def _points(who: str, plan: PruningPlan, steps: Sequence[int], count: int) -> list[Row]:
    curve = plan.curve
    return [
        {
            "who": who,
            "place": place,
            "subscriptions": count,
            "predicates": int(curve.predicates[at]),
            "whole": int(curve.predicates[0]),
            "matches": float(curve.matches[at]),
        }
        for place, at in enumerate(steps)
    ]


STUDY: Final = Study("millions", run, _grid, lambda parameters: 2.0 * parameters["subscriptions"])


def _summed(rows: Table) -> Table:
    """Add up the parts: predicates removed, and matches of an event and a subscription."""
    found: list[Row] = []
    for who in ("sample", "all"):
        for place in range(PLACES + 1):
            parts = rows.where(who=who, place=place)
            left, whole, matches, count = (
                sum(parts.column(name))
                for name in ("predicates", "whole", "matches", "subscriptions")
            )
            removed, share = 1 - left / whole, matches / count
            is_bend = any(row.get("is_bend") for row in parts)
            found.append(
                {
                    **{"who": who, "place": place, "subscriptions": count},
                    **{"removed": removed, "share": share, "is_bend": is_bend},
                }
            )
    return Table.of(found)


FIGURES: Final = (
    Figure(
        "millions",
        "A million subscriptions by the plan of a few",
        "Matches of an event and a subscription by predicates removed, of the subscriptions that "
        "were planned, and of all, pruned by what that plan says a step may cost. Where the curves "
        "lie on each other, a sample is enough.",
        "millions",
        (
            Panel(
                "auction",
                Axis("removed", "predicates removed, of all"),
                Axis("share", "pairs that match, of all"),
                ("who",),
            ),
        ),
        derived=_summed,
    ),
)


def _judge(results: Results) -> Finding:
    rows = _summed(results["millions"])
    at = rows.one("place", who="sample", is_bend=True)
    few, all = ({**rows.where(who=who, place=at).rows[0]} for who in ("sample", "all"))
    removed = all["removed"] - few["removed"]
    share = all["share"] / few["share"] - 1
    ours = (
        f"{all['subscriptions']:,} by the plan of {few['subscriptions']:,}: predicates removed "
        f"{all['removed']:.3f} and {few['removed']:.3f}, matches {share:+.1%}"
    )
    holds = abs(removed) <= NEAR_REMOVED and abs(share) <= NEAR_MATCHES
    why = "The titles of a sample are not those of all: rare ones weigh differently."
    return Finding(ours, holds, "" if holds else why)


CLAIMS: Final = (
    Claim(
        "PRU-E5.6",
        "A million subscriptions, pruned by the plan of a few, fare as these do.",
        "similarly developing curves",
        ("millions",),
        _judge,
        rule=f"At the bend of the sample, by matches: predicates removed within {NEAR_REMOVED}, "
        f"and matches of an event and a subscription within {NEAR_MATCHES:.0%}.",
    ),
)
