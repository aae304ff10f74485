"""Shapes: which Python values an annotation allows, and what they are in an event.

A shape names exact classes, because a subclass may compare in its own way: a value of another class
is refused, or shown and put in doubt (see `showing`). Bounds and members become a domain:

    float                            int and float, Real()
    Annotated[float, Meta(ge=0)]     int and float, Real(low=0)
    Literal["buy", "sell"]           str, Enumeration(("buy", "sell"))
    list[str] | None                 lists of str, or nothing
    Address                          a nested object; its attributes are `address.city` and so on

An annotation that is absent, or says Any, allows whatever an event can hold.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import math
import types
import typing
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final
from uuid import UUID

from fyke.errors import SchemaError
from fyke.events.domain import (
    Boolean,
    Decimals,
    Domain,
    Enumeration,
    Integer,
    Real,
    String,
    Timestamp,
)
from fyke.events.number import INT_MAX, INT_MIN

NOTHING: Final = type(None)

ANYTHING: Final = frozenset({bool, int, float, str, datetime, NOTHING})
"""The exact classes whose values need no annotation to come back as they were."""

_DOMAINS: Final[dict[type, Domain]] = {
    bool: Boolean(),
    int: Integer(),
    float: Real(),
    Decimal: Decimals(),
    str: String(),
    datetime: Timestamp(),
    date: Timestamp(),
    timedelta: Real(),
    UUID: String(),
}
_LISTS: Final = (list, tuple, set, frozenset)
_HIDDEN: Final = (bytes, bytearray, memoryview)


@dataclass(frozen=True, slots=True)
class Shape:
    """The values of an attribute: scalars of exact classes, lists, nested objects.

    `domain` is None if there is no single one. `is_hidden` values have no place in an event.
    """

    classes: frozenset[type] = frozenset()
    domain: Domain | None = None
    elements: Shape | None = None
    nested: type | None = None
    members: type[Enum] | None = None
    is_tree: bool = False
    is_hidden: bool = False

    @property
    def is_optional(self) -> bool:
        return NOTHING in self.classes

    @property
    def is_scalar(self) -> bool:
        return self.elements is None and self.nested is None and not self.is_tree

    @property
    def may_be_list(self) -> bool:
        return self.elements is not None or self.is_tree


ANY: Final = Shape(ANYTHING, is_tree=True)
HIDDEN: Final = Shape(is_hidden=True)


def shape_of(annotation: Any) -> Shape:
    """Return the shape of an annotation; SchemaError if its values have no place in an event."""
    if annotation in (Any, object, inspect.Parameter.empty) or isinstance(
        annotation, typing.TypeVar
    ):
        return ANY
    if annotation in (None, NOTHING):
        return Shape(frozenset({NOTHING}))
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _bound(shape_of(arguments[0]), arguments[1:])
    if origin in (typing.Final, typing.ClassVar, typing.Required, typing.NotRequired):
        return shape_of(arguments[0])
    if origin is typing.Literal:
        return _literal(arguments)
    if origin in (typing.Union, types.UnionType):
        return _unite([shape_of(each) for each in arguments])
    if isinstance(annotation, typing.NewType):
        return shape_of(annotation.__supertype__)
    return _generic(annotation, origin or annotation, arguments)


def _generic(annotation: Any, cls: Any, arguments: tuple[Any, ...]) -> Shape:
    if not isinstance(cls, type):
        raise SchemaError(f"{annotation!r} is an annotation that has no values here")
    if issubclass(cls, _LISTS) or cls in (collections.abc.Sequence, collections.abc.Set):
        inner = [shape_of(each) for each in arguments if each is not ...]
        return Shape(elements=_unite(inner) if inner else Shape(ANYTHING))
    if issubclass(cls, dict) or cls is collections.abc.Mapping:
        return Shape(is_tree=True)
    if cls is float:
        return Shape(frozenset({int, float}), _DOMAINS[float])
    if cls in _DOMAINS:
        return Shape(frozenset({cls}), _DOMAINS[cls])
    if issubclass(cls, Enum):
        return _enumerated(cls)
    if issubclass(cls, _HIDDEN):
        return HIDDEN
    if is_record(cls):
        return Shape(nested=cls)
    raise SchemaError(
        f"a {cls.__name__} has no values here; expected null, booleans, numbers, text, times, "
        "enumerations, records of these or lists; show=(...) says which attributes are shown"
    )


def is_record(cls: type) -> bool:
    """Return True if the fields of a class are declared, so that it can be nested."""
    return (
        dataclasses.is_dataclass(cls)
        or hasattr(cls, "__struct_fields__")
        or hasattr(cls, "model_fields")
        or "__fyke__" in vars(cls)
    )


def shown_value(member: Enum) -> Any:
    """Return the scalar of an enumeration's member: its value, or else its name."""
    return member.value if type(member.value) in (str, int, float, bool) else member.name


def has_plain_members(cls: type[Enum]) -> bool:
    """Return True if `value` and `name` of a member are what Enum says they are."""
    own = (base for base in cls.__mro__ if base.__module__ not in ("builtins", "enum"))
    names = ("value", "name", "__getattribute__")
    return not any(name in vars(base) for base in own for name in names)


def compares_alike(cls: type) -> bool:
    """Return True if a class leaves comparison to the standard library: `==` is what it seems."""
    names = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__contains__")
    own = (base for base in cls.__mro__ if base.__module__ not in ("builtins", "enum"))
    return not any(name in vars(base) for base in own for name in names)


def _enumerated(cls: type[Enum]) -> Shape:
    values = [shown_value(member) for member in cls]
    if not values:
        raise SchemaError(f"the enumeration {cls.__name__} has no members")
    return Shape(frozenset({cls}), _members_domain(values), members=cls)


def _literal(values: tuple[Any, ...]) -> Shape:
    """Return the shape of literals: text, numbers, booleans, None or members of one enumeration."""
    shown = [shown_value(each) if isinstance(each, Enum) else each for each in values]
    classes = frozenset(map(type, values))
    enums = {cls for cls in classes if issubclass(cls, Enum)}
    present = [each for each in shown if each is not None]
    members = enums.pop() if len(enums) == 1 else None
    return Shape(classes, _members_domain(present) if present else None, members=members)


def _members_domain(values: list[Any]) -> Domain | None:
    if all(type(each) is str for each in values):
        return Enumeration(tuple(dict.fromkeys(values)))
    if all(type(each) is int for each in values):
        return Integer(min(values), max(values))
    if all(type(each) is bool for each in values):
        return Boolean()
    return Real() if all(type(each) in (int, float) for each in values) else None


def _unite(shapes: list[Shape]) -> Shape:
    """Return the shape of alternatives; those that are more than scalars make it anything."""
    some = [shape for shape in shapes if shape.classes != {NOTHING}]
    classes: frozenset[type] = frozenset().union(*(shape.classes for shape in shapes))
    if len(some) == 1:
        return replace(some[0], classes=some[0].classes | classes)
    if any(shape.is_hidden for shape in some):
        return HIDDEN
    if not all(shape.is_scalar for shape in some):
        return ANY
    domains = {shape.domain for shape in some}
    members = {shape.members for shape in some if shape.members}
    return Shape(
        classes,
        domains.pop() if len(domains) == 1 else None,
        members=members.pop() if len(members) == 1 else None,
    )


def _bound(shape: Shape, notes: tuple[Any, ...]) -> Shape:
    """Return the shape with the bounds that msgspec, pydantic or annotated_types wrote down."""
    low: Any = None
    high: Any = None
    for note in (inner for each in notes for inner in (each, *getattr(each, "metadata", ()))):
        if isinstance(note, Domain):
            return replace(shape, domain=note)
        low = next((b for b in _ends(note, "ge", "gt") if b is not None), low)
        high = next((b for b in _ends(note, "le", "lt") if b is not None), high)
    if low is None and high is None:
        return shape
    match shape.domain:
        case Integer():
            first = INT_MIN if low is None else math.ceil(low)
            return replace(
                shape, domain=Integer(first, INT_MAX if high is None else math.floor(high))
            )
        case Decimals():
            return replace(shape, domain=Decimals(_float(low), _float(high)))
        case Real():
            return replace(shape, domain=Real(_float(low), _float(high)))
    return shape


def _ends(note: object, *names: str) -> typing.Iterator[Any]:
    for name in names:
        end = getattr(note, name, None)
        if isinstance(end, int | float | Decimal) and not isinstance(end, bool):
            yield end


def _float(end: Any) -> float | None:
    return float(end) if isinstance(end, Decimal) else end
