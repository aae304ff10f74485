"""Table 1: seventeen algorithms and what the paper expects of them, held against runs of all.

Idea. The table rates each algorithm from -- to ++ in four respects. A rating has no unit, so only
the order of two algorithms can be judged: of all pairs that the table rates differently in some
respect, how many does a run put in the same order?

What a run shows of each respect is our choice: messages with events per event (network traffic),
profiles of the fullest broker (memory usage), efficiency, and the efficiency of eight
brokers by that of four with the same profiles (scalability). Each broker has two subscribers with
two equal profiles of each kind, so that covering among one subscriber's profiles and among all of
them differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import permutations
from typing import Final

from fyke.experiments.das.deployment import Point, network
from fyke.experiments.das.judging import STEPS, TIME, Both
from fyke.experiments.das.overlays import Site, grid, measured
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
from fyke.experiments.judges import Measure, Measured, above, counted
from fyke.experiments.table import Row, Table
from fyke.experiments.wording import number
from fyke.routing.forwarding.variant import VARIANTS

GRADES: Final = ("--", "-", "+-", "+", "++")
_TABLE: Final = """
    ef  -- ++ +- -
    pf1 +  -- +- --    pf2 +- -- +- --    pf3 +  -  +  -     pf4 +- -  +  -
    pf5 +  +- ++ +-    pf6 +  +- +  +-    pf7 +- +- +  +-    pf8 +  +  ++ +
    rn1 -  -- -  --    rn2 -  -- -  --    rn3 +- -- +- -     rn4 -  -- +- -
    rn5 +- -  +  +-    rn6 +- -  +- -     rn7 -  -  -  -     rn8 +- +  +  +-
"""
RESPECTS: Final = ("traffic", "memory", "efficiency", "scalability")
_WORDS: Final = _TABLE.split()
RATINGS: Final = {
    _WORDS[at]: dict(zip(RESPECTS, map(GRADES.index, _WORDS[at + 1 : at + 5]), strict=True))
    for at in range(0, len(_WORDS), 5)
}
"""Grades of each algorithm from 0 to 4, as Table 1 has them."""
ORDERED: Final = 2 / 3
"""So large a share of the pairs has to be in the table's order."""
SIZES: Final = (4, 8)
SIGMA: Final = 4
SUBSCRIBERS: Final = 2
_P_E: Final = Fraction(1, 2)
_PROFILES: Final = {"tiny": 128, "small": 640, "paper": 32_000}


def _grid(scale: str) -> list[Parameters]:
    return grid(scale, profiles=[_PROFILES[scale]], strategy=VARIANTS, brokers=SIZES)


def run(parameters: Parameters, seed: int) -> list[Row]:
    size = parameters["brokers"]
    site = Site(network(size), {"": "B2"}, SIGMA, subscribers=SUBSCRIBERS)
    return [{"brokers": size, **row} for row in measured(parameters, seed, [Point(_P_E)], site)]


STUDY: Final = Study("variants", run, _grid, lambda p: p["profiles"] * p["brokers"] / 500 + 20)


def compared(rows: Table) -> Table:
    """Return a row per algorithm and respect, with the table's grade; the poorest grades first."""
    made: list[Row] = []
    for at, (name, grades) in enumerate(RATINGS.items()):
        for (respect, how), value in _found(rows, name).items():
            made.append(
                {
                    "strategy": name.upper(),
                    "algorithm": at,
                    "respect": respect,
                    "by": how,
                    "rank": grades[respect],
                    "grade": GRADES[grades[respect]],
                    "value": float(value),
                    "low": value.low,
                    "high": value.high,
                }
            )
    return Table.of(made).sort("rank", "algorithm") if made else Table()


def _found(rows: Table, name: str) -> dict[tuple[str, str], Measured]:
    """Return the numbers of an algorithm, by respect and measure."""
    own = rows.where(strategy=name)
    if own.values("brokers") != list(SIZES):
        return {}
    four = own.where(brokers=SIZES[0]).rows[0]
    found = {
        (respect, "count"): counted(column).value(four)
        for respect, column in (("traffic", "load"), ("memory", "largest_table"))
    }
    for measure in (STEPS, TIME):
        found["efficiency", measure.name] = _efficiency(own, measure, name)
        found["scalability", measure.name] = _scalability(own, measure, name)
    return found


# --- judging --------------------------------------------------------------------------------------


def _pairs(respect: str) -> Iterable[tuple[str, str]]:
    """Return the algorithms that the table rates differently, the better one first."""
    return (
        (one, other)
        for one, other in permutations(RATINGS, 2)
        if RATINGS[one][respect] > RATINGS[other][respect]
    )


def _ordered(respect: str, better: Callable[[str, str], bool | None]) -> Finding:
    answers = [better(one, other) for one, other in _pairs(respect)]
    right, wrong = answers.count(True), answers.count(False)
    ours = f"{right} of {len(answers)} pairs in the table's order, {wrong} the other way round"
    holds = right >= ORDERED * len(answers)
    return Finding(ours, holds, "" if holds else _strangest(respect, better))


def _strangest(respect: str, better: Callable[[str, str], bool | None]) -> str:
    """Return the algorithm with most pairs that are not in order."""
    counts = dict.fromkeys(RATINGS, 0)
    for one, other in _pairs(respect):
        if not better(one, other):
            counts[one] += 1
            counts[other] += 1
    name = max(counts, key=lambda each: counts[each])
    return f"{name.upper()} is in most pairs that are not in order, {counts[name]}."


def _counted(respect: str, column: str) -> Callable[[Results], Finding]:
    """Judge a column that is counted: less is better."""

    def judge(results: Results) -> Finding:
        rows = results["variants"].where(brokers=SIZES[0])
        values = {name: float(rows.one(column, strategy=name)) for name in RATINGS}

        def better(one: str, other: str) -> bool | None:
            return None if values[one] == values[other] else values[one] < values[other]

        return _ordered(respect, better)

    return judge


def _measured(respect: str, value: Callable[[Table, Measure, str], Measured]) -> Both:
    """Judge a column that is measured: more is better."""

    def judge(results: Results, measure: Measure) -> Finding:
        rows = results["variants"]
        values = {name: value(rows, measure, name) for name in RATINGS}

        def better(one: str, other: str) -> bool | None:
            if values[one] == values[other]:
                return None
            return above(values[one], values[other])

        return _ordered(respect, better)

    return Both(judge, lambda results: Table())


def _efficiency(rows: Table, measure: Measure, name: str) -> Measured:
    return measure.one(rows, strategy=name, brokers=SIZES[0])


def _scalability(rows: Table, measure: Measure, name: str) -> Measured:
    four, eight = (measure.one(rows, strategy=name, brokers=size) for size in SIZES)
    return eight.by(four)


# --- what there is --------------------------------------------------------------------------------

_X: Final = Axis("algorithm", "EF is 0, PF1 to PF8 are 1 to 8, RN1 to RN8 are 9 to 16")


def _panel(title: str, label: str, respect: str, how: str = "count") -> Panel:
    y = Axis("value", label, low="low", high="high")
    return Panel(title, _X, y, ("grade",), {"respect": respect, "by": how}, is_joined=False)


FIGURES: Final = (
    Figure(
        "table1",
        "All algorithms of the classification",
        "The seventeen algorithms of Table 1 on four brokers in a star around B2, with p_e = 0.5 "
        "and four equal profiles of two subscribers for each value. Colours are the paper's "
        "grades: where it is right, like colours lie at like heights.",
        "variants",
        (
            _panel("network traffic", "messages per event", "traffic"),
            _panel("memory usage", "profiles of the fullest broker", "memory"),
            _panel("efficiency, by steps", STEPS.unit, "efficiency", "steps"),
            _panel("efficiency, by time", TIME.unit, "efficiency", "time"),
            _panel("scalability, by steps", "eight brokers by four", "scalability", "steps"),
            _panel("scalability, by time", "eight brokers by four", "scalability", "time"),
        ),
        derived=compared,
    ),
)

_QUOTE: Final = "Evaluation: -- to ++ = poor to excellent results"
_RULE: Final = (
    f"At least {number(100 * ORDERED)} % of the pairs that the table rates differently are in its "
    "order."
)


def _claim(number: int, text: str, judge: Callable[[Results], Finding], rule: str) -> Claim:
    return Claim(f"DAS-T1.{number}", text, _QUOTE, ("table1",), judge, f"{rule} {_RULE}")


CLAIMS: Final = (
    _claim(1, "Table 1 orders the algorithms by network traffic.", _counted("traffic", "load"),
           "Traffic is the number of messages with events between brokers, one for a message that "
           "goes straight."),
    _claim(2, "Table 1 orders the algorithms by memory usage.", _counted("memory", "largest_table"),
           "Memory is the number of profiles that the fullest broker holds."),
    _claim(3, "Table 1 orders the algorithms by efficiency.", _measured("efficiency", _efficiency),
           "Efficiency is that of four brokers."),
    _claim(4, "Table 1 orders the algorithms by scalability.",
           _measured("scalability", _scalability),
           "Scalability is the efficiency of eight brokers by that of four, with the same "
           "profiles."),
)  # fmt: skip
