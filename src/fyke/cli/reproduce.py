"""`fyke reproduce`: the figures and claims of a paper, made again."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from rich.table import Table
from rich.text import Text

from fyke.cli.writing.output import console, counted
from fyke.cli.writing.problems import complain
from fyke.cli.writing.progress import is_watched

if TYPE_CHECKING:
    from rich.progress import TaskID

    from fyke.experiments.experiment import Paper, Study
    from fyke.experiments.harness import Told
    from fyke.experiments.outcome import Reproduction

FAILED: Final = 2
_STYLES: Final = {"reproduced": "green", "differs": "yellow", "not comparable": "dim"}
_CLAIMS_CELLS_MAX: Final = 160
"""Columns of the claims in a file or a pipe, where nothing else folds their sentences."""

app = App(
    name="reproduce",
    group_parameters="Options",
    help_epilogue="""\
Examples
  fyke reproduce das
  fyke reproduce das --figure 13 --out das-13
  fyke reproduce das --scale paper --out das-paper
  fyke reproduce pruning --out pruning
  fyke reproduce das --figure 8 --events 20000 --repeats 5 --seed 7

Papers: das, multistage, pruning, sub2sub, summaries.
""",
)


@app.default
def reproduce(
    paper: Annotated[str, Parameter(metavar="PAPER")],
    /,
    *,
    figure: Annotated[str | None, Parameter(metavar="N")] = None,
    scale: Annotated[str, Parameter(metavar="NAME")] = "small",
    seed: Annotated[int, Parameter(metavar="N")] = 0,
    events: Annotated[int | None, Parameter(metavar="N", show_default=False)] = None,
    repeats: Annotated[int | None, Parameter(metavar="N", show_default=False)] = None,
    out: Annotated[str | None, Parameter(metavar="DIR")] = None,
) -> int:
    """Run a paper's experiments on Spark; draw its figures and judge its claims.

    Parameters
    ----------
    paper
        Its short name.
    figure
        Only this figure, and the claims that it decides.
    scale
        tiny: a glance, in which times say nothing; small: some minutes; paper: the paper's sizes,
        which take up to an hour.
    seed
        Of the order and the values of events.
    events
        Events of each point, at least; without it 2,000, or as many as a figure is about.
    repeats
        How often they are sent, for the median and the range of times; without it 3.
    out
        Folder for claims.json, figure_N.csv, figure_N.png and report.html; without it, one with
        the paper's name.
    """
    from fyke.experiments import harness, papers

    chosen = papers.paper(paper)
    figures = [] if figure is None else [figure]
    folder = Path(paper if out is None else out)
    logging.getLogger().addHandler(logging.NullHandler())  # errors become sentences in `main`
    with _showing(chosen) as told:
        outcome = harness.reproduce(
            chosen,
            folder,
            figures=figures,
            scale=scale,
            seed=seed,
            events=events,
            repeats=repeats,
            told=told,
        )
    screen = console()
    screen.print(_claims(outcome), width=min(screen.width, _CLAIMS_CELLS_MAX))
    screen.print(f"\n{folder / 'report.html'}", soft_wrap=True)
    for run in outcome.failures:
        complain(f"{run.study} with {run.described()} failed: {run.error}")
    return FAILED if outcome.failures else 0


def _claims(outcome: Reproduction) -> Table:
    """Return a table with a row per claim, as wide as the screen; below ours, why it differs."""
    from fyke.experiments.experiment import verdict as verdict_of

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("id", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for name, ratio in (("claim", 4), ("paper", 2), ("ours", 5)):
        table.add_column(name, ratio=ratio, overflow="fold")
    for judged in outcome.claims:
        claim, finding = judged.claim, judged.finding
        ours = Text(finding.ours)
        if finding.why:
            ours.append(f"\n{finding.why}", "dim")
        verdict = Text(finding.verdict, _STYLES[finding.verdict])
        for name, holds in finding.by.items():
            verdict.append(f"\n{name}: {verdict_of(holds)}", "dim")
        if claim.circular:
            verdict.append("\ncircular", "dim")
        table.add_row(claim.id, verdict, Text(claim.text), Text(claim.paper), ours)
    return table


@contextmanager
def _showing(paper: Paper) -> Iterator[Told]:
    """Show a bar for each study, named by its figures; off a terminal, a line when it is done."""
    if not is_watched():
        yield lambda study, done, runs: _tell(paper, study, done, runs)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False) as bars:
        tasks: dict[str, TaskID] = {}

        def told(study: Study, done: int, runs: int) -> None:
            if study.name not in tasks:
                tasks[study.name] = bars.add_task(_figures(paper, study), total=runs)
            bars.update(tasks[study.name], completed=done)

        yield told


def _tell(paper: Paper, study: Study, done: int, runs: int) -> None:
    import sys

    if done == runs and sys.stderr is not None:
        print(f"{_figures(paper, study)}: {counted(runs, 'run')}", file=sys.stderr, flush=True)


def _figures(paper: Paper, study: Study) -> str:
    ids = [figure.id for figure in paper.figures if figure.study == study.name]
    if not ids[0].isdigit():
        return ids[0]
    return f"figure{'s' * (len(ids) > 1)} {', '.join(ids)}"
