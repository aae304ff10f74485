"""Simplification, negation normal form and boxes keep the meaning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.domain import Integer, Real
from fyke.events.event import Event
from fyke.events.schema import Attribute, Schema
from fyke.filters.filter import FALSE, TRUE, Filter, Not, conjunction, disjunction, walk
from fyke.filters.normal_form import boxes, fold, negation_normal_form, simplify
from fyke.testing.generators import NAMES, events, filters, numbers, predicates

close = filters(predicates(st.sampled_from(["a", "b"])))
many_events = st.lists(events(), min_size=1, max_size=6)


@given(close, many_events)
def test_simplify_keeps_the_meaning_and_never_grows(filter: Filter, seen: list[Event]) -> None:
    simple = simplify(filter)
    assert sum(1 for _ in walk(simple)) <= sum(1 for _ in walk(filter))
    assert simplify(simple) == simple
    for event in seen:
        assert simple.matches(event) == filter.matches(event)


@given(close, many_events)
def test_negation_normal_form(filter: Filter, seen: list[Event]) -> None:
    normal = negation_normal_form(filter)
    assert not any(isinstance(node, Not) and node.child.children for node in walk(normal))
    for event in seen:
        assert normal.matches(event) == filter.matches(event)


@given(close, many_events)
def test_boxes(filter: Filter, seen: list[Event]) -> None:
    expanded = boxes(filter)
    assert expanded is not None
    union = disjunction(map(conjunction, expanded))
    literals = [literal for box in expanded for literal in box]
    assert not any(node.children for literal in literals for node in (~literal).children)
    for event in seen:
        assert union.matches(event) == filter.matches(event)


def test_boxes_keep_to_their_budget() -> None:
    clauses = [f"(a{i} = 1 or b{i} = 2)" for i in range(30)]
    assert boxes(fyke.parse(" and ".join(clauses))) is None
    assert len(boxes(fyke.parse(" and ".join(clauses[:8]))) or ()) == 256
    assert boxes(FALSE) == ()
    assert boxes(TRUE) == ((),)


SIMPLE = {
    "a = 1 and true": "a = 1",
    "a = 1 and (b = 2 or true)": "a = 1",
    "a = 1 and false": "false",
    "a = 1 or a = 2 or a = 1": "a in (1, 2)",
    "a = 1 and not a = 1": "false",
    "a = 1 or not a = 1": "true",
    "a < 5 or a between 5 and 9": "a <= 9",
    "a < 5 or a = 5": "a <= 5",
    "a < 5 or a >= 5": "a < 5 or a >= 5",
    "a between 5 and 1": "false",
    "a between 1 and 1": "a = 1",
    "a <= ''": "a = ''",
    "a < ''": "false",
    "a between 1 exclusive and 1": "false",
    "a > 1 and a < 5": "a > 1 and a < 5",
    "a < 'x' or a < 3": "a < 3 or a < 'x'",
    "not (a = 1 and a = 1)": "not a = 1",
    "b = 1 and (a = 1 or (a = 2 or a = 3)) and b = 1": "b = 1 and a in (1, 2, 3)",
}


def test_simplify_examples() -> None:
    assert {text: str(simplify(fyke.parse(text))) for text in SIMPLE} == SIMPLE


SCHEMA = Schema([Attribute("a", Integer()), Attribute("b", Real(), multiple=True)])


def test_bounds_fold_only_where_a_schema_says_single() -> None:
    def folded(text: str) -> str:
        return str(fyke.parse(text, schema=SCHEMA))

    assert folded("a > 1 and a < 5") == "a between 1 exclusive and 5 exclusive"
    assert folded("b > 1 and b < 5") == "b > 1 and b < 5"
    assert folded("c > 1 and c < 5") == "c > 1 and c < 5"
    assert folded("a > 1 and x = 1 and a in (1, 2, 3)") == "a in (2, 3) and x = 1"
    assert folded("a > 5 and a < 1") == "false"
    assert folded("a >= 5 and a <= 5") == "a = 5"
    assert folded("a > 1 and a < 'x'") == "false"


single = Schema([Attribute(name, Real()) for name in NAMES])


@given(close, st.dictionaries(st.sampled_from(["a", "b"]), numbers()))
def test_folding_keeps_the_meaning_for_single_values(
    filter: Filter, document: dict[str, object]
) -> None:
    assert fold(filter, single).matches(document) == filter.matches(document)
