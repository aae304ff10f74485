"""Rows and documents that are likely to be counted wrongly, and their events."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeAlias

import pytest
from pyspark.sql import DataFrame, SparkSession

from fyke.events.columns import read
from fyke.events.event import Event
from fyke.events.json import decode_event, encode
from fyke.testing.generators import NAMES, NUMBERS, STRINGS

Given: TypeAlias = Callable[[int, int], tuple[DataFrame, list[Event]]]

SCHEMA = (
    "n long, x double, s string, b boolean, l array<long>, t array<string>, w timestamp, "
    "m decimal(30, 2), `d.e` string, d struct<e: string, f: array<double>>, type string"
)
INTEGERS = [None, 0, 1, 5, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [None, -0.0, 0.0, 1.0, 1.5, float(2**53), 1e300]
TEXTS = [None, "", "a", "ab", "5", "\U0001f600é", "it's", "10.1.2.3"]
MOMENTS = [None, datetime(2024, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, 1, UTC)]
DECIMALS = [None, Decimal("0.10"), Decimal("5.00"), Decimal(2**70)]


def rows(seed: int, count: int) -> list[dict[str, Any]]:
    rng = random.Random(seed)

    def some(values: list[Any]) -> list[Any] | None:
        return rng.choice([None, [], rng.choices(values, k=1), rng.choices(values, k=3)])

    return [
        {
            "n": rng.choice(INTEGERS),
            "x": rng.choice(FLOATS),
            "s": rng.choice(TEXTS),
            "b": rng.choice([None, True, False]),
            "l": some(INTEGERS),
            "t": some(TEXTS),
            "w": rng.choice(MOMENTS),
            "m": rng.choice(DECIMALS),
            "d.e": rng.choice(TEXTS),
            "d": rng.choice([None, {"e": rng.choice(TEXTS), "f": some(FLOATS)}]),
            "type": rng.choice([None, "Stock", "Thing"]),
        }
        for _ in range(count)
    ]


@pytest.fixture
def columns(spark: SparkSession) -> Given:
    """`columns(seed, count)`: a DataFrame with a column per attribute, and its rows' events."""

    def given(seed: int, count: int) -> tuple[DataFrame, list[Event]]:
        frame = spark.createDataFrame(rows(seed, count), SCHEMA)
        batch = read(frame.toArrow())
        return frame.repartition(3), [batch.event(row) for row in range(count)]

    return given


@pytest.fixture
def documents(spark: SparkSession) -> Given:
    """`documents(seed, count)`: JSON texts, with nulls and values of mixed kinds; their events."""

    def given(seed: int, count: int) -> tuple[DataFrame, list[Event]]:
        rng = random.Random(seed)
        scalars = [None, True, False, *NUMBERS, *STRINGS]

        def value() -> Any:
            return rng.choice([rng.choice(scalars), rng.choices(scalars, k=rng.randrange(4))])

        texts = [
            encode({name: value() for name in rng.sample(NAMES, rng.randrange(5))})
            for _ in range(count)
        ]
        frame = spark.createDataFrame([(text,) for text in texts], "body string")
        return frame.repartition(2), [decode_event(text) for text in texts]

    return given
