"""Judges: the questions that claims ask, with the answers yes, no, and None for "not told apart".

Idea. A number that was measured is known as a range: a rate has the slowest and the fastest of its
repeats. Two of them are told apart where their ranges do not overlap and one is at least 10 % more;
otherwise a question about them has the answer None. A number that was counted has no range: there
every question is answered with True or False.

    falls([3, 2, 2])                          False: counted, the last step does not fall
    falls([3 +- 0.1, 2 +- 0.1, 2 +- 0.1])     True: measured, it falls in all and nowhere rises
    ordered({"PF": 3, "RN": 2, "EF": 1}, "PF", "RN", "EF")     True
    within([4.2, 7.9], 4, 8)                  True
    equals_closed_form(rows, "load", lambda row: 1.25 * row["p_e"], "...")       a finding

So a claim names a question and the rows to ask, and a study is data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

from fyke.errors import FykeError
from fyke.experiments.experiment import Axis, Finding
from fyke.experiments.table import Row, Scalar, Table, Wanted
from fyke.experiments.wording import number

Answer: TypeAlias = bool | None
EXACT: Final = 1e-9
"""Rounding that counted numbers are allowed."""
COUNTED: Final = 1 + EXACT
"""Two counted numbers differ from this ratio on."""
TELLING: Final = 1.1
"""Two measured numbers differ from this ratio on."""
ANSWERED: Final = 0.5
"""The share of many questions that needs an answer."""


class Measured(float):
    """A number with its range. What is computed with it is a number without."""

    low: float
    high: float
    apart: float

    @classmethod
    def of(
        cls, value: float, low: float | None = None, high: float | None = None, apart: float = 0
    ) -> Measured:
        """Return a number with its range; without one, it was counted."""
        made = cls(value)
        made.low = value if low is None else low
        made.high = value if high is None else high
        made.apart = apart or COUNTED
        return made

    def by(self, other: Measured) -> Measured:
        """Return the quotient."""
        return Measured.of(
            self / other, self.low / other.high, self.high / other.low, max(self.apart, other.apart)
        )

    def minus(self, other: Measured) -> Measured:
        """Return the difference."""
        return Measured.of(
            self - other, self.low - other.high, self.high - other.low, max(self.apart, other.apart)
        )

    @property
    def is_counted(self) -> bool:
        return self.apart < TELLING


def _ranged(value: float) -> Measured:
    return value if isinstance(value, Measured) else Measured.of(value)


@dataclass(frozen=True, slots=True)
class Measure:
    """A column in which a claim is judged. One that was measured has columns for its range."""

    name: str
    column: str
    unit: str
    apart: float = COUNTED
    low: str = ""
    high: str = ""

    @property
    def axis(self) -> Axis:
        return Axis(self.column, self.unit, low=self.low, high=self.high)

    def value(self, row: Row) -> Measured:
        value = float(row[self.column])
        low, high = (float(row[name]) if name else value for name in (self.low, self.high))
        return Measured.of(value, low, high, self.apart)

    def one(self, rows: Table, **where: Wanted) -> Measured:
        """Return the value of the only row that has these values."""
        rows.one(self.column, **where)
        return self.value(rows.where(**where).rows[0])

    def curve(self, rows: Table, x: str, **where: Wanted) -> list[Measured]:
        """Return the values by ascending `x`."""
        found = rows.where(**where).sort(x)
        found.column(self.column)
        return [self.value(row) for row in found]

    def curves(
        self, rows: Table, x: str, *by: str, **where: Wanted
    ) -> dict[tuple[Scalar, ...], list[Measured]]:
        """Return a curve for each choice of `by`."""
        chosen = rows.where(**where)
        keys = dict.fromkeys(tuple(row[name] for name in by) for row in chosen)
        return {key: self.curve(chosen, x, **dict(zip(by, key, strict=True))) for key in keys}


def counted(column: str) -> Measure:
    """Return the measure of a column that was counted."""
    return Measure("count", column, "")


# --- questions ------------------------------------------------------------------------------------


def above(one: float, other: float) -> Answer:
    """Say whether one is more than the other."""
    one, other = _ranged(one), _ranged(other)
    if one.low > other.high and one > _times(other, one.apart):
        return True
    if other.low > one.high and other > _times(one, one.apart):
        return False
    return False if one.is_counted else None


def _times(value: float, apart: float) -> float:
    """Return the number beyond which another one is told apart."""
    return value + abs(value) * (apart - 1)


def each_of(answers: Iterable[Answer]) -> Answer:
    """Say whether every answer is yes: a no decides, else one that is missing does."""
    found = list(answers)
    return False if False in found else None if None in found else True


def all_of(answers: Iterable[Answer]) -> Answer:
    """Say whether all are so: a no decides, otherwise at least half have to answer."""
    found = list(answers)
    if False in found:
        return False
    return True if found and found.count(True) >= ANSWERED * len(found) else None


def falls(curve: Sequence[float]) -> Answer:
    """Say whether a curve falls: in all, and nowhere the other way."""
    steps = [above(before, after) for before, after in pairwise(curve)]
    return False if False in steps else above(curve[0], curve[-1])


def rises(curve: Sequence[float]) -> Answer:
    """Say whether a curve rises: in all, and nowhere the other way."""
    return falls(curve[::-1])


def steady(curve: Sequence[float], most: float) -> Answer:
    """Say whether the greatest is at most `times` the least."""
    if spread(curve) <= most:
        return True
    ranges = list(map(_ranged, curve))
    clearly = max(each.low for each in ranges) / min(each.high for each in ranges)
    return False if clearly > most else None


def within(values: Iterable[float], low: float, high: float) -> bool:
    """Say whether all values lie in a range, its ends included; there has to be one."""
    found = list(values)
    return bool(found) and low <= min(found) and max(found) <= high


def ordered(values: Mapping[str, float], *names: str) -> Answer:
    """Say whether the values are in this order, the greatest first."""
    return each_of(above(values[a], values[b]) for a, b in pairwise(names))


def is_best(values: Mapping[str, float], name: str) -> Answer:
    """Say whether one is above all others."""
    return each_of(above(values[name], each) for other, each in values.items() if other != name)


def is_between(values: Mapping[str, float], name: str) -> Answer:
    """Say whether one lies strictly between the others, in whichever order those are."""
    low, high = sorted(each for other, each in values.items() if other != name)
    return each_of((above(values[name], low), above(high, values[name])))


def spread(values: Iterable[float]) -> float:
    """Return the greatest by the least."""
    found = list(values)
    return max(found) / min(found)


def ratio_to_next(values: Mapping[str, Measured], name: str) -> Measured:
    """Return how many times the best of the others one is."""
    return values[name].by(max(each for other, each in values.items() if other != name))


# --- findings -------------------------------------------------------------------------------------


def finding(ours: str, holds: Answer, otherwise: str = "") -> Finding:
    """Return a finding; `otherwise` says why, where it does not hold."""
    return Finding(ours, holds, "" if holds else otherwise)


def furthest(rows: Table, column: str, expected: Callable[[Row], float]) -> float:
    """Return how far a column is from a closed form, at most."""
    if not rows:
        raise FykeError(f"there are no rows to take {column} from")
    return max(abs(float(row[column] or 0) - expected(row)) for row in rows)


def equals_closed_form(
    rows: Table, column: str, expected: Callable[[Row], float], ours: str
) -> Finding:
    """Judge that a column is a function of the other columns, in every row and exactly."""
    off = furthest(rows, column, expected)
    return finding(ours, off < EXACT, f"Up to {number(off)} off the closed form.")
