"""Distributions: what a slow count of the events finds."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, TypeAlias

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

import fyke
from fyke import Event, FykeError
from fyke.events.number import ExactDecimal
from fyke.events.value import Kind, Scalar, canonical, kind, sort_key
from fyke.spark.statistics import distribution, distributions, for_matcher, generality, stages

Given: TypeAlias = Callable[[int, int], tuple[DataFrame, list[Event]]]
QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)


def elements(value: Any) -> tuple[Scalar, ...]:
    return value if isinstance(value, tuple) else (value,)


def counted(events: Sequence[Event]) -> dict[str, Counter[tuple[Kind, Scalar]]]:
    counts: dict[str, Counter[tuple[Kind, Scalar]]] = defaultdict(Counter)
    for event in events:
        for name, value in event.attributes.items():
            counts[name].update({sort_key(each) for each in elements(value)})
    return counts


def read_back(kind_name: str, text: str) -> tuple[Kind, Scalar]:
    value = json.loads(text)
    if isinstance(value, dict) and "decimal" in value:
        value = ExactDecimal(value["decimal"])
    elif isinstance(value, dict):
        value = Event({"w": datetime.fromisoformat(value["timestamp"])})
        value = value.attributes["w"]
    assert kind(value).name.lower() == kind_name
    assert canonical(value) == value
    return sort_key(value)


def check(frame: DataFrame, events: Sequence[Event]) -> None:
    found = {row["attribute"]: row for row in frame.collect()}
    right = counted(events)
    present = Counter(name for event in events for name in event.attributes)
    assert set(found) == set(present)
    for name, row in found.items():
        counts = right[name]
        assert (row["events"], row["present"]) == (len(events), present[name])
        assert row["share"] == pytest.approx(present[name] / len(events))
        assert row["distinct"] == len(counts)
        values = {read_back(each["kind"], each["value"]): each["events"] for each in row["values"]}
        assert values == counts and len(values) == len(row["values"])
        listed = [each["events"] for each in row["values"]]
        assert listed == sorted(listed, reverse=True)
        assert all(each["share"] == each["events"] / len(events) for each in row["values"])
        shares = [count / len(events) for count in counts.values()]
        agreement = sum(share * share for share in shares) / max(1, sum(shares))
        assert row["agreement"] == pytest.approx(agreement)
        numbers = sorted(
            float(value)  # type: ignore[arg-type]
            for (of, value), count in counts.items()
            for _ in range(count)
            if of is Kind.NUMBER
        )
        assert row["numbers"] == len(numbers)
        if not numbers:
            assert row["quantiles"] is None
        else:
            assert row["quantiles"] == [
                next(n for at, n in enumerate(numbers, 1) if at >= q * len(numbers))
                for q in QUANTILES
            ]


def test_columns(columns: Given) -> None:
    frame, events = columns(1, 120)
    check(distribution(frame, quantiles=QUANTILES), events)


def test_documents(documents: Given) -> None:
    frame, events = documents(2, 150)
    check(distribution(frame, json="body", quantiles=QUANTILES), events)


def test_what_a_worker_cannot_hold_is_handed_on(
    spark: SparkSession, columns: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame, events = columns(3, 60)
    batches = frame.toArrow().to_batches(max_chunksize=7)
    source = distributions.Source.of(frame, {})
    monkeypatch.setattr(distributions, "KEYS_MAX", 10)
    parts = list(distributions.Counting(source.rows).counts(batches))
    monkeypatch.undo()
    assert sum(1 for part in parts if "n" in part.column("attribute").to_pylist()) > 3
    counts = spark.createDataFrame([row for part in parts for row in part.to_pylist()],
                                   distributions._COUNTS_DDL)  # fmt: skip
    check(distributions._described(counts, 1000, list(QUANTILES)), events)


def test_only_the_top_is_listed(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(x,) for x in "aaabbcde"], "s string")
    (row,) = distribution(frame, top=3).collect()
    assert [(each["value"], each["events"]) for each in row["values"]] == [
        ('"a"', 3), ('"b"', 2), ('"c"', 1),
    ]  # fmt: skip
    assert row["distinct"] == 5


def test_a_sample_is_seeded(spark: SparkSession) -> None:
    frame = spark.range(2_000).withColumnRenamed("id", "n").coalesce(2)
    first, again, other = (
        distribution(frame, sample=0.1, seed=seed).collect() for seed in (1, 1, 2)
    )
    assert first == again != other
    assert 100 < first[0]["events"] < 300


def test_rows_that_are_no_events(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1.0,), (float("nan"),), (2.0,)], "x double").coalesce(1)
    with pytest.raises(PythonException, match="errors='skip'"):
        distribution(frame).collect()
    (row,) = distribution(frame, errors="skip").collect()
    assert (row["events"], row["present"], row["quantiles"][-1]) == (2, 2, 2.0)
    texts = spark.createDataFrame([('{"a": 1}',), ("{",), (None,)], "body string")
    (row,) = distribution(texts, json="body", errors="skip").collect()
    assert (row["events"], row["distinct"]) == (1, 1)


def test_no_events_no_rows(spark: SparkSession) -> None:
    frame = spark.createDataFrame([], "x double")
    assert distribution(frame).collect() == []
    assert for_matcher(distribution(frame)) == {"events": 0, "attributes": {}, "types": {}}


@pytest.mark.parametrize(
    "wrong",
    [{"top": -1}, {"quantiles": [2]}, {"sample": 0}, {"sample": 1.5}, {"errors": "ignore"},
     {"sampel": 0.5}, {"sample": 0.5, "seed": "x"}],
)  # fmt: skip
def test_wrong_options(spark: SparkSession, wrong: dict[str, Any]) -> None:
    with pytest.raises(FykeError):
        distribution(spark.range(3), **wrong)


def test_the_form_that_a_matcher_reads(spark: SparkSession) -> None:
    texts = ['{"type": "Stock", "p": 1.0}', '{"type": ["Stock", "x"], "p": [true, 1, null]}', "{}"]
    frame = spark.createDataFrame([(text,) for text in texts], "body string")
    told = for_matcher(distribution(frame, json="body"))
    assert json.loads(json.dumps(told)) == told
    assert told["events"] == 3 and told["types"] == {"Stock": 2, "x": 1}
    assert told["attributes"]["type"] == {"present": 2, "values": [["Stock", 2], ["x", 1]]}
    pairs = [(json.dumps(value), count) for value, count in told["attributes"]["p"]["values"]]
    assert sorted(pairs) == [("1", 2), ("null", 1), ("true", 1)]
    counted = fyke.Statistics.of(map(json.loads, texts))
    assert fyke.Statistics.read(told).attributes == counted.attributes
    matcher = fyke.Matcher()
    matcher.learn(fyke.Statistics.read(told))
    matcher.add("stock", "type = 'Stock' and p = 1")
    assert matcher.match(json.loads(texts[0])) == ["stock"]
    with pytest.raises(FykeError, match="no column 'attribute'"):
        for_matcher(frame)


def test_generality_and_stages(spark: SparkSession) -> None:
    rows = [(f"t{n}", n % 20, n % 2, 2020) for n in range(60)]
    frame = spark.createDataFrame(rows, "title string, author long, venue long, year long")
    table = distribution(frame).cache()
    order = generality(table).collect()
    assert [row["attribute"] for row in order] == ["year", "venue", "author", "title"]
    assert [row["position"] for row in order] == [0, 1, 2, 3]
    kept = {row["stage"]: row["attributes"] for row in stages(table, 3).collect()}
    names = ["year", "venue", "author", "title"]
    assert kept == {0: names, 1: names[:3], 2: names[:2], 3: names[:1]}
    few = stages(table, 1, ["title", "venue", "author"]).collect()
    assert [row["attributes"] for row in few] == [["venue", "author", "title"], ["venue", "author"]]
    subscriptions = spark.createDataFrame(
        [("1", "title = 'a' and venue = 1")], "id string, filter string"
    )
    weighed = stages(table, 3, subscriptions=subscriptions).where("stage = 2").first()
    assert weighed is not None and weighed["attributes"] == ["venue", "title"]
    with pytest.raises(FykeError):
        stages(table, -1)
    with pytest.raises(FykeError):
        generality(table, "title")
