"""A broker and a Spark session for all tests of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from tests_kafka.broker import Broker, running
from tests_kafka.jars import bring, jars

STREAM = Path(__file__).with_name("stream.py")
ROOT = STREAM.parent.parent
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
"""As in `tests/conftest.py`."""


@pytest.fixture(scope="session", autouse=True)
def _jars() -> None:
    bring()


@pytest.fixture(scope="session")
def spark(_jars: None) -> Iterator[SparkSession]:
    """A session that tries a task up to four times, as a cluster does."""
    connector = ",".join(map(str, jars("connector")))
    session = fyke.spark.session(master="local[2,4]", conf={"spark.jars": connector}, logs="off")
    yield session
    session.stop()


@pytest.fixture
def broker(_jars: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker of one's own, with the topics that `stream.py` names."""
    with running(tmp_path_factory.mktemp("broker")) as made:
        for topic in ("events", "found", "refused"):
            made.create(topic)
        yield made


@pytest.fixture
def publish(spark: SparkSession, broker: Broker) -> Callable[[Iterable[str | bytes | None]], None]:
    """Sends events to the topic `events`."""

    def send(lines: Iterable[str | bytes | None]) -> None:
        values = [line.encode() if isinstance(line, str) else line for line in lines]
        rows = [(str(at % 7), value) for at, value in enumerate(values)]
        frame = spark.createDataFrame(rows, "key string, value binary").coalesce(1)
        writer = frame.write.format("kafka").option("kafka.bootstrap.servers", broker.servers)
        writer.option("topic", "events").save()

    return send


@pytest.fixture
def start(broker: Broker, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """`start(*arguments)` runs `stream.py` with a driver of its own, which writes to driver.log."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    begun: list[subprocess.Popen[bytes]] = []

    def run(*arguments: str) -> subprocess.Popen[bytes]:
        with (tmp_path / "driver.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, STREAM, broker.servers, tmp_path, *arguments],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                stdout=log,
                stderr=log,
            )
        begun.append(process)
        return process

    yield run
    for process in begun:
        process.kill()
        process.wait(60)
