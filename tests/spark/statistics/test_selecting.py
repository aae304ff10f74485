"""Selectivities and match fractions: what trying every predicate on every event finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import fyke.spark
from fyke import Event, FykeError, Matcher, parse
from fyke.spark.statistics import match_fractions, predicates, selectivities
from fyke.spark.statistics.filters import leaves

Given: TypeAlias = Callable[[int, int], tuple[DataFrame, list[Event]]]

FILTERS = [
    f"n = {2**53 + 1}",
    f"n > {float(2**53)} or n = 1",
    "x = 0 and not (x = 0)",
    "x >= 0 and x < 1.5",
    "x between 5 and 1",
    "b = 1 or b = true",
    "b != true and exists b",
    "l = 5 and l > 5",
    "l < 2 or l != 5",
    "t in ('a', '5') and t not in ('a', '5')",
    "t starts with 'a' and t > ''",
    "s = '' or s >= 'ab'",
    "s ilike '%\U0001f600%'",
    "s in cidr '10.0.0.0/8' or s matches '^a'",
    "w < timestamp '2000-01-01T00:00:00Z'",
    "m = 5 or m < 0.2",
    "d.e = 'a' and d.e != 'a'",
    "d.f > 1 and exists d.f",
    "type is Stock and type = 'Stock'",
    "n > x or n = x",
    "nowhere = 1 or exists nowhere or nowhere is null",
    "s like 'a%' and b = true",
]


def subscriptions(spark: SparkSession, filters: Sequence[str] = FILTERS) -> DataFrame:
    rows = [(f"s{number}", text) for number, text in enumerate(filters)]
    return spark.createDataFrame(rows, "id string, filter string").repartition(2)


def check(frame: DataFrame, events: Sequence[Event], filters: Sequence[str] = FILTERS) -> None:
    users = Counter(leaf for text in filters for leaf in leaves(parse(text)))
    found = {row["predicate"]: row for row in frame.collect()}
    assert sorted(found) == sorted(map(str, users))
    for leaf, count in users.items():
        row = found[str(leaf)]
        satisfied = sum(leaf.matches(event) for event in events)
        assert (row["satisfied"], row["events"]) == (satisfied, len(events)), leaf
        assert row["share"] == satisfied / len(events)
        assert row["subscriptions"] == count
        assert parse(row["predicate"]) == leaf


def test_selectivities_of_columns(spark: SparkSession, columns: Given) -> None:
    frame, events = columns(4, 150)
    check(selectivities(frame, subscriptions(spark)), events)


def test_selectivities_of_documents(spark: SparkSession, documents: Given) -> None:
    frame, events = documents(5, 150)
    filters = ["a < 1 and a > 1", "a != 1 or b = 'a'", '"null" is null', "c.d like 'a%'", "a = b"]
    check(selectivities(frame, subscriptions(spark, filters), json="body"), events, filters)


def test_predicates_of_dialects(spark: SparkSession) -> None:
    rows = [
        ("p", '{"detail": {"n": [{"numeric": [">", 5]}]}}', "eventbridge"),
        ("q", "detail.n > 5", None),
        ("r", "LENGTH(a) > 3", "cesql"),
    ]
    table = spark.createDataFrame(rows, "id string, filter string, dialect string")
    found = {row["predicate"]: row for row in predicates(table).collect()}
    assert found["detail.n > 5"]["subscriptions"] == 2
    assert any(row["attribute"] is None for row in found.values())
    events = spark.createDataFrame([(9,), (3,)], "`detail.n` long")
    counted = {row["predicate"]: row["satisfied"] for row in selectivities(events, table).collect()}
    assert counted["detail.n > 5"] == 1


def test_too_many_predicates(spark: SparkSession) -> None:
    with pytest.raises(FykeError, match="more than 3 distinct predicates"):
        selectivities(spark.range(1), subscriptions(spark), predicates_max=3)


def test_no_predicates_and_no_events(spark: SparkSession) -> None:
    nothing = spark.createDataFrame([], "n long")
    assert selectivities(nothing, subscriptions(spark, ["true"])).collect() == []
    (row,) = selectivities(nothing, subscriptions(spark, ["n = 1"])).collect()
    assert (row["satisfied"], row["events"], row["share"]) == (0, 0, None)


def test_a_subscription_that_cannot_be_read(spark: SparkSession) -> None:
    with pytest.raises(PythonException, match="'s1' cannot be read"):
        selectivities(spark.range(1), subscriptions(spark, ["a = 1", "a ="]))


def matched(frame: DataFrame) -> dict[str, tuple[Any, ...]]:
    return {row["subscription"]: (row["matches"], row["events"]) for row in frame.collect()}


def test_match_fractions(spark: SparkSession, columns: Given, tmp_path: Path) -> None:
    frame, events = columns(6, 100)
    table = subscriptions(spark)
    right = {
        f"s{number}": (sum(parse(text).matches(event) for event in events), len(events))
        for number, text in enumerate(FILTERS)
    }
    assert matched(match_fractions(frame, table)) == right
    made = fyke.spark.compile(table, tmp_path / "compiled", shards=2)
    assert matched(match_fractions(frame, made)) == right
    matcher = Matcher()
    matcher.add_many((f"s{number}", text) for number, text in enumerate(FILTERS))
    assert matched(match_fractions(frame, matcher)) == right


def test_match_fractions_of_documents(spark: SparkSession) -> None:
    frame = spark.createDataFrame([('{"a": 1}',), ("{",), ('{"a": [1, 2]}',)], "body string")
    table = subscriptions(spark, ["a = 1", "a = 2", "a = 3"])
    with pytest.raises(PythonException, match="cannot be read as an event"):
        match_fractions(frame, table, json="body").collect()
    found = match_fractions(frame, table, json="body", errors="skip")
    assert matched(found) == {"s0": (2, 2), "s1": (1, 2), "s2": (0, 2)}
    nothing = match_fractions(frame.where("false"), table, json="body").collect()
    assert [(row["events"], row["share"]) for row in nothing] == [(0, None)] * 3
