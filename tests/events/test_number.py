"""Numbers in one total order: integers, floats and decimals, in every predicate.

The oracle is a fraction: of a float that is an int64 the integer, of others the shortest decimal.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke import Event, EventError, FilterError, SchemaError
from fyke.events import binary, json
from fyke.events.domain import Decimals
from fyke.events.number import INT_MAX, INT_MIN, ExactDecimal
from fyke.events.schema import Attribute, Schema
from fyke.events.value import Kind, Scalar, admit, canonical, equal, kind, less, sort_key
from fyke.filters import codec
from fyke.filters.comparison import COMPARISONS, Compare
from fyke.filters.predicate import In, NotIn, Range
from fyke.matching.engines.registry import ENGINES
from fyke.testing import related
from fyke.testing.stories.reaching import reached, reaches

TENTH = Decimal("0.1")
LONG = Decimal("0.10000000000000001")


def exact(number: Scalar | Decimal) -> Fraction:
    """What a number stands for."""
    if isinstance(number, float):
        whole = Fraction(number)
        is_int64 = whole.denominator == 1 and INT_MIN <= whole <= INT_MAX
        return whole if is_int64 else Fraction(repr(number))
    return Fraction(number)


def decimals() -> st.SearchStrategy[Decimal]:
    listed = ["0", "-0", "1", "1.0", "0.1", "0.25", "9007199254740993", "1e22", "1e23", "8.40"]
    drawn = st.builds(
        lambda digits, scale: Decimal(f"{digits}E{scale}"),
        st.integers(-(10**38) + 1, 10**38 - 1),
        st.integers(-45, 10),
    )
    edges = [10**15, 2**53, 10**17, 10**18, 10**19, INT_MAX, INT_MAX + 1]
    whole = st.builds(
        lambda edge, beside, sign, half: sign * (Decimal(edge + beside) + half),
        st.sampled_from(edges),
        st.integers(-3, 3),
        st.sampled_from([-1, 1]),
        st.sampled_from([Decimal(0), Decimal(0), Decimal("0.0"), Decimal("0.5")]),
    )
    return st.one_of(st.sampled_from(listed).map(Decimal), drawn, whole)


def numbers() -> st.SearchStrategy[int | float | ExactDecimal]:
    return st.one_of(
        st.integers(-2, 2),
        st.integers(INT_MIN, INT_MAX),
        st.sampled_from([0.1, 0.25, -0.0, 1e22, 1e23, float(2**53), 5e-324, 2.0**-30, 2.0**60]),
        st.floats(allow_nan=False, allow_infinity=False),
        decimals().map(admit),
    )


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Scalar, Scalar]:
    """Two numbers, mostly near each other: what two independent ones have to say is soon said."""
    one = draw(numbers())
    if draw(st.integers(0, 3)) == 0:
        return one, draw(numbers())
    beside = [each for each in related.near(one) if kind(each) is Kind.NUMBER]
    return one, draw(st.sampled_from(beside))


@reaches(equal=0.05, decimal_beside_float=0.02)
@given(pairs())
def test_numbers_compare_by_what_they_stand_for(pair):
    a, b = pair
    one, other = exact(a), exact(b)
    kinds = {type(canonical(a)), type(canonical(b))}
    reached(equal=one == other, decimal_beside_float=kinds == {float, ExactDecimal})
    assert kind(a) is kind(b) is Kind.NUMBER
    assert equal(a, b) is equal(b, a) is (one == other) is (sort_key(a) == sort_key(b))
    assert less(a, b) is (one < other) is (sort_key(a) < sort_key(b))
    assert less(b, a) is (one > other) is (sort_key(b) < sort_key(a))
    if one == other:
        assert hash(sort_key(a)) == hash(sort_key(b))
        assert type(canonical(a)) is type(canonical(b))


@reaches(large_integer=0.005)
@given(st.one_of(numbers(), decimals()))
def test_the_canonical_form_is_the_same_number(number):
    found = canonical(number)
    stands_for = exact(number)
    is_decimal = isinstance(number, Decimal)
    reached(large_integer=is_decimal and type(found) is int and abs(found) > 10**18)
    assert exact(found) == stands_for
    if stands_for.denominator == 1 and INT_MIN <= stands_for <= INT_MAX:
        assert type(found) is int
    elif type(found) is ExactDecimal:
        assert exact(float(found)) != stands_for
        sign, digits, exponent = found.as_tuple()
        longer = Decimal((sign, (*digits, 0, 0), exponent - 2))
        assert repr(canonical(longer)) == repr(found), "zeros at the end are not kept"
    else:
        assert type(found) is float


@given(st.lists(pairs(), min_size=2, max_size=2))
def test_equality_and_order_are_transitive(drawn):
    """Through all forms that a number comes in; a nearest float would break this."""
    for a, b, c in product([each for pair in drawn for each in pair], repeat=3):
        if equal(a, b) and equal(b, c):
            assert equal(a, c)
        if not less(b, a) and not less(c, b):
            assert not less(c, a)


@given(pairs(), st.lists(numbers(), max_size=2))
def test_membership_is_exact(pair, listed):
    value, listed = pair[0], [pair[1], *listed]
    event = Event.flat({"a": value})
    among = exact(value) in {exact(each) for each in listed}
    assert In("a", tuple(listed)).matches(event) is among
    assert NotIn("a", tuple(listed)).matches(event) is not among
    assert In("a", (*listed, "x", None)).matches(event) is among


@given(pairs(), numbers(), st.booleans(), st.booleans())
def test_intervals_are_exact(pair, other, low_open, high_open):
    value = pair[0]
    low, high = sorted((pair[1], other), key=exact)
    stands_for, least, most = exact(value), exact(low), exact(high)
    above = least < stands_for or (stands_for == least and not low_open)
    below = stands_for < most or (stands_for == most and not high_open)
    event = Event.flat({"a": value})
    assert Range("a", low, high, low_open, high_open).matches(event) is (above and below)
    assert Range("a", low, None, low_open).matches(event) is above
    assert Range("a", None, high, high_open=high_open).matches(event) is below


@given(pairs(), st.sampled_from(sorted(COMPARISONS)))
def test_attributes_compare_exactly(pair, operator):
    a, b = pair
    one, other = exact(a), exact(b)
    holds = {
        "=": one == other,
        "!=": one != other,
        "<": one < other,
        "<=": one <= other,
        ">": one > other,
        ">=": one >= other,
    }
    event = Event.flat({"a": a, "b": (b,)})
    assert Compare("a", operator, "b").matches(event) is holds[operator]


@pytest.mark.parametrize("other", [True, False, "0.1", None])
def test_a_decimal_is_of_no_other_kind(other):
    for number in (LONG, TENTH, Decimal(1), Decimal(0)):
        held = admit(number)
        assert not equal(held, other)
        assert not less(held, other)
        event = Event({"a": number})
        assert not In("a", (other,)).matches(event)
        assert NotIn("a", (other,)).matches(event)


def test_equal_filters_have_equal_numbers():
    assert In("a", (Decimal("1.0"), TENTH)) == In("a", (0.1, 1, 1.0))
    assert In("a", (LONG,)) != In("a", (0.1,))
    assert Range("a", Decimal("1.50")) == Range("a", 1.5)


# --- as people write and send them ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("8.40", "8.4"),
        ("-0.0", "0"),
        ("5.00", "5"),
        ("1e3", "1000"),
        ("0.10000000000000001", "0.10000000000000001"),
        ("18446744073709551616", "18446744073709551616"),
        ("1E22", "1e+22"),
        ("0.1000000000000000055511151231257827021181583404541015625",) * 2,
    ],
)
def test_a_number_in_a_filter_is_the_decimal_that_is_written(text, printed):
    filter = fyke.parse(f"price >= {text}")
    assert str(filter) == f"price >= {printed}"
    assert fyke.parse(str(filter)) == filter
    assert exact(filter.low) == Fraction(text)


@pytest.mark.parametrize("text", ["1E-325", "-1e-400", "1e309", "-1E999999999"])
def test_a_literal_beyond_all_numbers_is_refused(text):
    with pytest.raises(FilterError, match=r"too (small|large) to be compared"):
        fyke.parse(f"price = {text}")


@pytest.mark.parametrize("text", ["1.7976931348623158e308", "-1.79769313486231575e308", "3e-324"])
def test_a_literal_that_rounds_to_a_float_is_no_such_literal(text):
    """DBL_MAX is written with 17 digits in C, which is a little more than it stands for."""
    filter = fyke.parse(f"price <= {text}")
    assert exact(filter.high) == Fraction(text)
    assert fyke.parse(str(filter)) == filter
    for engine in ENGINES:
        matcher = fyke.Matcher(engine)
        matcher.add("least", filter)
        for price in (float(text), Decimal(text), Decimal(text).next_plus(Context(prec=38))):
            is_least = exact(price) <= Fraction(text)
            assert matcher.match({"price": price}) == ["least"] * is_least, (engine, price)


@pytest.mark.parametrize(
    "number", [Decimal("1E-400"), Decimal("NaN"), Decimal("1E+400"), Decimal("1" * 39)]
)
def test_a_decimal_that_cannot_be_compared_is_refused_by_name(number):
    with pytest.raises(EventError, match="'price'"):
        Event({"price": number})


def test_money_compares_as_it_is_written():
    event = {"price": Decimal("8.40"), "least": 8.4, "most": Decimal("8.400")}
    for text in ("price = 8.4", "price >= 8.40", "price between 8.4 and 8.7", "price = least"):
        assert fyke.parse(text).matches(event), text
    assert not fyke.parse("price < most").matches(event)
    assert not fyke.parse("price > 8.4").matches(event)
    assert fyke.parse("price < 8.4000000000000000000001").matches(event)


@given(numbers())
def test_decimals_travel_in_every_form(number):
    """As bytes and as text of a filter and of an event; JSON keeps the digits."""
    event = Event({"a": number, "b": {"c": [number, None, "x"]}})
    assert binary.decode(binary.encode(event)) == event
    assert Fraction(json.encode(number)) == exact(number) or isinstance(number, int | float)
    for filter in (In("a", (number, "x")), Range("a", None, number, high_open=True)):
        assert fyke.parse(str(filter)) == filter
        assert codec.decode(codec.encode(filter)) == filter
        assert codec.from_document(codec.to_document(filter)) == filter


def test_a_schema_says_for_which_attributes_json_is_read_exactly():
    schema = Schema(
        [Attribute("price", Decimals(0, 1)), Attribute("lot.price", Decimals(), multiple=True)]
    )
    assert Schema.from_document(schema.to_document()) == schema
    text = """{"price": 0.10000000000000001, "other": 0.10000000000000001,
               "lot": [{"price": 1e3}, {"price": 0.10000000000000001}]}"""
    event = schema.validate(json.decode_event(text, decimals=schema.decimals))
    assert event["price"] == LONG and event["other"] == 0.1 and event["lot.price"] == (1000, LONG)
    assert fyke.parse("price = 0.10000000000000001").matches(event)
    assert json.decode_event(text)["price"] == 0.1
    large = f'{{"price": {2**64}, "other": 1}}'
    assert json.decode_event(large, decimals=["price"])["price"] == 2**64
    with pytest.raises(EventError, match="64 bits"):
        json.decode_event(large, decimals=["other"])
    with pytest.raises(EventError, match="too small"):
        json.decode_event('{"price": 1e-400}', decimals=schema.decimals)
    with pytest.raises(SchemaError, match="domain"):
        schema.validate({"price": Decimal("1.00000000000000000001")})
