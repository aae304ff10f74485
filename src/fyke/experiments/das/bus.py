"""The study of sections 5.1 and 5.3: four brokers in a line, the rendezvous node in the middle.

Figures 8, 9, 10 show it by the portion of matching events, figures 14, 15, 16 by the number of
equal profiles. For each sigma and strategy profiles are registered once; then p_e varies, and p_p.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from fyke.experiments.das.deployment import STRATEGIES, Point
from fyke.experiments.das.overlays import Site, grid, measured
from fyke.experiments.experiment import Parameters, Study
from fyke.experiments.table import Row

SIGMAS: Final = {"tiny": (1, 2, 5), "small": (1, 2, 5), "paper": (1, 2, 5, 10, 20)}
MAIN: Final = (0.1, 0.5, 1.0)
"""The portions that have a curve of their own where sigma is the abscissa."""
_TENTHS: Final = tuple(Fraction(tenth, 10) for tenth in range(11))
_FEW: Final = (_TENTHS[0], _TENTHS[1], _TENTHS[5], _TENTHS[10])
_P_E: Final = {"tiny": _FEW, "small": _FEW, "paper": _TENTHS}
_P_P: Final = {scale: chosen[1:] for scale, chosen in _P_E.items()}
_PROFILES: Final = {"tiny": 200, "small": 2_000, "paper": 200_000}


def _grid(scale: str) -> list[Parameters]:
    return grid(
        scale, profiles=[_PROFILES[scale]], sigma=SIGMAS[scale], strategy=STRATEGIES, scale=[scale]
    )


def run(parameters: Parameters, seed: int) -> list[Row]:
    sigma, scale = parameters["sigma"], parameters["scale"]
    points = [("p_e", p_e) for p_e in _P_E[scale]]
    points += [("p_p", p_p / sigma) for p_p in _P_P[scale]]
    different = list(dict.fromkeys(p_e for _, p_e in points))  # a point may be on both curves
    rows = measured(parameters, seed, [Point(p_e) for p_e in different], Site(sigma=sigma))
    by_portion = dict(zip(different, rows, strict=True))
    return [{"varies": varies, **by_portion[p_e]} for varies, p_e in points]


def _cost(parameters: Parameters) -> float:
    stored = {"PF": 4.0, "EF": 1.0, "RN": 2.0}[parameters["strategy"]]
    return float(parameters["profiles"] * stored / 1_000 + 100)


STUDY: Final = Study("bus", run, _grid, _cost)
