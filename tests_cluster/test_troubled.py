"""A worker with little disk and memory, and two drivers that publish to one place at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import SparkSession

import fyke.spark
from fyke.matching.matcher import Matcher
from fyke.spark.versions import versions
from fyke.spark.versions.places import joined
from fyke.spark.versions.snapshots import local
from tests_cluster.cluster import Cluster, program, told
from tests_cluster.troubled import PUBLISHED


def test_sentences(cluster: Cluster, spark: SparkSession, bucket: str, tmp_path: Path) -> None:
    """Nothing is half published, and what was there before serves as before."""
    worker = cluster.add_worker(cores=4, disk="1m")
    conf = {**cluster.conf, "spark.cores.max": 1, "spark.executor.pyspark.memory": "2500m"}
    conf["spark.task.maxFailures"] = 1  # the second attempt would say the same, later
    settings = [f"{key}={value}" for key, value in conf.items()]
    busy = joined(bucket, "busy")
    rules = fyke.spark.subscriptions(spark, "stock", 100)
    with ThreadPoolExecutor() as threads:
        driver = threads.submit(
            program, "troubled", cluster.master, bucket, str(tmp_path), *settings
        )
        versions.add(busy, Matcher())
        ours = []
        while not driver.done() and len(versions.numbers(busy)) <= PUBLISHED + len(ours):
            ours.append(fyke.spark.compile(rules.limit(50 + len(ours)), busy))
        found = told(driver.result())
    worker.kill()
    assert worker.outputs(), "another worker was asked"
    assert f"worker {worker.name}: " in found["disk"] and "No space left" in found["disk"]
    assert "cannot be copied: " in found["copy"] and "No space left" in found["copy"]
    assert f"worker {worker.name} has too little memory to build a shard" in found["memory"]
    assert found["versions"] == [1]
    assert found["rows"] > 0
    made = {each.number: each.subscriptions for each in ours} | {1: 0}
    assert not made.keys() & {number for number, _ in found["published"]}
    made |= dict(found["published"])
    assert versions.numbers(busy) == sorted(made)
    for number, count in made.items():
        parts = versions.version(busy, number).pin().parts
        opened = [Matcher.open(local(part.path, part.identity)) for part in parts]
        assert sum(map(len, opened)) == count
