"""Section 5.4, the number of event types: figures 17 and 18. Type k has its rendezvous at Bk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from fyke.experiments.das.brokers import RECONSTRUCTED
from fyke.experiments.das.deployment import STRATEGIES, Point, network
from fyke.experiments.das.judging import (
    NAMES,
    STEPS,
    TIME,
    Both,
    Curves,
    Judge,
    by_both,
    rows_of,
    said,
)
from fyke.experiments.das.overlays import DUPLICATION, LOAD, Site, grid, measured, three
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
from fyke.experiments.judges import (
    EXACT,
    Answer,
    Measure,
    Measured,
    above,
    all_of,
    counted,
    falls,
    finding,
    rises,
    spread,
    steady,
)
from fyke.experiments.table import Row
from fyke.experiments.wording import exactly, listed, number

PORTIONS: Final = (0.1, 0.5, 1.0)
BROKERS: Final = 9
TYPES: Final = tuple(range(1, 10))
FEW_TYPES: Final = (1, 3, 6, 9)
"""For PF and EF, which do not ask for types: a few numbers of them show it."""
_PROFILES: Final = {"tiny": 162, "small": 1_620, "paper": 180_000}
_LAST: Final = {"tiny": 2, "small": 2, "paper": len(PORTIONS)}
"""The number of portions, taken from the end."""


def _grid(scale: str) -> list[Parameters]:
    runs = grid(
        scale,
        profiles=[_PROFILES[scale]],
        types=TYPES,
        strategy=STRATEGIES,
        portions=[_LAST[scale]],
    )
    return [each for each in runs if each["strategy"] == "RN" or each["types"] in FEW_TYPES]


def run(parameters: Parameters, seed: int) -> list[Row]:
    types = parameters["types"]
    brokers = network(BROKERS)
    names = Profiles(brokers.brokers, parameters["profiles"], types=types)
    rendezvous = {names.type_name(kind): brokers.brokers[kind] for kind in range(types)}
    points = [Point(Fraction(str(p_p))) for p_p in PORTIONS[-parameters["portions"] :]]
    site = Site(brokers, rendezvous, types=types)
    return [{"types": types, **row} for row in measured(parameters, seed, points, site)]


def _cost(parameters: Parameters) -> float:
    stored = {"PF": 9.0, "EF": 1.0, "RN": 3.0}[parameters["strategy"]]
    return float(parameters["profiles"] * stored / 1_000 + 10 * parameters["types"])


STUDY: Final = Study("types", run, _grid, _cost)

# --- efficiency -----------------------------------------------------------------------------------

CONSTANT: Final = 1.25
"""The factor of the most by the least up to which values are nearly constant."""
SLIGHT: Final = 1.5
"""An increase up to it is small."""
LITTLE: Final = 1.1
"""The factor of the most by the least up to which there is nearly no influence."""
_BLIND: Final = (
    "Steps are the same for any number of types by construction: they do not weigh the size of a "
    "filter structure."
)


_ONE_STRUCTURE: Final = (
    "Our filter has one structure for all types, in which the type is an attribute like the others."
)


def _judge_constant(results: Results, measure: Measure) -> Finding:
    answers: list[bool | None] = []
    apart = {}
    for name in ("PF", "EF"):
        found = measure.curves(results["types"], "types", "p_p", strategy=name)
        apart[name] = max(map(spread, found.values()))
        answers += [steady(curve, CONSTANT) for curve in found.values()]
    return _seen(measure, apart, f"most by least over types: {said(apart)}", all_of(answers))


def _judge_slight(results: Results, measure: Measure) -> Finding:
    answers: list[bool | None] = []
    apart, gained = {}, {}
    for name in ("PF", "EF"):
        found = measure.curves(results["types"], "types", "p_p", strategy=name)
        apart[name] = max(map(spread, found.values()))
        gained[name] = max(curve[-1] / curve[0] for curve in found.values())
        answers += [above(curve[-1], curve[0]) for curve in found.values()]
    if max(gained.values()) > SLIGHT:
        answers.append(False)
    ours = f"nine types by one, at most: {said(gained)}"
    part = _seen(measure, apart, ours, all_of(answers))
    return part if part.holds is not False else replace(part, why=_ONE_STRUCTURE)


def _seen(measure: Measure, apart: dict[str, float], ours: str, holds: bool | None) -> Finding:
    """Return a finding in which steps that are the same everywhere say nothing."""
    if measure is STEPS and max(apart.values()) - 1 < EXACT:
        return Finding(ours, None, _BLIND)
    return Finding(ours, holds)


def _is_unmoved(curve: Sequence[Measured]) -> Answer:
    return steady(curve, LITTLE)


def _judge_central(results: Results, measure: Measure) -> Finding:
    found = measure.curves(results["types"], "types", "p_p", strategy="RN")
    ours = f"p_p = 1, one to three types: {listed(found[1.0,][:3])}"
    best = [TYPES[curve.index(max(curve))] for curve in found.values()]
    holds = all_of(rises(curve[:3]) for curve in found.values())
    why = f"Of all numbers of types, {listed(best)} are the best." if holds is False else ""
    return Finding(ours, holds, why)


def _judge_border(results: Results, measure: Measure) -> Finding:
    found = measure.curves(results["types"], "types", "p_p", strategy="RN")
    ours = f"p_p = 1, four to nine types: {listed(found[1.0,][3:])}"
    answers = [falls(curve[3:]) for curve in found.values()]
    holds = all_of(answers)
    lowest = [TYPES[3:][curve[3:].index(min(curve[3:]))] for curve in found.values()]
    why = (
        f"The least is at {listed(lowest)} types, and it rises somewhere." if holds is False else ""
    )
    return Finding(ours, holds, why)


# --- duplication and load -------------------------------------------------------------------------


def _judge_duplication(results: Results) -> Finding:
    rows = results["types"].where(p_p=1.0)
    held = {name: rows.where(strategy=name).values("duplication") for name in NAMES}
    between = all(1.0 < each < 9.0 for each in held["RN"])
    holds = (held["PF"], held["EF"]) == ([9.0], [1.0]) and between
    ours = "; ".join(f"{name} {listed(values)}" for name, values in held.items())
    return finding(ours, holds, "Not 9.0 and 1.0, with RN between.")


def _judge_duplication_rn(results: Results) -> Finding:
    found = results["types"].curve("types", "duplication", strategy="RN", p_p=1.0)
    holds = rises(found[1:])
    return finding(" ".join(map(exactly, found)), holds, "It does not grow.")


def _judge_load(results: Results) -> Finding:
    found = {
        name: counted("load").curves(results["types"], "types", "p_p", strategy=name)
        for name in NAMES
    }
    flat = max(spread(curve) - 1 for name in ("PF", "EF") for curve in found[name].values())
    turns = all(falls(curve[:2]) and rises(curve[1:]) for curve in found["RN"].values())
    less = all(min(found["EF"][key]) > max(curve) for key, curve in found["PF"].items())
    ours = f"RN, p_p = 1: {listed(found['RN'][1.0,])}; PF and EF change by {number(flat)}"
    holds = flat < EXACT and turns and less
    return finding(ours, holds, "PF or EF changes, or PF has not less load, or RN does not turn.")


def _judge_influence(results: Results) -> Finding:
    rows = results["types"].where(types=1)
    found = {name: rows.curve("p_p", "load", strategy=name) for name in NAMES}
    grown = {name: curve[-1] / curve[0] for name, curve in found.items()}
    low, high = rows.values("p_p")[0], rows.values("p_p")[-1]
    ours = f"from p_p = {low:g} to {high:g}: {said(grown)} times"
    holds = grown["PF"] > grown["RN"] > 1
    return finding(ours, holds, "Not both more, or RN not less so.")


# --- what there is --------------------------------------------------------------------------------

_X: Final = Axis("types", "event types")

FIGURES: Final = (
    Figure(
        "17",
        "Efficiency by the number of event types",
        "Nine brokers, 180,000 unique profiles (1,620 at small scale) of one to nine types, each "
        "with a rendezvous node of its own. In steps only the rendezvous algorithm depends on "
        "them: it gains while the nodes are central, and loses when they are at the border.",
        "types",
        (*three(_X, STEPS, "p_p", {}), *three(_X, TIME, "p_p", {})),
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


def _both(judge: Judge) -> Both:
    return Both(judge, rows_of("types"))


CLAIMS: Final = (
    Claim("DAS-E11.1", "PF and EF hardly depend on the number of types.",
          "PF (Fig. 17(a)) shows nearly constant values.", ("17",), _both(_judge_constant),
          f"Nearly constant: the most is at most {CONSTANT:g} times the least, for every p_p."),
    Claim("DAS-E11.2", "RN improves up to three types.",
          "If they are located centrally (cases up to 3 types) we recognise an improvement.",
          ("17",), _both(_judge_central), "From one to two and from two to three, for every p_p."),
    Claim("DAS-E11.3", "PF and EF get slightly faster with the number of types.",
          "We can see a small increase in performance because of our central filter algorithm "
          "(Sect.4.1), which builds an own filter structure per event type.", ("17",),
          _both(_judge_slight),
          f"Nine types are faster than one, by at most {SLIGHT:g} times, for every p_p."),
    Claim("DAS-E11.4", "p_p hardly matters for EF.",
          "Except the fact that p_p has nearly no influence, since the overhead of flooding "
          "dominates the processing of notifications.", ("17",),
          by_both(Curves(_is_unmoved, "p_p", ("types",), rows_of("types", strategy="EF"))),
          f"Nearly no influence: the most is at most {LITTLE:g} times the least over p_p."),
    Claim("DAS-E11.5", "More matching profiles make PF slower.",
          "Increasing p_p decreases the performance because of more notifications.", ("17",),
          by_both(Curves(falls, "p_p", ("types",), rows_of("types", strategy="PF"))),
          "For every number of types."),
    Claim("DAS-E11.6", "RN gets worse beyond four types.",
          "Using more than 4 types the efficiency decreases.", ("17",), _both(_judge_border),
          "From four types on: in all, and nowhere rising, for every p_p."),
    Claim("DAS-E12.1", "Duplication of PF is 9, of EF 1, for any number of types; RN lies between.",
          "Since we only use unique profiles, the duplication is 9.0 using PF, 1.0 using EF and "
          "between both of them using RN.", ("18",), _judge_duplication, "Exactly."),
    Claim("DAS-E12.2", "Duplication of RN grows beyond two types.",
          "When using more than 2 types, the duplication increases because of the position of the "
          "rendezvous nodes.", ("18",), _judge_duplication_rn, "With each type.", RECONSTRUCTED),
    Claim("DAS-E12.3", "The load of PF and EF is stable; that of RN falls and then rises.",
          "PF and EF show stable values with switched dimensions (PF less load, EF high load). "
          "Using RN we firstly realise a decrease and secondly an increase (longer paths to "
          "rendezvous nodes).", ("18",), _judge_load,
          "Stable is exactly; RN falls from one type to two and rises from then on.",
          RECONSTRUCTED),
    Claim("DAS-E12.4", "More matching profiles are more load for PF, and less so for RN.",
          "Increasing p_p increases the network load in case of PF and RN. RN are less influenced",
          ("18",), _judge_influence, "With one type; from the least p_p to the largest."),
)  # fmt: skip
