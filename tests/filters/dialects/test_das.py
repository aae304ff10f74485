"""DAS profiles and events, against an interpreter of the paper's definitions."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.errors import EventError, FilterError
from fyke.events.event import Event
from fyke.filters.dialects import das
from fyke.filters.filter import TRUE, Filter, conjunction
from fyke.filters.predicate import Exists, In, Range, TypeIs, equals
from fyke.filters.residual import Residual
from fyke.limits import Limits
from fyke.testing import generators as gen


def read(text: str) -> Filter:
    return fyke.parse(text, dialect="das")


# --- the language ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "native"),
    [
        ("PROFILE ( PRI ( a1=5 , a2>10 , TYPE=T1 ) )", "a1 = 5 and a2 > 10 and type = 'T1'"),
        ("PROFILE(PRI(a1=5,a2>10,TYPE=T1))", "a1 = 5 and a2 > 10 and type = 'T1'"),
        ("\n profile\t( pri ( TYPE = 'room change' ) )  ", "type = 'room change'"),
        ("PROFILE (PRI (a IN {1, 2.50, -3}))", "a in (-3, 1, 2.5)"),
        ("PROFILE (PRI (a IN { open }))", "a = 'open'"),
        ("PROFILE (PRI (a BETWEEN [1, 5]))", "a between 1 and 5"),
        ("PROFILE (PRI (a BETWEEN [5, 1]))", "a between 5 and 1"),
        ("PROFILE (PRI (a<-.5))", "a < -0.5"),
        ("PROFILE (PRI (a=-0.0))", "a = 0"),
        ("PROFILE (PRI (a=9007199254740993))", "a = 9007199254740993"),
        ("PROFILE (PRI (a='it''s'))", "a = 'it''s'"),
        ("PROFILE (PRI (état=désert))", "état = 'désert'"),
        (
            'PROFILE (PRI ("in" = 1, "TYPE" = 2, room.floor = 3))',
            '"in" = 1 and "TYPE" = 2 and room.floor = 3',
        ),
        ("PROFILE (PRI ( ))", "true"),
    ],
)
def test_reads_profiles(text: str, native: str) -> None:
    assert read(text) == fyke.parse(native)


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("", 0, "PROFILE"),
        ("PROFIL ( PRI ( a=1 ) )", 0, "PROFILE"),
        ("PROFILE ( a=1 )", 10, "PRI"),
        ("PROFILE ( PRI ( a=1 )", 21, ")"),
        ("PROFILE ( PRI ( a=1 ) ) x", 24, "end"),
        ("PROFILE ( PRI ( a=1 , ) )", 22, "attribute"),
        ("PROFILE ( PRI ( a=1 a2=2 ) )", 20, ", or )"),
        ("PROFILE ( PRI ( a=1 , b=2 , a>0 ) )", 28, "a is spoken of twice"),
        ("PROFILE ( PRI ( TYPE=T1 , TYPE=T1 ) )", 26, "TYPE is given twice"),
        ('PROFILE ( PRI ( TYPE=T1 , "type"=2 ) )', 26, "twice"),
        ("PROFILE ( PRI ( TYPE>T1 ) )", 20, "="),
        ("PROFILE ( PRI ( TYPE=5 ) )", 21, "type"),
        ("PROFILE ( PRI ( a>=5 ) )", 18, "number"),
        ("PROFILE ( PRI ( a!=5 ) )", 17, "'!'"),
        ("PROFILE ( PRI ( a>open ) )", 18, "IN"),
        ("PROFILE ( PRI ( a BETWEEN ['a', 'b'] ) )", 27, "IN"),
        ("PROFILE ( PRI ( a BETWEEN [1] ) )", 28, ","),
        ("PROFILE ( PRI ( a IN {} ) )", 22, "a number"),
        ("PROFILE ( PRI ( a IN {1,} ) )", 24, "a number"),
        ("PROFILE ( PRI ( a LIKE 'x' ) )", 18, "BETWEEN"),
        ("PROFILE ( PRI ( in=1 ) )", 16, "double quotes"),
        ("PROFILE ( PRI ( a='x ) )", 18, "closed"),
        ("PROFILE ( PRI ( a=1e5 ) )", 18, "number"),
        ("PROFILE ( PRI ( a=" + "9" * 400 + " ) )", 18, "too large"),
        ("PROFILE ( PRI ( a=" + "9" * 5000 + " ) )", 18, "too long"),
    ],
)
def test_refuses_with_the_position(text: str, position: int, says: str) -> None:
    with pytest.raises(FilterError) as refused:
        read(text)
    assert refused.value.position == position
    assert says in str(refused.value)


@pytest.mark.parametrize("source", [None, 5, {}, [], b"PROFILE(PRI())", "\ud800"])
def test_refuses_what_is_no_text(source: object) -> None:
    with pytest.raises(FilterError):
        fyke.parse(source, dialect="das")


def test_limits() -> None:
    small = Limits(text_length_max=60, nodes_max=2, list_size_max=2)
    with pytest.raises(FilterError, match="limit"):
        das.parse("PROFILE ( PRI ( a=1 ) )" + " " * 60, small)
    with pytest.raises(FilterError, match="no more than 2 parts"):
        das.parse("PROFILE ( PRI ( a=1 , b=1 , c=1 ) )", small)
    with pytest.raises(FilterError, match="no more than 2 values"):
        das.parse("PROFILE ( PRI ( a IN {1,2,3} ) )", small)
    assert das.parse("PROFILE ( PRI ( a IN {1,2} , b=1 ) )", small)


@pytest.mark.parametrize(
    "text",
    [
        "PROFILE(PRI(a=1))" + " " * 500_000,
        "'" * 500_001,
        "PROFILE(PRI(a='" + "''" * 250_000,
        '"' * 500_001,
        "PROFILE" + "(" * 500_000,
        "PROFILE(PRI(a=" + "1" * 500_000 + "x))",
        "PROFILE(PRI(" + "a." * 250_000 + "))",
    ],
)
def test_long_nonsense_takes_linear_time(text: str) -> None:
    started = time.perf_counter()
    with suppress(FilterError):
        read(text)
    assert time.perf_counter() - started < 5


@given(st.text("PROFILE RI(),=<>'\"{}[]ab1.-\n\\é", max_size=40))
def test_no_other_error_escapes(tail: str) -> None:
    for text in (tail, "PROFILE(PRI(" + tail, "PROFILE(PRI(a" + tail + "))"):
        with suppress(FilterError):
            assert isinstance(read(text), Filter)


# --- meaning --------------------------------------------------------------------------------------

NAMES = ["a", "b", "c.d", "type", "weird name", "null"]
Part = tuple[str, str, object]


@st.composite
def profiles(draw: st.DrawFn) -> list[Part]:
    """Parts of a profile, each about another attribute: (attribute, operator, operand)."""
    value = st.one_of(gen.numbers(), gen.strings())
    parts: list[Part] = []
    for attribute in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4)):
        operator = draw(st.sampled_from(["=", "<", ">", "IN", "BETWEEN"]))
        operand: object = draw(value)
        if operator in "<>":
            operand = draw(gen.numbers())
        elif operator == "IN":
            operand = draw(st.lists(value, min_size=1, max_size=3))
        elif operator == "BETWEEN":
            operand = (draw(gen.numbers()), draw(gen.numbers()))
        parts.append((attribute, operator, operand))
    return parts


def written(parts: list[Part]) -> str:
    return f"PROFILE ( PRI ( {' , '.join(map(written_part, parts))} ) )"


def written_part(part: Part) -> str:
    attribute, operator, operand = part
    name = '"' + attribute + '"'
    if operator == "IN":
        assert isinstance(operand, list)
        return f"{name} IN {{{','.join(map(written_value, operand))}}}"
    if operator == "BETWEEN":
        assert isinstance(operand, tuple)
        return f"{name} BETWEEN [{written_value(operand[0])},{written_value(operand[1])}]"
    return f"{name}{operator}{written_value(operand)}"


def written_value(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"{value:.1100f}" if isinstance(value, float) and "e" in repr(value) else repr(value)


def accepts(parts: list[Part], event: Event) -> bool:
    """DAS-3 for one event, element by element."""
    for attribute, operator, operand in parts:
        if attribute not in event.attributes:
            return False
        value = event.attributes[attribute]
        elements = value if isinstance(value, tuple) else (value,)
        if not any(holds(element, operator, operand) for element in elements):
            return False
    return True


def holds(value: object, operator: str, operand: object) -> bool:
    match operator:
        case "=":
            return same(value, operand)
        case "IN":
            assert isinstance(operand, list)
            return any(same(value, one) for one in operand)
        case "<":
            return number(value) and value < operand  # type: ignore[operator]
        case ">":
            return number(value) and value > operand  # type: ignore[operator]
    low, high = operand  # type: ignore[misc]
    return number(value) and low <= value <= high  # type: ignore[has-type]


def number(value: object) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def same(one: object, other: object) -> bool:
    return (
        number(one) == number(other)
        and isinstance(one, str) == isinstance(other, str)
        and one == other
    )


@given(profiles(), st.lists(gen.events(), min_size=1, max_size=8))
def test_means_what_the_paper_says(parts: list[Part], events: list[Event]) -> None:
    shortened = [part for part in parts if len(written_part(part)) < 900]
    filter = read(written(shortened))
    assert not isinstance(filter, Residual)
    for event in events:
        assert filter.matches(event) == accepts(shortened, event)


def test_type_is_tested_for_equality() -> None:
    filter = read("PROFILE ( PRI ( TYPE=Stock ) )")
    assert filter.matches(Event({}, type="Stock"))
    assert not filter.matches(Event({}, type="Share", supertypes=["Stock"]))
    assert not filter.matches({})


# --- printing -------------------------------------------------------------------------------------


def test_prints_the_notation_of_the_paper() -> None:
    text = "PROFILE ( PRI ( a1=5 , a2>10 , TYPE=T1 ) )"
    assert das.to_text(read(text)) == text


@given(profiles())
def test_profile_round_trip(parts: list[Part]) -> None:
    filter = read(written([part for part in parts if len(written_part(part)) < 900]))
    assert read(das.to_text(filter)) == filter


def test_prints_true_and_single_predicates() -> None:
    for filter in (
        TRUE,
        equals("a", 1),
        Range("a", 1, 2),
        In("type", ("A", "B")),
        equals("type", 5),
    ):
        assert read(das.to_text(filter)) == filter


@pytest.mark.parametrize(
    "filter",
    [
        fyke.parse("a != 1"),
        fyke.parse("a <= 1"),
        fyke.parse("a between 1 exclusive and 2"),
        fyke.parse("a < 'x'"),
        fyke.parse("a = 1 or b = 2"),
        fyke.parse("not a = 1"),
        fyke.parse("false"),
        fyke.parse("a = true"),
        fyke.parse("a is null"),
        fyke.parse("a in (1, null)"),
        fyke.parse("a = timestamp '2024-01-01'"),
        conjunction([Range("a", 1, None, True), Range("a", None, 5, False, True)]),
        Exists("a"),
        TypeIs("T1"),
    ],
    ids=str,
)
def test_refuses_to_print_what_das_cannot_say(filter: Filter) -> None:
    with pytest.raises(FilterError, match="DAS"):
        das.to_text(filter)


# --- events ---------------------------------------------------------------------------------------


def test_reads_and_prints_events() -> None:
    event = das.parse_event("EVENT ( a1=5 , a2=11 , TYPE=T1 )")
    assert event == Event({"a1": 5, "a2": 11, "type": "T1"})
    assert event.type == "T1"
    assert das.event_to_text(event) == "EVENT ( a1=5 , a2=11 , TYPE=T1 )"
    assert das.parse_event("event()") == Event({})
    assert das.parse_event("EVENT(\"weird name\"=open, x='o''k', y=-1.50)") == Event(
        {"weird name": "open", "x": "o'k", "y": -1.5}
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "EVENT"),
        ("PROFILE ( PRI ( a=1 ) )", "EVENT"),
        ("EVENT ( a>1 )", "="),
        ("EVENT ( a=1 , a=2 )", "a is spoken of twice"),
        ("EVENT ( a=1", ", or )"),
        ("EVENT ( a=1 ) x", "end"),
        ("EVENT ( TYPE=1 )", "type"),
        ("EVENT ( a=" + "9" * 39 + " )", "38 digits"),
    ],
)
def test_refuses_events(text: str, says: str) -> None:
    with pytest.raises(EventError) as refused:
        das.parse_event(text)
    assert says in str(refused.value)


@pytest.mark.parametrize("value", [None, True, [1, 2], datetime(2024, 1, 1, tzinfo=UTC)])
def test_refuses_to_print_events_with_other_values(value: object) -> None:
    with pytest.raises(EventError, match="DAS has no value"):
        das.event_to_text(Event({"a": value}))


@given(st.dictionaries(st.sampled_from(NAMES), st.one_of(gen.numbers(), gen.strings())))
def test_event_round_trip(document: dict[str, object]) -> None:
    event = Event(document)
    assert das.parse_event(das.event_to_text(event)) == event
