"""Section 5.4, the number of event types: figures 17 and 18. Type k has its rendezvous at Bk."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from fyke.experiments.das.deployment import STRATEGIES, Deployment, network
from fyke.experiments.das.overlays import (
    DUPLICATION,
    EFFICIENCY,
    ENGINE,
    EXACT,
    LOAD,
    NAMES,
    PER_SECOND,
    curves,
    said,
    three,
)
from fyke.experiments.das.wording import exactly, listed, number
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
from fyke.experiments.table import Row, is_falling, is_rising, spread

PORTIONS: Final = (0.1, 0.5, 1.0)
BROKERS: Final = 9
TYPES: Final = tuple(range(1, 10))
FEW_TYPES: Final = (1, 3, 6, 9)
"""For PF and EF, which do not ask for types: a few numbers of them show it."""
RN_DUPLICATION: Final = (2.667, 2.5, 2.556, 2.694, 2.778, 2.889, 2.968, 3.028, 3.074)
"""The closed forms of the reconstructed network, by the number of types."""


def _grid(scale: str) -> list[Parameters]:
    is_small = scale == "small"
    return [
        {
            "strategy": strategy,
            "types": types,
            "profiles": 162 if is_small else 180_000,
            "portions": 2 if is_small else len(PORTIONS),
            "at_least": 1 if is_small else 2_000,
            "repeats": 1 if is_small else 3,
        }
        for types in TYPES
        for strategy in STRATEGIES
        if strategy == "RN" or types in FEW_TYPES
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    strategy, types = parameters["strategy"], parameters["types"]
    topology = network(BROKERS)
    profiles = Profiles(topology.brokers, parameters["profiles"], types=types)
    rendezvous = {profiles.type_name(kind): topology.brokers[kind] for kind in range(types)}
    overlay = Deployment(strategy, topology, profiles, rendezvous, ENGINE)
    rows: list[Row] = []
    for p_p in PORTIONS[-parameters["portions"] :]:
        measured = overlay.measure(
            Fraction(str(p_p)),
            at_least=parameters["at_least"],
            repeats=parameters["repeats"],
            seed=seed,
        )
        rows.append({"strategy": strategy, "types": types, **measured})
    return rows


def _cost(parameters: Parameters) -> float:
    stored = {"PF": 9.0, "EF": 1.0, "RN": 3.0}[parameters["strategy"]]
    return float(parameters["profiles"] * stored / 1_000 + 10 * parameters["types"])


STUDY: Final = Study("types", run, _grid, _cost)

# --- efficiency -----------------------------------------------------------------------------------


def _judge_constant(results: Results) -> Finding:
    rows = results["types"]
    apart = {
        name: max(map(spread, curves(rows, "types", "efficiency", "p_p", strategy=name).values()))
        for name in ("PF", "EF")
    }
    return Finding(f"most by least over types: {said(apart)}", max(apart.values()) < 1.1)


def _judge_rn(results: Results) -> Finding:
    found = curves(results["types"], "types", "efficiency", "p_p", strategy="RN")
    best = [1 + curve.index(max(curve)) for curve in found.values()]
    rises = all(curve[0] < curve[1] < curve[2] for curve in found.values())
    falls = all(max(curve[4:]) < curve[3] for curve in found.values())
    sample = found[1.0,]
    ours = f"p_p = 1: {listed(sample)}; best at {listed(best)} types"
    why = (
        "Two and three types are better than one, and more than four are worse than three, but two "
        "are the best, and from five on it hardly changes. The network is reconstructed, and with "
        "it how far B3, the third rendezvous node, is from the middle."
    )
    return Finding(ours, rises and falls, why)


# --- duplication and load -------------------------------------------------------------------------


def _judge_duplication(results: Results) -> Finding:
    rows = results["types"].where(p_p=1.0)
    held = {name: rows.where(strategy=name).values("duplication") for name in ("PF", "EF")}
    ours = "; ".join(f"{name} {listed(values)}" for name, values in held.items())
    return Finding(ours, held == {"PF": [9.0], "EF": [1.0]})


def _judge_duplication_rn(results: Results) -> Finding:
    found = results["types"].curve("types", "duplication", strategy="RN", p_p=1.0)
    holds = [exactly(each) for each in found] == [exactly(each) for each in RN_DUPLICATION]
    return Finding(" ".join(map(exactly, found)), holds and is_rising(found[1:]))


def _judge_load(results: Results) -> Finding:
    found = {
        name: curves(results["types"], "types", "load", "p_p", strategy=name) for name in NAMES
    }
    flat = max(spread(curve) - 1 for name in ("PF", "EF") for curve in found[name].values())
    turns = all(is_falling(curve[:2]) and is_rising(curve[1:]) for curve in found["RN"].values())
    ours = f"RN, p_p = 1: {listed(found['RN'][1.0,])}; PF and EF change by {number(flat)}"
    return Finding(ours, flat < EXACT and turns)


def _judge_influence(results: Results) -> Finding:
    rows = results["types"].where(types=1)
    grown = {
        name: rows.curve("p_p", "load", strategy=name)[-1]
        / rows.curve("p_p", "load", strategy=name)[0]
        for name in NAMES
    }
    low, high = rows.values("p_p")[0], rows.values("p_p")[-1]
    ours = f"from p_p = {low:g} to {high:g}: {said(grown)} times"
    return Finding(ours, grown["PF"] > grown["RN"] > grown["EF"])


# --- what there is --------------------------------------------------------------------------------

_X: Final = Axis("types", "event types")

FIGURES: Final = (
    Figure(
        "17",
        "Efficiency by the number of event types",
        "Nine brokers, 180,000 unique profiles (162 at small scale) of one to nine types, each "
        "with a rendezvous node of its own. Only the rendezvous algorithm depends on them: it "
        "gains while the nodes are central, and loses when they are at the border.",
        "types",
        (
            *three(_X, Axis("efficiency", EFFICIENCY), "p_p", {}),
            *three(_X, Axis("events_per_s", PER_SECOND), "p_p", {}),
        ),
    ),
    Figure(
        "18",
        "Duplication and network load by the number of event types",
        "How many brokers hold a profile, and how many messages an event takes. Profiles and "
        "events go to the rendezvous node of their type, so both follow its distance from all.",
        "types",
        (
            Panel("(a) duplication", _X, DUPLICATION, ("strategy",), {"p_p": 1.0}),
            Panel("(b) load", _X, Axis(LOAD.column, LOAD.label, is_log=True), ("strategy", "p_p")),
        ),
    ),
)

CLAIMS: Final = (
    Claim("DAS-E11.1", "PF and EF hardly depend on the number of types.", "nearly constant",
          ("17",), _judge_constant),
    Claim("DAS-E11.2", "RN improves up to three types and gets worse beyond four.", "in words",
          ("17",), _judge_rn),
    Claim("DAS-E12.1", "Duplication of PF is 9, of EF 1, for any number of types.", "9.0 and 1.0",
          ("18",), _judge_duplication),
    Claim("DAS-E12.2", "Duplication of RN lies between, and grows beyond two types.", "in words",
          ("18",), _judge_duplication_rn),
    Claim("DAS-E12.3", "The load of PF and EF is stable; that of RN falls and then rises.",
          "in words", ("18",), _judge_load),
    Claim("DAS-E12.4", "More matching profiles are more load for PF, and less so for RN.",
          "in words", ("18",), _judge_influence),
)  # fmt: skip
