"""Streams on a cluster that shares nothing: each event once, whatever is lost."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from fyke.errors import FykeError
from fyke.spark.uri_sink import read_batches
from fyke.spark.versions import versions
from fyke.spark.versions.places import joined
from tests_cluster.cluster import Cluster, program, told

FILES = 6


def matcher() -> fyke.Matcher:
    made = fyke.Matcher()
    made.add_many((f"s{number}", f"n >= {100 * number}") for number in range(10))
    return made


def test_files_of_a_shared_folder(
    spark: SparkSession, cluster: Cluster, shared: Path, tmp_path: Path
) -> None:
    """A function gets each row; the checkpoint lies on the driver. A worker dies meanwhile."""
    events = written(shared / "events-1")
    got: list[tuple[int, str]] = []
    application = spark.conf.get("spark.app.id")
    lost = next(each for each in cluster.living if each.outputs(application))

    def take(rows: DataFrame, batch: int) -> None:
        if batch == 2:
            lost.kill()
        got.extend((row.n, row.subscription) for row in rows.collect())

    rows = spark.readStream.schema("n long").option("maxFilesPerTrigger", 1).json(str(events))
    stream = fyke.spark.match_stream(
        rows, matcher(), take, checkpoint=tmp_path / "checkpoint", trigger="available"
    )
    stream.await_end()
    cluster.add_worker()
    assert sorted(got) == expected()
    assert stream.progress().matches == len(got)


def test_a_shared_folder_as_the_sink(spark: SparkSession, shared: Path) -> None:
    events = written(shared / "events-2")
    rows = spark.readStream.schema("n long").json(str(events))
    fyke.spark.match_stream(
        rows, matcher(), shared / "out", checkpoint=shared / "checkpoint", trigger="available"
    ).await_end()
    found = spark.read.parquet(str(shared / "out")).collect()
    assert sorted((row.n, row.subscription) for row in found) == expected()


def test_a_sink_by_uri(spark: SparkSession, shared: Path, place: str, tmp_path: Path) -> None:
    """Workers write to it over the network; Spark's own checkpoint lies there, too."""
    rows = spark.readStream.schema("n long").json(str(written(shared / "events-6")))
    fyke.spark.match_stream(
        rows,
        matcher(),
        f"{place}/out",
        checkpoint=tmp_path / "checkpoint",
        journal=f"{place}/journal",
        trigger="available",
    ).await_end()
    found = read_batches(spark, f"{place}/out").collect()
    assert sorted((row.n, row.subscription) for row in found) == expected()


def test_a_sink_that_only_the_driver_sees(
    spark: SparkSession, shared: Path, tmp_path: Path
) -> None:
    """Refused before anything starts: workers would write to folders of their own."""
    rows = spark.readStream.schema("n long").json(str(written(shared / "events-3")))
    with pytest.raises(FykeError, match=r"worker worker-\d does not see .*/out: name a folder"):
        fyke.spark.match_stream(
            rows, matcher(), tmp_path / "out", checkpoint=tmp_path / "c", trigger="available"
        )
    assert not (tmp_path / "c").exists()


def test_a_driver_that_is_started_again(cluster: Cluster, bucket: str, shared: Path) -> None:
    """Killed in batch 1, before anything of it is published; its disk is lost.

    Pins lie in the bucket: though there is a newer version meanwhile, batch 1 sees the old one.
    """
    written(shared / "events-5")
    rules = joined(bucket, "restarted")
    versions.add(rules, matcher())
    settings = [f"{key}={value}" for key, value in cluster.conf.items()]
    given = ("restarted", cluster.master, bucket, str(shared), *settings)
    killed = program(*given)
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-3000:]
    newer = matcher()
    newer.add("new", "n >= 0")
    versions.add(rules, newer)
    found = told(program(*given))
    old = [row for row in expected() if row[0] < 800]
    new = [row for row in expected() if row[0] >= 800]
    wanted = sorted([*old, *new, *((n, "new") for n in range(800, 1200))])
    assert sorted((n, id) for _, n, id in found["rows"]) == wanted
    assert {batch for batch, _, id in found["rows"] if id == "new"} == {2}
    assert found["progress"] == [2, 2, len(wanted), 0]


def written(folder: Path) -> Path:
    folder.mkdir()
    for file in range(FILES):
        numbers = range(200 * file, 200 * (file + 1))
        text = "".join(json.dumps({"n": number}) + "\n" for number in numbers)
        (folder / f"{file}.json").write_text(text, "utf-8")
        os.utime(folder / f"{file}.json", (1e9 + file, 1e9 + file))  # batches take the oldest
    return folder


def expected() -> list[tuple[int, str]]:
    numbers = range(200 * FILES)
    return sorted((n, f"s{at}") for n in numbers for at in range(10) if n >= 100 * at)
