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
