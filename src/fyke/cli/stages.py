"""The stages of a pipeline on the screen: bars on a terminal, a line for each elsewhere.

A stream has no end that a bar could fill up to: it shows its rates instead, in one line that is
refreshed, or elsewhere in a line now and then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

from fyke.cli.writing.progress import is_watched
from fyke.errors import printable

if TYPE_CHECKING:
    from rich.progress import Progress

    from fyke.pipeline.results.outcome import Stage
    from fyke.pipeline.watching import Pulse, Watcher

LINE_EVERY_S: Final = 10.0
_LEFT: Final = 20
"""Columns before a note."""


@contextmanager
def showing(is_stream: bool = False) -> Iterator[Watcher]:
    """Yield a watcher that shows on stderr what it is told."""
    if not is_watched():
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}"),
        *(() if is_stream else (BarColumn(),)),
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

    def pulse(self, pulse: Pulse) -> None:
        room = self._bars.console.width - _LEFT
        self._bars.update(self._task, note=fitting(facts(pulse), room))

    def note(self, sentence: str) -> None:
        self._bars.console.print(printable(sentence), highlight=False, markup=False)


class Lines:
    """A line on stderr when a stage is over, and now and then while a stream runs."""

    def __init__(self) -> None:
        self._name = ""
        self._began = monotonic()
        self._told: float | None = None
        self._batch = -1

    def begin(self, name: str) -> None:
        self._name, self._began = name, monotonic()

    def advance(self, done: int, tasks: int) -> None:
        pass

    def end(self, stage: Stage) -> None:
        note = f"  {stage.rows:,} {stage.unit}" if stage.rows > 1 else ""
        tell(f"{stage.name:8}{stage.duration_s:7.1f} s{note}")

    def pulse(self, pulse: Pulse) -> None:
        """Tell of the first batch, and then of the newest every few seconds."""
        now = monotonic()
        is_time = self._told is None or now - self._told >= LINE_EVERY_S
        if pulse.batch > self._batch and is_time:
            self._told, self._batch = now, pulse.batch
            tell(f"{self._name:8}{now - self._began:7.1f} s  {', '.join(facts(pulse))}")

    def note(self, sentence: str) -> None:
        tell(printable(sentence))


def facts(pulse: Pulse) -> list[str]:
    """Return facts about a stream, the most wanted first."""
    if pulse.batch < 0:
        return ["no batch yet"]
    return [
        f"{pulse.arriving_per_s:,.0f} events/s",
        f"{pulse.matches_per_s:,.0f} matches/s",
        f"{pulse.matches:,} matches",
        f"{pulse.refused:,} refused",
        f"batch {pulse.batch} in {pulse.latency_s:.2f} s",
        f"up to {pulse.processed_per_s:,.0f} events/s",
        f"version {pulse.version}",
    ]


def fitting(parts: list[str], width: int) -> str:
    """Return a line with as many of the parts as fit into it, but at least one."""
    line = parts[0]
    for part in parts[1:]:
        if len(line) + 2 + len(part) > width:
            break
        line += f"  {part}"
    return line


def tell(line: str) -> None:
    """Print a line for who waits."""
    if sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)
