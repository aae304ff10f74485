"""Section 5.5, locality: figures 19 and 20. On the bus, with events that match at home or not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from fyke.experiments.das.deployment import STRATEGIES, Point
from fyke.experiments.das.judging import NAMES, Both, Curves, Judge, by_both, of_each, rows_of, said
from fyke.experiments.das.overlays import LOAD, efficiency_panels, grid, measured
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
from fyke.experiments.judges import (
    Answer,
    Measure,
    Measured,
    above,
    all_of,
    counted,
    equals_closed_form,
    falls,
    finding,
    steady,
    within,
)
from fyke.experiments.table import Row
from fyke.experiments.wording import listed, number

PORTIONS: Final = (0.1, 0.5, 1.0)
_PROFILES: Final = {"tiny": 160, "small": 1_600, "paper": 160_000}
_STEPS: Final = {"tiny": 2, "small": 2, "paper": 10}


def _grid(scale: str) -> list[Parameters]:
    return grid(scale, profiles=[_PROFILES[scale]], strategy=STRATEGIES, steps=[_STEPS[scale]])


def run(parameters: Parameters, seed: int) -> list[Row]:
    steps = parameters["steps"]
    points = [
        Point(Fraction(str(p_p)), Fraction(step, steps))
        for p_p in PORTIONS
        for step in range(steps + 1)
    ]
    return [
        {"locality": float(point.locality or 0), **row}
        for point, row in zip(points, measured(parameters, seed, points), strict=True)
    ]


STUDY: Final = Study("locality", run, _grid, lambda parameters: parameters["profiles"] / 250 + 50)


INDEPENDENT: Final = 1.1
"""The factor of the most by the least up to which values do not depend on something."""
NEAR: Final = 0.1
"""The relative distance that a factor may have from the paper's."""


def _gained(results: Results, measure: Measure) -> dict[str, list[Measured]]:
    """Return efficiency with full locality by that without, for each p_p."""
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


def _judge_adaptation(results: Results, measure: Measure) -> Finding:
    gained = _gained(results, measure)
    ours = "; ".join(f"{name} {listed(each)}" for name, each in gained.items())
    answers = [
        above(own, each)
        for name in ("RN", "EF")
        for own, each in zip(gained["PF"], gained[name], strict=True)
    ]
    return Finding(f"{ours} times at p_p = {listed(PORTIONS)}", all_of(answers))


def _judge_pf(results: Results, measure: Measure) -> Finding:
    gained = _gained(results, measure)["PF"]
    holds = within(gained, 2 * (1 - NEAR), 3.5 * (1 + NEAR))
    inside = [p for p, each in zip(PORTIONS, gained, strict=True) if within([each], 2, 3.5)]
    why = (
        "The paper does not say for which p_p. What a broker saves are the messages of events that "
        f"match, so the factor grows with p_p; it is within the range at p_p = {listed(inside)}."
    )
    return finding(_said(gained), holds, why if inside else "Not at any p_p.")


def _judge_rn(results: Results, measure: Measure) -> Finding:
    gained = _gained(results, measure)["RN"]
    holds = abs(max(gained) / 1.25 - 1) <= NEAR
    return finding(_said(gained), holds, f"{number(max(gained))} at most.")


def _is_independent(curve: Sequence[Measured]) -> Answer:
    return steady(curve, INDEPENDENT)


def _judge_load(results: Results) -> Finding:
    def expected(row: Row) -> float:
        away = float(row["p_e"] * (1 - row["locality"]))
        return {"EF": 3.0, "PF": away * 5 / 3, "RN": 1 + away * 5 / 6}[row["strategy"]]

    rows = results["locality"]
    falling = [
        curve
        for name in ("PF", "RN")
        for curve in counted("load").curves(rows, "locality", "p_p", strategy=name).values()
    ]
    ends = (
        of_each(rows, counted("load"), p_p=1.0, locality=0.0),
        of_each(rows, counted("load"), p_p=1.0, locality=1.0),
    )
    ours = f"p_p = 1: {said(ends[0])} without, {said(ends[1])} with locality"
    found = equals_closed_form(rows, "load", expected, ours)
    return found if all(map(falls, falling)) else finding(ours, False, "A curve does not fall.")


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


def _both(judge: Judge) -> Both:
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
          "EF (Fig. 19(b)) is independent on locality.", ("19",),
          by_both(Curves(_is_independent, "locality", ("p_p",),
                         rows_of("locality", strategy="EF"))),
          f"Independent: the most is at most {INDEPENDENT:g} times the least, for every p_p."),
    Claim("DAS-E14.1", "The load of EF does not depend on locality, that of PF and RN falls.",
          "EF is not influenced by the locality (flooding). PF and RN show decreasing network load "
          "(early rejecting of non-matching events).", ("20",), _judge_load,
          "The closed forms are ours: EF 3, PF 5/3 p_e (1 - l), RN 1 + 5/6 p_e (1 - l), exactly."),
)  # fmt: skip
