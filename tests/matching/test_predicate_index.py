"""PredicateIndex against trying every predicate."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.predicate import Predicate, TypeIs
from fyke.matching.engines.contract import Work
from fyke.matching.engines.predicate_index import PredicateIndex
from fyke.testing.generators import events, predicates

close = predicates(st.sampled_from(["a", "b", "type"]))


def index_of(*texts: str) -> tuple[PredicateIndex, dict[int, str]]:
    index, numbers = PredicateIndex(Work()), {}
    for text in texts:
        predicate = fyke.parse(text)
        assert isinstance(predicate, Predicate)
        numbers[index.acquire(predicate)] = text
    return index, numbers


def found(texts: list[str], document: dict[str, object]) -> list[str]:
    """What an event satisfies, in the order given; refuses a predicate found twice."""
    index, numbers = index_of(*texts)
    names = [numbers[number] for number in index.satisfied(Event(document))]
    assert len(names) == len(set(names))
    return [text for text in texts if text in names]


@settings(max_examples=300)
@given(
    st.lists(close, max_size=25), st.lists(events(), min_size=1, max_size=4), st.sets(st.integers())
)
def test_agrees_with_every_predicate(
    held: list[Filter], seen: list[Event], removed: set[int]
) -> None:
    index = PredicateIndex(Work())
    numbers = [index.acquire(each) for each in held if isinstance(each, Predicate)]
    assert len(numbers) == len(held)
    for position in sorted({each % 25 for each in removed}, reverse=True):
        if position < len(held):
            index.release(numbers.pop(position))
            held.pop(position)
    by_number = dict(zip(numbers, held, strict=True))
    assert len(index) == len(by_number) == len(set(held))
    for event in seen:
        satisfied = index.satisfied(event)
        right = [number for number, predicate in by_number.items() if predicate.matches(event)]
        assert sorted(satisfied) == sorted(right)
    for number in numbers:
        index.release(number)
    assert_empty(index)


def assert_empty(index: PredicateIndex) -> None:
    tables = (
        index._numbers, index._predicates, index._holders, index._free, index._columns, index._types
    )  # fmt: skip
    assert not any(tables)


def test_equal_predicates_share_a_number() -> None:
    index = PredicateIndex(Work())
    one, same = fyke.parse("a in (1, 2)"), fyke.parse("a in (2.0, 1)")
    assert isinstance(one, Predicate) and isinstance(same, Predicate)
    assert index.acquire(one) == index.acquire(same)
    index.release(0)
    assert index.satisfied(Event({"a": 1})) == [0]
    index.release(0)
    assert index.satisfied(Event({"a": 1})) == []
    assert_empty(index)


def test_numbers_stay_small() -> None:
    index, _ = index_of("a = 1", "a = 2", "a > 3")
    index.release(1)
    assert index.acquire(TypeIs("Stock")) == 1
    assert sorted(index.satisfied(Event({"a": 2}, type="Stock"))) == [1]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, ["a = 1", "a > 0.5", "a != true", "exists a"]),
        (1.0, ["a = 1", "a > 0.5", "a != true", "exists a"]),
        (True, ["a = true", "exists a"]),
        (None, ["a is null", "a != true", "exists a"]),
        ([], ["exists a"]),
        ([True, True], ["a = true", "exists a"]),
        ([True, 1], ["a = 1", "a = true", "a > 0.5", "a != true", "exists a"]),
        ([1, 1.0, 2], ["a = 1", "a > 0.5", "a != true", "exists a"]),
        (2**53 + 1, ["a > 0.5", "a = 9007199254740993", "a != true", "exists a"]),
        (float(2**53), ["a > 0.5", "a != true", "exists a"]),
        ("abc", ["a != true", "a starts with 'ab'", "a ends with 'c'", "exists a"]),
    ],
)
def test_values(value: object, expected: list[str]) -> None:
    texts = [
        *("a = 1", "a = true", "a is null", "a > 0.5", "a = 9007199254740993", "a != true"),
        *("a starts with 'ab'", "a ends with 'c'", "exists a"),
    ]
    assert found(texts, {"a": value}) == expected


def test_missing_attributes_satisfy_nothing() -> None:
    texts = ["a = 1", "a != 1", "a < 5", "exists a", "a is null", "a contains 'x'", "a < b"]
    assert found(texts, {}) == []
    assert found(texts, {"b": 1}) == []
    assert found(texts, {"a": 0, "b": 1}) == ["a != 1", "a < 5", "exists a", "a < b"]


def test_ranges_of_three_kinds_keep_apart() -> None:
    texts = ["a >= 1", "a > '1'", "a < timestamp '2024-01-01T00:00:00Z'", "a between 1 and 2"]
    assert found(texts, {"a": 1}) == ["a >= 1", "a between 1 and 2"]
    assert found(texts, {"a": "1"}) == []
    assert found(texts, {"a": "10"}) == ["a > '1'"]
    assert found(texts, {"a": datetime(2024, 1, 1, tzinfo=UTC)}) == []
    assert found(texts, {"a": [datetime(2023, 1, 1, tzinfo=UTC), 7]}) == [texts[0], texts[2]]


def test_types_and_supertypes() -> None:
    index, numbers = index_of("type is Stock", "type is Thing", "type = 'Stock'")

    def names(event: Event) -> set[str]:
        return {numbers[number] for number in index.satisfied(event)}

    assert names(Event({}, type="Stock", supertypes=["Thing"])) == set(numbers.values())
    assert names(Event({}, supertypes=["Thing"])) == {"type is Thing"}
    assert names(Event({"type": ["Stock", "Stock"]})) == {"type is Stock", "type = 'Stock'"}
    assert names(Event({"type": 5})) == set()


def test_work_grows_with_the_values_not_with_the_predicates() -> None:
    work = Work()
    index = PredicateIndex(work)
    for limit in range(1000):
        index.acquire(fyke.parse(f"a = {limit}"))  # type: ignore[arg-type]
        index.acquire(fyke.parse(f"a > {limit} and a < 2000").children[0])  # type: ignore[arg-type]
    assert len(index.satisfied(Event({"a": 500, "b": 1}))) == 501
    assert work.probes == 1
