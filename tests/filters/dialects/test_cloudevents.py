"""The dialects of the CloudEvents Subscriptions API."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.events.value import format_timestamp
from fyke.filters.algebra.weakening import indexable
from fyke.filters.dialects import cesql, cloudevents
from fyke.filters.filter import TRUE, Filter
from fyke.filters.language.parser import parse_text
from fyke.limits import DEFAULT_LIMITS
from fyke.testing.covering import check_covers

NOON = datetime(2024, 1, 31, 12, tzinfo=UTC)


def parse(source: object) -> Filter:
    return cloudevents.parse(source, DEFAULT_LIMITS)


@pytest.mark.parametrize(
    ("source", "filter"),
    [
        ({"exact": {"type": "a", "subject": "b"}}, "type = 'a' and subject = 'b'"),
        ({"prefix": {"type": "com."}}, "type starts with 'com.'"),
        ({"suffix": {"type": ".created"}}, "type ends with '.created'"),
        ({"all": [{"exact": {"a": "x"}}, {"exact": {"b": "y"}}]}, "a = 'x' and b = 'y'"),
        ({"any": [{"exact": {"a": "x"}}, {"prefix": {"b": "y"}}]}, "a = 'x' or b starts with 'y'"),
        ({"not": {"exact": {"a": "x"}}}, "not a = 'x'"),
        ({"sql": "a LIKE '%x%'"}, "a contains 'x'"),
        ([{"exact": {"a": "x"}}, {"exact": {"b": "y"}}], "a = 'x' and b = 'y'"),
        ([{"exact": {"a": "x"}}], "a = 'x'"),
        ({"exact": {"a": "5"}}, "a in (5, '5')"),
        ({"prefix": {"a": "tr"}}, "a starts with 'tr' or a = true"),
    ],
)
def test_trees(source: object, filter: str) -> None:
    assert parse(source) == parse_text(filter)
    assert parse(json.dumps(source)) == parse_text(filter)


def test_no_filter_accepts_everything() -> None:
    assert parse([]) == parse("[]") == TRUE


@pytest.mark.parametrize(
    ("source", "matching", "other"),
    [
        ({"exact": {"a": "x"}}, {"a": "x"}, {"a": "X"}),
        ({"exact": {"a": "true"}}, {"a": True}, {"a": "TRUE"}),
        ({"exact": {"a": "5"}}, {"a": 5}, {"a": "05"}),
        (
            {"exact": {"time": "2024-01-31T12:00:00Z"}},
            {"time": NOON},
            {"time": "2024-01-31T12:00:00+00:00"},
        ),
        ({"prefix": {"time": "2024-01"}}, {"time": NOON}, {"time": NOON.replace(month=3)}),
        ({"suffix": {"a": "3"}}, {"a": 123}, {"a": 321}),
        ({"suffix": {"a": "e"}}, {"a": True}, {"a": None}),
        ({"prefix": {"a": "x"}}, {"a": ["y", "xy"]}, {"a": []}),
        ({"not": {"exact": {"a": "x"}}}, {}, {"a": "x"}),
        ({"not": {"sql": "a = 5"}}, {"a": "no number"}, {"a": "5"}),
        ({"sql": "a = 5"}, {"a": "5"}, {"a": "no number"}),
    ],
)
def test_matching(source: object, matching: dict[str, Any], other: dict[str, Any]) -> None:
    assert parse(source).matches(matching)
    assert not parse(source).matches(other)


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ('{"exact": {"a": "x", "a": "y"}}', "'a': the key occurs twice"),
        ("{", "JSON"),
        ("", "JSON"),
        ('{"exact": {"a": "\\ud800"}}', "surrogate"),
        ("5", "expected a filter"),
        ("null", "expected a filter"),
        ([5], r"'\[0\]' is of type int"),
        ({}, "names 0 dialects"),
        ({"exact": {"a": "x"}, "prefix": {"a": "x"}}, "names 2 dialects"),
        ({"glob": {"a": "x"}}, "unknown dialect 'glob'"),
        ({"EXACT": {"a": "x"}}, "unknown dialect 'EXACT'"),
        ({5: {}}, "unknown dialect"),
        (
            {"any": [{"exact": {"a": "x"}}, {"glob": 1}]},
            r"'any\[1\]' names the unknown dialect 'glob'",
        ),
        ({"exact": {}}, "'exact' is an empty object"),
        ({"exact": "x"}, "'exact' is 'x'"),
        ({"exact": {"": "x"}}, "expected the name of an attribute"),
        ({"exact": {"a": ""}}, "'exact.a' is ''"),
        ({"prefix": {"a": 10**5000}}, "'prefix.a' is of type int"),
        ({"suffix": {"a": None}}, "'suffix.a' is None"),
        ({"suffix": {"a": "\ud800"}}, "surrogate"),
        ({"all": []}, "'all' is an empty array"),
        ({"any": {"exact": {"a": "x"}}}, "'any' is an object"),
        ({"not": [{"exact": {"a": "x"}}]}, "'not' is an array"),
        ({"not": {}}, "'not' names 0 dialects"),
        ({"sql": 5}, "'sql' is of type int"),
        ({"sql": "a ="}, "the expression ends here"),
        ({"sql": "FROB(a)"}, "no function 'FROB'"),
        (b"{}", "is of type bytes"),
        (object(), "is of type object"),
    ],
)
def test_refusals(source: object, problem: str) -> None:
    with pytest.raises(fyke.FilterError, match=problem):
        parse(source)


def test_depth_and_size_are_bounded() -> None:
    deep: object = {"exact": {"a": "x"}}
    for _ in range(10_000):
        deep = {"not": deep}
    wide = {"any": [{"exact": {"a": "x"}}] * 60_000}
    for source in (deep, wide, '{"not":' * 10_000, '{"all":[' * 10_000, " " * 2_000_000):
        with pytest.raises(fyke.FilterError):
            parse(source)


# --- against a plain reading of the standard ------------------------------------------------------

TEXTS = [
    "x",
    "xy",
    "5",
    "05",
    "1",
    "true",
    "t",
    "2024-01-31T12:00:00Z",
    "2024-",
    "Z",
    "1.5",
    "é",
    "a%",
    "-",
]
SCALARS: list[object] = [
    None,
    True,
    False,
    0,
    1,
    5,
    -5,
    15,
    5.0,
    1.5,
    -0.0,
    2**53 + 1,
    1e300,
    NOON,
    "",
    *TEXTS,
]


def texts_of(event: Event, name: str) -> list[str]:
    value = event.attributes.get(name)
    elements = value if isinstance(value, tuple) else (value,)
    return [
        format_timestamp(element)
        if isinstance(element, datetime)
        else str(element).lower()
        if isinstance(element, bool)
        else str(int(element))
        if isinstance(element, float) and element.is_integer() and abs(element) < 2**63
        else str(element)
        for element in elements
        if element is not None
    ]


_FITS: dict[str, Callable[[str, str], bool]] = {
    "exact": str.__eq__,
    "prefix": str.startswith,
    "suffix": str.endswith,
}


def accepts(source: Any, event: Event) -> bool:
    ((dialect, operand),) = source.items()
    match dialect:
        case "all":
            return all(accepts(each, event) for each in operand)
        case "any":
            return any(accepts(each, event) for each in operand)
        case "not":
            return not accepts(operand, event)
        case "sql":
            result = cesql.evaluate(operand, event)
            return result.error is None and result.value is True
    fits = _FITS[dialect]
    return all(
        any(fits(text, part) for text in texts_of(event, name)) for name, part in operand.items()
    )


def sources() -> st.SearchStrategy[Any]:
    pairs = st.dictionaries(st.sampled_from(["a", "b", "c.d"]), st.sampled_from(TEXTS), min_size=1)
    leaves = st.one_of(
        *(
            st.builds(lambda p, d=dialect: {d: p}, pairs)
            for dialect in ("exact", "prefix", "suffix")
        ),
        st.sampled_from(["a = 5", "a < 5 OR b = 'x'", "NOT (a LIKE '%5')"]).map(
            lambda t: {"sql": t}
        ),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda each: {"all": each}),
            st.lists(inner, min_size=1, max_size=3).map(lambda each: {"any": each}),
            inner.map(lambda each: {"not": each}),
        ),
        max_leaves=4,
    )


def events() -> st.SearchStrategy[Event]:
    values = st.one_of(st.sampled_from(SCALARS), st.lists(st.sampled_from(SCALARS), max_size=3))
    return st.dictionaries(st.sampled_from(["a", "b", "c.d"]), values).map(Event)


@given(sources(), st.lists(events(), min_size=1, max_size=6))
@settings(max_examples=500)
def test_the_filter_means_what_the_standard_says(source: Any, events: list[Event]) -> None:
    filter = parse(json.dumps(source))
    assert filter == parse(source)
    assert parse_text(str(filter)) == filter
    check_covers(indexable(filter), lambda event: accepts(source, event), events)
    for event in events:
        assert filter.matches(event) is accepts(source, event), event


def test_residuals() -> None:
    check = cloudevents.check('{"prefix": {"time": "2024-"}}')
    assert check.attributes == {"time"}
    assert check(Event({"time": NOON}))
    for text in ('{"exact": {"a": "x"}}', '{"prefix": {}}', '{"prefix": {"a": 5}}', "[]", "{"):
        with pytest.raises(fyke.FilterError):
            cloudevents.check(text)
