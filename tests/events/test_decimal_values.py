"""Decimals as numbers: exact against int, float and each other, in every predicate."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke import Event, EventError
from fyke.events.value import INT_MAX, INT_MIN, Kind, canonical, equal, kind, less, sort_key
from fyke.filters.comparison import COMPARISONS, Compare
from fyke.filters.predicate import In, NotIn, Range

TENTH = Decimal("0.1")


def decimals() -> st.SearchStrategy[Decimal]:
    listed = ["0", "-0", "1", "1.0", "0.1", "0.25", "9007199254740993", "1e22", "1e23", "1E-400"]
    drawn = st.builds(
        lambda digits, scale: Decimal(f"{digits}E{scale}"),
        st.integers(-(10**40), 10**40),
        st.integers(-45, 10),
    )
    return st.one_of(st.sampled_from(listed).map(Decimal), drawn)


def numbers() -> st.SearchStrategy[int | float | Decimal]:
    return st.one_of(
        st.integers(-2, 2),
        st.integers(INT_MIN, INT_MAX),
        st.sampled_from([0.1, 0.25, -0.0, 1e22, 1e23, float(2**53), 5e-324]),
        st.floats(allow_nan=False, allow_infinity=False),
        decimals(),
    )


@given(numbers(), numbers())
def test_numbers_compare_by_value(a, b):
    exact, other = Fraction(a), Fraction(b)
    assert kind(a) is Kind.NUMBER
    assert equal(a, b) is (exact == other) is (sort_key(a) == sort_key(b))
    assert less(a, b) is (exact < other) is (sort_key(a) < sort_key(b))
    if exact == other:
        assert hash(sort_key(a)) == hash(sort_key(b))


@given(numbers())
def test_the_canonical_form_is_the_same_number(number):
    found = canonical(number)
    exact = Fraction(number)
    assert Fraction(found) == exact
    if exact.denominator == 1 and INT_MIN <= exact <= INT_MAX:
        assert type(found) is int
    elif type(found) is Decimal:
        assert Fraction(float(found)) != exact
    else:
        assert type(found) is float


@given(numbers(), st.lists(numbers(), min_size=1, max_size=3))
def test_membership_is_exact(value, listed):
    event = Event.flat({"a": value})
    among = Fraction(value) in {Fraction(each) for each in listed}
    assert In("a", tuple(listed)).matches(event) is among
    assert NotIn("a", tuple(listed)).matches(event) is not among
    assert In("a", (*listed, "x", None)).matches(event) is among


@given(numbers(), numbers(), numbers(), st.booleans(), st.booleans())
def test_intervals_are_exact(value, low, high, low_open, high_open):
    exact, least, most = Fraction(value), Fraction(low), Fraction(high)
    above = least < exact or (exact == least and not low_open)
    below = exact < most or (exact == most and not high_open)
    event = Event.flat({"a": value})
    assert Range("a", low, high, low_open, high_open).matches(event) is (above and below)
    assert Range("a", low, None, low_open).matches(event) is above
    assert Range("a", None, high, high_open=high_open).matches(event) is below


@given(numbers(), numbers(), st.sampled_from(sorted(COMPARISONS)))
def test_attributes_compare_exactly(a, b, operator):
    exact, other = Fraction(a), Fraction(b)
    holds = {
        "=": exact == other,
        "!=": exact != other,
        "<": exact < other,
        "<=": exact <= other,
        ">": exact > other,
        ">=": exact >= other,
    }
    event = Event.flat({"a": a, "b": (b,)})
    assert Compare("a", operator, "b").matches(event) is holds[operator]


@pytest.mark.parametrize("other", [True, False, "0.1", None])
def test_a_decimal_is_of_no_other_kind(other):
    for number in (TENTH, Decimal(1), Decimal(0)):
        assert not equal(number, other)
        assert not less(number, other)
        event = Event.flat({"a": number})
        assert not In("a", (other,)).matches(event)
        assert NotIn("a", (other,)).matches(event)


def test_equal_filters_have_equal_numbers():
    assert In("a", (Decimal("1.0"), TENTH)) == In("a", (TENTH, 1, 1.0))
    assert In("a", (TENTH,)) != In("a", (0.1,))
    assert Range("a", Decimal("1.50")) == Range("a", 1.5)


def test_the_door_for_documents_stays_shut():
    with pytest.raises(EventError, match="neither an int64 nor exactly a float64"):
        Event({"a": TENTH})
