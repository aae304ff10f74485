"""CloudEvents: the standard's rules, its examples, round trips, and the SDK as a second opinion."""

from __future__ import annotations

import contextlib
import json as reference
from datetime import UTC, datetime

import pytest
from cloudevents.core.bindings.http import HTTPMessage, from_http_event, to_binary_event
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke import Event, EventError
from fyke.events import cloudevents, cloudevents_http
from fyke.limits import Limits
from fyke.testing.generators import numbers, strings

LEAST = {"specversion": "1.0", "id": "1", "source": "/s", "type": "T"}
HEADERS = {f"ce-{name}": value for name, value in LEAST.items()}


def structured(**members: object) -> str:
    return reference.dumps({**LEAST, **members})


# --- what an event holds --------------------------------------------------------------------------


def test_attributes_and_data():
    event = cloudevents.decode(
        structured(
            time="2018-04-05T17:31:00+02:00",
            subject=None,
            comexampleothervalue=5,
            flag=True,
            data={"price": 8.5, "tags": ["a", "b"], "none": None},
        )
    )
    assert event.attributes == {
        **LEAST,
        "time": datetime(2018, 4, 5, 15, 31, tzinfo=UTC),
        "comexampleothervalue": 5,
        "flag": True,
        "data.price": 8.5,
        "data.tags": ("a", "b"),
        "data.none": None,
    }
    assert (event.id, event.source, event.type) == ("1", "/s", "T")
    assert event.time == datetime(2018, 4, 5, 15, 31, tzinfo=UTC)
    assert event.payload is None
    assert fyke.parse("data.price > 8 and time < timestamp '2018-04-06'").matches(event)


@pytest.mark.parametrize(
    ("members", "attributes", "payload"),
    [
        ({}, {}, None),
        ({"data": None}, {"data": None}, None),
        ({"data": "I'm just a string"}, {"data": "I'm just a string"}, None),
        ({"data": [1, [2]]}, {"data": (1, 2)}, None),
        ({"data": {}}, {}, None),
        ({"data": "[1]", "datacontenttype": "application/json"}, {"data": "[1]"}, None),
        ({"data": {"a": 1}, "datacontenttype": "text/json; charset=utf-8"}, {"data.a": 1}, None),
        ({"data": {"a": 1}, "datacontenttype": "application/x+JSON"}, {"data.a": 1}, None),
        ({"data": "<x/>", "datacontenttype": "application/xml"}, {}, "<x/>"),
        ({"data_base64": "AP8="}, {}, b"\x00\xff"),
        (
            {"data_base64": "eyJhIjoxfQ==", "datacontenttype": "application/json"},
            {"data.a": 1},
            None,
        ),
        ({"data_base64": "eyJhIjoxfQ==", "datacontenttype": "application/jsonish"}, {}, b'{"a":1}'),
        ({"data_base64": ""}, {}, b""),
    ],
)
def test_data_by_its_type(members, attributes, payload):
    event = cloudevents.decode(structured(**members))
    held = {name: value for name, value in event.attributes.items() if name.startswith("data")}
    held.pop("datacontenttype", None)
    assert held == attributes
    assert event.payload == payload
    assert cloudevents.decode(cloudevents.encode(event)) == event


def test_the_mode_makes_no_difference():
    one = cloudevents.decode(
        structured(
            time="2018-04-05T17:31:00Z",
            ext='é %"x',
            datacontenttype="application/json",
            data={"a": [1]},
        )
    )
    (other,) = cloudevents_http.decode(
        {
            **HEADERS,
            "CE-Time": "2018-04-05T17:31:00Z",
            "Ce-Ext": "%c3%A9%20%25%22x",
            "Content-Type": "application/json",
        },
        b'{"a": [1]}',
    )
    assert one == other


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "attribute"),
    [
        *(({name: None}, name) for name in LEAST),
        *(({name: ""}, name) for name in [*LEAST, "subject", "dataschema", "datacontenttype"]),
        *(
            ({name: 1}, name)
            for name in [*LEAST, "subject", "dataschema", "datacontenttype", "time"]
        ),
        ({"specversion": "0.3"}, "specversion"),
        ({"specversion": "1"}, "specversion"),
        ({"Upper": "x"}, "Upper"),
        ({"under_score": "x"}, "under_score"),
        ({"": "x"}, ""),
        ({"é": "x"}, "é"),
        ({"ext": 1.5}, "ext"),
        ({"ext": 2**31}, "ext"),
        ({"ext": [1]}, "ext"),
        ({"ext": {"a": 1}}, "ext"),
        ({"ext": "a\nb"}, "ext"),
        ({"ext": "\x7f"}, "ext"),
        ({"ext": "\ufffe"}, "ext"),
        ({"ext": "\U0001ffff"}, "ext"),
        ({"ext": "\ud800"}, "ext"),
        ({"time": "2018-04-05"}, "time"),
        ({"time": "2018-04-05T17:31:00"}, "time"),
        ({"time": "2018-04-05 17:31:00Z"}, "time"),
        ({"time": "2018-02-30T17:31:00Z"}, "time"),
        ({"time": "0001-01-01T00:00:00+01:00"}, "time"),
        ({"datacontenttype": "json"}, "datacontenttype"),
        ({"datacontenttype": "text/plain; é"}, "datacontenttype"),
        ({"dataschema": "/relative"}, "dataschema"),
        ({"data": 1, "datacontenttype": "text/plain"}, "data"),
        ({"data": 1, "data_base64": ""}, "data_base64"),
        ({"data_base64": "?"}, "data_base64"),
        ({"data_base64": 1}, "data_base64"),
        ({"data_base64": None}, "data_base64"),
        ({"data_base64": "e30", "datacontenttype": "text/plain"}, "data_base64"),
        ({"data_base64": "ew==", "datacontenttype": "application/json"}, "data"),
        ({"data": {"a": "\ud800"}}, "data.a"),
        ({"data": "\ud800", "datacontenttype": "text/plain"}, "data"),
    ],
)
def test_the_attribute_at_fault_is_named(members, attribute):
    with pytest.raises(EventError) as refused:
        cloudevents.decode(structured(**members))
    assert refused.value.attribute == attribute


@pytest.mark.parametrize("text", ["[]", "1", "{}", "", "{", '{"id": "1", "id": "1"}', b"\xff"])
def test_other_texts_are_refused(text):
    with pytest.raises(EventError):
        cloudevents.decode(text)


def test_time_beyond_microseconds_is_cut():
    event = cloudevents.decode(structured(time="2018-04-05t17:31:00.123456789123z"))
    assert event.time == datetime(2018, 4, 5, 17, 31, 0, 123456, tzinfo=UTC)


# --- batches --------------------------------------------------------------------------------------


def test_batches():
    first, second = structured(data=1), structured(id="2", data_base64="AP8=")
    events = cloudevents.decode_batch(f"[{first},{second}]")
    assert events == [cloudevents.decode(first), cloudevents.decode(second)]
    assert cloudevents.decode_batch(cloudevents.encode_batch(events)) == events
    assert cloudevents.decode_batch("[]") == []
    with pytest.raises(EventError, match=r"attribute 'id': .* \(event 1 of the batch\)"):
        cloudevents.decode_batch(f"[{first},{structured(id=None)}]")
    with pytest.raises(EventError, match="array"):
        cloudevents.decode_batch(first)
    with pytest.raises(EventError, match="longer than 1"):
        cloudevents.decode_batch(f"[{first},{second}]", Limits(list_size_max=1))


# --- HTTP -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"),
        ("plain text", "plain text"),
        ('"quoted \\"x\\" %41"', 'quoted "x" A'),
        ("100%", "100%"),
        ("%zz", "%zz"),
        ("%2525", "%25"),
        ("  padded\t", "padded"),
        ("a+b", "a+b"),
    ],
)
def test_header_values(header, value):
    event = cloudevents_http.decode_binary({**HEADERS, "ce-ext": header}, b"")
    assert event.attributes["ext"] == value
    headers, _ = cloudevents_http.encode_binary(event)
    assert cloudevents_http.decode_binary(headers, b"") == event


def test_header_values_are_written_as_the_standard_says():
    event = Event({**LEAST, "ext": 'Euro € 😀 "%~!'})
    assert cloudevents_http.encode_binary(event)[0]["ce-ext"] == (
        "Euro%20%E2%82%AC%20%F0%9F%98%80%20%22%25~!"
    )


@pytest.mark.parametrize(
    ("extra", "attribute"),
    [
        ({"ce-ext": "%C0%A0"}, "ext"),
        ({"ce-ext": "%ff"}, "ext"),
        ({"ce-ext": "%00"}, "ext"),
        ({"ce-datacontenttype": "text/plain"}, "datacontenttype"),
        ({"ce-data": "x"}, "data"),
        ({"ce-data_base64": "x"}, "data_base64"),
        ({"ce-a-b": "x"}, "a-b"),
        ({"ce-id": ""}, "id"),
        ({"ce-specversion": "0.3"}, "specversion"),
        ({"content-type": ""}, "datacontenttype"),
    ],
)
def test_headers_that_are_refused(extra, attribute):
    with pytest.raises(EventError) as refused:
        cloudevents_http.decode_binary({**HEADERS, **extra}, b"")
    assert refused.value.attribute == attribute


def test_a_header_may_not_occur_twice():
    pairs = [*HEADERS.items(), ("CE-ID", "2"), ("Accept", "a"), ("Accept", "b")]
    with pytest.raises(EventError, match="'ce-id' occurs twice"):
        cloudevents_http.decode(iter(pairs), b"")


@pytest.mark.parametrize(
    ("content_type", "body", "attributes", "payload"),
    [
        (None, b"", {}, None),
        (None, b"{}", {}, b"{}"),
        ("application/json", b"", {}, None),
        ("application/json", b"null", {"data": None}, None),
        ("application/json;charset=utf-8", b'{"a":1}', {"data.a": 1}, None),
        ("text/plain", b"\xff", {}, b"\xff"),
    ],
)
def test_bodies(content_type, body, attributes, payload):
    headers = {**HEADERS, "content-type": content_type} if content_type else HEADERS
    (event,) = cloudevents_http.decode(headers, body)
    held = {key: event.attributes[key] for key in event.attributes.keys() - LEAST.keys()}
    held.pop("datacontenttype", None)
    assert (held, event.payload) == (attributes, payload)
    assert cloudevents_http.decode(*cloudevents_http.encode_binary(event)) == [event]


@pytest.mark.parametrize("body", [b"{", b"\xff", b'{"a":1,"a":2}', b"NaN"])
def test_a_body_that_is_not_the_json_it_claims_to_be(body):
    with pytest.raises(EventError):
        cloudevents_http.decode({**HEADERS, "content-type": "application/json"}, body)


def test_the_mode_is_chosen_by_the_content_type():
    def read(content_type: str, body: str) -> list[Event]:
        return cloudevents_http.decode(iter([("Content-Type", content_type)]), body.encode())

    one = cloudevents.decode(structured())
    assert read("application/cloudevents+json; charset=UTF-8", structured()) == [one]
    assert read("Application/CloudEvents-Batch+JSON", f"[{structured()}]") == [one]
    assert cloudevents_http.decode(iter([*HEADERS.items()]), b"") == [one]
    with pytest.raises(EventError, match="avro"):
        read("application/cloudevents+avro", structured())


def test_data_of_unsaid_type_is_said_to_be_json():
    headers, body = cloudevents_http.encode_binary(cloudevents.decode(structured(data="x")))
    assert headers["content-type"] == "application/json"
    assert body == b'"x"'


# --- writing --------------------------------------------------------------------------------------


def test_a_plain_event_is_written_with_a_version():
    event = Event(
        {"x": True, "n": 1, "when": datetime(2026, 1, 1, tzinfo=UTC)}, id="1", source="s", type="T"
    )
    members = reference.loads(cloudevents.encode(event))
    assert members == {
        "specversion": "1.0", "id": "1", "source": "s", "type": "T",
        "x": True, "n": 1, "when": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    headers, _ = cloudevents_http.encode_binary(event)
    assert (headers["ce-x"], headers["ce-n"], headers["ce-when"]) == (
        "true",
        "1",
        "2026-01-01T00:00:00Z",
    )


@pytest.mark.parametrize(
    "event",
    [
        Event({}),
        Event({**LEAST, "price": 8.5}),
        Event({**LEAST, "user": {"name": "x"}}),
        Event({**LEAST, "a.b": 1}),
        Event({**LEAST, "data": 1}, payload=b"x"),
        Event({**LEAST, "datacontenttype": "text/plain", "data": 1}),
        Event(LEAST, payload=object()),
    ],
)
def test_what_has_no_room_in_cloudevents_is_refused(event):
    for write in (cloudevents.encode, cloudevents_http.encode_binary):
        with pytest.raises(EventError):
            write(event)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers(), strings()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(strings(), inner, max_size=3)
    ),
    max_leaves=6,
)
texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), min_size=1, max_size=8)
contexts = st.fixed_dictionaries(
    {"specversion": st.just("1.0"), "id": texts, "source": texts, "type": texts},
    optional={
        "time": st.datetimes(timezones=st.just(UTC)),
        "subject": texts,
        "dataschema": st.just("https://example.org/schema"),
        "ext": st.one_of(texts, st.just("")),
        "0": texts,
    },
)
typed = st.sampled_from(["application/json", "application/x+json;v=1"])


@st.composite
def cloud_events(draw):
    context = draw(contexts)
    shape = draw(st.sampled_from(["none", "json", "text", "bytes"]))
    if shape == "json":
        implied = {} if draw(st.booleans()) else {"datacontenttype": draw(typed)}
        return Event({**context, **implied, "data": draw(json_values)})
    if shape == "text":
        return Event({**context, "datacontenttype": "text/plain"}, payload=draw(strings()))
    return Event(context, payload=draw(st.binary()) if shape == "bytes" else None)


@given(cloud_events())
def test_structured_round_trip(event):
    assert cloudevents.decode(cloudevents.encode(event)) == event
    assert cloudevents.decode_batch(cloudevents.encode_batch([event, event])) == [event, event]


@given(cloud_events())
def test_binary_round_trip(event):
    headers, body = cloudevents_http.encode_binary(event)
    assert all(value.isascii() and value.isprintable() for value in headers.values())
    (back,) = cloudevents_http.decode(headers, body)
    again, same_body = cloudevents_http.encode_binary(back)
    assert (again, same_body) == (headers, body)
    typeless = {"datacontenttype", "data"}
    for name in event.document.keys() - typeless:
        assert back.document[name] == event.document[name]
    if "data" in event.document:
        assert back == Event({**event.document, "datacontenttype": headers["content-type"]})


@given(
    st.dictionaries(st.sampled_from([*HEADERS, "ce-ext", "content-type"]), st.text(max_size=8)),
    st.binary(max_size=9),
)
def test_any_message_is_events_or_an_event_error(headers, body):
    with contextlib.suppress(EventError):
        assert all(isinstance(event, Event) for event in cloudevents_http.decode(headers, body))


# --- the SDK's opinion ----------------------------------------------------------------------------


def opinion(event: Event) -> CloudEvent:
    """The event as the SDK would hold it."""
    attributes = {name: value for name, value in event.document.items() if name != "data"}
    return CloudEvent(attributes, event.document.get("data", event.payload))


def assert_same_opinion(theirs: CloudEvent, ours: Event) -> None:
    attributes = dict(theirs.get_attributes())
    if "time" not in ours.document:
        del attributes["time"]  # the SDK invents one
    assert attributes == {name: value for name, value in ours.document.items() if name != "data"}
    data = ours.document.get("data", ours.payload)
    assert theirs.get_data() == (data if data != b"" or theirs.get_data() == b"" else None)


@given(cloud_events().filter(lambda event: event.document.get("data", 0) is not None))
def test_the_sdk_reads_what_we_write(event):
    assert_same_opinion(JSONFormat().read(CloudEvent, cloudevents.encode(event)), event)


@given(cloud_events().filter(lambda event: "time" in event.document))
def test_we_read_what_the_sdk_writes(event):
    written = JSONFormat().write(opinion(event))
    read = cloudevents.decode(written)
    if event.document.get("data", 0) is None:
        read = Event({**read.document, "data": None})  # the SDK drops a null
    assert read == event


@given(
    contexts,
    st.datetimes(timezones=st.just(UTC)),
    st.dictionaries(strings(), json_values, max_size=3),
)
def test_binary_mode_agrees_with_the_sdk(context, moment, data):
    event = Event({**context, "time": moment, "data": data})
    headers, body = cloudevents_http.encode_binary(event)
    theirs = from_http_event(HTTPMessage(headers, body))
    assert {**event.document, "datacontenttype": headers["content-type"], "data": None} == {
        **theirs.get_attributes(),
        "data": None,
    }
    assert theirs.get_data() == event.document["data"]
    message = to_binary_event(theirs)
    assert cloudevents_http.decode(message.headers, message.body) == cloudevents_http.decode(
        headers, body
    )
