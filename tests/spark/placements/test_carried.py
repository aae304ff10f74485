"""Subscriptions that come to workers as rows: the same rows, whatever the columns are called."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import fyke.spark
from fyke import FykeError, Matcher
from fyke.spark.placements import carried, planning
from fyke.spark.shipping import delivering
from fyke.spark.shipping.shipping import copies_folder


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a cluster whose workers see nothing, for sets of any size; chunks are small."""
    monkeypatch.setattr(planning, "is_too_large", lambda *_: True)
    monkeypatch.setattr(delivering, "CHUNK", 5_000)
    monkeypatch.setattr(carried, "_CHUNKS_AT_ONCE", 3)


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    return spark.range(0, 400).selectExpr(
        "id as n", "concat('x', id % 7) as `a.b`", "cast(id as string) as `task`"
    )


def versions_of(folder: Path, spark: SparkSession, shards: int) -> tuple[Any, Matcher]:
    """Subscriptions in shards, and all of them in one matcher."""
    rows = [(f"s{at}", f"n >= {at} and a.b != 'x{at % 7}'") for at in range(300)]
    matcher = Matcher()
    matcher.add_many(rows)
    table = spark.createDataFrame(rows, "id string, filter string")
    return fyke.spark.compile(table, folder, shards=shards), matcher


@pytest.mark.parametrize("shards", [1, 3])
def test_the_same_rows(spark: SparkSession, events: DataFrame, shards: int, tmp_path: Path) -> None:
    """Workers do not see the shards: they are away before any task begins."""
    made, matcher = versions_of(tmp_path / "rules", spark, shards)
    names = [part.identity for part in made.pin().parts]
    rows = fyke.spark.match(events, made, key="n")
    arrays = fyke.spark.match(events, made, key="n", arrays=True, placement="split")
    shutil.rmtree(tmp_path / "rules")
    table = events.toArrow()
    found = matcher.match_batch(table).to_pydict()
    expected = sorted(zip(found["event"], found["subscription"], strict=True))
    try:
        assert sorted((row.n, row.subscription) for row in rows.collect()) == expected
        got = sorted((row.n, id) for row in arrays.collect() for id in row.subscriptions)
        assert got == expected
        assert sorted(each.name for each in copies_folder().iterdir() if each.name in names)
        assert not any(list(copies_folder().glob(f"_attempt-{name}*")) for name in names)
    finally:
        for name in names:
            shutil.rmtree(copies_folder() / name)


def test_what_may_not_pass_the_driver(
    spark: SparkSession, events: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, _ = versions_of(tmp_path / "rules", spark, 2)
    monkeypatch.setattr(carried, "CARRIED_MAX", 1_000)
    with pytest.raises(FykeError, match=r"MB may go to the workers as rows; name a place"):
        fyke.spark.match(events, made)


def test_a_damaged_chunk(
    spark: SparkSession, events: DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that is damaged gets a name in the cache."""
    made, _ = versions_of(tmp_path / "rules", spark, 1)
    good = carried.chunks_of
    monkeypatch.setattr(
        carried,
        "chunks_of",
        lambda archive, row: ({**each, "data": b"?"} for each in good(archive, row)),
    )
    rows = fyke.spark.match(events, made)
    (part,) = made.pin().parts
    shutil.rmtree(tmp_path / "rules")
    with pytest.raises(Exception, match="was damaged on its way"):
        rows.collect()
    assert not (copies_folder() / part.identity).exists()
    assert not list(copies_folder().glob(f"_attempt-{part.identity}*"))
