"""CloudEvents by the door (`door`): the context is checked whole, of data only what is asked for.

Idea. The members of an event stay texts at first. Those of the context are few and short, and all
are read; `data` goes through the door as a document that has no other member.

    {"specversion": "1.0", ..., "data": {...}}    the context, and {"data": {...}}

Law. The slow door is the definition (`slowly`): all is parsed, and of data what nobody asked for is
taken out. What it reads is the same event here, or is left to it; it alone refuses, and says why.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from fyke.errors import EventError
from fyke.events.cloudevents import context_of, from_members, from_value, is_json
from fyke.events.door import REFUSED, Door, PartlyRead, as_bytes
from fyke.events.event import Document, Event
from fyke.events.json import LENIENT, parse
from fyke.events.value import Scalar

_Members = dict[str, msgspec.Raw]
_one: Final = msgspec.json.Decoder(_Members).decode
_several: Final = msgspec.json.Decoder(list[_Members]).decode
_value: Final = msgspec.json.Decoder().decode
_BLANK: Final = b" \t\r\n"


def read_all(text: bytes | str, door: Door) -> list[Event]:
    """Return the events of a JSON text in structured mode (an object) or batch mode (an array)."""
    text = as_bytes(text)
    try:
        return _quickly(text, door)
    except (*REFUSED, EventError):
        door.slow += 1
        return slowly(text, door)


def slowly(text: bytes, door: Door) -> list[Event]:
    """Return the events of a text that is parsed as a whole."""
    read = parse(text, door.limits, LENIENT)
    if isinstance(read, list):
        return from_value([_projected(each, door) for each in read], door.limits)
    return from_value(_projected(read, door), door.limits)


def _projected(members: object, door: Door) -> object:
    """Return the members of an event with that part of its data that is asked for."""
    if not isinstance(members, dict) or "data" not in members or not _has_json(members):
        return members
    door.projection.check_depth(members)
    context = {name: value for name, value in members.items() if name != "data"}
    return context | dict(door.projection.projected({"data": members["data"]}))


def _has_json(members: dict[str, Any]) -> bool:
    media_type = members.get("datacontenttype")
    return "data_base64" not in members and (media_type is None or is_json(media_type))


def _quickly(text: bytes, door: Door) -> list[Event]:
    if not text.isascii():
        str(text, "utf-8")
    found = _several(text) if text.lstrip(_BLANK)[:1] == b"[" else [_one(text)]
    if len(found) > door.limits.list_size_max or door.is_deep(text):
        raise EventError("too many events, or nested too deep")
    return [_event(members, door) for members in found]


def _event(members: _Members, door: Door) -> Event:
    data = members.pop("data", None)
    plain: dict[str, Any] = {name: _value(value) for name, value in members.items()}
    if data is None:
        return from_members(plain, door.limits)
    context = context_of(plain)
    if not _has_json(plain):
        return from_members({**plain, "data": _value(data)}, door.limits)
    return _CloudEvent(context, door, b'{"data":%b}' % bytes(data))


class _CloudEvent(PartlyRead):
    """A CloudEvent whose data keeps its text."""

    __slots__ = ("_context",)

    def __init__(self, context: dict[str, Scalar], door: Door, data: bytes) -> None:
        read = door.event(data)
        super().__init__({**context, **read.attributes}, data, door.projection)
        self._context = context

    @property
    def document(self) -> Document:  # type: ignore[override]
        return {**self._context, **super().document}
