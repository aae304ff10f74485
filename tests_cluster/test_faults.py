"""What goes wrong on a cluster: the same rows all the same, or a sentence that says what to do."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from pathlib import Path

import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

import fyke.spark
from fyke import FykeError
from fyke.matching.compiled.kernels.kernel import MODE
from fyke.matching.compiled.kernels.kernel_cache import kernel_cache
from fyke.spark.sessions import workers
from fyke.spark.shipping import delivering, shipping
from fyke.spark.versions import compiling, versions
from fyke.spark.versions.places import joined
from tests.bucket import as_guest
from tests_cluster.calls import EVENTS, SUBSCRIPTIONS, digest, expected, found, the_matcher, ways
from tests_cluster.cluster import Cluster
from tests_cluster.pythons import another_python
from tests_cluster.spreading import spread


def test_a_folder_that_only_the_driver_sees(spark: SparkSession, tmp_path: Path) -> None:
    events = fyke.spark.events(spark, "stock", 10)
    matcher = the_matcher()
    matcher.add("one more", "true")  # what was sent before would be found
    with pytest.raises(PythonException, match=r"worker worker-\d does not see .*: name a place"):
        fyke.spark.match(events, matcher, folder=tmp_path).collect()


def test_more_than_is_sent(
    spark: SparkSession, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A set beyond what every executor gets comes as rows; whoever sees it all opens it."""
    monkeypatch.setattr(shipping, "SHIP_MAX", 1_000)
    events, matcher = fyke.spark.events(spark, "stock", EVENTS), the_matcher()
    matcher.add("another one", "price < 0")  # what was sent before would be found
    with pytest.raises(FykeError, match=r"worker worker-\d does not see .*: .*name a place"):
        fyke.spark.match(events, matcher, key="symbol", placement="replicate")
    plan = fyke.spark.plan(events, matcher)
    assert re.match(r"split: .* MB of subscriptions are more than .* and come as rows", str(plan))
    assert found(fyke.spark.match(events, matcher, key="symbol")) == expected()
    matcher.save(shared / "large")
    assert not fyke.spark.plan(events, shared / "large").is_carried
    assert found(fyke.spark.match(events, shared / "large", key="symbol")) == expected()


def test_shards_that_are_more_than_is_sent(
    spark: SparkSession, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that workers compiled come to the driver as rows, and go back as rows."""
    monkeypatch.setattr(shipping, "SHIP_MAX", 1_000)
    monkeypatch.setattr(compiling, "SHARD_MIN", SUBSCRIPTIONS // 2)
    events = fyke.spark.events(spark, "stock", EVENTS)
    table = fyke.spark.subscriptions(spark, "stock", SUBSCRIPTIONS)
    arrays = fyke.spark.match(events, table, key="symbol", arrays=True).collect()
    assert digest([f"{row.symbol} {id}" for row in arrays for id in row.subscriptions]) == (
        expected()
    )
    assert not any(list(each.caches.glob("fyke/snapshots/_*")) for each in cluster.living)


def test_more_than_may_pass_the_driver(
    spark: SparkSession, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is published; earlier versions stay. A shared folder needs no way through it."""
    table = fyke.spark.subscriptions(spark, "stock", SUBSCRIPTIONS)
    first = fyke.spark.compile(table.limit(10), tmp_path / "versions")
    monkeypatch.setattr(delivering, "passing_max", lambda _: 1_000)
    with pytest.raises(FykeError, match=r"MB may pass the driver .*maxResultSize.*name a folder"):
        fyke.spark.compile(table, tmp_path / "versions")
    assert versions.current(tmp_path / "versions") == first
    assert versions.numbers(tmp_path / "versions") == [1]
    assert fyke.spark.compile(table, shared / "versions").subscriptions == SUBSCRIPTIONS


def test_another_python(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said which one, and by the first call."""
    other = another_python()
    if other is None:
        pytest.skip("there is no other Python on this machine")
    monkeypatch.setattr(workers, "_checked", set())
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(other))
    with pytest.raises(
        FykeError, match=r"Python 3\.\d+, the driver has 3\.\d+; .*PYSPARK_PYTHON"
    ) as said:
        fyke.spark.match(fyke.spark.events(spark, "stock", 10), the_matcher())
    assert other.name.removeprefix("python") in str(said.value)
    assert "\n" not in str(said.value)


def test_no_python(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_checked", set())
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/no/such/python")
    with pytest.raises(FykeError, match=r"workers have no /no/such/python; let PYSPARK_PYTHON"):
        fyke.spark.match(fyke.spark.events(spark, "stock", 10), the_matcher())


def test_a_snapshot_of_a_newer_format(spark: SparkSession, tmp_path: Path) -> None:
    the_matcher().save(tmp_path / "snapshot")
    manifest = tmp_path / "snapshot" / "manifest.json"
    facts = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**facts, "version": 99}))
    events = fyke.spark.events(spark, "stock", 10)
    with pytest.raises(FykeError, match="is of format version 99; expected"):
        fyke.spark.match(events, tmp_path / "snapshot")


def test_a_bucket_that_is_not_there(spark: SparkSession, bucket: str, shared: Path) -> None:
    """Nothing is published, also not in part."""
    table = fyke.spark.subscriptions(spark, "stock", SUBSCRIPTIONS)
    with pytest.raises(FykeError, match=r"^s3://nowhere/rules cannot be written to: "):
        fyke.spark.compile(table, joined(bucket.replace("@bucket", "@nowhere"), "rules"))


def test_a_bucket_without_permission(spark: SparkSession, bucket: str) -> None:
    """Workers of somebody who may read do; what he would write is refused before any work."""
    where = joined(bucket, "guarded")
    first = versions.add(where, the_matcher())
    events = fyke.spark.events(spark, "stock", EVENTS)
    table = fyke.spark.subscriptions(spark, "stock", SUBSCRIPTIONS)
    with as_guest(bucket) as guest:
        assert found(fyke.spark.match(events, joined(guest, "guarded"), key="symbol")) == expected()
        with pytest.raises(FykeError, match=r"^s3://bucket/guarded cannot be written to: .*DENIED"):
            fyke.spark.compile(table, joined(guest, "guarded"))
    assert versions.numbers(where) == [first.number]
    assert versions.current(where) == first


def test_a_worker_that_is_lost(spark: SparkSession, cluster: Cluster, shared: Path) -> None:
    """In the midst of a job."""
    lost = cluster.living[-1]
    mark = shared / f"lost-{lost.name}"

    def kill() -> None:
        while not mark.exists():
            time.sleep(0.1)
        lost.kill()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    events = spread(fyke.spark.events(spark, "stock", EVENTS), shared, "lost")
    assert found(fyke.spark.match(events, the_matcher(), key="symbol")) == expected()
    killer.join(60)
    assert lost.process.poll() is not None


def test_a_worker_that_joins_late(spark: SparkSession, cluster: Cluster, shared: Path) -> None:
    """It fetches kernels and subscriptions that were sent before it was there."""
    before = cluster.living
    late = cluster.add_worker(warm=False)
    for old in before:
        old.kill()
    events = spread(fyke.spark.events(spark, "stock", EVENTS), shared, "late")
    assert found(fyke.spark.match(events, the_matcher(), key="symbol")) == expected()
    assert (shared / f"late-{late.name}").exists()
    ours = kernel_cache(MODE)
    assert ours is not None
    assert (late.caches / "fyke" / ours.name / "complete").exists()
    assert not any("compiling" in each.read_text("utf-8", "replace") for each in late.outputs())
    assert ways(spark)["split"]() == expected()
    cluster.add_worker(warm=False, package="elsewhere")


def test_a_host_whose_cache_was_deleted(spark: SparkSession, cluster: Cluster, bucket: str) -> None:
    """Kernels and copies of snapshots are fetched again."""
    where = joined(bucket, "deleted")
    events = fyke.spark.events(spark, "stock", EVENTS)
    versions.add(where, the_matcher())
    assert found(fyke.spark.match(events, where, key="symbol")) == expected()
    assert any((each.caches / "fyke" / "snapshots").is_dir() for each in cluster.living)
    for worker in cluster.living:
        for each in (worker.caches / "fyke").iterdir():
            if not each.name.startswith("java-"):  # executors start with it
                shutil.rmtree(each)
    assert found(fyke.spark.match(events, where, key="symbol")) == expected()
    assert ways(spark)["rendezvous"]() == expected()
