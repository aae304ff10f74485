"""Values: kinds, exact comparison, and what is let in at the door."""

from __future__ import annotations

import contextlib
import enum
import itertools
import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke import EventError
from fyke.events.number import ExactDecimal
from fyke.events.value import (
    Kind,
    admit,
    canonical,
    equal,
    format_timestamp,
    kind,
    less,
    parse_duration,
    parse_timestamp,
    sort_key,
)
from fyke.testing.generators import scalars

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)

# --- comparison -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1.0, True),
        (0, -0.0, True),
        (2**53, float(2**53), True),
        (2**53 + 1, float(2**53), False),
        (2**63 - 1, float(2**63), False),
        (True, 1, False),
        (False, 0, False),
        (False, -0.0, False),
        ("1", 1, False),
        (None, None, True),
        (None, False, False),
        (None, 0, False),
        ("", None, False),
        ("é", "e\u0301", False),
        ("a", "A", False),
        (NOON, NOON, True),
        (NOON, "2026-01-31T12:00:00Z", False),
    ],
)
def test_equality(a, b, same):
    assert equal(a, b) is same
    assert equal(b, a) is same
    assert (sort_key(a) == sort_key(b)) is same


@pytest.mark.parametrize(
    ("a", "b", "before"),
    [
        (1, 1.5, True),
        (float(2**53), 2**53 + 1, True),
        (2**53 + 1, float(2**53), False),
        (-0.0, 0, False),
        (5e-324, 0, False),
        ("B", "a", True),
        ("a", "ab", True),
        ("\uffff", "\U00010000", True),
        (NOON, NOON + timedelta(microseconds=1), True),
        ("5", 7, False),
        (5, "7", False),
        (False, True, False),
        (False, 1, False),
        (None, 1, False),
        (1, None, False),
        (None, None, False),
    ],
)
def test_order(a, b, before):
    assert less(a, b) is before


@given(scalars(), scalars(), scalars())
def test_the_order_is_an_order(a, b, c):
    assert not (less(a, b) and (less(b, a) or equal(a, b)))
    assert not (less(a, b) and less(b, c)) or less(a, c)
    if kind(a) is kind(b) and kind(a) not in (Kind.NULL, Kind.BOOL):
        assert less(a, b) or less(b, a) or equal(a, b)
    if kind(a) is not kind(b):
        assert not less(a, b) and not equal(a, b)


@given(st.lists(scalars()))
def test_mixed_values_sort(values):
    ordered = sorted(values, key=sort_key)
    assert all(not less(b, a) for a, b in itertools.pairwise(ordered))
    assert [kind(value) for value in ordered] == sorted(map(kind, ordered))


@given(scalars())
def test_the_canonical_form_is_the_same_value(value):
    assert equal(canonical(value), value)
    assert canonical(canonical(value)) is canonical(value) or canonical(value) == value
    assert type(admit(value)) is type(value)


def test_canonical_numbers():
    forms = [
        canonical(value) for value in (1.0, -0.0, float(2**53), -(2.0**63), 2.0**63, 1.5, True)
    ]
    assert list(map(repr, forms)) == [
        "1", "0", str(2**53), str(-(2**63)), repr(2.0**63), "1.5", "True",
    ]  # fmt: skip


# --- the door -------------------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


class Name(str, enum.Enum):  # noqa: UP042
    ANN = "ann"


class Moment(datetime):
    """Like pandas' timestamps, a subclass whose operations give the subclass."""


PLUS_TWO = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("given", "admitted"),
    [
        (None, None),
        (True, True),
        (-0.0, -0.0),
        (2**63 - 1, 2**63 - 1),
        ("é\x00\U0010ffff", "é\x00\U0010ffff"),
        (Level.HIGH, 3),
        (Name.ANN, "ann"),
        (np.int64(5), 5),
        (np.uint64(5), 5),
        (np.float64(0.5), 0.5),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.bool_(True), True),
        (np.str_("x"), "x"),
        (Decimal("0.5"), 0.5),
        (Decimal("9007199254740993"), 2**53 + 1),
        (Decimal("1E+3"), 1000),
        (Decimal("8.40"), 8.4),
        (Decimal("9223372036854775808.5"), ExactDecimal("9223372036854775808.5")),
        (Fraction(1, 4), 0.25),
        (NOON, NOON),
        (NOON.astimezone(PLUS_TWO), NOON),
        (Moment(2026, 1, 31, 14, tzinfo=PLUS_TWO), NOON),
        (Moment(2026, 1, 31, 12, tzinfo=UTC), NOON),
        (NOON.replace(fold=1), NOON),
        (date(2026, 1, 31), datetime(2026, 1, 31, tzinfo=UTC)),
        (timedelta(minutes=1, microseconds=500_000), 60.5),
        (timedelta(days=1), 86_400),
    ],
)
def test_admitted(given, admitted):
    value = admit(given)
    assert type(value) is type(admitted)
    assert repr(value) == repr(admitted)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (np.float64("nan"), "nan"),
        (2**63, "64 bits"),
        (-(2**63) - 1, "64 bits"),
        (np.uint64(2**63), "64 bits"),
        ("\ud800", "surrogate"),
        ("ok\udfff", "surrogate"),
        (Decimal("NaN"), "NaN is not a number"),
        (Decimal("sNaN"), "sNaN is not a number"),
        (Decimal("Infinity"), "Infinity is not a number"),
        (Decimal("1e999999999"), "too large"),
        (Decimal("-1e400"), "too large"),
        (Decimal("1e-400"), "too small"),
        (Decimal("0." + "1" * 39), "38 digits"),
        (Fraction(10**400), "float64"),
        (datetime(2026, 1, 31), "no time zone"),
        (datetime.min.replace(tzinfo=PLUS_TWO), "years 1 to 9999"),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-2))), "years 1 to 9999"),
        (b"bytes", "type bytes"),
        (1j, "type complex"),
        ({1}, "type set"),
        ([1], "type list"),
        ({}, "type dict"),
        (object(), "type object"),
        (Colour.RED, "type Colour"),
        (np.array([1]), "type ndarray"),
    ],
)
def test_refused(given, problem):
    with pytest.raises(EventError, match=problem) as refused:
        admit(given, "a.b")
    assert refused.value.attribute == "a.b"


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31T12:00:00Z", NOON),
        ("2026-01-31t12:00:00z", NOON),
        ("2026-01-31 12:00", NOON),
        ("2026-01-31T14:00:00+02:00", NOON),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T12:00:00.5Z", NOON.replace(microsecond=500_000)),
        ("2026-01-31T12:00:00.123456789Z", NOON.replace(microsecond=123_456)),
        ("0001-01-01T00:00:00Z", datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_timestamps_are_read(text, moment):
    assert parse_timestamp(text) == moment
    assert parse_timestamp(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "", "now", "2026", "2026-1-31", "2026-02-30", "2026-01-31T25:00:00Z", "2026-01-31T12",
        "2026-01-31T12:00:00+0200", "2026-01-31T12:00:00Z ", "２０２６-01-31", "20260131T120000Z",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2026-W05-6",
        "2026-01-31T12:00:00+99:00",
    ],
)  # fmt: skip
def test_timestamps_that_are_none(text):
    with pytest.raises(ValueError):
        parse_timestamp(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_what_is_formatted_is_read(moment):
    assert parse_timestamp(format_timestamp(moment)) == moment


@given(st.text(max_size=30))
def test_any_text_is_a_timestamp_or_a_value_error(text):
    for read in (parse_timestamp, parse_duration):
        with contextlib.suppress(ValueError):
            read(text)


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("1 day", timedelta(days=1)),
        ("2 hours 30 minutes", timedelta(hours=2, minutes=30)),
        ("90s", timedelta(seconds=90)),
        ("1.5 h", timedelta(minutes=90)),
        ("-1 week", timedelta(weeks=-1)),
        ("250 ms", timedelta(milliseconds=250)),
        (" 1 DAY ", timedelta(days=1)),
        ("3 us", timedelta(microseconds=3)),
    ],
)
def test_durations(text, duration):
    assert parse_duration(text) == duration


@pytest.mark.parametrize(
    "text", ["", " ", "day", "1", "1 fortnight", "1 day and", "1e3 s", "9" * 400 + " weeks"]
)
def test_durations_that_are_none(text):
    with pytest.raises(ValueError):
        parse_duration(text)
