"""Judging: claims about time, held against counted steps and against measured time.

Law. A judge is one function of the rows and a measure, so that steps and time answer the same
question. The verdict is that of time, in which the paper speaks, where time decides; else of steps.
Where both disagree the finding says so, and what a step of each algorithm took.

Most sentences of the paper ask one question of every curve, or of the strategies at every point:

    Curves(falls, "p_e", ("strategy", "sigma"), by_events)      the efficiency falls with p_e
    Points(is_best, ("PF",), ("p_p", "sigma"), by_profiles)        PF is the most efficient
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from fyke.experiments.das.deployment import STRATEGIES
from fyke.experiments.experiment import Finding, Results
from fyke.experiments.judges import TELLING, Answer, Measure, Measured, all_of, falls, rises, spread
from fyke.experiments.table import Scalar, Table, Wanted
from fyke.experiments.wording import listed, number, tally

NAMES: Final = tuple(STRATEGIES)
STEPS: Final = Measure("steps", "efficiency", "events per 1,000 steps")
TIME: Final = Measure(
    "time",
    "events_per_s",
    "events per second of processor time",
    TELLING,
    "events_per_s_low",
    "events_per_s_high",
)

Judge: TypeAlias = Callable[[Results, Measure], Finding]
Chosen: TypeAlias = Callable[[Results], Table]
"""The rows that a claim is about."""


def rows_of(study: str, **where: Wanted) -> Chosen:
    return lambda results: results[study].where(**where)


def of_each(rows: Table, measure: Measure, **where: Wanted) -> dict[str, Measured]:
    """Return the value of each strategy at one point."""
    return {name: measure.one(rows, strategy=name, **where) for name in NAMES}


def said(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in values.items())


# --- one question of all curves, or of all points -------------------------------------------------


@dataclass(frozen=True, slots=True)
class Curves:
    """Ask each curve over `x`, one for each choice of `by`, whether it falls, rises or is steady.

    `otherwise` says why, where it does not.
    """

    asked: Callable[[Sequence[Measured]], Answer]
    x: str
    by: Sequence[str]
    rows: Chosen
    where: Mapping[str, Wanted] = field(default_factory=dict)
    otherwise: str = ""

    def __call__(self, results: Results, measure: Measure) -> Finding:
        curves = measure.curves(self.rows(results), self.x, *self.by, **self.where)
        changes: dict[Scalar, list[float]] = {}
        for (first, *_), curve in curves.items():
            changes.setdefault(first, []).append(self._change(curve))
        if self.by[0] == "strategy":
            texts = ", ".join(f"{name} {_range(each)}" for name, each in changes.items())
        else:
            texts = f"{', '.join(map(_range, changes.values()))} at {self.by[0]} = "
            texts += listed(float(each or 0) for each in changes)
        holds = all_of(map(self.asked, curves.values()))
        return Finding(f"{self._said()}: {texts}", holds, self.otherwise if holds is False else "")

    @property
    def _is_steep(self) -> bool:
        return self.asked in (falls, rises)

    def _change(self, curve: Sequence[float]) -> float:
        return curve[-1] / curve[0] if self._is_steep else spread(curve)

    def _said(self) -> str:
        if self._is_steep:
            return f"at the largest {self.x} by that at the least"
        return f"most by least over {self.x}"


@dataclass(frozen=True, slots=True)
class Points:
    """Ask the values of all strategies, at each point, whether they are ordered so.

    A point is a choice of `at`. `otherwise` says why, where they are not.
    """

    asked: Callable[..., Answer]
    names: Sequence[str]
    at: Sequence[str]
    rows: Chosen
    otherwise: Callable[[Mapping[str, Measured]], str] = lambda _: ""

    def __call__(self, results: Results, measure: Measure) -> Finding:
        each = list(points(self.rows(results), measure, *self.at))
        answers = [self.asked(values, *self.names) for values in each]
        factors = {name: [values[name] / max(values.values()) for values in each] for name in NAMES}
        shares = ", ".join(f"{name} {_range(some)}" for name, some in factors.items())
        holds = all_of(answers)
        ours = f"{tally(answers)}; by the best: {shares}"
        return Finding(ours, holds, self.otherwise(each[-1]) if holds is False else "")


def points(rows: Table, measure: Measure, *at: str) -> Iterator[dict[str, Measured]]:
    """Yield the values of all strategies at each choice of `at`."""
    for key in sorted({tuple(row[name] for name in at) for row in rows}):
        yield of_each(rows, measure, **dict(zip(at, key, strict=True)))


# --- both verdicts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Both:
    """A judge of both measures. `rows` are those of the claim, of which steps are weighed."""

    judge: Judge
    rows: Chosen
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
        steps = weights(self.rows(results))
        if not steps:
            return "A step is not the same everywhere."
        taken = ", ".join(f"{name} {_range(values)}" for name, values in steps.items())
        return f"Steps weigh all work alike; measured, a step took {taken} microseconds."


def by_both(judge: Curves | Points) -> Both:
    """Judge by steps and by time, of the rows that the judge asks."""
    return Both(judge, judge.rows)


def _reasons(parts: Mapping[str, Finding]) -> list[str]:
    """Return what the parts have to say, each for itself unless they say the same."""
    whys = {part.why for part in parts.values()}
    if len(whys) == 1:
        return [*filter(None, whys)]
    return [f"By {name}: {part.why}" for name, part in parts.items() if part.why]


def _range(values: Sequence[float]) -> str:
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def weights(rows: Table) -> dict[str, list[float]]:
    """Return the microseconds of a step of each strategy, at each point."""
    taken: dict[str, list[float]] = {}
    for row in rows:
        if row.get("steps") and row.get("events_per_s"):
            each = 1e6 / (float(row["events_per_s"]) * float(row["steps"]))
            taken.setdefault(row["strategy"], []).append(each)
    return taken
