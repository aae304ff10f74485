"""Section 5.7: what holds in all experiments together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from fyke.experiments.das.overlays import NAMES
from fyke.experiments.experiment import Claim, Finding, Results
from fyke.experiments.table import Row

_FIGURES: Final = ("10", "12", "13", "16", "17", "18", "19", "20", "21")
_STUDIES: Final = {
    "bus": ("varies", "sigma", "p_e"),
    "brokers": ("brokers", "p_e"),
    "types": ("types", "p_e"),
    "locality": ("locality", "p_e"),
    "amounts": ("profiles",),
}
"""What makes a point of each study."""


def points(results: Results) -> Iterator[dict[str, Row]]:
    """The rows of all strategies at each point with more than one broker."""
    for study, names in _STUDIES.items():
        together: dict[tuple[object, ...], dict[str, Row]] = {}
        for row in results[study]:
            if row.get("brokers") != 1:
                key = tuple(row[name] for name in names)
                together.setdefault(key, {})[row["strategy"]] = row
        yield from (each for each in together.values() if len(each) == len(NAMES))


def _counted(results: Results, column: str, *order: str, strictly: bool = True) -> Finding:
    """At how many points a column is ordered so."""
    each = [[float(point[name][column] or 0) for name in order] for point in points(results)]
    right = sum(all(a > b if strictly else a >= b for a, b in pairwise(one)) for one in each)
    return Finding(f"at {right} of {len(each)} points", right == len(each) > 0)


def _judge_never_best(results: Results) -> Finding:
    each = list(points(results))
    best = [max(NAMES, key=lambda name: float(point[name]["efficiency"] or 0)) for point in each]
    ours = ", ".join(f"{name} {best.count(name)}" for name in NAMES)
    return Finding(f"best at so many points: {ours}", each != [] and best.count("RN") == 0)


_ONE_OWNER: Final = (
    "In steps EF never overtakes PF: an event that matches has one owner, whom PF reaches in fewer "
    "messages than a flood takes. The paper puts it down to the simpler protocol, which steps do "
    "not weigh."
)


def _judge_ef_best(results: Results) -> Finding:
    each = list(points(results))
    best = sum(
        point["EF"]["efficiency"] == max(row["efficiency"] for row in point.values())
        for point in each
    )
    ours = f"EF is best at {best} of {len(each)} points"
    return Finding(ours, best > 0, "" if best else _ONE_OWNER)


CLAIMS: Final = (
    Claim("DAS-E16.1", "PF ever has the least load, EF the most.", "in words", _FIGURES,
          lambda results: _counted(results, "load", "EF", "RN", "PF")),
    Claim("DAS-E16.2", "Duplication is largest for PF, then RN; EF has none.", "in words", _FIGURES,
          lambda results: _counted(results, "duplication", "PF", "RN", "EF", strictly=False)),
    Claim("DAS-E16.3", "RN is never the most efficient.", "in words", _FIGURES, _judge_never_best),
    Claim("DAS-E16.4", "In rare cases, where much matches, EF is the most efficient.", "in words",
          _FIGURES, _judge_ef_best),
)  # fmt: skip
