"""Packing: from objects to events and back.

An event shows some attributes, and carries the object as its payload, which nobody opens on the
way: bytes of the arguments that its constructor wants. They are made when somebody asks for them;
inside a process the object itself is handed on.

    event = pack(Share("Foo", 9.0, 300))    {"type": "Share", "symbol": "Foo", ...}, a kind of Stock
    binary.encode(event)                    for others, who need not know the class
    unpack(event)                           the object, made by the constructor of its class

Values are checked against the annotations. A bool for a float is refused; so are NaN, integers
beyond 64 bits and times without a zone. None is an attribute that is missing, as it is in a table.

Doubts. Filters that are read from closures rely on what is shown being what the closure will see.
Where it may not be (a subclass of str that compares in its own way, an accessor that raised, a
property that a subclass computes otherwise), the event says so: `fyke.doubts` lists the names, and
such filters do not look at these attributes of this event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from numbers import Number
from operator import attrgetter, methodcaller
from typing import Any, Final, NamedTuple
from uuid import UUID

import msgspec

from fyke.errors import EventError, FykeError, shown
from fyke.events.domain import Boolean, Domain, Integer, Real, String, Timestamp
from fyke.events.event import Document, Event, flatten
from fyke.events.value import Scalar, Value, admit
from fyke.typed.description import Description, check_makeable
from fyke.typed.registry import described, is_event_class, known_class, nested_description
from fyke.typed.shapes import ANY, NOTHING, Shape, is_record, shape_of, shown_value

DOUBTS: Final = "fyke.doubts"
_EXACT_FLOAT: Final = 2**53
_PLAIN: Final = (str, int, float, bool, datetime)
_DEPTH_MAX: Final = 50


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
    """Whether somebody publishes an object of an event class, rather than an event."""
    return is_event_class(type(event))


# --- what is shown --------------------------------------------------------------------------------


class Reader(NamedTuple):
    """How one attribute is read: `simple` are classes whose values need no further look."""

    name: str
    get: Callable[[Any], Any]
    simple: frozenset[type]
    shape: Shape


def _readers_of(description: Description) -> list[Reader]:
    if not description.readers:
        description.readers.extend(
            Reader(
                each.name,
                (methodcaller if each.is_call else attrgetter)(each.member),
                _simple(each.shape),
                each.shape,
            )
            for each in description.attributes
            if each.is_shown
        )
    return description.readers


_UNBOUNDED: Final[tuple[Domain | None, ...]] = (
    *(None, Boolean(), Integer(), Real(), String(), Timestamp()),
)


def _simple(shape: Shape) -> frozenset[type]:
    """The classes that need a look of `admit` and no other: no bounds, no members, no doubt."""
    if shape.elements or shape.nested or shape.members or shape.domain not in _UNBOUNDED:
        return frozenset()
    if float in shape.classes:
        return shape.classes & {str, float, bool}
    return shape.classes & {str, int, float, bool}


def pack(object: Any) -> ObjectEvent:
    """Return the event of an object of an event class; EventError where a value does not fit."""
    description = described(type(object))
    shown_: dict[str, Any] = {"type": description.name}
    doubts: set[str] | None = set(description.doubts) if description.doubts else None
    is_flat = True
    for name, get, simple, shape in _readers_of(description):
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
        shown_[name] = read = _read(value, shape, name, met, 1)
        is_flat = is_flat and not isinstance(read, dict | list)
        if met:
            doubts = met if doubts is None else doubts | met
    if doubts:
        shown_[DOUBTS] = tuple(sorted(doubts))
    attributes = shown_ if is_flat else flatten(shown_)
    return _object_event(object, description, attributes, shown_, description.supertypes)


def _read(value: Any, shape: Shape, path: str, doubts: set[str], depth: int) -> Any:
    """Return what an event shows of a value: a scalar, a list or a nested document."""
    if depth > _DEPTH_MAX:
        raise EventError(f"nested deeper than {_DEPTH_MAX} levels", attribute=path)
    if shape.nested is not None and value is not None:
        return _nested(value, shape.nested, path, doubts, depth)
    if shape.elements is not None and isinstance(value, list | tuple | set | frozenset):
        if type(value) not in (list, tuple, set, frozenset):
            doubts.add(path)
        return _list(value, shape.elements, path, doubts, depth)
    if shape.is_tree and not isinstance(value, str | bytes):
        if isinstance(value, Mapping):
            doubts.add(path)
            pairs = value.items()
            return {
                _key(k, path): _read(v, ANY, f"{path}.{k}", doubts, depth + 1) for k, v in pairs
            }
        if isinstance(value, list | tuple | set | frozenset):
            if type(value) is not list:
                doubts.add(path)
            return _list(value, ANY, path, doubts, depth)
        if is_record(type(value)):
            doubts.add(path)
            return _nested(value, type(value), path, doubts, depth)
    return _scalar(value, shape, path, doubts)


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return key
    raise EventError(f"the key {shown(key)} is not a string", attribute=path)


def _list(values: Iterable[Any], shape: Shape, path: str, doubts: set[str], depth: int) -> Any:
    found = [_read(each, shape, path, doubts, depth + 1) for each in values]
    return found if any(isinstance(each, dict | list) for each in found) else tuple(found)


def _nested(value: Any, declared: type, path: str, doubts: set[str], depth: int) -> dict[str, Any]:
    """Return the document of a nested record; one of another class is in doubt as a whole."""
    if not isinstance(value, declared):
        raise _misfit(value, declared.__name__, path)
    if type(value) is not declared:
        doubts.add(path)
    found: dict[str, Any] = {}
    for name, get, _, shape in _readers_of(nested_description(type(value))):
        member = name.removeprefix("data.")
        try:
            inner = get(value)
        except Exception:
            doubts.add(f"{path}.{member}")
            continue
        if inner is not None or NOTHING not in shape.classes:
            found[member] = _read(inner, shape, f"{path}.{member}", doubts, depth + 1)
    return found


def _scalar(value: Any, shape: Shape, path: str, doubts: set[str]) -> Scalar:
    cls = type(value)
    if cls in shape.classes:
        read = _converted(value, path)
        if (
            (cls not in _PLAIN and len(shape.classes - {NOTHING}) > 1)
            or (
                cls is int and float in shape.classes and not -_EXACT_FLOAT <= value <= _EXACT_FLOAT
            )
            or (cls is datetime and _is_ambiguous(value))
        ):
            doubts.add(path)
    else:
        read = _relative(value, shape, path)
        doubts.add(path)
    if shape.domain is not None and read is not None and not shape.domain.contains(read):
        raise EventError(f"{shown(value)} is not in the domain {shape.domain}", attribute=path)
    return read


def _converted(value: Any, path: str) -> Scalar:
    if isinstance(value, Enum):
        value = shown_value(value)
    elif type(value) is UUID:
        value = str(value)
    return admit(value, path)


def _relative(value: Any, shape: Shape, path: str) -> Scalar:
    """Return a value of a class that is not declared, but a subclass or of the same kind."""
    if isinstance(value, tuple(shape.classes)) and type(value) is not bool:
        return _converted(value, path)
    if shape.is_tree:
        return admit(value, path)
    is_number = shape.classes & {int, float} and not isinstance(value, bool | Decimal | Enum)
    if is_number and isinstance(value, Number):
        read = admit(value, path)
        if type(read) is int or (float in shape.classes and type(read) is float):
            return read
    expected = " or ".join(sorted(_said(cls) for cls in shape.classes))
    raise _misfit(value, expected, path)


def _said(cls: type) -> str:
    return "None" if cls is NOTHING else cls.__name__


def _misfit(value: Any, expected: str, path: str) -> EventError:
    return EventError(f"{shown(value)} is a {type(value).__name__}; expected {expected}",
                      attribute=path)  # fmt: skip


def _is_ambiguous(moment: datetime) -> bool:
    """Whether it falls into an hour that comes twice: Python holds it equal to nothing else."""
    if type(moment.tzinfo) is timezone or moment.tzinfo is None:
        return False
    return moment.replace(fold=0).utcoffset() != moment.replace(fold=1).utcoffset()


# --- the payload ----------------------------------------------------------------------------------


def encode_object(object: Any, description: Description) -> bytes:
    """Return the bytes of an object, as its class wants them."""
    if description.encode is not None:
        data = description.encode(object)
        if not isinstance(data, bytes):
            raise FykeError(f"encode= of {description.name} returned {shown(data)}; expected bytes")
        return data
    check_makeable(description)
    try:
        return msgspec.msgpack.encode(_arguments(object, description), enc_hook=_encoded)
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
        found[parameter] = _encoded(value) if _is_written_here(value) else value
    return found


def _is_written_here(value: Any) -> bool:
    return is_record(type(value)) or is_object(value)


def _encoded(value: Any) -> Any:
    """What msgspec does not write itself: records by the arguments of their constructors."""
    if _is_written_here(value):
        return _arguments(value, nested_description(type(value)))
    raise TypeError(f"a {type(value).__name__} has no bytes")


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
        return make(description, _document(event.document), _BUILTINS)
    if not isinstance(payload, bytes):
        return make(description, payload, _BUILTINS)
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


_BUILTINS: Final = (datetime, date, timedelta, Decimal, UUID)
"""What a document holds as it is: text is not read as a time there, nor a float as a Decimal."""


def _document(document: Document) -> dict[str, Any]:
    """Return the arguments in a document that somebody wrote by hand, without the envelope."""
    found = {name: value for name, value in document.items() if name not in ("type", DOUBTS)}
    data = found.get("data")
    named = {name[5:]: value for name, value in found.items() if name.startswith("data.")}
    return {**found, **(data if isinstance(data, Mapping) else {}), **named}


def make(description: Description, arguments: Any, builtins: tuple[type, ...] = ()) -> Any:
    """Return an object of its constructor; EventError where the arguments do not fit."""
    check_makeable(description)
    try:
        if not isinstance(arguments, Mapping):
            raise TypeError(f"expected arguments by name, not {shown(arguments)}")
        shapes = description.construction.shapes
        given = {
            name: _restored(arguments[name], shapes[name], builtins)
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


def _restored(value: Any, annotation: Any, builtins: tuple[type, ...]) -> Any:
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
        document[name] = _read(value, known[name].shape, name, doubts, 1)
    doubts |= {name for name in known if name not in found}
    if doubts:
        document[DOUBTS] = tuple(sorted(doubts))
    if not isinstance(payload, bytes):
        raise EventError(f"a payload is bytes, not {type(payload).__name__}")
    return Event(document, supertypes=description.supertypes, payload=payload)
