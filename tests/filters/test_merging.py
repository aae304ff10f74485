"""Merging covers its inputs, and says what it accepts too much."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import given

import fyke
from fyke.events.domain import Integer
from fyke.events.event import Event
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.merging import maximal, merge
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction
from fyke.testing.covering import check_covers
from fyke.testing.generators import randoms
from fyke.testing.ordering import accepts
from fyke.testing.related import (
    events_about,
    family,
    fitting_events,
    leaf,
    profiles,
    schema,
    varied_leaf,
)
from fyke.testing.stories.reaching import examples, reached, reaches


def meaning(filter: Filter, schema: Schema | None) -> Callable[[Event], bool]:
    return filter.matches if schema is None else lambda event: accepts(filter, event, schema)


def check_merge(taken: list[Filter], seen: list[Event], schema: Schema | None = None) -> None:
    merged = merge(taken, schema=schema)
    accepted, exceeds = meaning(merged.filter, schema), meaning(merged.excess, schema)
    reached(
        joined=merged.filter not in (TRUE, FALSE, *map(simplify, taken)),
        imperfect=any(map(exceeds, seen)),
    )
    assert simplify(merged.filter) == merged.filter
    wanted = [meaning(each, schema) for each in taken]
    for filter, each in zip(taken, wanted, strict=True):
        check_covers(accepted, each, seen)
        assert covers(merged.filter, filter, schema=schema) or merged.filter == TRUE
    for event in seen:
        too_much = accepted(event) and not any(each(event) for each in wanted)
        assert exceeds(event) is too_much, (str(merged.filter), event)


@reaches(joined=0.15, imperfect=0.15)
@examples(2)
@given(randoms())
def test_merging_covers_its_inputs_and_tells_its_error(rng: Random) -> None:
    taken = rng.choice((family, profiles, profiles))(rng, size=rng.randint(0, 4))
    check_merge(taken, events_about(rng, taken))


@reaches(joined=0.35, imperfect=0.3)
@examples(3)
@given(randoms())
def test_merging_predicates_of_one_attribute(rng: Random) -> None:
    """Two relatives of one predicate, alone or each behind what they have in common."""
    first = leaf(rng, "a")
    taken = [varied_leaf(rng, first) for _ in range(rng.choice((2, 2, 3)))]
    if rng.random() < 0.3:
        taken = [conjunction((leaf(Random(0), "a b"), each)) for each in taken]
    check_merge(taken, events_about(rng, [first, *taken]))


@reaches(joined=0.1, imperfect=0.05)
@given(randoms())
def test_merging_with_a_schema(rng: Random) -> None:
    taken = rng.choice((family, profiles))(rng, size=3)
    declared = schema(rng, taken)
    check_merge(taken, fitting_events(rng, taken, declared), declared)


def test_merging_where_attributes_are_required() -> None:
    declared = Schema(types=[EventType("T", [Attribute("a", Integer(0, 9), required=True)])])
    low, high = fyke.parse("type is T and a < 5"), fyke.parse("type is T and a >= 5")
    whole = merge([low, high], schema=declared)
    assert whole.is_perfect
    assert covers(whole.filter, fyke.parse("type is T"), schema=declared)
    assert maximal([fyke.parse("type is T"), fyke.parse("a >= 0")], schema=declared) == [
        fyke.parse("a >= 0")
    ]


def test_examples() -> None:
    def merged(*texts: str) -> tuple[str, bool]:
        result = merge(map(fyke.parse, texts))
        return str(result.filter), result.is_perfect

    assert merged() == ("false", True)
    assert merged("a < 5", "a < 3") == ("a < 5", True)
    assert merged("s = 'A' and p < 10", "s = 'A' and p < 12") == ("s = 'A' and p < 12", True)
    assert merged("x = 1 and a = 1", "x = 1 and a = 2") == ("x = 1 and a in (1, 2)", True)
    assert merged("a between 1 and 2", "a between 2 and 6") == ("a between 1 and 6", True)
    assert merged("a between 1 and 2", "a between 5 and 6") == ("a between 1 and 6", False)
    assert merged("a like 'ab%c'", "a = 'abd'") == ("a starts with 'ab'", False)
    assert merged("a ends with 'xc'", "a = 'bc'") == ("a ends with 'c'", False)
    assert merged("a = 1 and b = 1", "b = 2") == ("b in (1, 2)", False)
    assert merged("a < 1", "a = 'x'") == ("exists a", False)
    assert merged("a = 1", "b = 1") == ("true", False)


def test_maximal_keeps_one_of_equivalent_filters() -> None:
    texts = ["a = 1", "a in (1, 2)", "a = 2 or a = 1", "b = 1"]
    assert [str(each) for each in maximal(map(fyke.parse, texts))] == ["a in (1, 2)", "b = 1"]


def test_merging_follows_the_weakening_example_of_stock_filters() -> None:
    """MSF-X5: g1 = (Stock)(DEF)(price < 11) covers f1 and f2."""
    f1 = fyke.parse("type is Stock and symbol = 'DEF' and price < 10")
    f2 = fyke.parse("type is Stock and symbol = 'DEF' and price < 11")
    g1 = merge([f1, f2])
    assert g1.filter == f2
    assert g1.excess == FALSE
    assert covers(g1.filter, f1)


def test_a_type_may_be_known_without_the_attribute() -> None:
    inputs = [fyke.parse("exists type"), fyke.parse("type is B")]
    assert check_covers(merge(inputs).filter, inputs[1], [Event({}, supertypes=["B"])]) == 1


def test_many_filters_merge_in_bounded_time() -> None:
    merged = merge(fyke.parse(f"a = {i} and b < {i}") for i in range(1_000))
    assert covers(merged.filter, fyke.parse("a = 999 and b < 999"))
