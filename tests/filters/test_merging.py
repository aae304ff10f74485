"""Merging covers its inputs, and says what it accepts too much."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.covering import covers
from fyke.filters.filter import FALSE, Filter
from fyke.filters.merging import maximal, merge
from fyke.testing.covering import check_covers
from fyke.testing.generators import events, filters, predicates

close = filters(predicates(st.sampled_from(["a", "b"])), max_leaves=4)


@given(st.lists(close, max_size=4), st.lists(events(), min_size=1, max_size=8))
def test_merging_covers_its_inputs_and_tells_its_error(
    taken: list[Filter], seen: list[Event]
) -> None:
    merged = merge(taken)
    for filter in taken:
        check_covers(merged.filter, filter, seen)
    for event in seen:
        too_much = merged.filter.matches(event) and not any(each.matches(event) for each in taken)
        assert merged.excess.matches(event) is too_much


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
