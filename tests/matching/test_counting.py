"""counting: what its counters say, and what is left after removal. See test_engines for the law."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.engines.counting import CountingEngine
from fyke.testing.generators import events, filters, predicates

close = filters(predicates(st.sampled_from(["a", "b", "type"])), max_leaves=8)
EXPLOSION = " and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(12))


def engine_of(*texts: str, boxes_max: int = 64) -> CountingEngine:
    engine = CountingEngine(boxes_max)
    for slot, text in enumerate(texts):
        engine.add(slot, fyke.parse(text))
    return engine


def is_empty(engine: CountingEngine) -> bool:
    return not (len(engine._index) or len(engine._users) or engine._boxes or engine._unguarded)


@pytest.mark.parametrize("boxes_max", [0, 1, 2, 64])
@given(taken=st.lists(close, max_size=8), seen=st.lists(events(), max_size=3))
def test_any_budget(boxes_max: int, taken: list[Filter], seen: list[Event]) -> None:
    engine = CountingEngine(boxes_max)
    for slot, filter in enumerate(taken):
        engine.add(slot, filter)
    for event in seen:
        right = [slot for slot, filter in enumerate(taken) if filter.matches(event)]
        assert engine.match(event) == right
    for slot in range(len(taken)):
        engine.remove(slot)
    assert is_empty(engine)


def test_only_complete_conjunctions_are_candidates() -> None:
    engine = engine_of("a = 1 and b > 2", "a = 1 and not c = 3", "a = 1 and not d = 4")
    assert engine.match(Event({"a": 1, "b": 0, "d": 4})) == [1]
    assert (engine.work.candidates, engine.work.checks) == (2, 2)
    assert engine.unguarded == 0


def test_a_predicate_counts_once() -> None:
    """A list satisfies it through two elements, a box names it twice (SUM-Q6)."""
    engine = engine_of("a in (1, 2) and b = 1", "a = 1 and (a = 1 or c = 1)", "a != 5 and a != 6")
    assert engine.match(Event({"a": [1, 2]})) == [1, 2]
    assert engine.match(Event({"a": [5], "b": 1})) == []


def test_two_bounds_on_a_list() -> None:
    assert engine_of("a > 1 and a < 5").match(Event({"a": [0, 9]})) == [0]


def test_one_complete_box_of_several() -> None:
    engine = engine_of("a = 1 and (b = 1 or c = 1)")
    assert engine.match(Event({"a": 1, "b": 1, "c": 1})) == [0]
    assert engine.work.candidates == 1


def test_unguarded() -> None:
    engine = engine_of("not a = 1", "true", "false", "b = 1 or not a = 1", "a = 1")
    assert engine.unguarded == 3
    assert engine.match(Event({})) == [0, 1, 3]
    assert engine.match(Event({"a": 1, "b": 1})) == [1, 3, 4]
    for slot in (0, 1, 3):
        engine.remove(slot)
    assert engine.unguarded == 0


def test_explosion_is_guarded_by_a_necessary_predicate() -> None:
    engine = engine_of(f"{EXPLOSION} and exists z and k in (1, 2)", EXPLOSION)
    assert engine.unguarded == 1
    assert len(engine._index) == 1
    ones: dict[str, object] = {f"a{i}": 1 for i in range(12)}
    assert engine.match(Event({**ones, "k": 2, "z": 0})) == [0, 1]
    assert engine.match(Event({**ones, "k": 3, "z": 0})) == [1]
    assert engine.work.checks == 3
    engine.remove(0)
    engine.remove(1)
    assert is_empty(engine)


def test_alternatives_are_checked_once() -> None:
    engine = engine_of(f"({EXPLOSION}) and (k = 1 or k starts with 'x')")
    engine.match(Event({"k": [1, "x"]}))
    assert (engine.work.candidates, engine.work.checks) == (1, 1)
