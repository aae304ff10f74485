"""The study of sections 5.1 and 5.3: four brokers in a line, the rendezvous node in the middle.

Figures 8, 9, 10 show it by the portion of matching events, figures 14, 15, 16 by the number of
equal profiles. For each sigma and strategy profiles are registered once; then p_e varies, and p_p.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from fyke.experiments.das.deployment import BUS, BUS_RENDEZVOUS, STRATEGIES, Deployment
from fyke.experiments.das.overlays import ENGINE
from fyke.experiments.das.workload import Profiles
from fyke.experiments.experiment import Parameters, Study
from fyke.experiments.table import Row

SIGMAS: Final = {"small": (1, 2, 5), "paper": (1, 2, 5, 10, 20)}
MAIN: Final = (0.1, 0.5, 1.0)
"""The portions that have a curve of their own where sigma is the abscissa."""
_TENTHS: Final = tuple(Fraction(tenth, 10) for tenth in range(11))
_P_E: Final = {"small": (_TENTHS[0], _TENTHS[1], _TENTHS[5], _TENTHS[10]), "paper": _TENTHS}
_P_P: Final = {"small": (_TENTHS[1], _TENTHS[5], _TENTHS[10]), "paper": _TENTHS[1:]}


def _grid(scale: str) -> list[Parameters]:
    is_small = scale == "small"
    return [
        {
            "strategy": strategy,
            "sigma": sigma,
            "profiles": 200 if is_small else 200_000,
            "scale": scale,
            "at_least": 1 if is_small else 2_000,
            "repeats": 1 if is_small else 3,
        }
        for sigma in SIGMAS[scale]
        for strategy in STRATEGIES
    ]


def run(parameters: Parameters, seed: int) -> list[Row]:
    strategy, sigma, scale = parameters["strategy"], parameters["sigma"], parameters["scale"]
    profiles = Profiles(BUS.brokers, parameters["profiles"], sigma)
    overlay = Deployment(strategy, BUS, profiles, {"": BUS_RENDEZVOUS}, ENGINE)
    points = [("p_e", p_e) for p_e in _P_E[scale]]
    points += [("p_p", p_p / sigma) for p_p in _P_P[scale]]
    rows: list[Row] = []
    for varies, p_e in points:
        measured = overlay.measure(
            p_e, at_least=parameters["at_least"], repeats=parameters["repeats"], seed=seed
        )
        rows.append({"strategy": strategy, "varies": varies, **measured})
    return rows


def _cost(parameters: Parameters) -> float:
    stored = {"PF": 4.0, "EF": 1.0, "RN": 2.0}[parameters["strategy"]]
    return float(parameters["profiles"] * stored / 1_000 + 100)


STUDY: Final = Study("bus", run, _grid, _cost)
