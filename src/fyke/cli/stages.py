"""How the stages of a pipeline show: bars on a terminal, a line for each elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fyke.cli.progress import is_watched

if TYPE_CHECKING:
    from rich.progress import Progress

    from fyke.pipeline.outcome import Stage
    from fyke.pipeline.watching import Watcher


@contextmanager
def showing() -> Iterator[Watcher]:
    """A watcher that shows on stderr what it is told."""
    if not is_watched():
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=Console(stderr=True), redirect_stdout=False) as bars:
        yield Bars(bars)


class Bars:
    """A bar for each stage; it fills with Spark's tasks."""

    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task = bars.add_task("", visible=False, note="")

    def begin(self, name: str) -> None:
        self._task = self._bars.add_task(f"{name:8}", total=None, note="")

    def advance(self, done: int, tasks: int) -> None:
        self._bars.update(self._task, completed=done, total=max(tasks, done + 1))

    def end(self, stage: Stage) -> None:
        note = f"{stage.rows:,} {stage.unit}" if stage.rows > 1 else ""
        self._bars.update(self._task, completed=1, total=1, note=note)


class Lines:
    """A line on stderr when a stage is over."""

    def begin(self, name: str) -> None:
        pass

    def advance(self, done: int, tasks: int) -> None:
        pass

    def end(self, stage: Stage) -> None:
        if sys.stderr is not None:
            note = f"  {stage.rows:,} {stage.unit}" if stage.rows > 1 else ""
            print(f"{stage.name:8}{stage.duration_s:7.1f} s{note}", file=sys.stderr, flush=True)
