"""Codes keep the order of values; only an odd code that is an end of an interval leaves a doubt."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fyke.events.value import Kind, canonical
from fyke.events.value import kind as kind_of
from fyke.filters.predicate import Range
from fyke.matching.compiled.coding.codes import (
    CODE,
    HIGHEST,
    LOWEST,
    MISSING,
    complement,
    interval,
    scalar_key,
)
from fyke.matching.compiled.kernels.lanes import holds
from fyke.testing import related
from fyke.testing.generators import MOMENTS, NUMBERS, STRINGS


def is_number(value: Any) -> bool:
    return kind_of(value) is Kind.NUMBER


# Around a grid point lie the float64 itself, the decimal it stands for, and its binary value.
GRID = [2.0**-30, 2.0**64, 1.0, 2.0**60, -(2.0**-7)]
decimals = st.one_of(
    st.sampled_from([Decimal("0.1"), Decimal("1e-300"), Decimal("9007199254740993.5")]),
    st.sampled_from([each for number in GRID for each in related.near(number)]).filter(is_number),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-99, max_value=99),
).map(canonical)
numbers: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(
        [*NUMBERS, 0.1, 2**20, 2**20 + 1, 2**21 + 1, -(2**53) - 1, 1.7976931348623157e308]
    ),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(-5, 5),
    st.floats(allow_nan=False, allow_infinity=False),
    decimals,
)
strings: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([*STRINGS, "\0", "\0\0", "abcd", "abcd\0", "abce", "abc\0", "\U0001f600"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.text("ab\0\x01\x7f", max_size=6),
)
moments: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from([*MOMENTS, datetime(1, 1, 1, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)]),
    st.datetimes(timezones=st.just(UTC)),
)
VALUES = {Kind.NUMBER: numbers, Kind.STRING: strings, Kind.TIMESTAMP: moments}
kinds = pytest.mark.parametrize("kind", VALUES)


def beside(kind: Kind, value: Any) -> st.SearchStrategy[Any]:
    """Any value of the kind, or one that is easily taken for `value`."""
    near = [each for each in related.near(value) if kind_of(each) is kind]
    return st.one_of(VALUES[kind], st.sampled_from(near))


@kinds
@given(st.data())
def test_the_order_is_never_contradicted(kind: Kind, data: st.DataObject) -> None:
    one = data.draw(VALUES[kind])
    other = data.draw(beside(kind, one))
    code, other_code = CODE[kind](one), CODE[kind](other)
    assert LOWEST <= code <= HIGHEST
    if one < other:
        assert code <= other_code
    if one == other:
        assert code == other_code
    elif code == other_code:
        assert code & 1


@example(2**53, 2**53 + 1)
@example(0, -0.0)
@example(1, 1 + 2.0**-52)
@given(numbers, numbers)
def test_equal_even_codes_mean_equal_numbers(one: Any, other: Any) -> None:
    code = CODE[Kind.NUMBER](one)
    if code == CODE[Kind.NUMBER](other) and not code & 1:
        assert one == other


@given(st.integers(-(2**20), 2**20))
def test_small_integers_are_exact(number: int) -> None:
    assert not CODE[Kind.NUMBER](number) & 1


@kinds
@given(st.data())
def test_an_interval_covers_its_range_and_its_complement_the_rest(
    kind: Kind, data: st.DataObject
) -> None:
    ends = data.draw(st.tuples(VALUES[kind], VALUES[kind]).map(sorted))
    low, high = data.draw(
        st.sampled_from([(ends[0], ends[1]), (ends[0], None), (None, ends[1]), (ends[0], ends[0])])
    )
    range_ = Range("a", low, high, data.draw(st.booleans()), data.draw(st.booleans()))
    value = data.draw(st.one_of(VALUES[kind], st.sampled_from(ends)))
    code, accepted = CODE[kind](value), range_.matches({"a": value})
    span = interval(range_)
    if span is None:
        assert not accepted
        return
    assert MISSING < span[0] <= span[1] <= HIGHEST
    is_inside = holds(*span, code)
    is_doubtful = bool(code & 1) and code in span
    if accepted:
        assert is_inside
    if is_inside and not is_doubtful:
        assert accepted
    outside = complement(*span)
    if outside is None:
        assert is_doubtful or accepted is is_inside
        return
    if not accepted:
        assert holds(*outside, code)
    if holds(*outside, code) and not (code & 1 and code in outside):
        assert not accepted


@pytest.mark.parametrize("span", [(2, 8), (2, 9), (3, 8), (3, 9), (2, 2), (LOWEST, 8), (LOWEST, 9)])
def test_what_is_missing_is_outside(span: tuple[int, int]) -> None:
    outside = complement(*span)
    assert outside is not None
    assert holds(*outside, MISSING)


def test_true_is_not_one() -> None:
    symbols = {scalar_key(value): value for value in (True, 1, False, 0, "true", None)}
    assert len(symbols) == 6
    assert scalar_key(1) == scalar_key(1.0)
    assert scalar_key(0) == scalar_key(-0.0)
