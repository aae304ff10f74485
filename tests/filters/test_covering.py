"""covers: sound on everything, complete where it promises to be."""

from __future__ import annotations

import math
import time
from datetime import datetime, timedelta
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.domain import Boolean, Enumeration, FixedPoint, Integer, Real, String
from fyke.events.event import Event
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.covering import (
    covers,
    equivalent,
    is_always_true,
    is_never_true,
    overlaps,
)
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction
from fyke.filters.merging import merge
from fyke.testing.covering import check_covers
from fyke.testing.generators import events, filters, predicates, scalars

close = filters(predicates(st.sampled_from(["a", "b"])), max_leaves=4)

COVERS = [
    ("a < 10", "a < 5"),
    ("a < 10", "a between 1 and 5"),
    ("a <= 5", "a < 5"),
    ("a in (1, 2, 3)", "a = 2"),
    ("a != 3", "a > 3"),
    ("a != 3", "a = '3'"),
    ("a not in (1, 2)", "a is null"),
    ("a < 5 or a >= 5", "a between 1 and 10"),
    ("a between 1 and 3 or a between 3 exclusive and 9", "a between 2 and 8"),
    ("exists a", "a = 1"),
    ("exists a", "a < b"),
    ("a starts with 'OT'", "a = 'OTE'"),
    ("a starts with 'OT'", "a between 'OTA' and 'OTZ'"),
    ("a between 'O' and 'P'", "a like 'OT%x'"),
    ("a like 'N%SE'", "a like 'NY%SE'"),
    ("a contains 'b'", "a like '%abc_'"),
    ("a ilike 'ab%'", "a starts with 'aB'"),
    ("a ilike '%x%'", "a ilike 'x%'"),
    ("a like '_%'", "a starts with 'x'"),
    ("a like '_%'", "a > ''"),
    ("a like '_%'", "a ilike '%a'"),
    ("a like '%_%'", "a ilike '%x%'"),
    ("a like 'a_%'", "a between 'a' exclusive and 'az'"),
    ("a = ''", "a <= ''"),
    ("a in ('k', 'K', '\u212a')", "a ilike 'k'"),
    ("a >= 'A'", "a ilike 'abc%'"),
    ("a > '9'", "a ilike 'z_%'"),
    ("a != 'c'", "a like '%b'"),
    ("a matches '^O'", "a = 'OTE'"),
    ("a matches 'x'", "a matches 'x' and b = 1"),
    ("a in cidr '10.0.0.0/8'", "a in cidr '10.1.0.0/16'"),
    ("a in cidr '10.0.0.0/8'", "a in ('10.1.0.0', '10.2.0.0')"),
    ("type is T", "type = 'T'"),
    ("a <= b", "a < b"),
    ("b > a", "a < b"),
    ("a != b", "b < a"),
    ("not a in (1, 2)", "not a in (1, 2, 3)"),
    ("not a = 1", "missing a"),
    ("a = 1", "a = 1 and b = 2"),
    ("(a = 1 or b = 2) and c = 3", "c = 3 and a = 1"),
    ("a = 1 or b = 2", "a = 1 or (b = 2 and c = 3)"),
    ("(a = 1 or b = 1) and (a = 2 or b = 2)", "a = 1 and b = 2"),
    ("a < 5", "false"),
    ("true", "a < 5"),
    ("a = 1", "b between 5 and 1"),
]
DOES_NOT_COVER = [
    ("a < 5", "a < 10"),
    ("a < 5", "a <= 5"),
    ("a between 1 and 5", "a >= 1 and a <= 5"),
    ("a = true", "a = 1"),
    ("a = 9007199254740992", "a = 9007199254740993"),
    ("a != 3", "exists a"),
    ("a < 5 or a >= 5", "exists a"),
    ("a < 5", "not a >= 5"),
    ("a >= b", "a = b"),
    ("type = 'T'", "type is T"),
    ("a starts with 'OT'", "a ilike 'OT%'"),
    ("a = 1", "a = 1 or b = 1"),
    ("not a = 1", "a != 1"),
    ("a is null", "a <= ''"),
    ("a in ('k', 'K')", "a ilike 'k'"),
    ("a between 'A' and 'z'", "a ilike 's%'"),
    ("exists type", "type is T"),
]


@pytest.mark.parametrize(("wide", "narrow"), COVERS)
def test_covers(wide: str, narrow: str) -> None:
    assert covers(fyke.parse(wide), fyke.parse(narrow))


@pytest.mark.parametrize(("wide", "narrow"), DOES_NOT_COVER)
def test_does_not_cover(wide: str, narrow: str) -> None:
    assert not covers(fyke.parse(wide), fyke.parse(narrow))


@settings(max_examples=400)
@given(
    st.lists(close, min_size=8, max_size=12),
    st.lists(events(), min_size=4, max_size=10),
)
def test_covering_is_sound(taken: list[Filter], seen: list[Event]) -> None:
    """Each example judges all ordered pairs of its filters: tens of thousands in all."""
    verdicts = [[filter.matches(event) for event in seen] for filter in taken]
    for (wide, of_wide), (narrow, of_narrow) in product(
        zip(taken, verdicts, strict=True), repeat=2
    ):
        if covers(wide, narrow):
            assert all(w or not n for w, n in zip(of_wide, of_narrow, strict=True)), (
                f"{wide} does not cover {narrow}"
            )
        if not overlaps(wide, narrow):
            assert not any(w and n for w, n in zip(of_wide, of_narrow, strict=True)), (
                f"{wide} overlaps {narrow}"
            )


@given(close, close)
def test_laws_of_covering(one: Filter, other: Filter) -> None:
    assert covers(one, one)
    assert covers(TRUE, one)
    assert covers(one, FALSE)
    assert covers(one | other, one)
    assert covers(one, one & other)
    assert equivalent(one & other, other & one)
    assert overlaps(one, other) == overlaps(other, one)


positives = predicates(st.just("a"))


@settings(max_examples=300)
@given(positives, positives, st.lists(scalars(), min_size=30, max_size=60))
def test_covering_of_single_predicates_is_complete(
    wide: Filter, narrow: Filter, values: list[object]
) -> None:
    """Where covers says no for sets and intervals, the value just outside proves it right."""
    simple = ("In", "NotIn", "Range")
    if type(wide).__name__ not in simple or type(narrow).__name__ not in simple:
        return
    ends = [
        end
        for each in (wide, narrow)
        for end in getattr(each, "values", None) or (each.low, each.high)  # type: ignore[attr-defined]
    ]
    candidates = [
        *values,
        *ends,
        *map(_after, ends),
        *map(_before, ends),
        None,
        True,
        False,
        "",
        "zz",
    ]
    witnesses = [value for value in candidates if _fits(value, narrow) and not _fits(value, wide)]
    if covers(wide, narrow):
        assert not witnesses
    elif not witnesses:
        # every value next to an end was tried: only an unbounded side can still prove it
        far = [10**18, -(10**18), "\U0010ffff" * 3]
        assert any(_fits(value, narrow) and not _fits(value, wide) for value in far)


def _fits(value: object, filter: Filter) -> bool:
    try:
        return filter.matches({"a": value})
    except fyke.EventError:
        return False


def _after(value: object) -> object:
    """The next value of the same kind, or one close behind."""
    match value:
        case bool() | None:
            return value
        case str():
            return value + "\0"
        case datetime():
            return value if value.year == 9999 else value + timedelta(microseconds=1)
        case float():
            return math.nextafter(value, math.inf)
        case int():
            return value + 0.5 if abs(value) < 2**50 else value + 1
    raise TypeError(value)


def _before(value: object) -> object:
    match value:
        case str():
            return value[:-1]
        case datetime():
            return value - timedelta(microseconds=1)
        case float():
            return math.nextafter(value, -math.inf)
        case bool() | None:
            return value
        case int():
            return value - 0.5 if abs(value) < 2**50 else value - 1
    raise TypeError(value)


# --- with a schema ------------------------------------------------------------------------------

SCHEMA = Schema(
    attributes=[
        Attribute("i", Integer(0, 100)),
        Attribute("r", Real()),
        Attribute("f", FixedPoint(0, 10, decimals=2)),
        Attribute("s", String()),
        Attribute("e", Enumeration(("low", "mid", "high"))),
        Attribute("t", Boolean()),
        Attribute("m", Integer(0, 9), multiple=True),
    ],
    types=[EventType("Thing"), EventType("Stock", supertypes=["Thing"])],
)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("r between 1 and 5", "r >= 1 and r <= 5", True),
        ("i between 2 and 4", "i > 1 and i < 5", True),
        ("r between 2 and 4", "r > 1 and r < 5", False),
        ("f > 8.29", "f >= 8.3", True),
        ("f >= 8.3", "f > 8.29", True),
        ("i in (0, 1)", "i < 2", True),
        ("exists i", "i between 0 and 100", True),
        ("i between 0 and 100", "exists i", True),
        ("m between 0 and 9", "exists m", False),
        ("e in ('low', 'mid')", "e != 'high'", True),
        ("t = true or t = false", "exists t", True),
        ("s < 'b' or s >= 'b'", "exists s", True),
        ("type is Thing", "type is Stock", True),
        ("type is Stock", "type is Thing", False),
        ("type is Thing", "type = 'Stock'", True),
    ],
)
def test_covering_with_a_schema(wide: str, narrow: str, expected: bool) -> None:
    assert covers(fyke.parse(wide), fyke.parse(narrow), schema=SCHEMA) is expected


integers = Schema([Attribute("a", Integer(0, 7)), Attribute("b", Integer(0, 7))])
small = st.builds(
    fyke.parse,
    st.one_of(
        st.builds(
            "{} {} {}".format,
            st.sampled_from("ab"),
            st.sampled_from(["=", "!=", "<", ">", "<=", ">="]),
            st.integers(-1, 8),
        ),
        st.builds(
            "{} between {} and {}".format,
            st.sampled_from("ab"),
            st.integers(-1, 8),
            st.integers(-1, 8),
        ),
        st.builds(
            "{} in ({}, {})".format, st.sampled_from("ab"), st.integers(0, 7), st.integers(0, 7)
        ),
    ),
)


@settings(max_examples=300)
@given(filters(small, max_leaves=5), filters(small, max_leaves=5))
def test_covering_is_exact_over_finite_domains(wide: Filter, narrow: Filter) -> None:
    """With single-valued integers every Boolean tree is decided exactly."""
    choices = [{}, *({"a": value} for value in range(8))]
    everything = [
        Event({**one, **two})
        for one in choices
        for two in ({}, *({"b": value} for value in range(8)))
    ]
    truth = all(wide.matches(event) for event in everything if narrow.matches(event))
    assert covers(wide, narrow, schema=integers) is truth
    assert overlaps(wide, narrow, schema=integers) is any(
        wide.matches(event) and narrow.matches(event) for event in everything
    )


# --- bounds -------------------------------------------------------------------------------------


def test_never_and_always_true() -> None:
    assert is_never_true(fyke.parse("a = 1 and not exists a"))
    assert is_never_true(fyke.parse("a < b and missing b"))
    assert not is_never_true(fyke.parse("a = 1 and a = 2"))
    assert is_always_true(fyke.parse("not (a = 1 and b = 2) or exists a"))
    assert not is_always_true(fyke.parse("a = 1 or a != 1"))


def test_a_budget_ends_the_search_on_the_safe_side() -> None:
    hard = fyke.parse(" and ".join(f"(a{i} = 1 or b{i} = 2 or c{i} < 3)" for i in range(300)))
    started = time.process_time()
    assert covers(fyke.parse("z = 1"), hard) is False
    wider = fyke.parse(" and ".join(f"(a{i} = 1 or b{i} = 2 or c{i} < 4)" for i in range(300)))
    assert covers(hard, hard & fyke.parse("z = 1"))
    assert covers(wider, hard)
    assert not covers(wider, hard, budget=10), "out of budget, no covering is claimed"
    assert overlaps(hard, ~hard, budget=10), "out of budget, an overlap is possible"
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "text",
    [
        " and ".join(f"(a{i} = 1 or b{i} = 1)" for i in range(400)),
        " or ".join(f"(a = {i} and b < {i})" for i in range(1_000)),
        " and ".join(f"not a = {i}" for i in range(10_000)),
        " and ".join(f"not a like '%x{i}%y'" for i in range(2_000)) + " and a = 'x'",
    ],
    ids=["and of ors", "or of ands", "negated equalities", "negated patterns"],
)
def test_long_filters_end_quickly(text: str) -> None:
    filter = fyke.parse(text)
    started = time.process_time()
    overlaps(filter, fyke.parse("c = 1"))
    covers(filter, fyke.parse("b < 500 and a in (1, 2, 3)"))
    is_never_true(filter)
    merge([filter, fyke.parse("c = 1")])
    assert time.process_time() - started < 10


def test_hostile_patterns_end_quickly() -> None:
    letters = "".join(chr(0x4E00 + i) for i in range(99))
    wide = fyke.parse("a like '%a" + "_" * 99 + "'")
    narrow = fyke.parse(f"a like '%a%{letters}%{'%'.join('ab' * 10)}%'")
    started = time.process_time()
    covers(wide, narrow)
    assert time.process_time() - started < 10


def test_types_of_validated_events_conform_to_all_supertypes() -> None:
    """What `covers` claims about types holds for every event that the schema accepts."""
    schema = Schema(types=[EventType("Stock"), EventType("Share", supertypes=["Stock"])])
    wide, narrow = fyke.parse("type is Stock"), fyke.parse("type is Share")
    assert covers(wide, narrow, schema=schema)
    for event in (
        Event({"type": ["Share", "X"]}),
        Event({"type": "Mini"}, supertypes=["Share"]),
        Event({}, supertypes=["Share"]),
        Event({"type": "Share"}),
    ):
        assert check_covers(wide, narrow, [schema.validate(event)]) == 1


def test_large_sets_are_no_trouble() -> None:
    many = ", ".join(map(str, range(20_000)))
    started = time.process_time()
    assert covers(fyke.parse(f"a in ({many})"), fyke.parse("a = 19999"))
    assert not covers(fyke.parse(f"a not in ({many})"), fyke.parse(f"a in ({many}, 'x')"))
    assert time.process_time() - started < 5


def test_check_covers_finds_a_lost_event() -> None:
    wide, narrow = fyke.parse("a < 5"), fyke.parse("a < 10")
    with pytest.raises(AssertionError, match="lost"):
        check_covers(wide, narrow, [{"a": 3}, {"a": 7}])
    assert check_covers(narrow, wide, [{"a": 3}, {"a": 7}]) == 1


def test_conjunctions_of_many_predicates() -> None:
    narrow = conjunction(fyke.parse(f"a{i} between {i} and {i + 5}") for i in range(200))
    wide = conjunction(fyke.parse(f"a{i} < {i + 6}") for i in range(200))
    assert covers(wide, narrow)
    assert not covers(narrow, wide)
