"""Events: the envelope, flattening to paths, equality, and the limits."""

from __future__ import annotations

import time
from collections import ChainMap
from datetime import UTC, datetime, timedelta, timezone
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke import Event, EventError
from fyke.events.event import as_event, flatten
from fyke.events.json import decode_event
from fyke.limits import Limits
from fyke.testing.generators import scalars, strings

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)

# --- flattening -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("document", "attributes"),
    [
        ({}, {}),
        ({"a": 1, "b": None, "c": True}, {"a": 1, "b": None, "c": True}),
        ({"a": {"b": {"c": 1}}}, {"a.b.c": 1}),
        ({"a": {}}, {}),
        ({"a": []}, {"a": ()}),
        ({"a": [[], []]}, {"a": ()}),
        ({"a": [1]}, {"a": (1,)}),
        ({"a": (1, "x", None, True)}, {"a": (1, "x", None, True)}),
        ({"a": [1, [2, [3]]]}, {"a": (1, 2, 3)}),
        ({"a": [{"b": 1}, {"b": 2}, {"c": 3}]}, {"a.b": (1, 2), "a.c": (3,)}),
        ({"a": [{"b": {"c": 1}}]}, {"a.b.c": (1,)}),
        ({"a": [{"b": []}]}, {"a.b": ()}),
        ({"a": [1, {"b": 2}]}, {"a": (1,), "a.b": (2,)}),
        ({"a.b": 1, "a": {"b": 2}}, {"a.b": (1, 2)}),
        ({"a": {"b": 2}, "a.b": 1}, {"a.b": (2, 1)}),
        ({"a.b": [1, 2], "a": {"b": [3]}}, {"a.b": (1, 2, 3)}),
        ({"a.b": [], "a": {"b": 2}}, {"a.b": (2,)}),
        ({"a": {"b": 2}, "a.b": []}, {"a.b": (2,)}),
        ({"a": [1, 1, 1.0, True]}, {"a": (1, 1, 1.0, True)}),
        ({"": 1, ".": 2, "é ü": 3}, {"": 1, ".": 2, "é ü": 3}),
        ({"": {"": 1}}, {".": 1}),
        ({"a": MappingProxyType({"b": 1})}, {"a.b": 1}),
    ],
)
def test_paths(document, attributes):
    flat = flatten(document)
    assert flat == attributes
    assert list(map(repr, flat.values())) == list(map(repr, attributes.values()))
    assert Event(document).attributes == attributes


@given(st.dictionaries(strings(), scalars()))
def test_a_flat_document_is_its_attributes(document):
    assert flatten(document) == document
    assert flatten({"x": document}) == {f"x.{name}": value for name, value in document.items()}
    assert flatten({"x": [document]}) == {f"x.{name}": (value,) for name, value in document.items()}


def test_any_mapping_is_a_document():
    assert Event(ChainMap({"a": 1}, {"b": {"c": 2}})).attributes == {"a": 1, "b.c": 2}


def test_the_nested_original_stays():
    document = {"a": [{"b": 1, "c": 2}, {"b": 3}]}
    assert Event(document).document == document


@pytest.mark.parametrize(
    ("document", "attribute"),
    [
        ({"a": {"b": float("nan")}}, "a.b"),
        ({"a": [1, 2**63]}, "a"),
        ({"a": [{"b": b"x"}]}, "a.b"),
        ({"a": "\ud800"}, "a"),
        ({"x": "é", "a": datetime(2026, 1, 1)}, "a"),
        ({"a": {1: 2}}, "a.1"),
        ({1: 2}, "1"),
        ({None: 2}, "None"),
        ({"a": {1, 2}}, "a"),
    ],
)
def test_the_path_at_fault_is_named(document, attribute):
    with pytest.raises(EventError) as refused:
        Event(document)
    assert refused.value.attribute == attribute


@pytest.mark.parametrize("document", [{"\ud800": 1}, {"a": {"\udfff": 1}}, {"a": [{"\ud800": []}]}])
def test_names_hold_no_lone_surrogates(document):
    with pytest.raises(EventError, match="surrogate"):
        Event(document)


@pytest.mark.parametrize("document", [None, 5, "text", [("a", 1)], object()])
def test_what_is_no_mapping(document):
    with pytest.raises(EventError, match="mapping"):
        Event(document)
    with pytest.raises(EventError, match="mapping"):
        as_event(document)


def test_as_event():
    event = Event({"a": 1})
    assert as_event(event) is event
    assert as_event({"a": 1}) == event


# --- the envelope ---------------------------------------------------------------------------------


def test_the_envelope_is_attributes_like_any_other():
    event = Event({"a": 1}, id="1", source="s", type="T", time=NOON)
    assert event == Event({"a": 1, "id": "1", "source": "s", "type": "T", "time": NOON})
    assert (event.id, event.source, event.type, event.time) == ("1", "s", "T", NOON)
    assert event.attributes == event.document == {
        "a": 1, "id": "1", "source": "s", "type": "T", "time": NOON,
    }  # fmt: skip


def test_the_envelope_may_be_absent_or_of_other_kinds():
    for document in ({}, {"id": 1, "source": None, "type": ["T"], "time": "noon"}):
        event = Event(document)
        assert (event.id, event.source, event.type, event.time) == (None, None, None, None)


def test_the_envelope_may_repeat_the_document_but_not_contradict_it():
    assert Event({"id": "1"}, id="1").id == "1"
    with pytest.raises(EventError, match="attribute 'id'"):
        Event({"id": "1"}, id="2")
    with pytest.raises(EventError, match="attribute 'id'"):
        Event({"id": None}, id="2")


def test_times_are_in_utc():
    event = Event({}, time=NOON.astimezone(timezone(timedelta(hours=9))))
    assert event.time == NOON
    assert event.time.tzinfo is UTC


# --- equality -------------------------------------------------------------------------------------


def test_equality_is_by_value_and_kind():
    event = Event({"a": 1, "b": [1, {"c": None}]}, supertypes=["S"], payload={"x": [1]})
    assert event == Event({"b": (1, {"c": None}), "a": 1.0}, supertypes=("S",), payload={"x": (1,)})
    for other in (
        Event({"a": True, "b": [1, {"c": None}]}, supertypes=["S"], payload={"x": [1]}),
        Event({"a": 1, "b": [1, {"c": 0}]}, supertypes=["S"], payload={"x": [1]}),
        Event({"a": 1, "b": [1, {"c": None}]}, payload={"x": [1]}),
        Event({"a": 1, "b": [1, {"c": None}]}, supertypes=["S"], payload={"x": [True]}),
        Event({"a": 1, "b": [1, {"c": None}]}, supertypes=["S"]),
        Event({"a": 1, "b": [1, {}], "b.c": None}, supertypes=["S"], payload={"x": [1]}),
    ):
        assert event != other
    assert event != {"a": 1}


def test_events_are_not_hashed():
    with pytest.raises(TypeError):
        hash(Event({}))


# --- limits ---------------------------------------------------------------------------------------


def nested(depth: int, listed: bool) -> dict[str, object]:
    value: object = 1
    for _ in range(depth - 1):
        value = [value] if listed else {"a": value}
    return {"a": value}


@pytest.mark.parametrize("listed", [False, True])
def test_depth(listed):
    limits = Limits(depth_max=5)
    assert len(Event(nested(5, listed), limits=limits).attributes) == 1
    with pytest.raises(EventError, match="deeper than 5"):
        Event(nested(6, listed), limits=limits)
    for depth in (101, 100_000):
        with pytest.raises(EventError, match="deeper than 100"):
            Event(nested(depth, listed))


def test_a_document_that_holds_itself():
    document: dict[str, object] = {}
    document["a"] = document
    document["b"] = document
    with pytest.raises(EventError, match="deeper"):
        Event(document)


@pytest.mark.parametrize(
    "document",
    [
        {str(n): n for n in range(11)},
        {"é" + str(n): n for n in range(11)},
        {"a": {str(n): n for n in range(11)}},
        {"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 3, 4, 5]},
    ],
)
def test_the_number_of_values(document):
    with pytest.raises(EventError, match="more than 10 attribute values"):
        Event(document, limits=Limits(attributes_max=10))
    Event(document, limits=Limits(attributes_max=11))


def test_the_size_of_lists():
    limits = Limits(list_size_max=2)
    Event({"a": [1, 2]}, limits=limits)
    with pytest.raises(EventError, match="attribute 'a': a list of 3 elements is longer than 2"):
        Event({"a": [1, 2, 3]}, limits=limits)


def test_a_long_path_is_not_multiplied():
    started = time.perf_counter()
    with pytest.raises(EventError, match="path is longer than"):
        Event({"k" * 500_000: {str(n): n for n in range(50_000)}})
    assert time.perf_counter() - started < 5
    Event({"k" * 500_000: 1, "l" * 500_000: [1]})


def test_strange_values_and_supertypes_are_refused_as_event_errors() -> None:
    for make in (
        lambda: Event({"a": pd.NaT}),
        lambda: Event({"a": np.timedelta64(5, "D")}),
        lambda: Event({"id": np.array([1, 2])}, id="x"),
        lambda: Event({}, supertypes=5),  # type: ignore[arg-type]
        lambda: Event({}, supertypes="Stock"),
        lambda: Event({}, supertypes=[1]),  # type: ignore[list-item]
    ):
        with pytest.raises(EventError):
            make()


def test_empty_lists_count_as_attributes() -> None:
    with pytest.raises(EventError, match="attribute values"):
        Event({"p": {str(i): [] for i in range(60_000)}})


def test_an_event_of_json_is_read_when_somebody_looks_into_it():
    text = b'{"a": {"b": [1, null]}, "type": "T", "z": 1e3}'
    event = Event.from_json(text)
    assert event.unread == text
    assert event.get("a.b") == (1, None)
    assert event.unread is None
    assert event.type == "T"
    assert "z" in event
    whole = decode_event(text)
    assert event == whole
    assert whole == Event.from_json(text.decode())
    assert repr(Event.from_json(bytearray(text))) == repr(whole)
    assert event.document["a"] == {"b": [1, None]}


@pytest.mark.parametrize("text", [b'{"a": }', b"[1]", b"\xff", '{"a": "\ud800"}', b'{"a":1,"a":2}'])
def test_json_that_is_no_event_is_refused_when_it_is_read(text):
    event = Event.from_json(text)
    for _ in range(2):
        with pytest.raises(EventError):
            event.attributes  # noqa: B018
    assert event.unread is not None


def test_only_texts_hold_json():
    for each in (None, 5, {"a": 1}, [b"{}"]):
        with pytest.raises(EventError, match="expected JSON text"):
            Event.from_json(each)
