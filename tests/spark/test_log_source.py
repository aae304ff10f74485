"""The format `fyke`: logs as tables and streams, every record once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import fyke.spark
from fyke import Matcher
from fyke.logs.partitions import Partitions
from fyke.spark.log_source import limited

LOG_STREAM = Path(__file__).parent / "elsewhere" / "log_stream.py"
Program = Callable[..., subprocess.CompletedProcess[str]]
NASTY = ['{"n": 9007199254740993}', "", "\U0001f600é", "not json", "", '{"n": null}']


def all_of(path: Path) -> list[str]:
    logs = Partitions.open(path).logs()
    return [record.value for log in logs for record in log.read(0, log.end())]


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=6), st.integers(1, 99))
def test_a_limit_is_shared_and_used_up(pairs: list[tuple[int, int]], most: int) -> None:
    starts = {number: start for number, (start, _) in enumerate(pairs)}
    ends = {number: start + more for number, (start, more) in enumerate(pairs)}
    chosen = limited(starts, ends, most)
    assert all(starts[number] <= chosen[number] <= ends[number] for number in ends)
    taken = sum(chosen[number] - starts[number] for number in ends)
    assert taken == min(most, sum(more for _, more in pairs))


def test_tables(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(text,) for text in NASTY], "value string")
    rows.write.format("fyke").mode("append").save(str(tmp_path / "log"))
    left = tmp_path / "log" / "staged" / "of-a-job-that-was-killed-long-ago"
    left.touch()
    os.utime(left, (0, 0))
    rows.write.format("fyke").mode("append").save(str(tmp_path / "log"))
    found = spark.read.format("fyke").load(str(tmp_path / "log"))
    assert found.columns == ["value", "offset", "time", "partition"]
    timed = found.selectExpr("*", "unix_micros(time) as us")
    read = sorted(timed.collect(), key=lambda row: row["offset"])
    assert [row["offset"] for row in read] == list(range(2 * len(NASTY)))
    assert sorted(row["value"] for row in read[: len(NASTY)]) == sorted(NASTY)
    assert all(abs(row["us"] / 1e6 - time.time()) < 600 for row in read)
    assert not list((tmp_path / "log" / "staged").iterdir())
    assert found.where("value = ''").count() == 4


def test_what_cannot_be_done(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([("x", 1), (None, 2)], "value string, n long")

    def write(what: str) -> None:
        frame = rows if what == "columns" else rows.select("value")
        writer = frame.write.format("fyke").mode("overwrite" if what == "overwrite" else "append")
        if what == "partitions":
            writer = writer.option("partitions", "many")
        writer.save(str(tmp_path / "log"))

    for what, message in {
        "columns": "takes rows",
        "overwrite": "never overwritten",
        "partitions": "whole number",
        "null": "without a value",
    }.items():
        with pytest.raises(PySparkException, match=message):
            write(what)
    assert all_of(tmp_path / "log") == []
    assert not list((tmp_path / "log" / "staged").iterdir())
    with pytest.raises(PySparkException, match="is no log"):
        spark.read.format("fyke").load(str(tmp_path)).collect()
    for path in ("here", "s3://there/log"):
        with pytest.raises(PySparkException, match="absolute path"):
            spark.read.format("fyke").load(path).collect()


def test_a_log_is_matched_as_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    logs = Partitions.create(tmp_path / "log", 3).logs()
    for k in range(60):
        logs[k % 3].append([json.dumps({"k": k})])
    matcher = Matcher()
    matcher.add("small", "k < 25 or k >= 60")
    events = spark.readStream.format("fyke").option("maxRecordsPerTrigger", 25)

    def run() -> int:
        stream = fyke.spark.match_stream(
            events.load(str(tmp_path / "log")),
            matcher,
            tmp_path / "out",
            checkpoint=tmp_path / "c",
            json="value",
            key=["partition", "offset"],
            trigger="available",
        )
        assert stream.await_end(60)
        return stream.progress().batch

    assert run() == 2
    logs[1].append(['{"k": 61}'])
    assert run() == 3
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    keys = sorted(row["partition"] + 3 * row["offset"] for row in found)
    assert keys == [*range(25), 61]


def test_a_repeated_batch_is_appended_once(spark: SparkSession, tmp_path: Path) -> None:
    """As if the driver had died before Spark noted the last batch as done."""
    Partitions.create(tmp_path / "from").log(0).append([str(k) for k in range(15)])

    def run(checkpoint: str) -> None:
        records = spark.readStream.format("fyke").option("maxRecordsPerTrigger", 10)
        rows = records.load(str(tmp_path / "from")).select("value")
        writer = rows.writeStream.format("fyke").trigger(availableNow=True)
        place = str(tmp_path / checkpoint)
        writer.option("checkpointLocation", place).start(str(tmp_path / "to")).awaitTermination()

    run("c")
    (staged := tmp_path / "to" / "staged").mkdir(exist_ok=True)
    for file in (tmp_path / "c" / "commits").glob("*1*"):
        file.unlink()
    run("c")
    assert sorted(map(int, all_of(tmp_path / "to"))) == list(range(15))
    run("another")  # counts its batches from 0, too, and is not taken for the first
    assert len(all_of(tmp_path / "to")) == 30
    assert not list(staged.iterdir())


@pytest.mark.long
def test_the_driver_killed_after_an_append(program: Program, tmp_path: Path) -> None:
    """The batch comes again and is not appended again; what was staged is swept."""
    Partitions.create(tmp_path / "from").log(0).append([str(k) for k in range(45)])
    done = program(LOG_STREAM, str(tmp_path), "appended")
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert len(all_of(tmp_path / "to")) >= 20
    done = program(LOG_STREAM, str(tmp_path))
    assert done.returncode == 0, done.stderr[-2000:]
    assert sorted(map(int, all_of(tmp_path / "to"))) == list(range(45))
    assert all(log.end() for log in Partitions.open(tmp_path / "to").logs())
    assert not list((tmp_path / "to" / "staged").iterdir())
