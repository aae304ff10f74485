"""Payloads: an object as bytes that nobody opens on the way, and back.

The bytes hold the arguments that its constructor wants, by name. An object is only ever made by
calling the constructor of a class that this process has made an event class, or of a record that
such a class declares; nothing else comes out of bytes.

    Share("Foo", 9.0, 300)      {"symbol": "Foo", "price": 9.0, "volume": 300} in MessagePack

A class with `encode=` and `decode=` decides itself what its bytes are.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import msgspec

from fyke.errors import EventError, FykeError, shown
from fyke.typed.description import Description, check_makeable
from fyke.typed.registry import is_event_class, nested_description
from fyke.typed.shapes import ANY, Shape, is_record, shape_of

BUILTINS: Final = (datetime, date, timedelta, Decimal, UUID)
"""Types that a document holds as they are: text is no time there, a float no Decimal."""


def encode_object(object: Any, description: Description) -> bytes:
    """Return the bytes of an object, as its class wants them."""
    if description.encode is not None:
        data = description.encode(object)
        if not isinstance(data, bytes):
            raise FykeError(f"encode= of {description.name} returned {shown(data)}; expected bytes")
        return data
    check_makeable(description)
    try:
        return msgspec.msgpack.encode(_arguments(object, description), enc_hook=_encode)
    except (TypeError, ValueError, msgspec.MsgspecError, RecursionError) as refused:
        raise EventError(
            f"a {description.name} cannot be written: {refused}; give @fyke.event encode= and "
            "decode="
        ) from None


def _arguments(object: Any, description: Description) -> dict[str, Any]:
    found = {}
    for parameter, source in description.construction.sources.items():
        value = getattr(object, source)
        is_accessor = source in description.members and description.members[source].is_call
        value = value() if is_accessor else value
        found[parameter] = _encode(value) if _is_written_here(value) else value
    return found


def _is_written_here(value: Any) -> bool:
    return is_record(type(value)) or is_event_class(type(value))


def _encode(value: Any) -> Any:
    """Convert what msgspec does not write itself: a record becomes its constructor's arguments."""
    if _is_written_here(value):
        return _arguments(value, nested_description(type(value)))
    raise TypeError(f"a {type(value).__name__} has no bytes")


def decode_object(payload: bytes, description: Description) -> Any:
    """Return the object of some bytes; EventError if they are not of its class."""
    if description.decode is not None:
        try:
            return description.decode(payload)
        except Exception as refused:
            raise _unfit(description, refused) from refused
    try:
        arguments = msgspec.msgpack.decode(payload)
    except (ValueError, msgspec.MsgspecError, RecursionError) as refused:
        raise _unfit(description, refused) from None
    return make(description, arguments)


def make(description: Description, arguments: Any, builtins: tuple[type, ...] = ()) -> Any:
    """Return an object of its constructor; EventError if the arguments do not fit."""
    check_makeable(description)
    try:
        if not isinstance(arguments, Mapping):
            raise TypeError(f"expected arguments by name, not {shown(arguments)}")
        shapes = description.construction.shapes
        given = {
            name: _restore(arguments[name], shapes[name], builtins)
            for name in description.construction.sources
            if name in arguments
        }
        return description.cls(**given)
    except EventError:
        raise
    except Exception as refused:
        raise _unfit(description, refused) from refused


def _unfit(description: Description, refused: Exception) -> EventError:
    return EventError(f"the payload is no {description.name}: {refused}")


@lru_cache(maxsize=4096)
def _shape(annotation: Any) -> Shape | None:
    try:
        return shape_of(annotation)
    except FykeError:
        return None


def _restore(value: Any, annotation: Any, builtins: tuple[type, ...]) -> Any:
    """Return a value as its annotation says; records are made by their own constructors."""
    shape = _shape(annotation)
    if shape is None or shape is ANY or value is None:
        return value
    if shape.nested is not None:
        return make(nested_description(shape.nested), value, builtins)
    inner = shape.elements
    if inner is not None and inner.nested is not None and isinstance(value, list | tuple):
        made = [make(nested_description(inner.nested), each, builtins) for each in value]
        return _container(annotation)(made)
    if isinstance(value, dict) and shape.is_tree:
        return value
    return msgspec.convert(value, annotation, builtin_types=builtins)


def _container(annotation: Any) -> Any:
    text = str(annotation).lower()
    return next((c for c in (frozenset, tuple, set) if text.startswith(c.__name__)), list)
