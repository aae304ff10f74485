"""The reference semantics: values, lists, missing attributes, and what trees promise."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given

import fyke
from fyke.events.event import Event
from fyke.filters.filter import DEPTH_MAX, FALSE, TRUE, And, Filter, Or, conjunction, negation
from fyke.testing.generators import events, filters


def test_trees_keep_the_normal_form() -> None:
    a, b, c = (fyke.parse(f"{name} = 1") for name in "abc")
    assert (a & b & c).children == (a, b, c)
    assert ((a | b) & c).children == (a | b, c)
    assert ~~a == a
    assert conjunction([]) == TRUE
    assert conjunction([a]) == a
    assert ~TRUE == FALSE


def test_filters_are_immutable() -> None:
    filter = fyke.parse("a = 1 and b = 2")
    for node, name in ((filter, "_children"), (filter.children[0], "attribute"), (TRUE, "value")):
        with pytest.raises(AttributeError):
            setattr(node, name, "b")


def test_no_tree_is_too_deep_to_recurse() -> None:
    filter = fyke.parse("a = 1")
    with pytest.raises(fyke.FilterError, match="deeper"):
        for level in range(DEPTH_MAX + 1):
            filter = ~And((filter, fyke.parse(f"a = {level}")))


def test_filters_survive_pickling() -> None:
    filter = fyke.parse("a in (1, 'x') and not (b like 'x%y_' or type is T)")
    filter.matches({"a": 1})
    assert pickle.loads(pickle.dumps(filter)) == filter


@given(filters(), events())
def test_operators_are_boolean(filter: Filter, event: Event) -> None:
    assert negation(filter).matches(event) is not filter.matches(event)
    if isinstance(filter, And):
        assert filter.matches(event) == all(child.matches(event) for child in filter.children)
    if isinstance(filter, Or):
        assert filter.matches(event) == any(child.matches(event) for child in filter.children)


def test_matches_takes_mappings_and_refuses_what_is_no_event() -> None:
    filter = fyke.parse("a.b = 1")
    assert filter.matches({"a": {"b": 1}})
    with pytest.raises(fyke.EventError):
        filter.matches([1])  # type: ignore[arg-type]
    with pytest.raises(fyke.EventError, match=r"a\.b"):
        filter.matches({"a": {"b": float("nan")}})
