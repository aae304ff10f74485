"""Places by URI: versions in an object store, whole or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke import FykeError, Matcher
from fyke.spark.versions import versions
from fyke.spark.versions.places import Place, absolute, is_address, joined
from fyke.spark.versions.snapshots import local
from tests.bucket import as_guest


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
    """Each gets a number of its own, and every version holds what its driver has put there."""
    where = joined(bucket, "two")
    with ThreadPoolExecutor(6) as threads:
        made = list(threads.map(lambda at: versions.add(where, matcher(at)), range(6)))
    assert len({each.number for each in made}) == 6
    assert versions.numbers(where) == sorted(each.number for each in made)
    assert versions.current(where) == max(made, key=lambda each: each.number)
    for at, each in enumerate(made):
        assert versions.version(where, each.number) == each
        (part,) = each.pin().parts
        assert list(Matcher.open(local(part.path, part.identity))) == [f"s{at}"]


class Listed:
    """A place in which another driver claims a number between two looks, so many times."""

    address = "s3://bucket"

    def __init__(self, rivals: int) -> None:
        self.rivals = rivals
        self.kept: set[str] = set()

    def names(self) -> list[str]:
        return sorted({name.partition("/")[0] for name in self.kept})

    def write(self, name: str, text: str) -> None:
        self.kept.add(name)
        if self.rivals:
            self.rivals -= 1
            self.kept.add(f"{name[:14]}-ffffffff/claim")

    def remove(self, name: str) -> None:
        self.kept = {each for each in self.kept if not each.startswith(name)}


@pytest.mark.parametrize("rivals", [0, 1, 3])
def test_who_finds_another_claim_gives_its_number_up(
    rivals: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "_PAUSE_S", 0)
    place = Listed(rivals)
    claim = versions.claim_number(place)  # type: ignore[arg-type]
    assert claim.number == rivals + 1
    assert [name for name in place.names() if not name.endswith("ffffffff")] == [claim.name]


def test_a_place_where_everybody_publishes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_PAUSE_S", 0)
    with pytest.raises(FykeError, match="too many publish"):
        versions.claim_number(Listed(1_000))  # type: ignore[arg-type]


def test_what_fails_leaves_nothing(spark: SparkSession, bucket: str) -> None:
    where = joined(bucket, "failing")
    first = versions.add(where, matcher(1))
    before = Place.of(where).names()
    table = spark.range(0, 4).selectExpr(
        "cast(id as string) as id", "string(raise_error('no')) as filter"
    )
    with pytest.raises(FykeError, match="cannot be compiled"):
        fyke.spark.compile(table, where)
    assert Place.of(where).names() == before
    assert versions.current(where) == first


def test_a_bucket_without_permission(spark: SparkSession, bucket: str) -> None:
    """Reading is allowed, writing is not: that is said before anything is compiled."""
    where = "forbidden"
    first = versions.add(joined(bucket, where), matcher(1))
    before = Place.of(joined(bucket, where)).names()
    numbers = spark.range(0, 3).withColumnRenamed("id", "n")
    table = spark.range(0, 4).selectExpr(
        "cast(id as string) as id", "string(raise_error('no')) as filter"
    )
    with as_guest(bucket) as guest:
        found = fyke.spark.match(numbers, joined(guest, where)).collect()
        assert [(row.n, row.subscription) for row in found] == [(1, "s1")]
        with pytest.raises(
            FykeError, match=r"^s3://bucket/forbidden cannot be written to: .*DENIED"
        ):
            fyke.spark.compile(table, joined(guest, where))
        nobody = guest.replace("://", "://x", 1)
        with pytest.raises(FykeError, match=r"^s3://bucket/forbidden cannot be \w+: ") as said:
            fyke.spark.match(numbers, joined(nobody, where))
        assert "secret" not in str(said.value)
    assert Place.of(joined(bucket, where)).names() == before
    assert versions.current(joined(bucket, where)) == first


def test_facts_that_are_written_in_part(bucket: str) -> None:
    """Not all places show a file only when it is whole."""
    where = joined(bucket, "partly")
    first, second = versions.add(where, matcher(1)), versions.add(where, matcher(2))
    place, name = Place.of(where), f"version-000002-{second.token}/facts.json"
    text = place.read(name)
    assert text is not None
    for length in (0, 1, len(text) // 2, len(text) - 1):
        place.write(name, text[:length])
        assert versions.current(where) == first
    place.write(name, text)
    assert versions.current(where) == second


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


def test_a_checkpoint_in_a_bucket(spark: SparkSession, bucket: str, tmp_path: Path) -> None:
    """Pins, counts and subscriptions lie there; another start goes on with them."""
    where = joined(bucket, "checkpoint")
    got: list[tuple[int, int, str]] = []

    def run(**more: Any) -> fyke.spark.streams.streaming.Stream:
        options: dict[str, Any] = {"journal": tmp_path / "journal", "trigger": "available", **more}
        stream = fyke.spark.match_stream(
            spark.readStream.schema("n long").parquet(str(tmp_path / "events")),
            matcher(1, 2),
            lambda rows, batch: got.extend((batch, r.n, r.subscription) for r in rows.collect()),
            checkpoint=where,
            **{"errors": tmp_path / "errors", **options},
        )
        stream.await_end()
        return stream

    for batch in range(2):
        numbers = spark.range(0, 5).withColumnRenamed("id", "n")
        numbers.write.mode("append").parquet(str(tmp_path / "events"))
        progress = run().progress()
        assert (progress.batch, progress.matches) == (batch, 2 * (batch + 1))
    assert sorted(got) == [(0, 1, "s1"), (0, 2, "s2"), (1, 1, "s1"), (1, 2, "s2")]
    assert Place.of(joined(where, "pins")).names() == ["batch-0.json", "batch-1.json"]
    with pytest.raises(FykeError, match=r"s3://bucket/checkpoint goes with journal=.*/journal'"):
        run(journal=tmp_path / "other")
    with pytest.raises(FykeError, match="say with errors= where they go"):
        run(errors=None)
    with pytest.raises(FykeError, match="is no place that can be opened"):
        where = "ftp://host/checkpoint"
        run()


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
