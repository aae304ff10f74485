"""Papers as data: the studies, figures and claims to reproduce.

    study     makes numbers: a function of parameters and a seed, and the parameters to run it with
    figure    shows some of a study's rows
    claim     is a sentence of the paper, judged by the rows of the figures it is about

Several figures often show one study, so a study is run once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from fyke.errors import FykeError, shown
from fyke.experiments.table import Row, Table, Wanted

SCALES: Final = ("tiny", "small", "paper")
"""A glance, where times say nothing; a few minutes; the sizes of the paper."""

Parameters: TypeAlias = dict[str, Any]
Results: TypeAlias = Mapping[str, Table]
"""The rows of each study, by its name."""


def _alike(parameters: Parameters) -> float:
    return 1.0


@dataclass(frozen=True, slots=True)
class Study:
    """`run` depends on its parameters and the seed alone; times apart, it returns equal rows."""

    name: str
    run: Callable[[Parameters, int], list[Row]]
    grid: Callable[[str], list[Parameters]]
    """The parameters of each run, for a scale. `events` (of a point, at least) and `repeats` (how
    often they go through) may be set by whoever runs it.
    """
    cost: Callable[[Parameters], float] = _alike
    """The time of a run, compared with others: the longest begin first."""


# --- figures --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Axis:
    """`low` and `high` are the columns of the ends of error bars, where there are any."""

    column: str
    label: str
    is_log: bool = False
    low: str = ""
    high: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves. Rows that differ in `by` are different curves: the first of them is the colour, the
    second the dash. Points that are no curve are not joined.
    """

    title: str
    x: Axis
    y: Axis
    by: tuple[str, ...]
    where: Mapping[str, Wanted] = field(default_factory=dict)
    is_joined: bool = True


@dataclass(frozen=True, slots=True)
class Figure:
    """`explanation` is two sentences: what is shown, and what to see in it."""

    id: str
    title: str
    explanation: str
    study: str
    panels: tuple[Panel, ...]
    where: Mapping[str, Wanted] = field(default_factory=dict)
    derived: Callable[[Table], Table] | None = None
    """Adds columns that take several rows."""

    def rows(self, results: Results) -> Table:
        found = results.get(self.study, Table()).where(**self.where)
        return found if self.derived is None else self.derived(found)


# --- claims ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finding:
    """The result. `holds` is None where the paper's sentence cannot be held against it.

    A claim that is judged in several measures has a verdict of each in `by`.
    """

    ours: str
    holds: bool | None
    why: str = ""
    by: Mapping[str, bool | None] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        return verdict(self.holds)


def verdict(holds: bool | None) -> str:
    if holds is None:
        return "not comparable"
    return "reproduced" if holds else "differs"


@dataclass(frozen=True, slots=True)
class Claim:
    """`paper` are the paper's words, and no others; `figures` those that it takes to judge it."""

    id: str
    text: str
    paper: str
    figures: tuple[str, ...]
    judge: Callable[[Results], Finding]
    rule: str = ""
    """The reading of the words: limits and choices, all of them ours."""
    circular: str = ""
    """Why it could hardly fail: what was reconstructed, or dealt out, so that it holds."""


# --- papers ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Paper:
    """All of it. `terms` are to be known before anything is read; `notes` say what had to be
    reconstructed, and how numbers are counted.
    """

    name: str
    title: str
    summary: str
    studies: tuple[Study, ...]
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]
    notes: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()

    def study(self, name: str) -> Study:
        return next(each for each in self.studies if each.name == name)

    def selected(self, ids: Iterable[str]) -> tuple[Figure, ...]:
        """Return some figures, in the paper's order; all where none are named."""
        wanted = list(ids)
        known = [figure.id for figure in self.figures]
        for id in wanted:
            if id not in known:
                raise FykeError(
                    f"{self.name} has no figure {shown(id)}; expected one of {', '.join(known)}"
                )
        return tuple(figure for figure in self.figures if not wanted or figure.id in wanted)

    def claims_of(self, figures: Iterable[Figure]) -> tuple[Claim, ...]:
        """Return the claims that can be judged by these figures alone."""
        there = {figure.id for figure in figures}
        return tuple(claim for claim in self.claims if there.issuperset(claim.figures))


def check_scale(scale: str) -> None:
    if scale not in SCALES:
        raise FykeError(f"unknown scale {shown(scale)}; expected one of {', '.join(SCALES)}")
