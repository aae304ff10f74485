"""Packing: from objects to events and back.

An event shows some attributes (`showing`), and carries the object as its payload (`payloads`),
which nobody opens on the way. The bytes are made when somebody asks for them; inside a process the
object itself is handed on.

    event = pack(Share("Foo", 9.0, 300))    {"type": "Share", "symbol": "Foo", ...}, a kind of Stock
    binary.encode(event)                    for others, who need not know the class
    unpack(event)                           the object, made by the constructor of its class
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fyke.errors import EventError
from fyke.events.event import Document, Event, flatten
from fyke.events.value import Value, admit
from fyke.typed.description import Description
from fyke.typed.payloads import BUILTINS, decode_object, encode_object, make
from fyke.typed.registry import described, is_event_class, known_class
from fyke.typed.shapes import NOTHING
from fyke.typed.showing import DOUBTS, read_value, readers_of


class ObjectEvent(Event):
    """An event of an object that is at hand; its payload is made when it is asked for."""

    __slots__ = ("_payload", "described", "object")

    object: Any
    described: Description
    _payload: bytes | None

    @property
    def payload(self) -> object:
        if self._payload is None:
            self._payload = encode_object(self.object, self.described)
        return self._payload

    @payload.setter
    def payload(self, payload: object) -> None:
        self._payload = None

    def copied(
        self, attributes: dict[str, Value], document: Document, supertypes: tuple[str, ...]
    ) -> Event:
        return _object_event(self.object, self.described, attributes, document, supertypes)


def _object_event(
    object: Any,
    description: Description,
    attributes: dict[str, Value],
    document: Document,
    supertypes: tuple[str, ...],
) -> ObjectEvent:
    event = ObjectEvent.__new__(ObjectEvent)
    event.attributes = attributes
    event.document = document
    event.supertypes = supertypes
    event._payload = None
    event.encoded = None
    event.object = object
    event.described = description
    return event


def is_object(event: object) -> bool:
    """Return True for an object of an event class, False for an event."""
    return is_event_class(type(event))


def pack(object: Any) -> ObjectEvent:
    """Return the event of an object of an event class; EventError if a value does not fit."""
    description = described(type(object))
    shown_: dict[str, Any] = {"type": description.name}
    doubts: set[str] | None = set(description.doubts) if description.doubts else None
    is_flat = True
    for name, get, simple, shape in readers_of(description):
        try:
            value = get(object)
        except Exception:
            description.unknown[name] += 1
            doubts = {name} if doubts is None else doubts | {name}
            continue
        cls = type(value)
        if cls in simple:
            is_plain = cls is str and value.isascii()
            shown_[name] = value if is_plain else admit(value, name)
            continue
        if value is None and NOTHING in shape.classes:
            continue
        met: set[str] = set()
        shown_[name] = read = read_value(value, shape, name, met, 1)
        is_flat = is_flat and not isinstance(read, dict | list)
        if met:
            doubts = met if doubts is None else doubts | met
    if doubts:
        shown_[DOUBTS] = tuple(sorted(doubts))
    attributes = shown_ if is_flat else flatten(shown_)
    return _object_event(object, description, attributes, shown_, description.supertypes)


def unpack(event: Event) -> Any:
    """Return the object of an event, made by the constructor of its class.

    An event of a class that this process does not know becomes an object of the nearest supertype
    that it does know; if there is none, it stays an event.
    """
    if isinstance(event, ObjectEvent):
        return event.object
    description = known_class((event.type, *event.supertypes))
    if description is None:
        return event
    payload = event.payload
    if payload is None:
        return make(description, _document(event.document), BUILTINS)
    if not isinstance(payload, bytes):
        return make(description, payload, BUILTINS)
    return decode_object(payload, description)


def _document(document: Document) -> dict[str, Any]:
    """Return the arguments in a document that was written by hand, without the envelope."""
    found = {name: value for name, value in document.items() if name not in ("type", DOUBTS)}
    data = found.get("data")
    named = {name[5:]: value for name, value in found.items() if name.startswith("data.")}
    return {**found, **(data if isinstance(data, Mapping) else {}), **named}


def sealed(cls: type, payload: bytes, **shown: Any) -> Event:
    """Return an event whose payload the publisher has made, with the attributes it shows.

    The payload may be encrypted. Filters that are read from closures do not rely on what is not
    shown.
    """
    description = described(cls)
    known = {each.name: each for each in description.attributes}
    by_member = {each.member: each.name for each in description.attributes}
    found = {by_member.get(name, name): value for name, value in shown.items()}
    for name in found:
        if name not in known:
            raise EventError(f"{description.name} has no such attribute", attribute=name)
    doubts: set[str] = set(description.doubts)
    document: dict[str, Any] = {"type": description.name}
    for name, value in found.items():
        document[name] = read_value(value, known[name].shape, name, doubts, 1)
    doubts |= {name for name in known if name not in found}
    if doubts:
        document[DOUBTS] = tuple(sorted(doubts))
    if not isinstance(payload, bytes):
        raise EventError(f"a payload is bytes, not {type(payload).__name__}")
    return Event(document, supertypes=description.supertypes, payload=payload)
