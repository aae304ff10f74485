"""The tree engine: the paper's example with its correction, size, order, removal, parameters."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.engines.interval import IntervalEngine
from fyke.matching.engines.interval_parameters import Parameters
from fyke.matching.engines.tree import TreeEngine, TreeNode
from fyke.testing.generators import events, filters, predicates

X1 = {
    1: "a3 = 10 and a4 = 20 and a5 = 50",
    2: "a3 = 40 and a4 = 10 and a5 = 80",
    3: "a3 = 40 and a4 = 20 and a5 = 100",
    4: "a3 = 40 and a5 = 100",
    5: "a3 = 40 and a4 = 20 and a5 = 100",
}
X1_EVENTS = [
    ((40, 10, 80), [2]),
    ((40, 20, 100), [3, 4, 5]),
    ((40, 30, 100), [4]),
    ((40, 10, 100), [4]),
    ((10, 20, 50), [1]),
    ((10, 20, 100), []),
]


def filled(made: TreeEngine | IntervalEngine, texts: dict[int, str]) -> None:
    for slot, text in texts.items():
        made.add(slot, fyke.parse(text))


def nodes(root: TreeNode) -> int:
    below = (end for branch in root.branches.values() for end in branch.ends.values())
    return 1 + sum(map(nodes, below))


@pytest.mark.parametrize(("values", "expected"), X1_EVENTS)
def test_tree_and_attributes_agree(values: tuple[int, ...], expected: list[int]) -> None:
    """DAS-X1 with DAS-Q5: p4 is found beside p3 and p5."""
    tree, interval = TreeEngine(), IntervalEngine()
    filled(tree, X1)
    filled(interval, X1)
    event = Event(dict(zip(("a3", "a4", "a5"), values, strict=True)))
    assert tree.match(event) == interval.match(event) == expected
    assert tree.work.checks == interval.work.checks == 0


def test_shape() -> None:
    """The tree of the module's example: equal beginnings are shared, p3 and p5 lie together."""
    made = TreeEngine()
    filled(made, X1)
    assert nodes(made.root) == 1 + 2 + 3 + 4
    assert list(made.root.branches) == ["a3"]
    made.match(Event({"a3": 40, "a4": 20, "a5": 100}))
    assert made.work.probes == 4


def test_stars_and_overlaps_are_not_copied() -> None:
    """A node per distinct beginning, however many levels are skipped or intervals overlap."""
    made = TreeEngine(order=[f"a{i}" for i in range(12)])
    texts = {i: f"a{i % 12} > {i} and a{(i * 5 + 1) % 12} < {1_000 + i}" for i in range(240)}
    filled(made, texts)
    assert nodes(made.root) <= 1 + 2 * len(texts)
    event = Event({f"a{i}": 100 for i in range(12)})
    right = [slot for slot, text in texts.items() if fyke.parse(text).matches(event)]
    assert made.match(event) == right and len(right) > 50


def test_order() -> None:
    """Levels are as given, then as they appear; any order has the same matches."""
    given_order, appearing = TreeEngine(order=["a5", "a3"]), TreeEngine()
    filled(given_order, X1)
    filled(appearing, X1)
    assert list(given_order.root.branches) == ["a5"]
    for values, expected in X1_EVENTS:
        event = Event(dict(zip(("a3", "a4", "a5"), values, strict=True)))
        assert given_order.match(event) == appearing.match(event) == expected


def test_a_late_attribute_is_a_later_level() -> None:
    made = TreeEngine()
    filled(made, {0: "b = 1", 1: "a = 1 and b = 1", 2: "a = 1"})
    assert made.match(Event({"a": 1, "b": 1})) == [0, 1, 2]
    assert list(made.root.branches["b"].ends[0].branches) == ["a"]
    made.remove(1)
    assert nodes(made.root) == 3
    assert made.match(Event({"a": 1, "b": 1})) == [0, 2]


def test_lists_follow_every_edge() -> None:
    made = TreeEngine()
    filled(made, {0: "a = 1 and b = 2", 1: "a = 2", 2: "a > 3 and a < 5", 3: "not (a = 1)"})
    assert made.match(Event({"a": [1, 2], "b": [9, 2]})) == [0, 1]
    assert made.match(Event({"a": [0, 9]})) == [2, 3]
    assert made.match(Event({"a": []})) == [3]
    assert made.match(Event({"a": 4})) == [2, 3]
    assert made.work.checks == 2 + 2


def test_doubt_stays_on_the_way_down() -> None:
    made = TreeEngine()
    filled(made, {0: "not (a = 1) and b = 2"})
    assert made.match(Event({"a": [1, 3], "b": 2})) == []
    assert made.match(Event({"a": [4, 3], "b": 2})) == [0]


def test_unguarded_and_checked() -> None:
    made = TreeEngine()
    filled(made, {0: "true", 1: "a < b", 2: "not (a contains 'x')", 3: "false"})
    assert made.unguarded == 2
    assert made.match(Event({"a": 1, "b": 2})) == [0, 1, 2]
    assert made.work.checks == 3
    for slot in range(4):
        made.remove(slot)
    assert made.unguarded == 0 and made.match(Event({"a": 1, "b": 2})) == []


def test_many_levels() -> None:
    made = TreeEngine()
    text = " and ".join(f"x{i} = {i}" for i in range(3_000))
    filled(made, {0: text})
    assert made.match(Event({f"x{i}": i for i in range(3_000)})) == [0]
    made.remove(0)
    assert made.root.is_empty


@settings(max_examples=50)
@given(st.lists(filters(max_leaves=5), max_size=10), st.permutations(range(10)))
def test_nothing_is_left(taken: list[Filter], order: list[int]) -> None:
    made = TreeEngine()
    for slot, filter in enumerate(taken):
        made.add(slot, filter)
    for slot in (each for each in order if each < len(taken)):
        made.remove(slot)
    assert made.root.is_empty and made.unguarded == 0
    assert not (made._levels or made._uses or made._tests or made._taken)


@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(bit_list_from=0),
        Parameters(bit_list_from=1, growth=1, empty_max=1),
        Parameters(boxes_max=1),
        Parameters(spans_max=1),
    ],
)
@settings(max_examples=25)
@given(
    taken=st.lists(filters(predicates(st.sampled_from(["a", "b", "type"])), max_leaves=5)),
    seen=st.lists(events(), max_size=6),
)
def test_parameters_change_no_match(
    parameters: Parameters, taken: list[Filter], seen: list[Event]
) -> None:
    made = TreeEngine(["b"], parameters)
    for slot, filter in enumerate(taken):
        made.add(slot, filter)
    for slot in range(0, len(taken), 3):
        made.remove(slot)
    for event in seen:
        right = [slot for slot, filter in enumerate(taken) if slot % 3 and filter.matches(event)]
        assert made.match(event) == right
