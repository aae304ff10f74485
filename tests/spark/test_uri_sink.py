"""Batches by URI: through Spark alone, on a file system that is no folder of ours."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

import fyke.spark
from fyke import FykeError, Matcher
from fyke.spark.sinks import FolderSink, sink_of
from fyke.spark.streams.streaming import Stream
from fyke.spark.uri_sink import UriSink, read_batches
from tests.webhdfs import serving_files


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


@pytest.fixture(scope="module")
def place(root: Path) -> Iterator[str]:
    with serving_files(root) as address:
        yield address


def numbers(session: SparkSession, *values: int) -> DataFrame:
    return session.createDataFrame([(value,) for value in values], "n int")


def found(session: SparkSession, address: str) -> list[tuple[int, int]]:
    return sorted((row.batch, row.n) for row in read_batches(session, address).collect())


def test_a_path_or_a_uri(tmp_path: Path) -> None:
    assert sink_of("s3a://bucket/out/", "sink") == UriSink("s3a://bucket/out")
    assert sink_of(f"file://{tmp_path}", "sink") == FolderSink(str(tmp_path))


def test_a_batch_counts_when_its_manifest_is_there(
    spark: SparkSession, place: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = UriSink(f"{place}/whole")
    sink.claim("one", ["n"])
    with pytest.raises(FykeError, match="holds no batch"):
        read_batches(spark, sink.address)

    def dies(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("fyke.spark.uri_sink.write_document", dies)
        with pytest.raises(KeyboardInterrupt):
            sink.write(numbers(spark, 1, 2), 0)
    assert list((root / "whole/_attempts/batch=0").iterdir()) and not sink.has(0)
    sink.write(numbers(spark, 1, 2), 0)
    assert sink.has(0) and not sink.has(1)
    sink.write(numbers(spark, 3), 1)
    sink.write(numbers(spark), 2)
    assert sink.has(2)
    assert found(spark, sink.address) == [(0, 1), (0, 2), (1, 3)]


def test_a_driver_that_was_thought_to_be_dead(spark: SparkSession, place: str) -> None:
    """It publishes the same rows after another one did; they count once."""
    sink = UriSink(f"{place}/twice")
    for _ in range(2):
        sink.write(numbers(spark, 1, 2), 0)
    assert found(spark, sink.address) == [(0, 1), (0, 2)]


def test_half_a_manifest(spark: SparkSession, place: str, root: Path) -> None:
    """Some places show a file while it is written."""
    sink = UriSink(f"{place}/half")
    sink.write(numbers(spark, 1), 0)
    (manifest,) = (root / "half/_batches").rglob("part-*")
    manifest.write_bytes(manifest.read_bytes()[:10])
    assert not sink.has(0)


def test_who_reads_the_place_as_a_folder_finds_nothing(spark: SparkSession, place: str) -> None:
    sink = UriSink(f"{place}/folder")
    sink.write(numbers(spark, 1), 0)
    with pytest.raises(AnalysisException, match="UNABLE_TO_INFER_SCHEMA"):
        spark.read.parquet(sink.address)


def test_whose_batches_they_are(spark: SparkSession, place: str, root: Path) -> None:
    sink = UriSink(f"{place}/owned")
    sink.claim("one", ["n"])
    sink.claim("one", ["n"])
    with pytest.raises(FykeError, match=r"/owned holds the batches of another stream"):
        sink.claim("two", ["n"])
    shutil.copytree(root / "owned/_stream/one", root / "owned/_stream/two")
    for text in (root / "owned/_stream/two").glob("part-*"):
        text.write_text('{"stream": "two"}\n')
    for both in ("one", "two"):  # they claimed it at the same moment
        with pytest.raises(FykeError, match="another stream"):
            sink.claim(both, ["n"])
    (root / "mine").mkdir()
    (root / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(FykeError, match=r"/mine exists and is no sink"):
        UriSink(f"{place}/mine").claim("one", ["n"])
    with pytest.raises(FykeError, match="rename"):
        sink.claim("one", ["Batch"])


@pytest.mark.usefixtures("spark")
def test_a_place_that_spark_does_not_know() -> None:
    with pytest.raises(FykeError, match=r"^nowhere://there cannot be used as a sink: .*scheme"):
        UriSink("nowhere://there").claim("one", ["n"])


def test_a_stream(spark: SparkSession, place: str, tmp_path: Path) -> None:
    """Rows, errors and Spark's own checkpoint by URI; started again, it goes on."""
    events = tmp_path / "events"
    events.mkdir()
    (events / "1.json").write_text('{"a": 1}\n{"a": 2}\nno event\n')
    matcher = Matcher()
    matcher.add("two", "a >= 2")

    def run() -> Stream:
        stream = fyke.spark.match_stream(
            spark.readStream.text(str(events)),
            matcher,
            f"{place}/stream/out",
            errors=f"{place}/stream/errors",
            checkpoint=tmp_path / "checkpoint",
            journal=f"{place}/stream/journal",
            json="value",
            trigger="available",
        )
        stream.await_end()
        return stream

    run()
    (events / "2.json").write_text('{"a": 3}\n')
    assert run().progress().matches == 2
    rows = read_batches(spark, f"{place}/stream/out").collect()
    assert [(row.batch, row.value) for row in sorted(rows)] == [(0, '{"a": 2}'), (1, '{"a": 3}')]
    bad = read_batches(spark, f"{place}/stream/errors").collect()
    assert [(row.batch, row.value) for row in bad] == [(0, "no event")]
