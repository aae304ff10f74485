"""Messages for Kafka, without one; `tests_kafka` has the broker."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import fyke.spark
from fyke import FykeError, Matcher
from fyke.spark.streams.kafka import KafkaSink, labelled, messages, without


def test_a_message_says_where_it_comes_from(spark: SparkSession) -> None:
    rows = spark.createDataFrame(
        [(1, "\U0001f600", None, "s"), (1, "\U0001f600", None, "t"), (2, "", -0.0, "s")],
        "k long, `t.x` string, n double, subscription string",
    )
    made = messages(rows, "stream", 7)
    found = labelled(made, "stream", 7).collect()
    assert [each["key"] for each in found] == ["s", "t", "s"]
    assert [json.loads(each["value"]) for each in found] == [
        {"k": 1, "t.x": "\U0001f600", "subscription": "s"},
        {"k": 1, "t.x": "\U0001f600", "subscription": "t"},
        {"k": 2, "t.x": "", "n": -0.0, "subscription": "s"},
    ]
    headers = [{h["key"]: bytes(h["value"]).decode() for h in each["headers"]} for each in found]
    assert all(each["fyke-stream"] == "stream" and each["fyke-batch"] == "7" for each in headers)
    ids = [each["fyke-id"] for each in headers]
    assert [row["id"] for row in made.collect()] == ids and all(len(id) == 32 for id in ids)
    others = [messages(rows, "stream", 8), messages(rows, "maerts", 7)]
    elsewhere = [row["id"] for frame in others for row in frame.collect()]
    assert len({*ids, *elsewhere}) == 9


def test_rows_without_a_subscription_have_no_key(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, ["s"])], "k long, subscriptions array<string>")
    (message,) = messages(rows, "stream", 0).collect()
    assert message["key"] is None
    assert json.loads(message["value"]) == {"k": 1, "subscriptions": ["s"]}


@pytest.mark.parametrize(
    ("arrived", "left"),
    [
        ("", "aabc"),
        ("ab", "ac"),
        ("aab", "c"),
        ("aaabc", ""),
        ("cx", "aab"),
    ],
)
def test_what_is_missing(spark: SparkSession, arrived: str, left: str) -> None:
    """Messages that are alike count: one may have arrived, another not."""
    schema = "key string, value string, id string"
    wanted = spark.createDataFrame([(None, each, each) for each in "aabc"], schema)
    sent = spark.createDataFrame([(each,) for each in arrived], "id string")
    found = without(wanted, sent)
    assert found.columns == wanted.columns
    assert Counter(row["value"] for row in found.collect()) == Counter(left)


def test_without_the_connector(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    events, sink = spark.readStream.text(str(tmp_path / "in")), KafkaSink("topic", "127.0.0.1:1")
    with pytest.raises(FykeError, match=r"spark.jars.packages.*spark-sql-kafka-0-10_2.13:"):
        fyke.spark.match_stream(events, Matcher(), sink, checkpoint=tmp_path / "c", json="value")


@pytest.mark.parametrize(
    "given",
    [
        {"topic": ""},
        {"topic": None},
        {"servers": ["127.0.0.1:1"]},
        {"options": "kafka.acks=1"},
        {"options": {"kafka.acks": 1}},
        {"settle_s": -1},
        {"settle_s": "3"},
        {"settle_s": float("nan")},
    ],
)
def test_bad_settings_are_refused(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(FykeError, match=f"{name}=.*; expected"):
        KafkaSink(**{"topic": "t", "servers": "127.0.0.1:1", **given})
