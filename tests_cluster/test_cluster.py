"""All calls on a cluster that shares nothing: the same rows as in one process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

import fyke.spark
from fyke.spark.places import joined
from tests_cluster.calls import EVENTS, SUBSCRIPTIONS, expected, found, the_matcher, ways
from tests_cluster.cluster import Cluster

CALLS = Path(__file__).with_name("calls.py")
NAMES = [
    *("table", "matcher", "snapshot", "compiled", "kept", "planned"),
    *("fractions", "split", "rendezvous", "multistage"),
]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_shared(spark: SparkSession, name: str) -> None:
    assert ways(spark)[name]() == expected()


@pytest.mark.parametrize("name", ["table", "matcher", "split"])
def test_a_shared_folder(spark: SparkSession, shared: Path, name: str) -> None:
    """Nothing is sent: with nothing in the session's artifacts, workers have to read the folder."""
    assert ways(spark, str(shared))[name]() == expected()


def test_a_folder_that_only_the_driver_sees(spark: SparkSession, tmp_path: Path) -> None:
    events = fyke.spark.events(spark, "stock", 10)
    matcher = the_matcher()
    matcher.add("one more", "true")  # what was sent before would be found
    with pytest.raises(PythonException, match=r"worker worker-\d does not see .*: name a place"):
        fyke.spark.match(events, matcher, folder=tmp_path).collect()


def test_a_worker_that_is_lost(spark: SparkSession, cluster: Cluster) -> None:
    """In the midst of a job; another one joins late and fetches what was sent before."""

    def slowly(batches: Iterable[Any]) -> Iterator[Any]:
        time.sleep(1.5)
        yield from batches

    events = fyke.spark.events(spark, "stock", EVENTS).repartition(6)
    slow = events.mapInArrow(slowly, events.schema)
    lost = cluster.workers[-1]
    killer = threading.Timer(2, lost.kill)
    killer.start()
    assert found(fyke.spark.match(slow, the_matcher(), key="symbol")) == expected()
    killer.join()
    assert lost.process.poll() is not None
    cluster.add_worker()
    assert found(fyke.spark.match(slow, the_matcher(), key="symbol")) == expected()
    assert ways(spark)["split"]() == expected()


def test_a_bucket(spark: SparkSession, bucket: str) -> None:
    """Versions lie in an object store; each host copies them once."""
    events = fyke.spark.events(spark, "stock", EVENTS)
    table = fyke.spark.subscriptions(spark, "stock", SUBSCRIPTIONS)
    where = joined(bucket, "cluster")
    fyke.spark.compile(table, where, shards=2)
    assert found(fyke.spark.match(events, where, key="symbol")) == expected()


def test_over_connect(cluster: Cluster) -> None:
    """The server is a third machine; the client is a fourth."""
    server, address = cluster.add_server()
    done = subprocess.run(
        [sys.executable, CALLS, address], capture_output=True, text=True, timeout=600, check=False
    )
    server.kill()
    assert done.returncode == 0, done.stderr[-3000:]
    by_name = json.loads(done.stdout.splitlines()[-1])
    assert by_name == {key: list(expected()) for key in NAMES}


def test_a_worker_without_the_package(cluster: Cluster, tmp_path: Path) -> None:
    """It is said at once what to do; sent along, the package is enough."""
    with Cluster(tmp_path / "bare") as bare:
        bare.add_worker(package=None, FYKE_KERNELS="plain")
        settings = [f"{key}={value}" for key, value in bare.conf.items()]
        done, shipped = (
            subprocess.run(
                [sys.executable, CALLS, bare.master, "only=matcher", *more, *settings],
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
            for more in ([], ["ship"])
        )
    assert shipped.returncode == 0, shipped.stderr[-3000:]
    assert json.loads(shipped.stdout.splitlines()[-1]) == {"matcher": list(expected())}
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("fyke.errors.FykeError: worker worker-1 has no Fyke for"), last
    assert "ship=True" in last
