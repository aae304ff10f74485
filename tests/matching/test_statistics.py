"""Statistics: counted from samples, added up, written as data and read back."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.number import ExactDecimal
from fyke.matching import statistics
from fyke.matching.compiled.coding.codes import scalar_key
from fyke.matching.statistics import Statistics
from fyke.testing.generators import events

NASTY = [
    {"a": 1, "b": True, "c": None},
    {"a": 1.0, "b": 1, "c": ""},
    {"a": -0.0, "b": [1, 1, True, None], "c": []},
    {"a": 2**53 + 1, "b": "1", "c": "\U0001f41f", "d": datetime(2026, 1, 1, tzinfo=UTC)},
    {},
]


def test_counts() -> None:
    known = Statistics.of(NASTY)
    assert known.events == 5
    assert known.attributes["a"].present == 4
    assert known.attributes["a"].values == {1: 2, 0: 1, 2**53 + 1: 1}
    assert known.attributes["b"].values == {1: 2, scalar_key(True): 2, None: 1, "1": 1}
    assert known.attributes["c"].present == 4
    assert known.attributes["c"].values == {None: 1, "": 1, "\U0001f41f": 1}


def test_types_are_those_declared_and_their_supertypes() -> None:
    stock = fyke.Event({"type": "Stock"}, supertypes=("Quote", "Stock"))
    known = Statistics.of([stock, {"type": ["A", "A", 7]}, {"type": None}])
    assert known.types == {"Stock": 1, "Quote": 1, "A": 1}


@given(st.lists(events(), max_size=6), st.lists(events(), max_size=6))
def test_parts_add_up_and_are_data(some: list[Any], others: list[Any]) -> None:
    both = Statistics.of([*some, *others])
    assert Statistics.of(some) + Statistics.of(others) == both
    written = json.loads(json.dumps(both.document))
    assert Statistics.read(written) == both
    assert Statistics.read(both.document) == both


def test_decimals_come_from_columns() -> None:
    long = ExactDecimal("0.10000000000000001")
    known = Statistics.of(pa.table({"a": pa.array([long, Decimal("8.40"), Decimal("2.0"), None])}))
    assert known.attributes["a"].values == {long: 1, 8.4: 1, 2: 1}
    assert Statistics.read(json.loads(json.dumps(known.document))) == known


def test_a_table_is_sampled_from_end_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "ROWS_MAX", 10)
    known = Statistics.of(pa.table({"a": list(range(1000))}))
    assert known.events == 10
    assert known.attributes["a"].values == dict.fromkeys(range(0, 1000, 100), 1)
    batch = pa.record_batch({"a": pa.array([1.5, float("nan"), None])})
    assert Statistics.of(batch).events == 2  # a row that is no event


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "VALUES_MAX", 10)
    sample = ({"a": n // 2 if n % 2 else "often", "b": "x" * 2000} for n in range(1000))
    known = Statistics.of(sample)
    assert known.attributes["a"].values["often"] == 500
    assert len(known.attributes["a"].values) == 10
    assert known.attributes["b"] == statistics.AttributeCounts(1000, {})


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        (None, "expected an object"),
        ([], "expected an object"),
        ({}, "events is None"),
        ({"events": True}, "events is True"),
        ({"events": -1}, "events is -1"),
        ({"events": 1, "speed": 2}, "'speed' is not known"),
        ({"events": 1, "attributes": []}, "attributes"),
        ({"events": 1, "attributes": {"a": 1}}, "'a'"),
        ({"events": 1, "attributes": {7: {}}}, "attributes"),
        ({"events": 1, "attributes": {"a": {"present": 2}}}, "expected a number from 0 to 1"),
        ({"events": 1, "attributes": {"a": {"present": 0.5}}}, "present is 0.5"),
        ({"events": 1, "attributes": {"a": {"present": 1, "values": {}}}}, "list of pairs"),
        ({"events": 1, "attributes": {"a": {"present": 1, "values": [1]}}}, "no pair"),
        ({"events": 1, "attributes": {"a": {"present": 1, "values": [[1, 2]]}}}, "from 0 to 1"),
        ({"events": 1, "attributes": {"a": {"present": 1, "values": [[[], 1]]}}}, "a"),
        ({"events": 1, "attributes": {"a": {"present": 1, "values": [[2**64, 1]]}}}, "64 bits"),
        (
            {"events": 1, "attributes": {"a": {"present": 1, "values": [[{"decimal": "x"}, 1]]}}},
            "no decimal",
        ),
        (
            {"events": 1, "attributes": {"a": {"present": 1, "values": [[{"timestamp": "x"}, 1]]}}},
            "expected a timestamp",
        ),
        ({"events": 1, "types": {"T": 2}}, "'T'"),
    ],
)
def test_data_that_is_wrong(document: Any, problem: str) -> None:
    with pytest.raises(fyke.FykeError, match=problem):
        Statistics.read(document)


@pytest.mark.parametrize("sample", [{"a": 1}, "a", 7, None, [7], ["a"], [{"a": float("nan")}]])
def test_samples_that_are_wrong(sample: Any) -> None:
    with pytest.raises(fyke.FykeError):
        fyke.Matcher("scan").learn(sample)
