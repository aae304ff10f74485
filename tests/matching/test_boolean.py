"""boolean: which trees are looked at, and what removal leaves. See test_engines for the law."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.engines.boolean import BooleanEngine
from fyke.testing.generators import events, filters, predicates

few = predicates(st.sampled_from(["a", "b"]))
shared = st.sampled_from([fyke.parse(text) for text in ("a = 1", "a < 5", "exists b", "b != 2")])
close = filters(st.one_of(few, shared, shared), max_leaves=12)


def engine_of(*texts: str) -> BooleanEngine:
    engine = BooleanEngine()
    for slot, text in enumerate(texts):
        engine.add(slot, fyke.parse(text))
    return engine


@given(st.lists(close, max_size=8), st.lists(events(), max_size=4))
def test_trees_that_repeat_predicates(taken: list[Filter], seen: list[Event]) -> None:
    engine = BooleanEngine()
    for slot, filter in enumerate(taken):
        engine.add(slot, filter)
    for event in seen:
        right = [slot for slot, filter in enumerate(taken) if filter.matches(event)]
        assert engine.match(event) == right
    for slot in range(len(taken)):
        engine.remove(slot)
    assert not (len(engine._index) or len(engine._users))
    assert not (engine._subscriptions or engine._unguarded)


@pytest.mark.parametrize(
    ("text", "fewest"),
    [
        ("a = 1", 1),
        ("a = 1 and b = 2", 2),
        ("a = 1 or b = 2", 1),
        ("a = 1 and (b = 2 or c = 3 and d = 4)", 2),
        ("(a = 1 or b = 2) and (a = 1 or c = 3)", 1),
        ("(a = 1 and b = 1 or c = 1) and (a = 1 and d = 1 or e = 1)", 2),
        ("a = 1 and not b = 2", 1),
        ("a = 1 or not b = 2", 0),
        ("not (a = 1 or b = 2)", 0),
        ("true", 0),
    ],
)
def test_fewest(text: str, fewest: int) -> None:
    engine = engine_of(text)
    assert engine._subscriptions[0].fewest == fewest
    assert engine.unguarded == (fewest == 0)


def test_only_trees_that_can_be_true_are_evaluated() -> None:
    engine = engine_of("a = 1 and (b = 2 or c = 3 and d = 4)")
    assert engine.match(Event({"a": 1, "c": 0})) == []
    assert engine.work.candidates == 0
    assert engine.match(Event({"a": 1, "c": 3})) == []
    assert engine.match(Event({"a": 1, "b": 2})) == [0]
    assert (engine.work.candidates, engine.work.checks) == (2, 2)


def test_the_count_decides_flat_trees() -> None:
    engine = engine_of("a = 1 and b = 2", "a = 1 or b = 2", "a = 1")
    assert engine.match(Event({"a": 1, "b": 2})) == [0, 1, 2]
    assert engine.match(Event({"b": 2})) == [1]
    assert engine.work.checks == 0


def test_negated_predicates_do_not_count() -> None:
    engine = engine_of("a = 1 and not b = 2 and not c = 3")
    assert engine.match(Event({"b": 2, "c": 3})) == []
    assert engine.work.candidates == 0
    assert engine.match(Event({"a": 1, "b": [1, 2]})) == []
    assert engine.match(Event({"a": 1, "b": 1})) == [0]


def test_false_is_never_looked_at() -> None:
    engine = engine_of("false", "a = 1 and not a = 1")
    assert engine.unguarded == 0
    assert engine.match(Event({"a": 1})) == []
    assert engine.work.candidates == 0


def test_wide_trees_are_not_expanded() -> None:
    text = " and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(60))
    engine = engine_of(text)
    assert engine.match(Event({f"{'ab'[i % 2]}{i}": 1 for i in range(60)})) == [0]
    assert engine.match(Event({f"a{i}": 1 for i in range(59)})) == []
    assert engine.work.candidates == 1


def test_residuals_run_on_candidates_only() -> None:
    engine = BooleanEngine()
    text = "kind = 'x' AND size % 2 = 0"
    engine.add(0, fyke.parse(text, dialect="cesql"))
    assert engine.unguarded == 0
    assert engine.match(Event({"kind": "y", "size": 4})) == []
    assert engine.work.checks == 0
    assert engine.match(Event({"kind": "x", "size": 4})) == [0]
    assert engine.match(Event({"kind": "x", "size": 3})) == []
