"""The harness: all studies of a paper as one Spark sweep, and what it leaves in a folder.

    DIR/claims.json      [{id, claim, paper, ours, verdict, why, by, rule, circular}, ...]
    DIR/figure_N.csv     the rows that a figure shows
    DIR/figure_N.png     the figure
    DIR/report.html      all of it on one page

A run that fails costs the claims that need its study, not the others.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fyke.errors import FykeError, shown
from fyke.experiments import plots, report
from fyke.experiments.experiment import (
    Claim,
    Figure,
    Finding,
    Paper,
    Parameters,
    Results,
    Study,
    check_scale,
)
from fyke.experiments.origin import Origin
from fyke.experiments.outcome import Judged, Reproduction, Run
from fyke.experiments.table import Row, Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Told: TypeAlias = Callable[[Study, int, int], None]
"""Hears how many runs of how many of a study are done."""
EVENTS_MAX: Final = 10_000_000
REPEATS_MAX: Final = 1_000


def reproduce(
    paper: Paper,
    out: str | Path,
    *,
    figures: Iterable[str] = (),
    scale: str = "small",
    seed: int = 0,
    events: int | None = None,
    repeats: int | None = None,
    session: SparkSession | None = None,
    told: Told | None = None,
) -> Reproduction:
    """Reproduce some figures of a paper, or all of them, in a folder.

    `events` and `repeats` of each point are those of the scale unless they are given.
    """
    check_scale(scale)
    _check_numbers(seed, events, repeats)
    chosen = paper.selected(figures)
    folder = _folder(out)
    began = monotonic()
    given = {"events": events, "repeats": repeats}
    plan = _Plan(scale, seed, {name: each for name, each in given.items() if each is not None})
    runs = _swept(paper, chosen, plan, session, told)
    results = {
        study.name: Table.of(row for run in runs if run.study == study.name for row in run.rows)
        for study in paper.studies
    }
    claims = tuple(
        Judged(claim, _judged(paper, claim, results, runs)) for claim in paper.claims_of(chosen)
    )
    origin = Origin.here(seed, events, repeats)
    outcome = Reproduction(paper, scale, origin, chosen, claims, runs, results, monotonic() - began)
    _write(outcome, folder)
    return outcome


def _check_numbers(seed: int, events: int | None, repeats: int | None) -> None:
    if not 0 <= seed < 2**63:
        raise FykeError(f"the seed is {shown(seed)}; expected 0 to {2**63 - 1}")
    for name, number, most in (("events", events, EVENTS_MAX), ("repeats", repeats, REPEATS_MAX)):
        if number is not None and not 1 <= number <= most:
            raise FykeError(f"{name} are {shown(number)}; expected 1 to {most:,}")


def _folder(out: str | Path) -> Path:
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    except (OSError, ValueError) as refused:
        reason = getattr(refused, "strerror", None) or refused
        raise FykeError(f"{out}: {reason}; expected a folder for the results") from None


# --- running --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plan:
    """The sizes of all runs: those of a scale, but for what was chosen."""

    scale: str
    seed: int
    chosen: Mapping[str, int]

    def grid(self, study: Study) -> list[Parameters]:
        return [
            {name: self.chosen.get(name, value) for name, value in parameters.items()}
            for parameters in study.grid(self.scale)
        ]


@dataclass(frozen=True, slots=True)
class _Calls:
    """Goes to the workers: a study by its name, parameters and rows as JSON."""

    studies: Mapping[str, Callable[[Parameters, int], list[Row]]]

    def __call__(self, call: dict[str, Any], seed: int) -> dict[str, Any]:
        began = perf_counter()
        gc.disable()  # a pass over millions of filters would be counted as an event's time
        try:
            rows = self.studies[call["study"]](json.loads(call["parameters"]), seed)
        finally:
            gc.enable()
            gc.collect()
        return {"rows": json.dumps(rows), "seconds": perf_counter() - began}


def _swept(
    paper: Paper,
    figures: Iterable[Figure],
    plan: _Plan,
    session: SparkSession | None,
    told: Told | None,
) -> tuple[Run, ...]:
    """Run the studies of some figures; return the runs in the order of the studies."""
    from fyke.spark import sweep

    names = {figure.study for figure in figures}
    studies = [study for study in paper.studies if study.name in names]
    planned = [(study, parameters) for study in studies for parameters in plan.grid(study)]
    order = sorted(range(len(planned)), key=lambda at: -planned[at][0].cost(planned[at][1]))
    calls = [
        {"study": study.name, "parameters": json.dumps(parameters)}
        for study, parameters in (planned[at] for at in order)
    ]
    done = _Done([planned[at][0] for at in order], told)
    function = _Calls({study.name: study.run for study in studies})
    rows = sweep(function, calls, [plan.seed], session=session, finished=done).collect()
    swept = {order[row["run"]]: row.asDict() for row in rows}
    return tuple(_run(*planned[at], swept[at]) for at in range(len(planned)))


class _Done:
    """Counts the runs of each study."""

    def __init__(self, studies: list[Study], told: Told | None) -> None:
        self._studies = studies
        self._told = told
        self._ended: dict[str, int] = {}

    def __call__(self, runs: Iterable[int]) -> None:
        for run in runs:
            study = self._studies[run]
            ended = self._ended[study.name] = self._ended.get(study.name, 0) + 1
            if self._told is not None:
                self._told(study, ended, sum(each.name == study.name for each in self._studies))


def _run(study: Study, parameters: Parameters, found: dict[str, Any]) -> Run:
    rows = tuple(json.loads(found["rows"])) if found.get("rows") else ()
    seconds = found.get("seconds") or 0.0
    return Run(study.name, parameters, found["seed"], rows, seconds, found["error"])


# --- judging --------------------------------------------------------------------------------------


def _judged(paper: Paper, claim: Claim, results: Results, runs: Iterable[Run]) -> Finding:
    needed = {figure.study for figure in paper.figures if figure.id in claim.figures}
    for run in runs:
        if run.error is not None and run.study in needed:
            return Finding("", None, f"{run.study} with {run.described()} failed: {run.error}")
    try:
        return claim.judge(results)
    except (FykeError, ArithmeticError, LookupError, ValueError) as error:
        return Finding("", None, f"the rows do not decide it: {type(error).__name__}: {error}")


# --- writing --------------------------------------------------------------------------------------


def _write(outcome: Reproduction, folder: Path) -> None:
    images: dict[str, bytes] = {}
    try:
        for figure in outcome.figures:
            rows = figure.rows(outcome.results)
            rows.write(folder / f"figure_{figure.id}.csv")
            if rows:
                images[figure.id] = plots.draw(figure, rows)
                (folder / f"figure_{figure.id}.png").write_bytes(images[figure.id])
        (folder / "claims.json").write_text(outcome.claims_text(), "utf-8")
        (folder / "report.html").write_text(report.page(outcome, images), "utf-8")
    except OSError as refused:
        raise FykeError(f"{refused.filename}: {refused.strerror}") from None
