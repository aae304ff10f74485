"""All calls on a cluster that shares nothing: the same rows as in one process."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke.matching.compiled.kernels.kernel import MODE
from fyke.matching.compiled.kernels.kernel_cache import kernel_cache
from fyke.spark.versions.places import joined
from tests_cluster.calls import EVENTS, NAMES, SUBSCRIPTIONS, expected, found, the_matcher, ways
from tests_cluster.cluster import Cluster
from tests_cluster.spreading import spread


@pytest.mark.parametrize("name", NAMES)
def test_nothing_shared(spark: SparkSession, name: str) -> None:
    assert ways(spark)[name]() == expected()


def test_kernels_travel(spark: SparkSession, cluster: Cluster, shared: Path) -> None:
    """Both workers began without any, one of them with the package elsewhere; none compiles."""
    events = spread(fyke.spark.events(spark, "stock", EVENTS), shared, "kernels")
    assert found(fyke.spark.match(events, the_matcher(), key="symbol")) == expected()
    ours = kernel_cache(MODE)
    assert ours is not None
    for worker in cluster.living:
        assert (shared / f"kernels-{worker.name}").exists()
        arrived = kernels_in(worker.arrived(f"fyke-{ours.name}"))
        assert len(arrived) > 50
        assert kernels_in(worker.caches / "fyke" / ours.name) == arrived
        said = [file.read_text("utf-8", "replace") for file in worker.outputs()]
        assert said and not any("compiling the matching kernels" in text for text in said)


def kernels_in(folder: Path) -> dict[str, bytes]:
    """Who compiles adds a file, and changes the index of a function."""
    files = (each for each in folder.iterdir() if each.suffix in (".nbi", ".nbc"))
    return {file.name: file.read_bytes() for file in files}


@pytest.mark.parametrize("name", ["table", "matcher", "split"])
def test_a_shared_folder(spark: SparkSession, shared: Path, name: str) -> None:
    """Nothing is sent: with nothing in the session's artifacts, workers have to read the folder."""
    assert ways(spark, str(shared))[name]() == expected()


def test_a_bucket(spark: SparkSession, bucket: str) -> None:
    """Versions lie in an object store; each host copies them once."""
    events = fyke.spark.events(spark, "stock", EVENTS)
    table = fyke.spark.subscriptions(spark, "stock", SUBSCRIPTIONS)
    where = joined(bucket, "cluster")
    fyke.spark.compile(table, where, shards=2)
    assert found(fyke.spark.match(events, where, key="symbol")) == expected()
    kept = fyke.spark.compile(table, where, placement="rendezvous", on="symbol", parts=3)
    assert found(fyke.spark.match(events, kept, key="symbol")) == expected()
