"""Strict JSON: what every parser agrees on is read, everything that they differ on is refused."""

from __future__ import annotations

import contextlib
import json as reference
import math
import time
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke import Event, EventError
from fyke.events import json
from fyke.limits import Limits
from fyke.testing.generators import numbers, strings

plain = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers(), strings()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(strings(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(plain)
def test_what_we_write_we_read(value):
    assert repr(json.decode(json.encode(value))) == repr(value)


@given(plain, st.booleans(), st.sampled_from([None, 2]))
def test_what_others_write_we_read(value, ascii_only, indent):
    text = reference.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert repr(json.decode(text)) == repr(value)
    assert repr(json.decode(text.encode())) == repr(value)


def test_kinds_of_numbers_stay_apart():
    decoded = json.decode("[1, 1.0, -0.0, -0, 1e2, 9007199254740993, 9223372036854775807, true]")
    assert list(map(repr, decoded)) == [
        "1", "1.0", "-0.0", "0", "100.0", "9007199254740993", "9223372036854775807", "True",
    ]  # fmt: skip


def test_a_byte_order_mark_is_tolerated_once():
    assert json.decode("\ufeff[1]") == [1]
    assert json.decode(b"\xef\xbb\xbf[1]") == [1]
    with pytest.raises(EventError):
        json.decode("\ufeff\ufeff[1]")


def test_surrogate_pairs_are_characters():
    assert json.decode('"\\ud83d\\ude00"') == "😀"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "a": 2}', "attribute 'a': the key occurs twice"),
        ('{"x": [{"k": 1, "b": 0, "k": 1}]}', "attribute 'k': the key occurs twice"),
        ('{"a": 1, "\\u0061": 2}', "attribute 'a': the key occurs twice"),
        ('{"x": 0, "y": 1, "k": 2, "k": 3}', "attribute 'k': the key occurs twice"),
        ("", "empty"),
        (" \n\t", "empty"),
        (b"", "empty"),
        ("NaN", "NaN"),
        ('{"a": NaN}', "NaN"),
        ("[Infinity]", "Infinity"),
        ("-Infinity", "-Infinity"),
        ('{"a": {"b": 1e999}}', r"attribute 'a\.b': inf"),
        ("-1e999", "-inf"),
        ('{"a": [9223372036854775808]}', "attribute 'a': .* 64 bits"),
        ("-9223372036854775809", "64 bits"),
        ("9" * 10_000, "64 bits"),
        ('{"a": {"b": "\\ud800"}}', r"attribute 'a\.b': .* lone surrogate"),
        ('{"a": ["\\udc00\\ud800"]}', "attribute 'a': .* lone surrogate"),
        ('{"a": {"\\udfff": 1}}', "attribute 'a': .* lone surrogate"),
        ('"\ud800"', "lone surrogate"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (b'"\xed\xa0\x80"', "not UTF-8 at byte 1"),
        (b'"\xc0\x80"', "not UTF-8 at byte 1"),
        ("1 2", "(column 3)"),
        ("{}\n {}", "line 2, column 2"),
        ('{"a": 1,}', "column"),
        ("[1,]", "column"),
        ("{'a': 1}", "(column 2)"),
        ("01", "column 2"),
        ("1.", "column 2"),
        ("+1", "column 1"),
        (".5", "column 1"),
        ("0x10", "column 2"),
        ("\u0663", "column 1"),
        ("\u00a01", "column 1"),
        ('"\t"', "control character"),
        ('"\\x41"', "escape"),
        ('"\\u00"', "escape"),
        ('"open', "unterminated"),
        ("[1", "column"),
        ('{"a"', "column"),
        ("tru", "column"),
        (None, "NoneType"),
        ({"a": 1}, "dict"),
    ],
)
def test_refused_by_name_and_place(text, problem):
    with pytest.raises(EventError, match=problem):
        json.decode(text)
    with pytest.raises(EventError):
        json.decode_event(text)


@pytest.mark.parametrize(
    ("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]"), ("[[],", "]")]
)
@pytest.mark.parametrize("depth", [101, 500, 10_000, 1_000_000])
def test_depth_is_bounded(opening, closing, depth):
    started = time.perf_counter()
    for text in (opening * depth, opening * depth + "1" + closing * depth):
        with pytest.raises(EventError):
            json.decode(text)
        with pytest.raises(EventError):
            json.decode_event(text)
    assert time.perf_counter() - started < 5


def test_depth_is_counted_in_containers():
    limits = Limits(depth_max=3)
    assert json.decode('[{"a": []}]', limits) == [{"a": []}]
    assert json.decode_event('{"a": [{"b": 1}]}', limits).attributes == {"a.b": (1,)}
    for read in (json.decode, json.decode_event):
        with pytest.raises(EventError, match="deeper than 3"):
            read('{"a": [{"b": [1]}]}', limits)
    json.decode("[" * 100 + "]" * 100)


@pytest.mark.parametrize(
    "text",
    [
        "[" + "[1],[2]," * 50_000 + "1]",
        '"' + "\\\\" * 500_000,
        '{"' + "k" * 500_000 + '":{' + ",".join(f'"{n}":{{}}' for n in range(20_000)) + "}}",
        "{" + ",".join(f'"{n}":0' for n in range(100_000)) + ',"1":0}',
        "-" * 1_000_000,
        "\n" * 1_000_000 + "x",
    ],
    ids=["wide", "escapes", "long path", "late duplicate", "minus", "lines"],
)
def test_time_is_linear(text):
    started = time.perf_counter()
    with contextlib.suppress(EventError):
        json.decode(text)
    with contextlib.suppress(EventError):
        json.decode_event(text)
    assert time.perf_counter() - started < 5


@given(
    st.one_of(
        st.text(max_size=30),
        st.binary(max_size=30),
        st.text('[]{}":,\\0123eE.-u dD8ntf', max_size=30),
    )
)
def test_any_text_is_a_value_or_an_event_error(text):
    with contextlib.suppress(EventError):
        value = json.decode(text)
        assert repr(json.decode(json.encode(value))) == repr(value)
    with contextlib.suppress(EventError):
        assert isinstance(json.decode_event(text), Event)


# --- events ---------------------------------------------------------------------------------------


def test_an_event_is_an_object():
    event = json.decode_event('{"a": {"b": [1, null]}, "id": "7"}')
    assert event == Event({"a": {"b": [1, None]}, "id": "7"})
    assert event.attributes == {"a.b": (1, None), "id": "7"}
    for text, what in (
        ("[]", "an array"),
        ("null", "null"),
        ("1.5", "a number"),
        ('"x"', "a string"),
    ):
        with pytest.raises(EventError, match=f"an event is a JSON object, not {what}"):
            json.decode_event(text)


@given(st.dictionaries(strings(), plain, max_size=3))
def test_decode_event_is_decode_and_event(document):
    text = json.encode(document)
    assert json.decode_event(text) == Event(json.decode(text))


# --- writing --------------------------------------------------------------------------------------


def test_timestamps_are_written_in_utc():
    local = datetime(2026, 1, 31, 14, 0, 0, 5, tzinfo=timezone(timedelta(hours=2)))
    assert json.encode({"t": local}) == '{"t":"2026-01-31T12:00:00.000005Z"}'
    assert json.encode([datetime(2026, 1, 31, tzinfo=UTC)]) == '["2026-01-31T00:00:00Z"]'


def test_lists_and_mappings_of_all_kinds():
    assert (
        json.encode({"a": (1, None), "b": MappingProxyType({"é": 1.0})})
        == '{"a":[1,null],"b":{"é":1.0}}'
    )


@pytest.mark.parametrize("value", [math.nan, [math.inf], object(), {"a": b"x"}, {1, 2}])
def test_what_has_no_json_is_refused(value):
    with pytest.raises(EventError):
        json.encode(value)


def test_endless_values_are_refused():
    endless: list[object] = []
    endless.append(endless)
    with pytest.raises(EventError):
        json.encode(endless)
    deep: object = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(EventError):
        json.encode(deep)
