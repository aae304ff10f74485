"""CloudEvents 1.0 in JSON, one or a batch, to events and back. HTTP's own mode: `cloudevents_http`.

Context attributes become attributes of the event; `time` becomes a timestamp. Data that is JSON
stands in the document under `data`, so `{"data": {"price": 8}}` has the attribute `data.price`; any
other data is the event's payload: bytes, or text where the JSON held text.

    decode('{"specversion": "1.0", "id": "1", "source": "/s", "type": "T", "data": {"price": 8}}')

The text of `time` is not kept: it is written back in UTC, with at most microseconds.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from fyke.errors import EventError, shown
from fyke.events import json
from fyke.events.event import Event
from fyke.events.value import Scalar, admit, parse_timestamp
from fyke.limits import DEFAULT_LIMITS, Limits

MEDIA_TYPE: Final = "application/cloudevents+json"
MEDIA_TYPE_BATCH: Final = "application/cloudevents-batch+json"

_REQUIRED: Final = ("specversion", "id", "source", "type")
_TEXTS: Final = frozenset({*_REQUIRED, "subject", "dataschema", "datacontenttype"})
_DATA: Final = frozenset({"data", "data_base64"})

_NAME = re.compile(r"[a-z0-9]+")
_MEDIA_TYPE = re.compile(r"[!#$&^_.+\w-]+/([!#$&^_.+\w-]+) *(?:;[ -~]*)?", re.ASCII)
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.")
_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*([Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_NONCHARACTERS = "".join(
    chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)
)
_FORBIDDEN = re.compile(f"[\x00-\x1f\x7f-\x9f\ufdd0-\ufdef{_NONCHARACTERS}]")


# --- structured -----------------------------------------------------------------------------------


def decode(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> Event:
    """Return the event of a structured JSON text."""
    return from_members(json.parse(text, limits), limits)


def decode_all(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> list[Event]:
    """Return the events of a JSON text in structured mode (an object) or batch mode (an array)."""
    return from_value(json.parse(text, limits), limits)


def from_value(read: object, limits: Limits) -> list[Event]:
    """Return the events of what a JSON text holds, in structured mode or batch mode."""
    return _batch(read, limits) if isinstance(read, list) else [from_members(read, limits)]


def decode_batch(text: str | bytes, limits: Limits = DEFAULT_LIMITS) -> list[Event]:
    """Return the events of a JSON batch, which may be empty."""
    batch = json.parse(text, limits)
    if not isinstance(batch, list):
        raise EventError("a batch of CloudEvents is a JSON array")
    return _batch(batch, limits)


def encode(event: Event) -> str:
    """Return the structured JSON of an event."""
    return json.encode(_to_object(event))


def encode_batch(events: Iterable[Event]) -> str:
    """Return the JSON batch of some events."""
    return json.encode([_to_object(event) for event in events])


def _batch(batch: list[object], limits: Limits) -> list[Event]:
    if len(batch) > limits.list_size_max:
        raise EventError(f"a batch of {len(batch)} events is longer than {limits.list_size_max}")
    return [_nth(number, member, limits) for number, member in enumerate(batch)]


def _nth(number: int, member: object, limits: Limits) -> Event:
    try:
        return from_members(member, limits)
    except EventError as refused:
        problem = f"{refused.problem} (event {number} of the batch)"
        raise EventError(problem, attribute=refused.attribute) from None


def from_members(members: object, limits: Limits) -> Event:
    """Return the event of what a JSON object holds."""
    if not isinstance(members, dict):
        raise EventError("a CloudEvent is a JSON object")
    context = context_of(members)
    if "data" in members and "data_base64" in members:
        raise EventError("data and data_base64 exclude each other", attribute="data_base64")
    if "data_base64" in members:
        return with_bytes(context, _from_base64(members["data_base64"]), limits)
    if "data" not in members:
        return Event(context, limits=limits)
    if is_json(context.get("datacontenttype", "application/json")):
        return Event({**context, "data": members["data"]}, limits=limits)
    if not isinstance(members["data"], str):
        problem = f"data of the type {shown(context['datacontenttype'])} is not a string"
        raise EventError(problem, attribute="data")
    return Event(context, payload=admit(members["data"], "data"), limits=limits)


def _to_object(event: Event) -> dict[str, object]:
    context, data = parts_of(event)
    members: dict[str, object] = dict(context)
    if isinstance(data, bytes):
        members["data_base64"] = base64.b64encode(data).decode()
    elif data is not NO_DATA:
        members["data"] = data
    return members


def _from_base64(text: object) -> bytes:
    try:
        if isinstance(text, str):
            return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise EventError("not Base64 text", attribute="data_base64")


# --- context attributes ---------------------------------------------------------------------------


def context_of(members: Mapping[str, object]) -> dict[str, Scalar]:
    """Check and return the context attributes. A null is unset, as the standard says."""
    context = {
        name: _attribute(name, value)
        for name, value in members.items()
        if name not in _DATA and value is not None
    }
    for name in _REQUIRED:
        if name not in context:
            raise EventError("missing, and required of every CloudEvent", attribute=name)
    if context["specversion"] != "1.0":
        problem = f"version {shown(context['specversion'])} of CloudEvents; expected '1.0'"
        raise EventError(problem, attribute="specversion")
    return context


def _attribute(name: str, value: object) -> Scalar:
    if not _NAME.fullmatch(name):
        raise EventError("a CloudEvents name has only the characters a-z and 0-9", attribute=name)
    if name == "time":
        return _time(value)
    if name in _TEXTS:
        return _text(name, value)
    if isinstance(value, str):
        return _string(name, value)
    if isinstance(value, (bool, datetime)):
        return admit(value, name)
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return value
    raise EventError(
        f"{shown(value)} is no CloudEvents value (boolean, 32-bit integer, string)", attribute=name
    )


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise EventError(f"expected a non-empty string, not {shown(value)}", attribute=name)
    if name == "datacontenttype" and not _MEDIA_TYPE.fullmatch(value):
        raise EventError(f"{shown(value)} is not a media type", attribute=name)
    if name == "dataschema" and not _ABSOLUTE.match(value):
        raise EventError(f"{shown(value)} is not an absolute URI", attribute=name)
    return _string(name, value)


def _string(name: str, value: str) -> str:
    admit(value, name)
    forbidden = _FORBIDDEN.search(value)
    if forbidden:
        code = f"U+{ord(forbidden[0]):04X}"
        raise EventError(f"the character {code} is not allowed in CloudEvents", attribute=name)
    return value


def _time(value: object) -> Scalar:
    if isinstance(value, datetime):
        return admit(value, "time")
    found = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    try:
        if found:
            return parse_timestamp(found[1] + found[2])
    except ValueError:
        pass
    raise EventError(f"{shown(value)} is not an RFC 3339 timestamp", attribute="time")


# --- data -----------------------------------------------------------------------------------------

NO_DATA: Final = object()


def parts_of(event: Event) -> tuple[dict[str, Scalar], object]:
    """Return the context to write, and the data: bytes, a JSON value, text or `NO_DATA`."""
    context = context_of({"specversion": "1.0", **event.document})
    if "data" in event.document and event.payload is not None:
        raise EventError("CloudEvents has no room for data and a payload", attribute="data")
    data = NO_DATA if event.payload is None else event.payload
    data = event.document.get("data", data)
    declared = context.get("datacontenttype", "application/json")
    if is_json(declared) or isinstance(data, (bytes, str)) or data is NO_DATA:
        return context, data
    raise EventError(f"data of the type {shown(declared)} is not bytes or text", attribute="data")


def with_bytes(context: dict[str, Scalar], data: bytes, limits: Limits) -> Event:
    """Return an event: bytes that are JSON by declaration are read, all others are the payload."""
    if not is_json(context.get("datacontenttype")):
        return Event(context, payload=data, limits=limits)
    try:
        return Event({**context, "data": json.parse(data, limits)}, limits=limits)
    except EventError as refused:
        raise EventError(refused.problem, attribute=refused.attribute or "data") from None


def is_json(media_type: object) -> bool:
    """Return True for `*/json` or `*/*+json`, parameters aside."""
    found = _MEDIA_TYPE.fullmatch(media_type) if isinstance(media_type, str) else None
    return found is not None and ("+" + found[1].lower()).endswith("+json")
