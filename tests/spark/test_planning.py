"""The planner: what it chooses and how it says why."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import fyke
import fyke.spark
from fyke import FykeError, Matcher
from fyke.filters.residual import Residual
from fyke.matching.compiled.kernels import compiling
from fyke.spark.placements.choice import Plan
from fyke.spark.placements.memory import in_bytes


def saved(path: Path, filters: list[fyke.Filter]) -> Path:
    matcher = Matcher()
    matcher.add_many((f"s{at}", filter) for at, filter in enumerate(filters))
    matcher.save(path)
    return path


def test_choices(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.createDataFrame([(1, "x")], "k int, type string")
    ranges = saved(tmp_path / "r", [fyke.parse(f"k > {at}") for at in range(300)])
    types = saved(tmp_path / "t", [fyke.parse(f"type = 't{at % 50}'") for at in range(300)])
    bare: list[fyke.Filter] = [Residual("cesql", f"k > {at}") for at in range(300)]
    guarded = [fyke.parse("type = 't'") & rule for rule in bare]
    assert str(fyke.spark.plan(events, ranges)).startswith(
        "replicate: 300 subscriptions are 0.0 MB"
    )
    assert fyke.spark.plan(events, saved(tmp_path / "b", bare)).placement == "replicate"
    sifting = fyke.spark.plan(events, saved(tmp_path / "g", guarded))
    assert str(sifting) == "multistage: an interpreter decides 100% of 300 subscriptions"
    beyond = fyke.spark.plan(events, ranges, memory=4_000)
    assert beyond.placement == "split" and beyond.parts > 2 and "has room for" in beyond.why
    met = fyke.spark.plan(events, types, memory=4_000)
    assert met == fyke.spark.plan(events, types, memory=4_000, on="type")
    assert (met.placement, met.on) == ("rendezvous", "type") and "100% of them" in met.why
    assert fyke.spark.plan(events, types, memory=4_000, on="type", parts=5).parts == 5
    assert fyke.spark.plan(events, types, memory=4_000, on="k").placement == "split"
    found = fyke.spark.match(events, types, placement=met)
    assert found.count() == 0


def test_the_plan_is_logged(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    events = spark.createDataFrame([(1,)], "k int")
    path = saved(tmp_path / "r", [fyke.parse("k > 0")])
    with caplog.at_level(logging.INFO, "fyke.spark"):
        fyke.spark.match(events, path)
    assert [record.getMessage()[:10] for record in caplog.records] == ["replicate:"]


def test_streams_stay_where_they_are(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.format("rate").load()
    path = saved(tmp_path / "r", [fyke.parse("value > 0")])
    assert fyke.spark.plan(stream, path).placement == "replicate"
    with pytest.raises(FykeError, match="stream"):
        fyke.spark.plan(stream, path, placement="split")
    with pytest.raises(FykeError, match="bytes"):
        fyke.spark.plan(stream, path, memory=0)


def test_words() -> None:
    assert str(Plan("rendezvous", "so", "type", 16)) == "rendezvous on type in 16 parts: so"
    assert str(Plan("replicate", "so")) == "replicate: so"
    sizes = {"2g": 2**31, "512m": 2**29, "7": 7 * 2**20, "1 kb": 1024, "x": None, "": None}
    assert {text: in_bytes(text) for text in sizes} == sizes


def test_planning_needs_no_kernels(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver on a cluster looks at subscriptions, and leaves matching them to the workers."""
    events = spark.createDataFrame([(1, "x")], "k int, type string")
    path = saved(tmp_path / "r", [fyke.parse(f"type = 't{at}' and k > {at}") for at in range(300)])
    attended: list[object] = []
    monkeypatch.setattr(compiling, "attend", attended.append)
    monkeypatch.setattr(compiling, "is_loaded", lambda: False)
    monkeypatch.setattr(compiling, "is_compiled", lambda: False)
    plan = fyke.spark.plan(events, path, memory=4_000)
    assert plan.placement == "rendezvous" and "100% of them" in plan.why
    fyke.spark.match(events, path, placement="multistage")
    assert attended == []
    Matcher.open(path)
    assert len(attended) == 1  # who matches here has them compiled
