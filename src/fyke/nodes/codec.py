"""Messages as bytes: MessagePack arrays [version, kind, fields].

The kinds that every node knows are in; an algorithm's own are named when a codec is made, so a
message of another algorithm is refused as an unknown kind. Filters and events inside have their own
canonical bytes.

    codec = Codec(kinds=[Towards])
    codec.decode(codec.encode(message)) == message
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
    """Knows kinds by name."""

    _kinds: dict[str, type[Message] | type[Route]]
    _limits: Limits

    def __init__(
        self, kinds: Iterable[type[Message] | type[Route]] = (), limits: Limits = DEFAULT_LIMITS
    ) -> None:
        object.__setattr__(self, "_kinds", {kind.__name__: kind for kind in (*MESSAGES, *kinds)})
        object.__setattr__(self, "_limits", limits)

    def encode(self, message: Message) -> bytes:
        """MessageError for what has no bytes: an unknown kind, half a character."""
        try:
            return msgspec.msgpack.encode((VERSION, *self._plain(message)))
        except (ValueError, TypeError, OverflowError, RecursionError) as refused:
            raise MessageError(f"{type(message).__name__}: {refused}") from None

    def size(self, message: Message) -> int:
        """How many bytes `encode` makes."""
        return len(self.encode(message))

    def decode(self, data: bytes) -> Message:
        """Reads a message; MessageError says what is wrong with it."""
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

    def _plain(self, struct: Message | Route) -> tuple[str, dict[str, Any]]:
        kind = type(struct)
        if self._kinds.get(kind.__name__) is not kind:
            raise MessageError(f"unknown kind of message {kind.__name__}")
        fields = struct.__struct_fields__
        return kind.__name__, {name: self._value(getattr(struct, name)) for name in fields}

    def _value(self, value: object) -> object:
        if isinstance(value, Filter):
            return filters.encode(value)
        if isinstance(value, Event):
            return events.encode(value)
        if isinstance(value, Subscription):
            coded = filters.encode(value.filter)
            return {"id": value.id, "filter": coded, "subscriber": value.subscriber}
        if isinstance(value, Message | Route):
            return self._plain(value)
        if isinstance(value, tuple | list):
            return list(map(self._value, value))
        if isinstance(value, dict):
            return {key: self._value(each) for key, each in value.items()}
        return value

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
        """A message or a route inside a message."""
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
