"""Section 5.5, locality: figures 19 and 20. On the bus, with events that match at home or not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from fyke.experiments.das.deployment import BUS, BUS_RENDEZVOUS, STRATEGIES, Deployment, Point
from fyke.experiments.das.judging import (
    EXACT,
    NAMES,
    Both,
    Measure,
    Measured,
    Part,
    above,
    all_of,
    is_steady,
)
from fyke.experiments.das.overlays import (
    ENGINE,
    EVENTS,
    LOAD,
    REPEATS,
    curves,
    efficiency_panels,
    furthest,
    of_each,
    rows_of,
    said,
)
from fyke.experiments.das.wording import listed, number
from fyke.experiments.das.workload import Profiles
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
from fyke.experiments.table import Row, is_falling

PORTIONS: Final = (0.1, 0.5, 1.0)
_PROFILES: Final = {"tiny": 160, "small": 1_600, "paper": 160_000}
_STEPS: Final = {"tiny": 2, "small": 2, "paper": 10}


def _grid(scale: str) -> list[Parameters]:
    return [
        {
            "strategy": strategy,
            "profiles": _PROFILES[scale],
            "steps": _STEPS[scale],
            "events": EVENTS[scale],
            "repeats": REPEATS[scale],
        }
        for strategy in STRATEGIES
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    strategy, steps = parameters["strategy"], parameters["steps"]
    profiles = Profiles(BUS.brokers, parameters["profiles"])
    overlay = Deployment(strategy, BUS, profiles, {"": BUS_RENDEZVOUS}, ENGINE)
    points = [
        Point(Fraction(str(p_p)), Fraction(step, steps))
        for p_p in PORTIONS
        for step in range(steps + 1)
    ]
    rows = overlay.curve(
        points, at_least=parameters["events"], repeats=parameters["repeats"], seed=seed
    )
    return [
        {"strategy": strategy, "locality": float(point.locality or 0), **row}
        for point, row in zip(points, rows, strict=True)
    ]


STUDY: Final = Study("locality", run, _grid, lambda parameters: parameters["profiles"] / 250 + 50)


INDEPENDENT: Final = 1.1
"""So many times the least the greatest may be of what does not depend on something."""
NEAR: Final = 0.1
"""How far, relatively, a factor may be from the paper's."""


def _gained(results: Results, measure: Measure) -> dict[str, list[Measured]]:
    """Efficiency with full locality by that without, for each p_p."""
    rows = results["locality"]
    return {
        name: [
            measure.one(rows, strategy=name, p_p=p_p, locality=1.0).by(
                measure.one(rows, strategy=name, p_p=p_p, locality=0.0)
            )
            for p_p in PORTIONS
        ]
        for name in NAMES
    }


def _said(values: list[Measured]) -> str:
    return f"{listed(values)} times at p_p = {listed(PORTIONS)}"


def _judge_adaptation(results: Results, measure: Measure) -> Part:
    gained = _gained(results, measure)
    ours = "; ".join(f"{name} {listed(each)}" for name, each in gained.items())
    answers = [
        above(own, each)
        for name in ("RN", "EF")
        for own, each in zip(gained["PF"], gained[name], strict=True)
    ]
    return Part(f"{ours} times at p_p = {listed(PORTIONS)}", all_of(answers))


def _judge_pf(results: Results, measure: Measure) -> Part:
    gained = _gained(results, measure)["PF"]
    holds = min(gained) >= 2 * (1 - NEAR) and max(gained) <= 3.5 * (1 + NEAR)
    within = [p for p, each in zip(PORTIONS, gained, strict=True) if 2 <= each <= 3.5]
    why = (
        "The paper does not say for which p_p. What a broker saves are the messages of events that "
        f"match, so the factor grows with p_p; it is within the range at p_p = {listed(within)}."
    )
    return Part(_said(gained), holds, "" if holds else why if within else "Not at any p_p.")


def _judge_rn(results: Results, measure: Measure) -> Part:
    gained = _gained(results, measure)["RN"]
    holds = abs(max(gained) / 1.25 - 1) <= NEAR
    return Part(_said(gained), holds, "" if holds else f"{number(max(gained))} at most.")


def _judge_ef(results: Results, measure: Measure) -> Part:
    found = measure.curves(results["locality"], "locality", "p_p", strategy="EF")
    apart = [max(curve) / min(curve) for curve in found.values()]
    holds = all_of(is_steady(curve, INDEPENDENT) for curve in found.values())
    return Part(f"most by least: {listed(apart)} at p_p = {listed(PORTIONS)}", holds)


def _judge_load(results: Results) -> Finding:
    def expected(row: Row) -> float:
        away = float(row["p_e"] * (1 - row["locality"]))
        return {"EF": 3.0, "PF": away * 5 / 3, "RN": 1 + away * 5 / 6}[row["strategy"]]

    rows = results["locality"]
    off = furthest(rows, "load", expected)
    falling = [
        curve
        for name in ("PF", "RN")
        for curve in curves(rows, "locality", "load", "p_p", strategy=name).values()
    ]
    ends = (
        of_each(rows, "load", p_p=1.0, locality=0.0),
        of_each(rows, "load", p_p=1.0, locality=1.0),
    )
    ours = f"p_p = 1: {said(ends[0])} without, {said(ends[1])} with locality"
    holds = off < EXACT and all(map(is_falling, falling))
    return Finding(ours, holds, "" if holds else f"Up to {number(off)} off the forms.")


# --- what there is --------------------------------------------------------------------------------

_X: Final = Axis("locality", "locality")

FIGURES: Final = (
    Figure(
        "19",
        "Efficiency by locality",
        "Four brokers in a line, 160,000 profiles (1,600 at small scale); events that match do so "
        "at their own broker with the probability on the abscissa. Profile forwarding then keeps "
        "them at home, while rendezvous nodes see them all the same and flooding takes no notice.",
        "locality",
        efficiency_panels(_X, "p_p", PORTIONS),
    ),
    Figure(
        "20",
        "Network load by locality",
        "Messages per event on the same brokers. Profile forwarding goes down to nothing, "
        "rendezvous nodes to one message, the mean way to the rendezvous node.",
        "locality",
        (Panel("Network load", _X, LOAD, ("strategy", "p_p")),),
    ),
)


def _both(judge: Callable[[Results, Measure], Part]) -> Both:
    return Both(judge, rows_of("locality"))


CLAIMS: Final = (
    Claim("DAS-E13.1", "PF gains most from locality.",
          "Altogether PF shows a better adaptation to locality than the other 2 algorithms (Fig. "
          "19(d)).", ("19",), _both(_judge_adaptation),
          "Adaptation is the efficiency with full locality by that without; for every p_p."),
    Claim("DAS-E13.2", "PF gains a factor of 2 to 3.5.",
          "Using PF (Fig. 19(a)) the efficiency increases up to a factor of 2 to 3.5 when "
          "increasing locality from 0 to 1.", ("19",), _both(_judge_pf),
          f"The paper does not name its p_p: at {listed(PORTIONS)} all factors are within the "
          f"range, give or take {100 * NEAR:g} %."),
    Claim("DAS-E13.3", "RN gains a factor of 1.25.",
          "So we only achieve an improvement of a factor of 1.25.", ("19",), _both(_judge_rn),
          f"The greatest factor, over p_p, is at most {100 * NEAR:g} % off."),
    Claim("DAS-E13.4", "EF does not depend on locality.",
          "EF (Fig. 19(b)) is independent on locality.", ("19",), _both(_judge_ef),
          f"Independent: the most is at most {INDEPENDENT:g} times the least, for every p_p."),
    Claim("DAS-E14.1", "The load of EF does not depend on locality, that of PF and RN falls.",
          "EF is not influenced by the locality (flooding). PF and RN show decreasing network load "
          "(early rejecting of non-matching events).", ("20",), _judge_load,
          "The closed forms are ours: EF 3, PF 5/3 p_e (1 - l), RN 1 + 5/6 p_e (1 - l), exactly."),
)  # fmt: skip
