"""The stages of a run: each is timed, watched, and fails in a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from fyke import spark
from fyke.errors import FykeError
from fyke.pipeline.configuration import Place
from fyke.pipeline.results.outcome import Stage
from fyke.pipeline.watching import Watcher, following
from fyke.spark.sessions.starting import reason_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(slots=True)
class Stages:
    """The stages that are over; `with stages("match", "events") as counted` adds one."""

    watcher: Watcher
    done: list[Stage] = field(default_factory=list)
    session: SparkSession | None = None

    @contextmanager
    def on(
        self, place: Place, settings: Mapping[str, Any], session: SparkSession | None
    ) -> Iterator[SparkSession]:
        """Open a session for all stages; one that is given is used and stays."""
        own = None
        try:
            if session is None:
                own = session = self._start(place, settings)
            self.session = session
            yield session
        except KeyboardInterrupt:
            if own is not None:
                _hush(own)
            raise
        finally:
            self.session = None
            if own is not None:
                _end(own)

    def _start(self, place: Place, settings: Mapping[str, Any]) -> SparkSession:
        with self("start", "session") as counted:
            counted.append(1)
            conf = {**settings, **place.conf}
            return spark.session(
                master=place.master, remote=place.remote, name="fyke pipeline", conf=conf
            )

    @contextmanager
    def __call__(self, name: str, unit: str, *, has_bar: bool = True) -> Iterator[list[int]]:
        """Time a stage, which says how many rows it handled; Spark's errors become sentences.

        With a bar, the watcher is told how many of Spark's tasks are done.
        """
        from py4j.protocol import Py4JError, Py4JJavaError
        from pyspark.errors import PySparkException

        counted: list[int] = []
        self.watcher.begin(name)
        started = perf_counter()
        session = self.session if has_bar else None
        try:
            with following(session, self.watcher) if session else nullcontext():
                yield counted
        except PySparkException as failed:
            raise FykeError(f"{name}: {_reason(failed)}") from failed
        except Py4JJavaError as failed:
            raise FykeError(f"{name}: {reason_of(failed)}") from failed
        except (Py4JError, ConnectionError) as lost:
            raise FykeError(f"{name}: Spark has ended in the midst of it") from lost
        stage = Stage(name, counted[0], unit, perf_counter() - started)
        self.done.append(stage)
        self.watcher.end(stage)


def _hush(session: SparkSession) -> None:
    """Silence Spark: what is ended in its midst fills the terminal with stack traces."""
    with suppress(Exception):
        session.sparkContext.setLogLevel("OFF")


def _end(session: SparkSession) -> None:
    from py4j.protocol import Py4JError

    with suppress(Py4JError, ConnectionError):  # it has ended by itself
        session.stop()


def _reason(failed: Exception) -> str:
    """Return the line that says what failed: ours in a worker's traceback, else Spark's first."""
    lines = [line.strip() for line in str(failed).splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("fyke.errors.")]
    if ours:
        return ours[-1].partition(": ")[2]
    return lines[0] if lines else type(failed).__name__
