"""On Spark an enumeration compares in its order, and text of a time is read as time."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import fyke.spark
from fyke import FykeError, Matcher
from fyke.events.json import encode
from fyke.events.schema import Schema
from fyke.events.value import format_timestamp
from fyke.filters.filter import Filter
from fyke.testing import ordered
from fyke.testing.ordering import accepts

COLUMNS = "k long, level string, peak string, state string, note string, count long, at string"
ELSEWHERE = timezone(timedelta(hours=2))
"""Text of a moment there is not its text in UTC."""
NAMES = [each.split()[0] for each in COLUMNS.split(", ")]
PLACEMENTS: dict[str, dict[str, Any]] = {
    "replicate": {},
    "rendezvous": {"parts": 4, "on": "at"},
    "multistage": {},
}


def drawn(seed: int) -> tuple[Schema, dict[str, Filter], list[dict[str, Any]]]:
    """A schema, filters, and documents whose times are text."""
    rng = Random(seed)
    schema = ordered.schema(rng, is_single=True)
    filters = {f"s{at}": each for at, each in enumerate(ordered.filters(rng, schema, 12))}
    more = ["at in ('2026-01-01', '2026-01-03')"]
    more += [f"at = timestamp '{format_timestamp(moment)}'" for moment in ordered.MOMENTS]
    filters |= {text: fyke.parse(text) for text in more}
    documents = [ordered.document(rng, schema) for _ in range(60)]
    for each in documents:
        if isinstance(each.get("at"), datetime):
            each["at"] = each["at"].astimezone(ELSEWHERE).isoformat()
    return schema, filters, [{"k": k, **each} for k, each in enumerate(documents)]


def right(
    schema: Schema, filters: dict[str, Filter], documents: list[dict[str, Any]]
) -> list[tuple[int, str]]:
    return sorted(
        (each["k"], id)
        for each in documents
        for id, filter in filters.items()
        if accepts(filter, schema.validate(each), schema)
    )


def pairs(matches: DataFrame) -> list[tuple[int, str]]:
    return sorted((row["k"], row["subscription"]) for row in matches.collect())


def test_placements_go_by_the_order(spark: SparkSession, tmp_path: Path) -> None:
    schema, filters, documents = drawn(1)
    rows = [tuple(map(each.get, NAMES)) for each in documents]
    events = spark.createDataFrame(rows, COLUMNS)
    rows = [(id, str(filter)) for id, filter in filters.items()]
    subscriptions = spark.createDataFrame(rows, "id string, filter string")
    version = fyke.spark.compile(subscriptions, tmp_path / "s", schema=schema)
    expected = right(schema, filters, documents)
    assert len(expected) > 50
    for placement, more in PLACEMENTS.items():
        matches = fyke.spark.match(events, version, key="k", placement=placement, **more)
        assert pairs(matches) == expected, placement


def test_documents_go_by_the_order_and_text_that_is_no_time_is_put_aside(
    spark: SparkSession,
) -> None:
    schema, filters, documents = drawn(2)
    bad = {"k": 1000, "at": "yesterday"}
    rows = [(each["k"], encode(each)) for each in [*documents, bad]]
    events = spark.createDataFrame(rows, "k long, document string")
    matcher = Matcher(schema=schema)
    matcher.add_many(filters.items())
    matches, refused = fyke.spark.match(events, matcher, key="k", json="document", errors=True)
    assert pairs(matches) == right(schema, filters, documents)
    (row,) = refused.collect()
    assert row["k"] == 1000 and "attribute 'at'" in row["reason"]


def test_columns_of_text_that_is_no_time_are_put_aside(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1, "2026-01-31"), (2, "soon"), (3, None)], "k long, at string")
    subscriptions = spark.createDataFrame(
        [("late", "at > timestamp '2026-01-01'"), ("none", "missing at")],
        "id string, filter string",
    )
    matches, refused = fyke.spark.match(
        events, subscriptions, key="k", errors=True, attributes=["at"], timestamps=["at"]
    )
    assert pairs(matches) == [(1, "late"), (3, "none")]
    (row,) = refused.collect()
    assert row["k"] == 2 and "attribute 'at'" in row["reason"]


def test_what_was_compiled_has_its_own_schema(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1,)], "k long")
    with pytest.raises(FykeError, match="give them to the Matcher"):
        fyke.spark.match(events, Matcher(), timestamps=["at"])
    with pytest.raises(FykeError, match="give them to the Matcher"):
        fyke.spark.match(events, "somewhere", schema=Schema())
