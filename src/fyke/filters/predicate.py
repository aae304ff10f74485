"""Predicates: the leaves of a filter, each about the values of one attribute.

A predicate on a missing attribute is false. A list satisfies a predicate if any element does. So
every predicate is a test of one scalar (`accepts`), lifted over lists. `Exists` and `TypeIs` look
at the event instead.

    In          a = 1, a in (1, 'x'), a is null     equal to one of the values
    NotIn       a != 1, a not in (1, 2)             present, and equal to none of them
    Range       a < 5, a between 1 and 5            in an interval of an ordered kind
    Like        a like 'N%SE', starts with, ...     a string of a pattern; `ilike` folds case
    Matches     a matches '^x+$'                    a string in which RE2 finds the expression
    InNetwork   a in cidr '10.0.0.0/8'              a string that is an address of the network
    Exists      exists a                            there at all: null and the empty list count
    TypeIs      type is Stock                       the event's type or one of its supertypes
    Compare     a < b                               two attributes, any pair of their elements
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fyke.errors import FilterError, shown
from fyke.events.event import Event
from fyke.events.number import ExactDecimal
from fyke.events.value import ORDERED, Kind, Scalar, Value, canonical, kind, sort_key
from fyke.filters.declaration import declare
from fyke.filters.filter import Filter, Test
from fyke.filters.language.notation import attribute_name, literal, type_name

Accepts: TypeAlias = Callable[[Value], bool]


class _Missing:
    """Stands for the value of an attribute that the event does not have.

    It is of no kind, and no predicate accepts it.
    """


_set: Final = object.__setattr__

_MISSING: Final[Value] = _Missing()  # type: ignore[assignment]


class Predicate(Filter):
    """A leaf that speaks about `attribute`."""

    __slots__ = ()

    attribute: str


class ValuePredicate(Predicate):
    """A predicate that is a set of scalars.

    An event is accepted if an element of the attribute's value is.
    """

    __slots__ = ()

    def accepts(self) -> Accepts:
        """Return the test of one scalar. It is false for anything that is not a scalar."""
        raise NotImplementedError

    def _compile(self) -> Test:
        attribute, accepts = self.attribute, self.accepts()

        def some_element(attributes: dict[str, Value], event: Event) -> bool:
            value = attributes.get(attribute, _MISSING)
            if type(value) is tuple:
                return any(map(accepts, value))
            return accepts(value)

        return some_element


# --- sets of values ------------------------------------------------------------------------------


def _canonical(value: Scalar) -> Scalar:
    try:
        return canonical(value)
    except ValueError as refused:
        raise FilterError(str(refused)) from None


def _distinct(values: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
    """Return the values distinct, canonical and sorted; FilterError if there are none."""
    if len(values) == 1:
        return values if type(values[0]) is str else (_canonical(values[0]),)
    if values and all(type(value) is str for value in values):
        return tuple(sorted(set(values)))  # type: ignore[type-var]
    unique = {sort_key(value): value for value in map(_canonical, values)}
    if not unique:
        raise FilterError("the set of values is empty", expected="at least one value")
    return tuple(unique[key] for key in sorted(unique))


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class _Membership(ValuePredicate):
    """Speaks of some values, which are kept distinct and sorted."""

    attribute: str
    values: tuple[Scalar, ...]

    def __init__(self, attribute: str, values: tuple[Scalar, ...]) -> None:
        _set(self, "attribute", attribute)
        _set(self, "values", _distinct(values))

    def key(self) -> tuple[object, ...]:
        return (self.attribute, *map(sort_key, self.values))


class In(_Membership):
    """Equal to one of `values`."""

    __slots__ = ()

    def accepts(self) -> Accepts:
        kinds = {kind(value) for value in self.values}
        members = frozenset(self.values)
        if kinds == {Kind.STRING}:
            if len(members) == 1:
                only = self.values[0]
                return lambda value: value == only
            return lambda value: value in members
        if kinds == {Kind.NUMBER}:
            return lambda value: value in members and type(value) is not bool
        keys = frozenset(map(sort_key, self.values))
        return lambda value: value is not _MISSING and sort_key(value) in keys  # type: ignore[arg-type]

    def __str__(self) -> str:
        return attribute_name(self.attribute) + _condition(self.values, "=", "in", "is null")


class NotIn(_Membership):
    """Present and equal to none of `values`; null and values of another kind are not equal."""

    __slots__ = ()

    def accepts(self) -> Accepts:
        keys = frozenset(map(sort_key, self.values))
        return lambda value: value is not _MISSING and sort_key(value) not in keys  # type: ignore[arg-type]

    def __str__(self) -> str:
        return attribute_name(self.attribute) + _condition(
            self.values, "!=", "not in", "is not null"
        )


def _condition(values: tuple[Scalar, ...], single: str, several: str, null: str) -> str:
    if values == (None,):
        return f" {null}"
    if len(values) == 1:
        return f" {single} {literal(values[0])}"
    return f" {several} ({', '.join(map(literal, values))})"


def equals(attribute: str, value: Scalar) -> In:
    return In(attribute, (value,))


# --- intervals -----------------------------------------------------------------------------------

_NUMBERS: Final = frozenset({int, float, ExactDecimal})
_BELOW: Final[dict[bool, Callable[[Any, Any], bool]]] = {True: operator.lt, False: operator.le}


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Range(ValuePredicate):
    """Within an interval.

    At least one end is given; a side whose end is None is unbounded. An empty interval accepts
    nothing.
    """

    attribute: str
    low: Scalar
    high: Scalar
    low_open: bool
    high_open: bool

    def __init__(
        self,
        attribute: str,
        low: Scalar = None,
        high: Scalar = None,
        low_open: bool = False,
        high_open: bool = False,
    ) -> None:
        low, high = _canonical(low), _canonical(high)
        ours = kind(high if low is None else low)
        if ours not in ORDERED or (high is not None and kind(high) is not ours):
            raise FilterError(
                f"the ends {shown(low)} and {shown(high)} do not make an interval",
                expected="two numbers, two strings or two timestamps",
            )
        _set(self, "attribute", attribute)
        _set(self, "low", low)
        _set(self, "high", high)
        _set(self, "low_open", low_open and low is not None)
        _set(self, "high_open", high_open and high is not None)

    @property
    def kind(self) -> Kind:
        return kind(self.low if self.low is not None else self.high)

    def key(self) -> tuple[object, ...]:
        return self.attribute, self.kind, self.low, self.high, self.low_open, self.high_open

    def accepts(self) -> Accepts:
        low: Any = self.low
        high: Any = self.high
        above, below = _BELOW[self.low_open], _BELOW[self.high_open]
        types = _NUMBERS if self.kind is Kind.NUMBER else {type(low if high is None else high)}
        if low is None:
            return lambda value: type(value) in types and below(value, high)
        if high is None:
            return lambda value: type(value) in types and above(low, value)
        return lambda value: type(value) in types and above(low, value) and below(value, high)

    def __str__(self) -> str:
        name = attribute_name(self.attribute)
        if self.low is None:
            return f"{name} {'<' if self.high_open else '<='} {literal(self.high)}"
        if self.high is None:
            return f"{name} {'>' if self.low_open else '>='} {literal(self.low)}"
        low = literal(self.low) + (" exclusive" if self.low_open else "")
        high = literal(self.high) + (" exclusive" if self.high_open else "")
        return f"{name} between {low} and {high}"


# --- the event itself ----------------------------------------------------------------------------


@declare("exists", code=10)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Exists(Predicate):
    """The attribute is there, whatever its value."""

    attribute: str

    def key(self) -> tuple[object, ...]:
        return (self.attribute,)

    def _compile(self) -> Test:
        attribute = self.attribute
        return lambda attributes, event: attribute in attributes

    def __str__(self) -> str:
        return f"exists {attribute_name(self.attribute)}"


@declare("type is", code=11)
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TypeIs(Predicate):
    """The event's type is `name` or one of its subtypes."""

    name: str

    @property
    def attribute(self) -> str:  # type: ignore[override]
        return "type"

    def key(self) -> tuple[object, ...]:
        return (self.name,)

    def _compile(self) -> Test:
        name = self.name

        def conforms(attributes: dict[str, Value], event: Event) -> bool:
            declared = attributes.get("type")
            if declared == name or name in event.supertypes:
                return True
            return type(declared) is tuple and name in declared

        return conforms

    def __str__(self) -> str:
        return f"type is {type_name(self.name)}"


def compare(attribute: str, operator: str, value: Scalar) -> Filter:
    """Return the predicate `attribute operator value` of one of the six comparisons.

    A boolean or null cannot be ordered and is refused.
    """
    if operator == "=":
        return equals(attribute, value)
    if operator == "!=":
        return NotIn(attribute, (value,))
    if kind(_canonical(value)) not in ORDERED:
        raise FilterError(
            f"{operator} cannot order {shown(value)}", expected="a number, a string or a timestamp"
        )
    if operator in ("<", "<="):
        return Range(attribute, None, value, high_open=operator == "<")
    return Range(attribute, value, None, low_open=operator == ">")
