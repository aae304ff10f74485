"""The canonical binary form of an event: what links carry and stores keep.

Idea. A version byte, then MessagePack of `[document, supertypes, payload]`. The flat attributes are
not written; they follow from the document. MessagePack keeps integers and floats apart and has a
form for timestamps; a decimal that neither stands for is an extension, its text. So every value
comes back as it was.
Invariant. `decode(encode(event)) == event`, and the same document gives the same bytes in whatever
order its keys stand: they are written sorted. Names that may meet at one path (`a.b` beside `a`)
keep their order among themselves, because it is the order of the list that they make.

Bytes that are truncated, corrupt or of another version are an EventError; limits hold as for JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from fyke.errors import EventError, shown
from fyke.events import json
from fyke.events.event import PLAIN, Event
from fyke.events.number import DIGITS_MAX, ExactDecimal, read_number
from fyke.events.value import admit
from fyke.limits import DEFAULT_LIMITS, Limits

VERSION: Final = 1


def encode(event: Event) -> bytes:
    """Return the bytes of an event, which keeps them: it is encoded once, however far it goes.

    Its payload may be bytes, or nested values as in a document.
    """
    if event.encoded is None:
        event.encoded = _encoded(event)
    return event.encoded


def _encoded(event: Event) -> bytes:
    try:
        payload = event.payload if isinstance(event.payload, bytes) else _plain(event.payload)
        parts = [_plain(event.document), _plain(event.supertypes), payload]
        return _VERSION_BYTE + _ENCODER.encode(parts)
    except RecursionError:
        raise EventError("nested too deep for the binary form") from None


def decode(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Event:
    """Return the event that some bytes hold. It keeps them, and passes on as it came."""
    event = _decoded(data, limits)
    event.encoded = bytes(data)
    return event


def _decoded(data: bytes, limits: Limits) -> Event:
    match _parts(data):
        case [dict() as document, list() as supertypes, payload] if _are_names(supertypes):
            if not isinstance(payload, bytes):
                json.check(payload, limits)
            return Event(document, supertypes=supertypes, payload=payload, limits=limits)
    raise EventError("the binary form is corrupt: expected a document, supertypes and a payload")


def _parts(data: bytes) -> object:
    if not data:
        raise EventError("the binary form is empty")
    if data[0] != VERSION:
        raise EventError(f"version {data[0]} of the binary form; expected {VERSION}")
    try:
        return _DECODER.decode(memoryview(data)[1:])
    except RecursionError:
        raise EventError("the binary form is corrupt: nested too deep") from None
    except (msgspec.MsgspecError, ValueError, TypeError) as refused:
        raise EventError(f"the binary form is corrupt: {refused}") from None


def _are_names(supertypes: list[object]) -> bool:
    return all(isinstance(name, str) for name in supertypes)


_VERSION_BYTE: Final = bytes([VERSION])
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECIMAL: Final = 1
_TEXT_MAX: Final = DIGITS_MAX + len("-0.000000") + len("E-310")


# --- canonical form -------------------------------------------------------------------------------


def _plain(value: object) -> object:
    """Return admitted scalars, lists, and dicts in canonical order."""
    if type(value) in PLAIN:
        return admit(value)
    if isinstance(value, Mapping):
        plain = {_name(key): _plain(child) for key, child in value.items()}
        return {name: plain[name] for name in _ordered(list(plain))}
    if isinstance(value, (list, tuple)):
        return list(map(_plain, value))
    admitted = admit(value)
    if isinstance(admitted, ExactDecimal):
        return msgspec.msgpack.Ext(_DECIMAL, str(admitted).encode())
    return admitted


def _extension(code: int, data: memoryview) -> object:
    """Read a decimal; ValueError where it is none."""
    if code != _DECIMAL or len(data) > _TEXT_MAX:
        raise ValueError(f"an extension {code} of {len(data)} bytes")
    return read_number(bytes(data).decode())


def _name(key: object) -> str:
    if isinstance(key, str):
        return str(admit(key))
    raise EventError(f"the key {shown(key)} is not a string")


def _ordered(names: list[str]) -> list[str]:
    """Sort names; but `a` and the names that begin with `a.` keep their order."""
    if not any("." in name for name in names):
        return sorted(names)
    stems: dict[str, str] = {}
    stem: str | None = None
    for name in sorted(names, key=lambda name: name.split(".")):
        if stem is None or not (name.startswith(stem) and name[len(stem)] == "."):
            stem = name
        stems[name] = stem
    return sorted(names, key=stems.__getitem__)


_DECODER: Final = msgspec.msgpack.Decoder(ext_hook=_extension)
