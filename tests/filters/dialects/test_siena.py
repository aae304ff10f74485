"""Siena's constraints in both notations, against an interpreter of SUM-3."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.errors import FilterError
from fyke.events.event import Event
from fyke.events.value import canonical, format_timestamp
from fyke.filters.dialects import siena
from fyke.filters.filter import Filter, walk
from fyke.filters.residual import Residual
from fyke.limits import Limits
from fyke.testing import generators as gen


def read(source: object) -> Filter:
    return fyke.parse(source, dialect="siena")


# --- notation -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "native"),
    [
        ('exchange ~ "N*SE"', "exchange like 'N%SE'"),
        ('symbol >* "OT"', "symbol starts with 'OT'"),
        ('symbol *< "TE"', "symbol ends with 'TE'"),
        ("symbol * 'T'", "symbol contains 'T'"),
        ("symbol*'T'", "symbol contains 'T'"),
        ("price >= 8.30 price <= 8.70", "price >= 8.3 and price <= 8.7"),
        ("price != 1; open = true & n = -1e3,", "price != 1 and open = true and n = -1000"),
        ("a any", "exists a"),
        ("filter{a=1 b<2}", "a = 1 and b < 2"),
        ("{ a any ; b any }", "exists a and exists b"),
        ("filter { }", "true"),
        ("filter = 1", "filter = 1"),
        ("date = 5; string any", "date = 5 and exists string"),
        ("int a != 5", "a < 5 or a > 5"),
        ('string a != "x"', "a < 'x' or a > 'x'"),
        ("bool a != true", "a = false"),
        ('date a > "2003-07-01"', "a > timestamp '2003-07-01'"),
        ('"weird name" = "it\'s"', "\"weird name\" = 'it''s'"),
        (r'a = "\"\\\n"', "a = '\"\\\n'"),
        (r'a ~ "50\\*x*"', "a starts with '50*x'"),
        ('a ~ "x"', "a = 'x'"),
        ('a ~ "**"', "a like '%'"),
        ("room/temp = 1; a.b = 2", '"room/temp" = 1 and a.b = 2'),
        ("[]", "true"),
        ('[["a", "=", 1]]', "a = 1"),
        ('  [["float", "a", "<", 8.70], {"attribute": "b", "op": "any"}]', "a < 8.7 and exists b"),
        (
            [("a", ">*", "x"), {"name": "b", "op": "!=", "value": 1.0}],
            "a starts with 'x' and b != 1",
        ),
        ([["a", "=", datetime(2024, 1, 1, tzinfo=UTC)]], "a = timestamp '2024-01-01'"),
        ([["date", "a", "=", "2024-01-01T00:00:00Z"]], "a = timestamp '2024-01-01'"),
        ([["a", "any"]], "exists a"),
        ([{"name": "a", "op": "any", "value": None, "type": None}], "exists a"),
    ],
    ids=str,
)
def test_reads(source: object, native: str) -> None:
    assert read(source) == fyke.parse(native)


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("", 0, "name of an attribute"),
        ("   ", 3, "name of an attribute"),
        ("a", 1, "one of ="),
        ("a =", 3, "a number"),
        ("a = b", 4, "in quotes"),
        ("a == 5", 3, "a number"),
        ("a = 1 }", 6, "end"),
        ("{a = 1", 6, "}"),
        ("{a = 1} b = 2", 8, "end"),
        (";a = 1", 0, "name of an attribute"),
        ("a = 1;;b = 2", 6, "name of an attribute"),
        ("text a = 1", 0, "types string"),
        ("int a = 1.5", 0, "not of type int"),
        ("int a = '1'", 0, "not of type int"),
        ("float a = true", 0, "not of type float"),
        ("date a = 'soon'", 0, "timestamp"),
        ("a < true", 0, "cannot order"),
        ("a >* 5", 0, "a string"),
        ("a = 'x", 4, "closed"),
        (r"a ~ 'x\\'", 0, "backslash"),
        ("a > 1e400", 4, "too large"),
        ("a = 12x", 4, "number"),
        ("a = 1 ? b = 2", 6, "'?'"),
        ('[["a", "=", 1]', 14, "JSON"),
    ],
)
def test_refuses_with_the_position(text: str, position: int, says: str) -> None:
    with pytest.raises(FilterError) as refused:
        read(text)
    assert refused.value.position == position
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (None, "not NoneType"),
        (5, "not int"),
        ({"name": "a", "op": "any"}, "not dict"),
        ([1], "constraint 0"),
        ([["a", "any"], []], "constraint 1"),
        ([[1, "=", 1]], "no name"),
        ([["a", "=="]], "unknown operator"),
        ([["a", ["="], 1]], "unknown operator"),
        ([["text", "a", "=", 1]], "unknown type"),
        ([["a", "=", None]], "no value"),
        ([["a", "="]], "no value"),
        ([["a", "=", [1]]], "list"),
        ([["a", "=", float("nan")]], "nan"),
        ([["a", "=", 2**63]], "64 bits"),
        ([["a", "=", "\ud800"]], "surrogate"),
        ([["\ud800", "any"]], "surrogate"),
        ([["a", "=", datetime(2024, 1, 1)]], "time zone"),
        ([{"name": "a", "attribute": "b", "op": "any"}], "keys"),
        ([{"name": "a", "operator": "any"}], "keys"),
        ([{"op": "any"}], "no name"),
        ('[["a", "=", NaN]]', "NaN"),
        ('[["a", "=", 1e999]]', "inf"),
        ('[["a", "=", "\\ud800"]]', "surrogate"),
        ('[{"name": "a", "op": "any", "op": "="}]', "twice"),
        ("[" * 100_000, "JSON"),
        ('[["a", "=", ' + "9" * 5000 + "]]", "JSON"),
        ("\ud800 any", "surrogate"),
    ],
)
def test_refuses(source: object, says: str) -> None:
    with pytest.raises(FilterError) as refused:
        read(source)
    assert says in str(refused.value)


def test_nesting_never_overflows() -> None:
    nested: object = 1
    for _ in range(100_000):
        nested = [nested]
    for source in ([nested], [["a", "=", nested]], [[nested, "any"]], [["a", nested]]):
        with pytest.raises(FilterError):
            read(source)


def test_limits() -> None:
    small = Limits(text_length_max=40, nodes_max=2)
    for source in ("a any" + " " * 40, '[["a", "any"]]' + " " * 40):
        with pytest.raises(FilterError, match="limit"):
            siena.parse(source, small)
    for source in ("a any b any c any", [["a", "any"]] * 3):
        with pytest.raises(FilterError, match="more than 2"):
            siena.parse(source, small)
    assert siena.parse("a any b any", small) == siena.parse([["a", "any"], ["b", "any"]], small)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1" + " " * 500_000,
        '"' * 500_001,
        "a ~ '" + r"\\x" * 150_000 + "'",
        "a ~ '" + "*" * 500_000 + "'",
        "a = '" + "\\" * 500_001,
        "{" * 500_000,
        "a = " + "1" * 500_000 + "x",
    ],
)
def test_long_nonsense_takes_linear_time(text: str) -> None:
    started = time.perf_counter()
    with suppress(FilterError):
        read(text)
    assert time.perf_counter() - started < 5


@given(st.text("ab=<>*~!{}[];&,'\"\\1.- \nint", max_size=30))
def test_no_other_error_escapes(text: str) -> None:
    for whole in (text, "a " + text, "a ~ '" + text, "[" + text, '[["a", "="' + text + "]]"):
        with suppress(FilterError):
            assert isinstance(read(whole), Filter)


# --- meaning --------------------------------------------------------------------------------------

Constraint = tuple[str | None, str, str, object]
KINDS = {
    "string": (str,),
    "int": (int, float, Decimal),
    "float": (int, float, Decimal),
    "date": (datetime,),
    "bool": (bool,),
}


@st.composite
def constraints(draw: st.DrawFn) -> Constraint:
    """(type, name, operator, value): a valid one, its type often declared."""
    name = draw(gen.names())
    operator = draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">=", ">*", "*<", "*", "~", "any"]))
    declared = draw(st.sampled_from(list(KINDS)))
    if operator in (">*", "*<", "*", "~"):
        declared = "string"
    elif operator not in ("=", "!=", "any") and declared == "bool":
        declared = "float"
    value = draw(
        {
            "string": gen.strings(),
            "int": st.integers(-(2**63), 2**63 - 1) | st.integers(-1, 3),
            "float": gen.numbers(),
            "date": gen.moments(),
            "bool": st.booleans(),
        }[declared]
    )
    if operator == "~":
        value = draw(st.text("ab*", max_size=5))
    shown = declared == "date" or draw(st.booleans())
    return declared if shown else None, name, operator, value


def accepts(constraint: Constraint, event: Event) -> bool:
    """SUM-3 for one event, element by element."""
    declared, name, operator, value = constraint
    if name not in event.attributes:
        return False
    held = event.attributes[name]
    if operator == "any" and declared is None:
        return True
    elements = held if isinstance(held, tuple) else (held,)
    return any(holds(element, declared, operator, value) for element in elements)


def holds(held: object, declared: str | None, operator: str, value: object) -> bool:
    if declared is not None and not is_a(held, KINDS[declared]):
        return False
    if operator == "any":
        return True
    alike = comparable(held, value)
    match operator:
        case "=":
            return alike and held == value
        case "!=":
            return not (alike and held == value)
        case "<":
            return alike and held < value  # type: ignore[operator]
        case "<=":
            return alike and held <= value  # type: ignore[operator]
        case ">":
            return alike and held > value  # type: ignore[operator]
        case ">=":
            return alike and held >= value  # type: ignore[operator]
    if not isinstance(held, str):
        return False
    assert isinstance(value, str)
    match operator:
        case ">*":
            return held.startswith(value)
        case "*<":
            return held.endswith(value)
        case "*":
            return value in held
    return fits(value, held)


def is_a(held: object, classes: tuple[type, ...]) -> bool:
    return isinstance(held, classes) and (bool in classes or not isinstance(held, bool))


def comparable(one: object, other: object) -> bool:
    return any(is_a(one, classes) and is_a(other, classes) for classes in KINDS.values())


def fits(pattern: str, text: str) -> bool:
    """Stars stand for any text; by recursion over both."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(fits(pattern[1:], text[skipped:]) for skipped in range(len(text) + 1))
    return text[:1] == pattern[0] and fits(pattern[1:], text[1:])


def as_text(constraint: Constraint) -> str:
    declared, name, operator, value = constraint
    start = f"{declared or ''} {quoted(name)} {operator}"
    return start if operator == "any" else f"{start} {written(value)}"


def as_list(constraint: Constraint) -> list[object]:
    declared, name, operator, value = constraint
    moment = format_timestamp(value) if isinstance(value, datetime) else value
    return [declared, name, operator, None if operator == "any" else moment]


def written(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case datetime():
            return quoted(format_timestamp(value))
    return str(canonical(value))


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@given(
    st.lists(constraints(), min_size=1, max_size=4), st.lists(gen.events(), min_size=1, max_size=8)
)
def test_means_what_the_paper_says(given_: list[Constraint], events: list[Event]) -> None:
    filter = read("; ".join(map(as_text, given_)))
    assert not any(isinstance(node, Residual) for node in walk(filter))
    for event in events:
        assert filter.matches(event) == all(accepts(constraint, event) for constraint in given_)


@given(st.lists(constraints(), min_size=1, max_size=4))
def test_the_notations_agree(given_: list[Constraint]) -> None:
    filter = read(" ".join(map(as_text, given_)))
    listed = [as_list(constraint) for constraint in given_]
    assert read("filter{" + "\n".join(map(as_text, given_)) + "}") == filter
    assert read(listed) == filter
    assert read(json.dumps(listed)) == filter
    keys = ("type", "name", "op", "value")
    assert read([dict(zip(keys, constraint, strict=True)) for constraint in listed]) == filter


@pytest.mark.parametrize(
    ("pattern", "value", "verdict"),
    [
        ("N*SE", "NYSE", True),
        ("N*SE", "NSE", True),
        ("N*SE", "NYS", False),
        ("ab*bc", "abc", False),
        ("ab*bc", "abbc", True),
        ("m*t", "microsoft", True),
        ("m*t", "micronet", True),
        ("m*t", "oracle", False),
        ("a*b*c", "a-b-b-c", True),
    ],
)
def test_patterns(pattern: str, value: str, verdict: bool) -> None:
    assert read(f'a ~ "{pattern}"').matches({"a": value}) is verdict


def test_missing_attributes() -> None:
    for text in ("a != 5", "int a != 5", 'string a != "x"', "a any", "a = 5", "a ~ '*'"):
        assert not read(text).matches({"b": 5})


def test_a_declared_type_is_part_of_the_test() -> None:
    assert read("a != 5").matches({"a": "x"})
    assert not read("int a != 5").matches({"a": "x"})
    assert read("int a != 5").matches({"a": 5.5})
    assert not read("int a any").matches({"a": True})
    for number in (-(2**63), -1.7e308, 0, 5e-324, 1.7976931348623157e308):
        assert read("float a any").matches({"a": number})
    assert read("bool a any").matches({"a": True})
    assert read("a any").matches({"a": None})
    assert not read("string a any").matches({"a": None})
