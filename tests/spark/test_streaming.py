"""`fyke.spark.match_stream`: every event matched once, against one version, whatever happens."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import fyke.spark
from fyke import FykeError, Matcher
from fyke.spark.streams.streaming import Stream
from fyke.spark.versions import versions

STREAM = Path(__file__).parent / "elsewhere" / "stream.py"
Program = Callable[..., subprocess.CompletedProcess[str]]


def put(folder: Path, name: int, lines: Iterable[str]) -> None:
    """A file of the stream, which appears whole; later ones are newer."""
    folder.mkdir(exist_ok=True)
    hidden = folder / f".{name}"
    hidden.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    os.utime(hidden, (1_700_000_000 + name, 1_700_000_000 + name))
    hidden.rename(folder / f"{name}.txt")


def numbered(first: int, end: int) -> list[str]:
    return [json.dumps({"k": k}) for k in range(first, end)]


def matcher(mark: str) -> Matcher:
    made = Matcher()
    made.add(f"{mark} even", "even = true or not exists even")
    made.add(f"{mark} never", "k < 0")
    return made


def read(session: SparkSession, folder: Path, **options: Any) -> DataFrame:
    return session.readStream.options(**options).text(str(folder))


def found(out: Path) -> list[tuple[int, int, str]]:
    """(batch, k, subscription) of all published rows; without Spark."""
    rows = []
    for file in out.glob("batch=*/*.parquet"):
        batch = int(file.parent.name.removeprefix("batch="))
        for row in pq.ParquetFile(file).read().to_pylist():
            rows.append((batch, json.loads(row["value"])["k"], row["subscription"]))
    return sorted(rows)


def until(stream: Stream, batch: int) -> None:
    """Waits until a batch is finished."""
    end = time.monotonic() + 60
    while stream.progress().batch < batch:
        assert stream.exception is None, stream.exception
        assert time.monotonic() < end
        time.sleep(0.02)


def test_matches_go_to_a_folder_and_bad_rows_beside(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", 0, [*numbered(0, 3), "not json", '{"k": 1e999}', "", '{"k": 3}'])
    given = read(spark, tmp_path / "in"), matcher("m"), tmp_path / "out"
    options: dict[str, Any] = {"checkpoint": tmp_path / "c", "json": "value"}
    stream = fyke.spark.match_stream(*given, **options, trigger="available", name="first")
    assert stream.await_end(60) and stream.exception is None
    assert found(tmp_path / "out") == [(0, k, "m even") for k in range(4)]
    errors = spark.read.parquet(str(tmp_path / "c" / "errors")).collect()
    assert sorted(row["value"] for row in errors) == ["", "not json", '{"k": 1e999}']
    assert all(row["reason"] and row["batch"] == 0 for row in errors)
    progress = stream.progress()
    assert (progress.batch, progress.matches, progress.errors) == (0, 4, 3)
    put(tmp_path / "in", 1, numbered(4, 6))
    stream = fyke.spark.match_stream(*given, **options, trigger="available")
    assert stream.await_end(60)
    assert len(found(tmp_path / "out")) == 6
    assert spark.read.parquet(str(tmp_path / "out")).where("batch = 1").count() == 2
    progress = stream.progress()
    assert (progress.batch, progress.version, progress.matches, progress.errors) == (1, 2, 6, 3)
    assert not list((tmp_path / "c" / "errors").glob("batch=1"))


def test_columns_keys_arrays_and_functions(spark: SparkSession, tmp_path: Path) -> None:
    """A function sees the rows of `match`, as often as it likes."""
    rows = [(0, 1.0), (1, float("nan")), (2, -0.0)]
    spark.createDataFrame(rows, "k long, x double").coalesce(1).write.parquet(str(tmp_path / "in"))
    events = spark.readStream.schema("k long, x double").parquet(str(tmp_path / "in"))
    one = Matcher()
    one.add("zero", "x = 0")
    one.save(tmp_path / "saved")
    seen: list[tuple[int, Any]] = []
    bad: list[tuple[int, int]] = []

    def keep(frame: DataFrame, batch: int) -> None:
        assert frame.count() == 2
        seen.extend((batch, row.asDict()) for row in frame.collect())

    stream = fyke.spark.match_stream(
        events,
        tmp_path / "saved",
        keep,
        errors=lambda frame, batch: bad.extend((batch, row["k"]) for row in frame.collect()),
        checkpoint=tmp_path / "c",
        key="k",
        arrays=True,
        trigger="available",
    )
    assert stream.await_end(60)
    assert seen == [(0, {"k": 0, "subscriptions": []}), (0, {"k": 2, "subscriptions": ["zero"]})]
    assert bad == [(0, 1)]


def test_bad_calls_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "in", 0, [])
    events = read(spark, tmp_path / "in")
    still = spark.createDataFrame([("{}",)], "value string")
    one = Matcher()
    (tmp_path / "diary").mkdir()
    (tmp_path / "diary" / "today.txt").write_text("dear diary")
    out, checkpoint = tmp_path / "out", {"checkpoint": tmp_path / "c"}
    cases: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
        ((still, one, out), checkpoint, "expected a streaming DataFrame"),
        ((5, one, out), checkpoint, "expected a Spark DataFrame"),
        ((events, one, out), {**checkpoint, "json": "text"}, "no column 'text'"),
        ((events, one, out), {**checkpoint, "trigger": "soon"}, "expected seconds"),
        ((events, one, out), {**checkpoint, "trigger": -1}, "expected seconds"),
        ((events, one, 5), checkpoint, "sink=5"),
        ((events, one, "nowhere://out"), checkpoint, "nowhere://out cannot be used as a sink"),
        ((events, one, out), {"checkpoint": "ftp://c"}, "'ftp://c' is no place"),
        ((events, one, out), {"checkpoint": 5}, "checkpoint=5"),
        ((events, one, tmp_path / "diary"), checkpoint, "is no sink"),
        ((events, one, out), {"checkpoint": tmp_path / "diary"}, "is no checkpoint"),
        ((events, tmp_path / "diary", out), checkpoint, "holds no compiled"),
        ((events, still, out), checkpoint, "fyke.spark.compile"),
        ((events.withColumnRenamed("value", "Batch"), one, out), checkpoint, "'batch'"),
    ]
    for given, options, message in cases:
        with pytest.raises(FykeError, match=message):
            fyke.spark.match_stream(*given, **options)
    fyke.spark.match_stream(events, one, out, **checkpoint, trigger="available").await_end()
    with pytest.raises(FykeError, match="another stream"):
        fyke.spark.match_stream(events, one, out, checkpoint=tmp_path / "other")


def test_versions_change_while_a_stream_runs(spark: SparkSession, tmp_path: Path) -> None:
    """All notifications of a batch come from one version; none is lost, none doubled."""
    files, each = 12, 40
    for number in range(files):
        put(tmp_path / "in", number, numbered(number * each, number * each + each))
    versions.add(tmp_path / "s", matcher("0"))
    done = threading.Event()

    def publish() -> None:
        number = 0
        while not done.wait(0.05):
            number += 1
            versions.add(tmp_path / "s", matcher(str(number)))

    publisher = threading.Thread(target=publish)
    publisher.start()
    try:
        stream = fyke.spark.match_stream(
            read(spark, tmp_path / "in", maxFilesPerTrigger=1),
            tmp_path / "s",
            tmp_path / "out",
            checkpoint=tmp_path / "c",
            json="value",
            trigger="available",
            sweep=True,
        )
        assert stream.await_end(120)
    finally:
        done.set()
        publisher.join()
    rows = found(tmp_path / "out")
    assert [k for _, k, _ in sorted(rows, key=lambda row: row[1])] == list(range(files * each))
    ids = [{id for batch, _, id in rows if batch == number} for number in range(files)]
    assert all(len(each) == 1 for each in ids)
    assert len(set.union(*ids)) > files // 2
    pins = sorted(path.name for path in (tmp_path / "c" / "pins").iterdir())
    assert pins == [f"batch-{files - 2}.json", f"batch-{files - 1}.json"]
    oldest = json.loads((tmp_path / "c" / "pins" / pins[0]).read_text())["version"]
    assert versions.numbers(tmp_path / "s")[0] == oldest > 1


def damaged(version: versions.Version) -> None:
    data = max(version.folder.glob("shard-*/data-*/*.bin"), key=lambda path: path.stat().st_size)
    data.write_bytes(bytes(data.stat().st_size))


def test_a_version_that_is_lost_or_damaged_stops_the_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The message says which; after the repair everything is there."""

    def start() -> Stream:
        return fyke.spark.match_stream(
            read(spark, tmp_path / "in"),
            tmp_path / "s",
            tmp_path / "out",
            checkpoint=tmp_path / "c",
            json="value",
        )

    put(tmp_path / "in", 0, numbered(0, 10))
    versions.add(tmp_path / "s", matcher("1"))
    stream = start()
    until(stream, 0)
    shutil.rmtree(versions.current(tmp_path / "s").folder)
    put(tmp_path / "in", 1, numbered(10, 20))
    with pytest.raises(FykeError, match=r"version 1 in .* cannot be read"):
        stream.await_end(60)
    assert "version 1" in str(stream.exception) and not stream.is_active

    damaged(versions.add(tmp_path / "s", matcher("2")))
    with pytest.raises(FykeError, match="corrupt"):
        start().await_end(60)
    versions.add(tmp_path / "s", matcher("3"))
    stream = start()
    until(stream, 1)
    stream.stop()
    rows = found(tmp_path / "out")
    assert rows == [(k // 10, k, f"{1 if k < 10 else 3} even") for k in range(20)]


def kill_siblings(folder: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """In a worker: ends all other workers, once, in the midst of their tasks."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            try:
                Path(folder, "killed").touch(exist_ok=False)
            except FileExistsError:
                continue
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    state = (process / "stat").read_text().rsplit(")", 1)[1].split()
                except OSError:
                    continue
                if int(state[1]) == os.getppid() and int(process.name) != os.getpid():
                    os.kill(int(process.name), signal.SIGKILL)
            time.sleep(0.5)

    return run


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for workers in /proc")
def test_workers_killed_in_the_midst_of_a_task(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(2):
        put(tmp_path / "in", number, numbered(number * 100, number * 100 + 100))
    events = read(spark, tmp_path / "in", maxFilesPerTrigger=1)
    deadly = events.mapInArrow(kill_siblings(str(tmp_path)), "value string")

    def start() -> Stream:
        return fyke.spark.match_stream(
            deadly,
            matcher("m"),
            tmp_path / "out",
            checkpoint=tmp_path / "c",
            json="value",
            trigger="available",
        )

    with pytest.raises(FykeError, match="the stream failed"):
        start().await_end(60)
    assert (tmp_path / "killed").exists() and found(tmp_path / "out") == []
    assert start().await_end(60)
    assert found(tmp_path / "out") == [(k // 100, k, "m even") for k in range(200)]


def held_up(sign: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Batches wait until there is a file."""

    def wait(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            while not os.path.exists(sign):
                time.sleep(0.02)
            yield batch

    return wait


@pytest.mark.parametrize("after", [0, 0.005, 0.01, 0.02, 0.5])
def test_stopped_in_the_midst_of_a_batch(spark: SparkSession, tmp_path: Path, after: float) -> None:
    """That is no failure; the batch is repeated, against the version that it saw.

    The first moments are before its job, which never ends, or just while that is started.
    """
    put(tmp_path / "in", 0, numbered(0, 10))
    sign = tmp_path / "go on"
    slow = read(spark, tmp_path / "in").mapInArrow(held_up(str(sign)), "value string")

    def start(mark: str, trigger: str | None = None) -> Stream:
        return fyke.spark.match_stream(
            slow,
            matcher(mark),
            tmp_path / "out",
            checkpoint=tmp_path / "c",
            json="value",
            trigger=trigger,
        )

    stream = start("1")
    end = time.monotonic() + 60
    while not (tmp_path / "c" / "pins" / "batch-0.json").exists():
        assert time.monotonic() < end and stream.is_active
        time.sleep(0.002)
    time.sleep(after)
    stream.stop()
    assert stream.exception is None and not stream.is_active
    assert stream.progress().batch == -1 and found(tmp_path / "out") == []
    sign.touch()
    assert start("2", "available").await_end(60)
    assert found(tmp_path / "out") == [(0, k, "1 even") for k in range(10)]


@pytest.mark.long
def test_the_driver_killed_twice(program: Program, tmp_path: Path) -> None:
    """Once before a batch is published, once after; the versions change meanwhile."""
    for number in range(4):
        lines = [*numbered(number * 50, number * 50 + 50), "broken"]
        put(tmp_path / "events", number, lines)
    folder = str(tmp_path)
    versions.add(tmp_path / "subscriptions", matcher("1"))
    done = program(STREAM, folder, "staged", "1")
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert list((tmp_path / "out").glob("_staging-1*"))
    versions.add(tmp_path / "subscriptions", matcher("2"))
    done = program(STREAM, folder, "published", "2")
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert not (tmp_path / "checkpoint" / "spark" / "commits" / "2").exists()
    versions.add(tmp_path / "subscriptions", matcher("3"))
    done = program(STREAM, folder)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "batch=3, version=3, matches=200, errors=4" in done.stdout
    saw = {0: 1, 1: 1, 2: 2, 3: 3}
    expected = [(k // 50, k, f"{saw[k // 50]} even") for k in range(200)]
    assert found(tmp_path / "out") == expected
    assert not list((tmp_path / "out").glob("_staging*"))
    errors = sorted((tmp_path / "checkpoint" / "errors").glob("batch=*/*.parquet"))
    rows = [row for file in errors for row in pq.ParquetFile(file).read().to_pylist()]
    assert [row["value"] for row in rows] == ["broken"] * 4
