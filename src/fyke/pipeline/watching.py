"""Watchers of a run: they are told of each stage, and how many of its tasks are done.

Spark says how far it is in two ways: over Spark Connect it tells a function, otherwise one has to
ask. The latter is the only place where a SparkContext is looked at, and only where there is one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from fyke.pipeline.results.outcome import Stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ASKED_EVERY_S: Final = 0.25


@dataclass(frozen=True, slots=True)
class Pulse:
    """A stream at a moment: the last batch (-1: none), all that was done, and how fast.

    Events arrive at a rate, and are processed at another while a batch is worked on.
    """

    batch: int = -1
    version: int = 0
    events: int = 0
    refused: int = 0
    matches: int = 0
    arriving_per_s: float = 0.0
    processed_per_s: float = 0.0
    matches_per_s: float = 0.0
    latency_s: float = 0.0


class Watcher(Protocol):
    """Someone who wants to know."""

    def begin(self, name: str) -> None:
        """Take note that a stage begins."""

    def advance(self, done: int, tasks: int) -> None:
        """Take note of how many of the known tasks are done; called from another thread."""

    def end(self, stage: Stage) -> None:
        """Take note that a stage is over."""

    def pulse(self, pulse: Pulse) -> None:
        """Take note of how a stream is doing; called every now and then while it runs."""

    def note(self, sentence: str) -> None:
        """Note something that happened to a stream."""


@contextmanager
def following(session: SparkSession, watcher: Watcher) -> Iterator[None]:
    """Tell the watcher of tasks while jobs run."""
    from pyspark.errors import PySparkException

    try:
        tracker = session.sparkContext.statusTracker()
    except (PySparkException, AttributeError):
        with _told(session, watcher):
            yield
        return
    over = threading.Event()
    asking = threading.Thread(target=_ask, args=(tracker, watcher, over), daemon=True)
    asking.start()
    try:
        yield
    finally:
        over.set()
        asking.join()


def _ask(tracker: Any, watcher: Watcher, over: threading.Event) -> None:
    seen: dict[int, tuple[int, int]] = {}
    while not over.wait(_ASKED_EVERY_S):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None:
                seen[stage] = (info.numCompletedTasks, info.numTasks)
        if seen:
            watcher.advance(*map(sum, zip(*seen.values(), strict=True)))


@contextmanager
def _told(session: SparkSession, watcher: Watcher) -> Iterator[None]:
    def tell(
        stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool
    ) -> None:
        known = [(stage.num_completed_tasks, stage.num_tasks) for stage in stages or ()]
        if known:
            watcher.advance(*map(sum, zip(*known, strict=True)))

    handler: Any = tell  # any function will do, though Spark's types ask for a class
    session.registerProgressHandler(handler)
    try:
        yield
    finally:
        session.removeProgressHandler(handler)
