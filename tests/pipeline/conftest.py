"""The Spark session of the tests, and runs of pipelines in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke.pipeline.configuration import parse
from fyke.pipeline.live import live
from fyke.pipeline.results.outcome import RunOutcome, Stage
from fyke.pipeline.running import run
from fyke.pipeline.watching import Pulse


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With the other tests that use Spark in one process."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = fyke.spark.session(master="local[2]")
    yield session
    session.stop()


class Listening:
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[Stage] = []
        self.pulses: list[Pulse] = []
        self.notes: list[str] = []

    def begin(self, name: str) -> None:
        self.begun.append(name)

    def advance(self, done: int, tasks: int) -> None:
        assert 0 <= done <= tasks

    def end(self, stage: Stage) -> None:
        self.ended.append(stage)

    def pulse(self, pulse: Pulse) -> None:
        self.pulses.append(pulse)

    def note(self, sentence: str) -> None:
        self.notes.append(sentence)


@pytest.fixture
def run_pipeline(spark: SparkSession, tmp_path: Path) -> Callable[[str], RunOutcome]:
    """`run_pipeline(text)` runs a pipeline.toml that lies in `tmp_path`."""

    def start(text: str) -> RunOutcome:
        watcher = Listening()
        outcome = run(parse(text, "pipeline.toml", tmp_path), watcher, spark)
        assert watcher.begun == [stage.name for stage in watcher.ended]
        assert watcher.ended == list(outcome.stages)
        return outcome

    return start


@pytest.fixture
def watcher() -> Listening:
    return Listening()


@pytest.fixture
def run_stream(
    spark: SparkSession, tmp_path: Path, watcher: Listening
) -> Callable[..., RunOutcome]:
    """`run_stream(text)` runs a pipeline.toml that lies in `tmp_path` and streams."""

    def start(text: str, seconds: float | None = 60.0) -> RunOutcome:
        pipeline = parse(text, "pipeline.toml", tmp_path)
        assert pipeline.is_stream
        return live.run(pipeline, watcher, spark, seconds=seconds)

    return start
