"""Places by URI: versions in an object store, whole or not at all."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke import FykeError, Matcher
from fyke.spark import versions
from fyke.spark.places import Place, absolute, is_address, joined


def matcher(*numbers: int) -> Matcher:
    made = Matcher()
    made.add_many((f"s{number}", f"n = {number}") for number in numbers)
    return made


def test_addresses() -> None:
    assert joined("s3://b/x/?region=r", "y", "z") == "s3://b/x/y/z?region=r"
    assert joined("gs://b", "y") == "gs://b/y"
    assert is_address("s3://b") and not is_address("/x") and not is_address("file:///x")
    assert absolute("file:///x/y") == "/x/y"
    assert absolute("x") == str(Path("x").absolute())


def test_compiled_to_a_bucket(spark: SparkSession, bucket: str) -> None:
    """Versions one after the other; `match` takes the address, a Version, and what was refused."""
    where = joined(bucket, "rules")
    events = spark.range(0, 20).withColumnRenamed("id", "n")
    rows = [("one", "n = 1"), ("two", "n in (2, 3)"), ("bad", "n <")]
    table = spark.createDataFrame(rows, "id string, filter string")
    first = fyke.spark.compile(table, where, shards=2)
    assert (first.number, first.subscriptions, first.refused) == (1, 2, 1)
    assert [row.id for row in first.errors(spark).collect()] == ["bad"]
    second = fyke.spark.compile(
        table.where("id != 'bad'"), where, placement="rendezvous", on="n", parts=2
    )
    for given in (where, first, second):
        found = fyke.spark.match(events, given).collect()
        expected = [(1, "one"), (2, "two"), (3, "two")]
        assert sorted((row.n, row.subscription) for row in found) == expected
    assert versions.current(where) == second
    assert versions.numbers(where) == [1, 2]
    versions.drop(where, 1)
    assert versions.numbers(where) == [2]
    with pytest.raises(FykeError, match="is the current one"):
        versions.drop(where, 2)


def test_what_is_incomplete_is_not_seen(bucket: str) -> None:
    """A copy counts when its last file is there, and CURRENT names it."""
    where = joined(bucket, "incomplete")
    first = versions.add(where, matcher(1))
    place = Place.of(where)
    place.write("version-000002-0123abcd/shard-00000/manifest.json", "{}")
    assert versions.current(where) == first
    assert versions.numbers(where) == [1]
    assert versions.add(where, matcher(2)).number == 3


def test_two_that_publish_at_once(bucket: str) -> None:
    """All versions are whole, and the current one is one of them."""
    where = joined(bucket, "two")
    threads = [Thread(target=versions.add, args=(where, matcher(at))) for at in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    known = {
        part.identity
        for name in versions.numbers(where)
        for part in versions.version(where, name).pin().parts
    }
    assert {part.identity for part in versions.current(where).pin().parts} <= known
    assert versions.current(where).number == max(versions.numbers(where))


def test_a_stream_follows_a_bucket(spark: SparkSession, bucket: str, tmp_path: Path) -> None:
    where = joined(bucket, "stream")
    versions.add(where, matcher(1))
    spark.range(0, 5).withColumnRenamed("id", "n").write.parquet(str(tmp_path / "events"))

    def run() -> list[tuple[int, int, str]]:
        fyke.spark.match_stream(
            spark.readStream.schema("n long").parquet(str(tmp_path / "events")),
            where,
            tmp_path / "out",
            checkpoint=tmp_path / "checkpoint",
            trigger="available",
        ).await_end()
        found = spark.read.parquet(str(tmp_path / "out")).collect()
        return sorted((row.batch, row.n, row.subscription) for row in found)

    assert run() == [(0, 1, "s1")]
    versions.add(where, matcher(2))
    spark.range(0, 5).withColumnRenamed("id", "n").write.mode("append").parquet(
        str(tmp_path / "events")
    )
    assert run() == [(0, 1, "s1"), (1, 2, "s2")]


def test_bad_places(spark: SparkSession, bucket: str, tmp_path: Path) -> None:
    table = spark.createDataFrame([("one", "n = 1")], "id string, filter string")
    with pytest.raises(FykeError, match=r"is no place that can be opened: .*expected a folder"):
        fyke.spark.compile(table, "ftp://host/rules")
    with pytest.raises(FykeError, match="cannot be"):  # a bucket that is not there
        fyke.spark.compile(table, bucket.replace("@bucket", "@other"))
    Place.of(joined(bucket, "taken")).write("notes.txt", "mine")
    with pytest.raises(FykeError, match=r"^s3://bucket/taken exists and holds no compiled"):
        fyke.spark.compile(table, joined(bucket, "taken"))
    with pytest.raises(FykeError, match="holds no compiled subscriptions"):
        fyke.spark.match(spark.range(3), joined(bucket, "nothing"))
    version = fyke.spark.compile(table, (tmp_path / "rules").as_uri())
    assert version.path == str(tmp_path / "rules")
