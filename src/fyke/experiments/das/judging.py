"""Judging: claims about time, held against counted steps and against measured time.

Idea. A number that was measured is known as a range: a rate has the slowest and the fastest of its
repeats. Two of them are told apart where their ranges do not overlap and one is at least 10 % more;
otherwise a question about them has no answer, None. What is counted has no range: there every
question has an answer.

Law. A judge is one function of the rows and a measure, so that steps and time answer the same
question. The verdict is that of time, in which the paper speaks, where time decides; else of steps.
Where both disagree the finding says so, and what a step of each algorithm took.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

from fyke.experiments.das.deployment import STRATEGIES
from fyke.experiments.das.wording import number
from fyke.experiments.experiment import Axis, Finding, Results
from fyke.experiments.table import Row, Scalar, Table, Wanted, spread

NAMES: Final = tuple(STRATEGIES)
EXACT: Final = 1e-9
"""Rounding that counted numbers are allowed."""
TELLING: Final = 1.1
"""So many times another one a measured number has to be to count as different."""
ANSWERED: Final = 0.5
"""Of many questions, so large a share needs an answer."""


class Measured(float):
    """A number with its range; what is computed with it is a number without."""

    low: float
    high: float
    apart: float

    @classmethod
    def of(cls, value: float, low: float, high: float, apart: float) -> Measured:
        made = cls(value)
        made.low, made.high, made.apart = low, high, apart
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


@dataclass(frozen=True, slots=True)
class Measure:
    """A column in which a claim can be judged, with those of its range where it was measured."""

    name: str
    column: str
    unit: str
    apart: float = 1 + EXACT
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
        rows.one(self.column, **where)
        return self.value(rows.where(**where).rows[0])

    def of_each(self, rows: Table, **where: Wanted) -> dict[str, Measured]:
        """Return the value of each strategy at one point."""
        return {name: self.one(rows, strategy=name, **where) for name in NAMES}

    def curve(self, rows: Table, x: str, **where: Wanted) -> list[Measured]:
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


STEPS: Final = Measure("steps", "efficiency", "events per 1,000 steps")
TIME: Final = Measure(
    "time",
    "events_per_s",
    "events per second of processor time",
    TELLING,
    "events_per_s_low",
    "events_per_s_high",
)

# --- questions with an answer, or without ---------------------------------------------------------


def above(one: Measured, other: Measured) -> bool | None:
    """Say whether one is more than the other."""
    if one.low > other.high and one > other * one.apart:
        return True
    if other.low > one.high and other > one * one.apart:
        return False
    return False if one.is_counted else None


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Say whether all are so: one that is not decides, otherwise at least half have to answer."""
    found = list(answers)
    if False in found:
        return False
    return True if found and found.count(True) >= ANSWERED * len(found) else None


def is_falling(curve: Sequence[Measured]) -> bool | None:
    """Say whether a curve falls: in all, and nowhere the other way."""
    steps = [above(before, after) for before, after in pairwise(curve)]
    return False if False in steps else above(curve[0], curve[-1])


def is_rising(curve: Sequence[Measured]) -> bool | None:
    return is_falling(curve[::-1])


def is_steady(curve: Sequence[Measured], most: float) -> bool | None:
    """Say whether the greatest is at most so many times the least."""
    if spread(curve) <= most:
        return True
    clearly = max(each.low for each in curve) / min(each.high for each in curve)
    return False if clearly > most else None


def is_ordered(values: Mapping[str, Measured], *names: str) -> bool | None:
    """Say whether the values are in this order, the greatest first."""
    steps = [above(values[a], values[b]) for a, b in pairwise(names)]
    if False in steps:
        return False
    return None if None in steps else True


def is_best(values: Mapping[str, Measured], name: str) -> bool | None:
    """Say whether one is above all others."""
    found = [above(values[name], each) for other, each in values.items() if other != name]
    if False in found:
        return False
    return None if None in found else True


def is_between(values: Mapping[str, Measured], name: str) -> bool | None:
    """Say whether one lies strictly between the others, in whichever order those are."""
    low, high = sorted((each for other, each in values.items() if other != name))
    found = above(values[name], low), above(high, values[name])
    if False in found:
        return False
    return None if None in found else True


def ratio_to_next(values: Mapping[str, Measured], name: str) -> Measured:
    """Return how many times the best of the others one is."""
    return values[name].by(max(each for other, each in values.items() if other != name))


# --- both verdicts --------------------------------------------------------------------------------


class Part(NamedTuple):
    """What came out in one measure."""

    ours: str
    holds: bool | None
    why: str = ""


Judge: TypeAlias = Callable[[Results, Measure], Part]


@dataclass(frozen=True, slots=True)
class Both:
    """A judge of both measures. `rows` are those of the claim, of which steps are weighed."""

    judge: Judge
    rows: Callable[[Results], Table]
    measures: Sequence[Measure] = field(default=(STEPS, TIME))

    def __call__(self, results: Results) -> Finding:
        parts = {each.name: self.judge(results, each) for each in self.measures}
        (_, steps), (_, time) = parts.items()
        holds = steps.holds if time.holds is None else time.holds
        ours = ". ".join(f"By {name}: {part.ours}" for name, part in parts.items())
        whys = _reasons(parts)
        if steps.holds is not None and time.holds is not None and steps.holds != time.holds:
            whys.append(f"Steps and time disagree. {self._weights(results)}")
        elif time.holds is None:
            whys.append("Time does not tell: the ranges of repeats overlap, or nearly so.")
        elif holds is False and not whys:
            whys.append("Neither steps nor time show it.")
        by = {name: part.holds for name, part in parts.items()}
        return Finding(ours, holds, " ".join(whys), by)

    def _weights(self, results: Results) -> str:
        found = weights(self.rows(results))
        if not found:
            return "A step is not the same everywhere."
        said = ", ".join(f"{name} {_range(values)}" for name, values in found.items())
        return f"Steps weigh all work alike; measured, a step took {said} microseconds."


def _reasons(parts: Mapping[str, Part]) -> list[str]:
    """What the parts have to say, each for itself unless they say the same."""
    said = {part.why for part in parts.values()}
    if len(said) == 1:
        return [*filter(None, said)]
    return [f"By {name}: {part.why}" for name, part in parts.items() if part.why]


def _range(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def weights(rows: Table) -> dict[str, list[float]]:
    """Return the microseconds of a step of each strategy, at each point."""
    found: dict[str, list[float]] = {}
    for row in rows:
        if row.get("steps") and row.get("events_per_s"):
            each = 1e6 / (float(row["events_per_s"]) * float(row["steps"]))
            found.setdefault(row["strategy"], []).append(each)
    return found
