"""Section 5.7: what holds in all experiments together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import median
from typing import Final

from fyke.experiments.das.judging import NAMES, Both
from fyke.experiments.experiment import Claim, Finding, Results
from fyke.experiments.judges import Measure, Measured, finding, is_best, is_between, spread
from fyke.experiments.table import Row, Table
from fyke.experiments.wording import number, tally

_FIGURES: Final = ("10", "12", "13", "16", "17", "18", "19", "20", "21")
_STUDIES: Final = {
    "bus": ("varies", "sigma", "p_e"),
    "brokers": ("brokers", "p_e"),
    "types": ("types", "p_e"),
    "locality": ("locality", "p_e"),
    "amounts": ("profiles",),
}
"""The columns that make a point of each study."""
MOST: Final = 0.5
"""More than this share of the points are most of them."""
RARE: Final = 0.25
"""Up to this share of the points are rare cases."""


def points(results: Results) -> Iterator[dict[str, Row]]:
    """Yield the rows of all strategies at each point with more than one broker."""
    for study, names in _STUDIES.items():
        together: dict[tuple[object, ...], dict[str, Row]] = {}
        for row in results[study]:
            if row.get("brokers") != 1:
                key = tuple(row[name] for name in names)
                together.setdefault(key, {})[row["strategy"]] = row
        yield from (each for each in together.values() if len(each) == len(NAMES))


def _rows(results: Results) -> Table:
    return Table.of(row for point in points(results) for row in point.values())


def _values(results: Results, measure: Measure) -> list[tuple[float, dict[str, Measured]]]:
    """Return p_p, and the efficiency of each, at every point."""
    return [
        (
            float(next(iter(point.values()))["p_p"]),
            {name: measure.value(row) for name, row in point.items()},
        )
        for point in points(results)
    ]


# --- load and duplication -------------------------------------------------------------------------


def _counted(results: Results, column: str, *order: str, strictly: bool = True) -> Finding:
    """Count the points at which a column is ordered so."""
    each = [[float(point[name][column] or 0) for name in order] for point in points(results)]
    right = sum(all(a > b if strictly else a >= b for a, b in pairwise(one)) for one in each)
    holds = right == len(each) > 0
    return finding(f"at {right} of {len(each)} points", holds, "Not ordered so at all points.")


# --- efficiency -----------------------------------------------------------------------------------


def _mostly(name: str, asked: Callable[[dict[str, Measured], str], bool | None]) -> Both:
    """Judge that it holds of a strategy at most points; those without an answer do not count."""

    def judge(results: Results, measure: Measure) -> Finding:
        answers = [asked(values, name) for _, values in _values(results, measure)]
        sure, known = answers.count(True), len(answers) - answers.count(None)
        if known <= MOST * len(answers):
            return Finding(tally(answers), None)
        return Finding(tally(answers), sure > MOST * known)

    return Both(judge, _rows)


def _best(each: dict[str, Measured]) -> str:
    """Return the one that is above all others; "" if none clearly is."""
    return next((name for name in NAMES if is_best(each, name)), "")


def _judge_never(results: Results, measure: Measure) -> Finding:
    best = [_best(values) for _, values in _values(results, measure)]
    counts = ", ".join(f"{name} {best.count(name)}" for name in NAMES)
    return Finding(f"best at so many of {len(best)} points: {counts}", best.count("RN") == 0)


def _judge_rarely(results: Results, measure: Measure) -> Finding:
    each = [(p_p, _best(values)) for p_p, values in _values(results, measure)]
    own = [p_p for p_p, name in each if name == "EF"]
    others = [p_p for p_p, name in each if name not in ("EF", "")]
    if not own:
        why = (
            "An event that matches has one owner, whom PF reaches in fewer messages than a flood "
            "takes."
        )
        return Finding(f"EF is best at none of {len(each)} points", False, why)
    at = {"EF": median(own), "others": median(others) if others else 0.0}
    holds = len(own) <= RARE * len(each) and at["EF"] > at["others"]
    ours = (
        f"EF is best at {len(own)} of {len(each)} points, whose p_p is {number(at['EF'])} in the "
        f"median; where others are, it is {number(at['others'])}"
    )
    return finding(ours, holds, "Not rarely, or not where much matches.")


def _judge_convergence(results: Results, measure: Measure) -> Finding:
    each = _values(results, measure)
    few = median(spread(list(values.values())) for p_p, values in each if p_p <= 0.1)
    many = median(spread(list(values.values())) for p_p, values in each if p_p >= 1)
    ours = f"best by worst, median: {number(few)} up to p_p = 0.1, {number(many)} from 1 on"
    return finding(ours, many < few, "The distances do not get less.")


CLAIMS: Final = (
    Claim("DAS-E16.1", "PF ever has the least load, EF the most.",
          "PF ever shows the least network load (only forwarding of matching events), RN show "
          "values between PF and EF (forwarding to the rendezvous node in all cases).", _FIGURES,
          lambda results: _counted(results, "load", "EF", "RN", "PF"),
          "At all points with more than one broker."),
    Claim("DAS-E16.2", "Duplication is largest for PF, then RN; EF has none.",
          "Duplication of profiles shows the largest values using PF.", _FIGURES,
          lambda results: _counted(results, "duplication", "PF", "RN", "EF", strictly=False),
          "At all points; equal where all profiles are known everywhere."),
    Claim("DAS-E16.3", "RN is never the most efficient.",
          "Unfortunately, rendezvous nodes have not been advantageous in any of our tested system "
          "configurations.", _FIGURES, Both(_judge_never, _rows),
          "At no point is RN clearly above both others."),
    Claim("DAS-E16.4", "In rare cases, where much matches, EF is the most efficient.",
          "In rare cases, EF is the most efficient algorithm. The reason is the simple filter "
          "protocol with less overhead in cases of high portions of matching profiles.", _FIGURES,
          Both(_judge_rarely, _rows),
          f"At one point at least and at {100 * RARE:g} % of them at most, where p_p is greater in "
          "the median than elsewhere."),
    Claim("DAS-E16.5", "PF is the most efficient in most cases.",
          "PF is the most efficient algorithm in most cases.", _FIGURES, _mostly("PF", is_best),
          "At more than half of the points that tell."),
    Claim("DAS-E16.6", "RN mostly lies between the others.",
          "RN mostly achieves an efficiency between the values of the other 2 algorithms.",
          _FIGURES, _mostly("RN", is_between), "At more than half of the points that tell."),
    Claim("DAS-E16.7", "Where much matches, the three come closer.",
          "High portions of matching profiles mean a convergence of the 3 algorithms, since all "
          "events have to be flooded.", _FIGURES, Both(_judge_convergence, _rows),
          "The best by the worst is less from p_p = 1 on than up to 0.1, in the median."),
)  # fmt: skip
