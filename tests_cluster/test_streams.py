"""Streams on a cluster that shares nothing: each event once, whatever is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import fyke
import fyke.spark
from fyke.errors import FykeError
from tests_cluster.cluster import Cluster

STREAM = Path(__file__).with_name("stream.py")
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

    def take(rows: DataFrame, batch: int) -> None:
        if batch == 2:
            cluster.workers[-1].kill()
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


def test_over_connect(cluster: Cluster, shared: Path, tmp_path: Path) -> None:
    """Batches are worked on by the server, which sees nothing of the client's."""
    written(shared / "events-4")
    server, address = cluster.add_server()
    done = subprocess.run(
        [sys.executable, STREAM, address, str(shared), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    said = server.log()[-3000:]
    server.kill()
    assert done.returncode == 0, done.stderr[-3000:] + said
    found = json.loads(done.stdout.splitlines()[-1])
    assert sorted(map(tuple, found)) == expected()


def written(folder: Path) -> Path:
    folder.mkdir()
    for file in range(FILES):
        numbers = range(200 * file, 200 * (file + 1))
        text = "".join(json.dumps({"n": number}) + "\n" for number in numbers)
        (folder / f"{file}.json").write_text(text, "utf-8")
    return folder


def expected() -> list[tuple[int, str]]:
    numbers = range(200 * FILES)
    return sorted((n, f"s{at}") for n in numbers for at in range(10) if n >= 100 * at)
