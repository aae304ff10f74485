"""Documents in columns: null is a value, kinds may mix at a path, and nothing else is changed."""

from __future__ import annotations

import io
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke import Event, EventError
from fyke.events.columns import Columns, read
from fyke.events.documents import in_columns, numbered, read_document
from fyke.events.event import as_event
from fyke.events.json import decode_event
from fyke.testing import generators
from tests.parts import check_parts

NASTY = [
    "{}",
    '{"a": null}',
    '{"a": {"b": null}}',
    '{"a": {"b": null, "c": 1}}',
    '{"a": {}}',
    '{"a": []}',
    '{"a": [null]}',
    '{"a": [null, null]}',
    '{"a": [1, null, "x", true, 0.5]}',
    '{"a": [[], [null], [[1]]]}',
    '{"a": [{}]}',
    '{"a": [{"b": null}, {"b": 1}, {}]}',
    '{"a": [{"b": []}, null]}',
    '{"a": null, "a.b": 1}',
    '{"a": [null, 1], "a.b": 1}',
    '{"a.b": null, "a": {"b": null}}',
    '{"a.b": [], "a": {"b": null}}',
    '{"a": -0.0}',
    '{"a": 0}',
    '{"a": 9007199254740993}',
    '{"a": 9007199254740992.0}',
    '{"a": 9223372036854775807}',
    '{"a": -9223372036854775808}',
    '{"a": 1e308}',
    '{"a": 5e-324}',
    '{"a": true}',
    '{"a": "null"}',
    '{"a": ""}',
    '{"": null, "é": "\\ud83d\\ude00", "日本": "\\u0000"}',
    '{"a": "\u2028 \x85"}',
    '{"type": null}',
    '{"type": ["Stock", null]}',
]
REFUSED = [
    "",
    "null",
    "[]",
    "{",
    '{"a": 1} {"a": 2}',
    '{"a": 1, "a": null}',
    '{"a": NaN}',
    '{"a": 1e999}',
    '{"a": 9223372036854775808}',
    '{"a": [-9223372036854775809]}',
    '{"a": "\\ud800"}',
    '{"\\ud800": null}',
    b'{"a": "\xff"}',
]
TEXTS = st.one_of(st.sampled_from(NASTY), generators.documents().map(json.dumps))


def check(columns: Columns, events: list[Event]) -> None:
    """Row i is event i, in the parts as in `event`."""
    assert columns.rows == len(events)
    assert not columns.bad
    for row, event in enumerate(events):
        assert columns.event(row) == event
        check_parts(columns, row, event)


@given(st.lists(TEXTS, max_size=8))
def test_rows_are_the_events_of_their_texts(texts):
    check(in_columns([read_document(text) for text in texts]), [decode_event(t) for t in texts])


@settings(max_examples=60)
@given(st.lists(generators.events(), max_size=6))
def test_rows_are_events_of_any_values(events):
    columns = in_columns(events)
    check(columns, events)
    names = [(int(row), name) for part in columns.supertypes for row, name in named(part)]
    assert names == [(row, name) for row, each in enumerate(events) for name in each.supertypes]


def named(part):
    return zip(part.rows, part.values.to_pylist(), strict=True)


def test_lists_of_decimals_are_lists_in_every_scale():
    one, other = Decimal("0.10000000000000001"), Decimal("1234567890123456789.5")
    cells = [[one, other], one, [one], [other, 1, None], [0.5, other, one, one], [], other]
    events = [Event({"a": cell}) for cell in cells]
    check(in_columns(events), events)
    for first in range(len(events)):
        check(in_columns(events[first : first + 2]), events[first : first + 2])


def test_all_nasty_documents_together():
    events = [decode_event(text) for text in NASTY]
    check(in_columns(events), events)
    for first in range(len(events)):
        check(in_columns(events[first : first + 3]), events[first : first + 3])


def test_null_and_missing_are_told_apart_where_a_table_cannot():
    documents = [{"a": None, "b": {"c": None}}, {}, {"a": 1, "b": {"c": [2, None]}}]
    parts = in_columns([Event(each) for each in documents]).paths
    (null,) = (part for part in parts["a"] if part.kind == "null")
    assert (null.rows.tolist(), null.present.tolist()) == ([0], [True, False, False])
    (null,) = (part for part in parts["b.c"] if part.kind == "null")
    assert null.rows.tolist() == [0, 2]
    assert null.is_list.tolist() == [False, False, True]
    in_table = read(pa.Table.from_pylist(documents)).paths
    assert not [part for each in in_table.values() for part in each if part.kind == "null"]


# --- forms ---------------------------------------------------------------------------------------


def events_of(documents: object) -> list[tuple[int, Event]]:
    return [(number, read_document(each)) for number, each in numbered(documents)]


def as_arrays(texts: list[str]) -> list[object]:
    """Arrow arrays of the texts: of all types, sliced, in chunks."""
    types = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()]
    types += [pa.binary_view(), pa.dictionary(pa.int16(), pa.string()), pa.json_()]
    whole = [pa.array(texts, type_) for type_ in types]
    padded = pa.array(["{}", None, *texts, '{"a": 7}'])
    return [
        *whole,
        padded.slice(2, len(texts)),
        pa.chunked_array([whole[0].slice(0, 1), padded.slice(3, len(texts) - 1)]),
    ]


@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_all_forms_hold_the_same_documents(texts):
    right = [(number, decode_event(text)) for number, text in enumerate(texts)]
    ndjson = "\n".join(texts)
    forms = [texts, [text.encode() for text in texts], [event for _, event in right]]
    forms += [ndjson, f"{ndjson}\n", ndjson.encode(), bytearray(ndjson.encode())]
    forms += ["\r\n".join(texts), io.BytesIO(ndjson.encode()), iter(texts), *as_arrays(texts)]
    forms += [[as_event(event).document for _, event in right]]
    for form in forms:
        assert events_of(form) == right


def test_blank_lines_are_counted_and_are_no_events():
    lines = "\n{}\n \t\r\n\n" + '{"a": 1}' + "\n\n"
    assert [number for number, _ in events_of(lines)] == [1, 4]
    assert [number for number, _ in events_of(lines.encode())] == [1, 4]
    assert events_of("") == events_of(b"\n") == events_of([]) == []


def test_only_line_feeds_end_lines():
    text = '{"a": "x\u2028\x85y"}'
    assert events_of(f"{text}\n{text}") == [(row, decode_event(text)) for row in (0, 1)]
    assert events_of("\ufeff{}\n{}") == [(0, Event({})), (1, Event({}))]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_event_is_refused_as_it_is_alone(text):
    with pytest.raises(EventError) as alone:
        decode_event(text)
    with pytest.raises(EventError) as among:
        read_document(text)
    assert str(alone.value) == str(among.value)


@pytest.mark.parametrize("wrong", [None, 7, {"a": 1}, Event({}), pa.array([1]), pa.array([[b"a"]])])
def test_what_holds_no_documents_is_refused(wrong):
    with pytest.raises(EventError, match="JSON lines"):
        numbered(wrong)
