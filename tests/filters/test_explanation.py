"""Explanations agree with the filter at every node and show what was seen."""

from __future__ import annotations

from hypothesis import given

import fyke
from fyke.events.event import Event
from fyke.filters.explanation import Explanation, explain
from fyke.filters.filter import Filter
from fyke.testing.generators import events, filters


@given(filters(), events())
def test_every_node_has_its_verdict(filter: Filter, event: Event) -> None:
    def check(explanation: Explanation) -> None:
        assert explanation.holds is explanation.filter.matches(event)
        assert tuple(child.filter for child in explanation.children) == explanation.filter.children
        for child in explanation.children:
            check(child)

    check(explain(filter, event))


def test_values_seen_and_absent() -> None:
    explanation = explain(fyke.parse("a < b and c = 1"), {"a": [1, 2], "c": 3})
    first, second = explanation.children
    assert (first.seen, first.absent) == ({"a": (1, 2)}, ("b",))
    assert (second.seen, second.absent, second.holds) == ({"c": 3}, (), False)


def test_types_show_their_supertypes() -> None:
    event = Event({"type": "Share"}, supertypes=["Stock"])
    explanation = explain(fyke.parse("type is Stock"), event)
    assert explanation.holds
    assert explanation.seen == {"type": ("Share", "Stock")}


@given(filters(), events())
def test_as_text_it_is_a_tree_with_a_verdict(filter: Filter, event: Event) -> None:
    first, *_, last = str(explain(filter, event)).splitlines()
    assert (first[0], last) in {("✓", "accepted"), ("✗", "refused")}


def test_the_tree_of_the_command_line() -> None:
    filter = fyke.parse("price < 10 and (symbol = 'A' or not exists symbol)")
    assert str(explain(filter, {"price": 8.4, "symbol": "OTE\n"})).splitlines() == [
        "✗ all of",
        "├── ✓ price < 10              price = 8.4",
        "└── ✗ any of",
        "    ├── ✗ symbol = 'A'        symbol = 'OTE\\n'",
        "    └── ✗ not exists symbol   symbol = 'OTE\\n'",
        "refused",
    ]
