"""Section 5.5, locality: figures 19 and 20. On the bus, with events that match at home or not."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from fyke.experiments.das.deployment import BUS, BUS_RENDEZVOUS, STRATEGIES, Deployment
from fyke.experiments.das.overlays import (
    ENGINE,
    EXACT,
    LOAD,
    NAMES,
    curves,
    efficiency_panels,
    furthest,
    of_each,
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
from fyke.experiments.table import Row

PORTIONS: Final = (0.1, 0.5, 1.0)


def _grid(scale: str) -> list[Parameters]:
    is_small = scale == "small"
    return [
        {
            "strategy": strategy,
            "profiles": 160 if is_small else 160_000,
            "steps": 2 if is_small else 10,
            "at_least": 1 if is_small else 2_000,
            "repeats": 1 if is_small else 3,
        }
        for strategy in STRATEGIES
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    strategy, steps = parameters["strategy"], parameters["steps"]
    profiles = Profiles(BUS.brokers, parameters["profiles"])
    overlay = Deployment(strategy, BUS, profiles, {"": BUS_RENDEZVOUS}, ENGINE)
    rows: list[Row] = []
    for p_p in PORTIONS:
        for step in range(steps + 1):
            locality = Fraction(step, steps)
            measured = overlay.measure(
                Fraction(str(p_p)),
                locality=locality,
                at_least=parameters["at_least"],
                repeats=parameters["repeats"],
                seed=seed,
            )
            rows.append({"strategy": strategy, "locality": float(locality), **measured})
    return rows


STUDY: Final = Study("locality", run, _grid, lambda parameters: parameters["profiles"] / 250 + 50)


def _gained(results: Results) -> dict[str, list[float]]:
    """Efficiency with full locality by that without, for each p_p."""
    rows = results["locality"]
    return {
        name: [
            rows.one("efficiency", strategy=name, p_p=p_p, locality=1.0)
            / rows.one("efficiency", strategy=name, p_p=p_p, locality=0.0)
            for p_p in PORTIONS
        ]
        for name in NAMES
    }


def _judge_order(results: Results) -> Finding:
    gained = _gained(results)
    order = zip(gained["PF"], gained["RN"], gained["EF"], strict=True)
    holds = all(pf > rn > ef for pf, rn, ef in order) and all(
        abs(each - 1) < EXACT for each in gained["EF"]
    )
    ours = "; ".join(f"{name} {listed(each)}" for name, each in gained.items())
    return Finding(f"{ours} times at p_p = {listed(PORTIONS)}", holds)


_UNSTATED: Final = (
    "The paper does not say for which p_p. What a broker saves are the messages of events that "
    "match, so the factor grows with p_p; at p_p = 0.5 it is within the paper's range."
)


def _judge_pf(results: Results) -> Finding:
    gained = _gained(results)["PF"]
    holds = min(gained) >= 2 and max(gained) <= 3.5
    ours = f"{listed(gained)} times at p_p = {listed(PORTIONS)}"
    return Finding(ours, holds, "" if holds else _UNSTATED)


def _judge_rn(results: Results) -> Finding:
    most = max(_gained(results)["RN"])
    return Finding(f"up to {number(most)} times", abs(most / 1.25 - 1) < 0.1)


def _judge_load(results: Results) -> Finding:
    def expected(row: Row) -> float:
        away = float(row["p_e"] * (1 - row["locality"]))
        return {"EF": 3.0, "PF": away * 5 / 3, "RN": 1 + away * 5 / 6}[row["strategy"]]

    rows = results["locality"]
    off = furthest(rows, "load", expected)
    ends = (
        of_each(rows, "load", p_p=1.0, locality=0.0),
        of_each(rows, "load", p_p=1.0, locality=1.0),
    )
    ours = f"p_p = 1: {said(ends[0])} without, {said(ends[1])} with locality"
    return Finding(f"{ours}; furthest from the closed forms: {number(off)}", off < EXACT)


def _judge_monotone(results: Results) -> Finding:
    found = curves(results["locality"], "locality", "efficiency", "strategy", "p_p")
    holds = all(curve == sorted(curve) for curve in found.values())
    return Finding(f"{len(found)} curves", holds)


# --- what there is --------------------------------------------------------------------------------

_X: Final = Axis("locality", "locality")

FIGURES: Final = (
    Figure(
        "19",
        "Efficiency by locality",
        "Four brokers in a line, 160,000 profiles (160 at small scale); events that match do so at "
        "their own broker with the probability on the abscissa. Profile forwarding then keeps them "
        "at home, while rendezvous nodes see them all the same and flooding takes no notice.",
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

CLAIMS: Final = (
    Claim("DAS-E13.1", "PF gains most from locality, RN a little, EF nothing.", "in words", ("19",),
          _judge_order),
    Claim("DAS-E13.2", "PF gains a factor of 2 to 3.5.", "2 to 3.5", ("19",), _judge_pf),
    Claim("DAS-E13.3", "RN gains a factor of 1.25.", "1.25", ("19",), _judge_rn),
    Claim("DAS-E13.4", "No algorithm loses by locality.", "in words", ("19",), _judge_monotone),
    Claim("DAS-E14.1", "The load of EF does not depend on locality, that of PF and RN falls: "
          "EF 3, PF 5/3 p_e (1 - l), RN 1 + 5/6 p_e (1 - l).", "in words", ("20",), _judge_load),
)  # fmt: skip
