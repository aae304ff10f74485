"""Judges: counted numbers always answer, measured ones where their ranges are apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.errors import FykeError
from fyke.experiments.judges import (
    TELLING,
    Measured,
    above,
    all_of,
    each_of,
    equals_closed_form,
    falls,
    is_best,
    is_between,
    ordered,
    rises,
    spread,
    steady,
    within,
)
from fyke.experiments.table import Table

NUMBERS = st.floats(-1e6, 1e6)


def measured(value: float, off: float = 0.0) -> Measured:
    return Measured.of(value, value * (1 - off), value * (1 + off), TELLING)


def test_what_was_counted_always_answers():
    assert above(1.000001, 1.0) is True
    assert above(1.0, 1.000001) is False
    assert above(1.0, 1.0) is False
    assert above(1.0 + 1e-12, 1.0) is above(-1.0 + 1e-12, -1.0) is False  # rounding


def test_what_was_measured_answers_where_ranges_are_apart():
    assert above(measured(1.2), measured(1.0)) is True
    assert above(measured(1.0), measured(1.2)) is False
    assert above(measured(1.04), measured(1.0)) is None
    assert above(measured(1.2, 0.1), measured(1.0, 0.1)) is None


@given(NUMBERS, NUMBERS)
def test_one_of_two_is_not_above_the_other(one, other):
    assert not (above(one, other) and above(other, one))
    assert not (above(measured(abs(one)), measured(abs(other))) is True
                and above(measured(abs(other)), measured(abs(one))) is not False)  # fmt: skip


def test_many_questions():
    assert all_of([True, None]) is True
    assert all_of([True, None, None]) is None
    assert all_of([True, True, False]) is False
    assert all_of([]) is None
    assert each_of([True, None]) is None and each_of([None, False]) is False
    assert each_of([True, True]) is True


def test_a_curve_falls_in_all_and_nowhere_rises():
    def curve(*values: float) -> list[Measured]:
        return [measured(value) for value in values]

    assert falls(curve(3, 2, 1.99, 1)) is True
    assert falls(curve(3, 1, 2)) is False
    assert falls(curve(1, 1.01, 0.99)) is None


def test_a_counted_curve_falls_or_rises_at_every_step():
    assert rises([1, 2, 3]) is True and rises([1, 1]) is False and rises([1, 3, 2]) is False
    assert falls([3.0, -0.5]) is True and falls([0.0, -0.0]) is False


@given(st.lists(NUMBERS, min_size=2, max_size=5, unique=True))
def test_a_curve_that_falls_rises_backwards(curve):
    assert falls(curve) is rises(curve[::-1])
    assert falls(sorted(curve, reverse=True)) in (True, False)


def test_steady_and_spread():
    assert spread([2.0, 1.0, 4.0]) == 4.0
    assert steady([1.0, 1.2], 1.25) is True and steady([1.0, 1.3], 1.25) is False
    assert steady([measured(1.0, 0.1), measured(1.3, 0.1)], 1.25) is None


def test_orders():
    values = {"PF": 3.0, "RN": 2.0, "EF": 1.0}
    assert ordered(values, "PF", "RN", "EF") is True and ordered(values, "RN", "PF") is False
    assert is_best(values, "PF") is True and is_best(values, "RN") is False
    assert is_between(values, "RN") is True and is_between(values, "EF") is False
    assert is_between({"a": 1.0, "b": 1.0, "c": 2.0}, "b") is False


def test_a_range_has_its_ends_and_needs_a_value():
    assert within([4, 8], 4, 8)
    assert not within([3.9], 4, 8) and not within([4, 8.1], 4, 8) and not within([], 4, 8)


def test_a_closed_form_holds_in_every_row_or_not():
    rows = Table.of({"n": n, "load": 2.0 * n} for n in range(3))
    assert equals_closed_form(rows, "load", lambda row: 2 * row["n"], "2 n").holds is True
    off = equals_closed_form(rows, "load", lambda row: row["n"] ** 2 + row["n"], "n^2 + n")
    assert off.holds is False and "2 off" in off.why
    with pytest.raises(FykeError, match="no rows"):
        equals_closed_form(Table(), "load", lambda row: 0.0, "")
