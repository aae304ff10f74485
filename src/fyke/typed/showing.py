"""Showing: what an event shows of an object, and where that may not be what a closure will see.

Values are checked against the annotations. A bool for a float is refused; so are NaN, integers
beyond 64 bits and times without a zone. None is an attribute that is missing, as it is in a table.

Doubts. Filters that are read from closures rely on what is shown being what the closure will see.
Where it may not be (a subclass of str that compares in its own way, an accessor that raised, a
property that a subclass computes otherwise), the event says so: `fyke.doubts` lists the names, and
such filters do not look at these attributes of this event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from decimal import Decimal
from enum import Enum
from numbers import Number
from operator import attrgetter, methodcaller
from typing import Any, Final, NamedTuple
from uuid import UUID

from fyke.errors import EventError, shown
from fyke.events.domain import Boolean, Domain, Integer, Real, String, Timestamp
from fyke.events.value import Scalar, admit
from fyke.typed.description import Description
from fyke.typed.registry import nested_description
from fyke.typed.shapes import ANY, NOTHING, Shape, is_record, shown_value

DOUBTS: Final = "fyke.doubts"
_EXACT_FLOAT: Final = 2**53
_PLAIN: Final = (str, int, float, bool, datetime)
_DEPTH_MAX: Final = 50


class Reader(NamedTuple):
    """The reading of one attribute. Values of the `simple` classes need no further look."""

    name: str
    get: Callable[[Any], Any]
    simple: frozenset[type]
    shape: Shape


def readers_of(description: Description) -> list[Reader]:
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
    """Return the classes for which `admit` is enough: they have no bounds, members or doubts."""
    if shape.elements or shape.nested or shape.members or shape.domain not in _UNBOUNDED:
        return frozenset()
    if float in shape.classes:
        return shape.classes & {str, float, bool}
    return shape.classes & {str, int, float, bool}


def read_value(value: Any, shape: Shape, path: str, doubts: set[str], depth: int) -> Any:
    """Return a value as an event shows it: a scalar, a list or a nested document."""
    if depth > _DEPTH_MAX:
        raise EventError(f"nested deeper than {_DEPTH_MAX} levels", attribute=path)
    if shape.nested is not None and value is not None:
        return _show_nested(value, shape.nested, path, doubts, depth)
    if shape.elements is not None and isinstance(value, list | tuple | set | frozenset):
        if type(value) not in (list, tuple, set, frozenset):
            doubts.add(path)
        return _list(value, shape.elements, path, doubts, depth)
    if shape.is_tree and not isinstance(value, str | bytes):
        if isinstance(value, Mapping):
            doubts.add(path)
            pairs = value.items()
            return {
                _key(k, path): read_value(v, ANY, f"{path}.{k}", doubts, depth + 1)
                for k, v in pairs
            }
        if isinstance(value, list | tuple | set | frozenset):
            if type(value) is not list:
                doubts.add(path)
            return _list(value, ANY, path, doubts, depth)
        if is_record(type(value)):
            doubts.add(path)
            return _show_nested(value, type(value), path, doubts, depth)
    return _scalar(value, shape, path, doubts)


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return key
    raise EventError(f"the key {shown(key)} is not a string", attribute=path)


def _list(values: Iterable[Any], shape: Shape, path: str, doubts: set[str], depth: int) -> Any:
    found = [read_value(each, shape, path, doubts, depth + 1) for each in values]
    return found if any(isinstance(each, dict | list) for each in found) else tuple(found)


def _show_nested(
    value: Any, declared: type, path: str, doubts: set[str], depth: int
) -> dict[str, Any]:
    """Return the document of a nested record; one of another class is in doubt as a whole."""
    if not isinstance(value, declared):
        raise _misfit(value, declared.__name__, path)
    if type(value) is not declared:
        doubts.add(path)
    found: dict[str, Any] = {}
    for name, get, _, shape in readers_of(nested_description(type(value))):
        member = name.removeprefix("data.")
        try:
            inner = get(value)
        except Exception:
            doubts.add(f"{path}.{member}")
            continue
        if inner is not None or NOTHING not in shape.classes:
            found[member] = read_value(inner, shape, f"{path}.{member}", doubts, depth + 1)
    return found


def _scalar(value: Any, shape: Shape, path: str, doubts: set[str]) -> Scalar:
    cls = type(value)
    if cls in shape.classes:
        read = _convert(value, path)
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


def _convert(value: Any, path: str) -> Scalar:
    if isinstance(value, Enum):
        value = shown_value(value)
    elif type(value) is UUID:
        value = str(value)
    return admit(value, path)


def _relative(value: Any, shape: Shape, path: str) -> Scalar:
    """Return a value of a class that is not declared, but a subclass or of the same kind."""
    if isinstance(value, tuple(shape.classes)) and type(value) is not bool:
        return _convert(value, path)
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
    """Return True if the moment is in an hour that comes twice.

    Python finds such a moment equal to nothing else.
    """
    if type(moment.tzinfo) is timezone or moment.tzinfo is None:
        return False
    return moment.replace(fold=0).utcoffset() != moment.replace(fold=1).utcoffset()
