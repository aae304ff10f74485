"""Messages as bytes: MessagePack arrays [version, kind, fields].

The kinds that every node knows are in; an algorithm's own are named when a codec is made, so a
message of another algorithm is refused as an unknown kind. Filters and events inside have their own
canonical bytes.

    codec = Codec(kinds=[Towards])
    codec.decode(codec.encode(message)) == message
    codec.size(message) == len(codec.encode(message))         computed, nothing is encoded
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

import msgspec

from fyke.errors import FykeError, shown
from fyke.events import binary as events
from fyke.events.event import Event
from fyke.filters import codec as filters
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.limits import DEFAULT_LIMITS, Limits
from fyke.nodes.message import MESSAGES, Message, Route

VERSION: Final = 1
_NESTED: Final[dict[str, type[Message] | type[Route]]] = {"route": Route, "message": Message}
"""Fields that hold something of a kind of its own, or nothing."""


class MessageError(FykeError):
    """Bytes that are no message of this version and these kinds."""


@dataclass(frozen=True, slots=True, init=False)
class Codec:
    """The kinds of messages by name, and their bytes."""

    _kinds: dict[str, type[Message] | type[Route]]
    _limits: Limits

    def __init__(
        self, kinds: Iterable[type[Message] | type[Route]] = (), limits: Limits = DEFAULT_LIMITS
    ) -> None:
        object.__setattr__(self, "_kinds", {kind.__name__: kind for kind in (*MESSAGES, *kinds)})
        object.__setattr__(self, "_limits", limits)

    def encode(self, message: Message) -> bytes:
        """Return the bytes of a message. MessageError if its kind is unknown or a text has no
        bytes.
        """
        try:
            return msgspec.msgpack.encode((VERSION, *self._plain(message)))
        except (ValueError, TypeError, OverflowError, RecursionError) as refused:
            raise MessageError(f"{type(message).__name__}: {refused}") from None

    def size(self, message: Message) -> int:
        """Return the number of bytes that `encode` would make, and refuse what it refuses."""
        try:
            return 2 + self._struct_size(message)
        except (ValueError, TypeError, OverflowError, RecursionError) as refused:
            raise MessageError(f"{type(message).__name__}: {refused}") from None

    def decode(self, data: bytes) -> Message:
        """Return the message that bytes stand for. MessageError says what is wrong with them."""
        try:
            parts = msgspec.msgpack.decode(data)
        except (ValueError, TypeError, RecursionError) as refused:
            raise MessageError(f"not a message: {refused}") from None
        if not isinstance(parts, list) or len(parts) != 3:
            raise MessageError("not a message; expected [version, kind, fields]")
        version, kind, fields = parts
        if type(version) is not int or version != VERSION:
            raise MessageError(f"a message of version {shown(version)}; expected {VERSION}")
        try:
            made = self._made(kind, fields)
        except RecursionError:
            raise MessageError(f"not a message: {shown(kind)} is nested too deep") from None
        if not isinstance(made, Message):
            raise MessageError(f"{kind} travels along with a message, it is none itself")
        return made

    # --- writing ----------------------------------------------------------------------------------

    def _name(self, struct: Message | Route) -> str:
        kind = type(struct)
        if self._kinds.get(kind.__name__) is not kind:
            raise MessageError(f"unknown kind of message {kind.__name__}")
        return kind.__name__

    def _plain(self, struct: Message | Route) -> tuple[str, dict[str, Any]]:
        return self._name(struct), self._fields(struct)

    def _fields(self, struct: msgspec.Struct) -> dict[str, Any]:
        _, nested, _ = _layout(type(struct))
        inside = {each: _nested(struct, each) for each in nested}
        made = {each: None if it is None else self._plain(it) for each, it in inside.items()}
        return {
            name: made[name] if name in made else self._value(getattr(struct, name))
            for name in struct.__struct_fields__
        }

    def _value(self, value: object) -> object:
        if isinstance(value, Filter):
            return filters.encode(value)
        if isinstance(value, Event):
            return events.encode(value)
        if isinstance(value, Subscription):
            coded = filters.encode(value.filter)
            return {"id": value.id, "filter": coded, "subscriber": value.subscriber}
        if isinstance(value, msgspec.Struct):
            return self._fields(_plain_struct(value))
        if isinstance(value, tuple | list):
            return list(map(self._value, value))
        if isinstance(value, dict):
            return {key: self._value(each) for key, each in value.items()}
        return value

    # --- sizes ------------------------------------------------------------------------------------

    def _struct_size(self, struct: Message | Route) -> int:
        """Return the size of the kind and the fields, without the array around them."""
        size = _text_size(self._name(struct))
        plain, nested, names = _layout(type(struct))
        for field in plain:
            size += self._size(getattr(struct, field))
        for field in nested:
            inside = _nested(struct, field)
            size += 1 if inside is None else 1 + self._struct_size(inside)
        return size + names

    def _size(self, value: object) -> int:
        """Return the size of what `_value` makes of a value. Both have the same cases."""
        if value is None or value is True or value is False:
            return 1
        kind = type(value)
        if kind is str:
            return _text_size(value)  # type: ignore[arg-type]
        if kind is int:
            return _integer_size(value)  # type: ignore[arg-type]
        if kind is Event:
            return _bytes_size(len(events.encode(value)))  # type: ignore[arg-type]
        if isinstance(value, Filter):
            return _bytes_size(_filter_size(value))
        if isinstance(value, Subscription):
            filter_size = _bytes_size(_filter_size(value.filter))
            return _SUBSCRIPTION + filter_size + self._size(value.id) + self._size(value.subscriber)
        if isinstance(value, msgspec.Struct):
            plain, _, size = _layout(type(_plain_struct(value)))
            return size + sum(self._size(getattr(value, field)) for field in plain)
        if isinstance(value, tuple | list):
            return _count_size(len(value)) + sum(map(self._size, value))
        if isinstance(value, dict):
            parts = sum(map(self._size, value)) + sum(map(self._size, value.values()))
            return _count_size(len(value)) + parts
        return len(msgspec.msgpack.encode(value))

    # --- reading ----------------------------------------------------------------------------------

    def _made(self, name: object, fields: object) -> Message | Route:
        kind = self._kinds.get(name) if isinstance(name, str) else None
        if kind is None:
            known = ", ".join(sorted(self._kinds))
            raise MessageError(f"unknown kind of message {shown(name)}; expected one of {known}")
        if not isinstance(fields, dict):
            raise MessageError(f"{name}: expected fields by name, not {shown(fields)}")
        nested = {each: fields.pop(each) for each in _NESTED if fields.get(each) is not None}
        try:
            made = msgspec.convert(fields, kind, dec_hook=self._decoded)
        except (FykeError, ValueError, TypeError, RecursionError) as refused:
            raise MessageError(f"{name}: {refused}") from None
        inside = {each: self._inside(kind, each, parts) for each, parts in nested.items()}
        return msgspec.structs.replace(made, **inside) if inside else made

    def _inside(self, kind: type[Message] | type[Route], field: str, parts: object) -> object:
        """Read a message or a route inside a message."""
        if field not in kind.__struct_fields__ or not isinstance(parts, list) or len(parts) != 2:
            raise MessageError(f"{kind.__name__}: {field}: expected [kind, fields] or nothing")
        made = self._made(*parts)
        if not isinstance(made, _NESTED[field]):
            raise MessageError(f"{kind.__name__}: {field}: {parts[0]} does not belong there")
        return made

    def _decoded(self, kind: type[Any], data: Any) -> Any:
        if kind not in (Filter, Event):
            return data
        if not isinstance(data, bytes):
            raise MessageError(f"expected bytes, not {shown(data)}")
        if kind is Filter:
            return filters.decode(data, self._limits)
        return events.decode(data, self._limits)


def _nested(struct: msgspec.Struct, field: str) -> Any:
    """Return the message or route in a field. MessageError if it is something else."""
    inside = getattr(struct, field)
    if inside is not None and not isinstance(inside, _NESTED[field]):
        raise MessageError(
            f"{type(struct).__name__}: {field}: {type(inside).__name__} does not belong there"
        )
    return inside


def _plain_struct(struct: msgspec.Struct) -> msgspec.Struct:
    """Return a struct that is no message. MessageError for one: nobody would look for it there."""
    if isinstance(struct, Message | Route):
        raise MessageError(f"{type(struct).__name__} stands where no message is expected")
    return struct


# --- sizes in MessagePack -------------------------------------------------------------------------


@cache
def _layout(kind: type[msgspec.Struct]) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """Return plain fields, fields of messages and routes, and the size of the names' map."""
    fields = kind.__struct_fields__
    is_kind = issubclass(kind, Message | Route)
    nested = tuple(each for each in fields if is_kind and each in _NESTED)
    plain = tuple(each for each in fields if each not in nested)
    return plain, nested, _count_size(len(fields)) + sum(map(_text_size, fields))


@lru_cache(maxsize=16_384)
def _filter_size(filter: Filter) -> int:
    """Return the length of a filter's bytes. It is cached, because a filter passes many links."""
    return len(filters.encode(filter))


def _text_size(text: str) -> int:
    length = len(text) if text.isascii() else len(text.encode())
    if length < 32:
        return 1 + length
    return length + (2 if length < 1 << 8 else 3 if length < 1 << 16 else 5)


def _bytes_size(length: int) -> int:
    return length + (2 if length < 1 << 8 else 3 if length < 1 << 16 else 5)


def _count_size(count: int) -> int:
    """Return the size of the head of an array or a map."""
    return 1 if count < 16 else 3 if count < 1 << 16 else 5


def _integer_size(number: int) -> int:
    if -32 <= number < 128:
        return 1
    if number >= 1 << 64 or number < -(1 << 63):
        raise OverflowError(f"{number} does not fit into 64 bits")
    bits = number.bit_length() if number > 0 else (-number - 1).bit_length() + 1
    return 2 if bits <= 8 else 3 if bits <= 16 else 5 if bits <= 32 else 9


_SUBSCRIPTION: Final = 1 + sum(map(_text_size, ("id", "filter", "subscriber")))
