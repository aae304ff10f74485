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

import ipaddress
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

import re2

from fyke.errors import FilterError, shown
from fyke.events.event import Event
from fyke.events.value import ORDERED, Kind, Scalar, Value, canonical, equal, kind, less, sort_key
from fyke.filters import glob as globs
from fyke.filters.filter import Filter, Test
from fyke.filters.glob import Glob

Accepts: TypeAlias = Callable[[Value], bool]


class _Missing:
    """Stands for the value of an attribute that the event does not have.

    Of no kind, accepted by nobody.
    """


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
        """The test of one scalar; false for whatever is no scalar."""
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


def _distinct(values: Iterable[Scalar]) -> tuple[Scalar, ...]:
    """Distinct, canonical and sorted; FilterError where there are none."""
    values = tuple(values)
    if values and all(type(value) is str for value in values):
        return tuple(sorted(set(values)))  # type: ignore[type-var]
    unique = {sort_key(value): value for value in map(canonical, values)}
    if not unique:
        raise FilterError("the set of values is empty", expected="at least one value")
    return tuple(unique[key] for key in sorted(unique))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class In(ValuePredicate):
    """Equal to one of `values`, which are kept distinct and sorted."""

    attribute: str
    values: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        if len(self.values) == 1:
            object.__setattr__(self, "values", (canonical(self.values[0]),))
        else:
            object.__setattr__(self, "values", _distinct(self.values))

    def key(self) -> tuple[object, ...]:
        return (self.attribute, *map(sort_key, self.values))

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NotIn(ValuePredicate):
    """Present and equal to none of `values`; null and values of another kind are not equal."""

    attribute: str
    values: tuple[Scalar, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _distinct(self.values))

    def key(self) -> tuple[object, ...]:
        return (self.attribute, *map(sort_key, self.values))

    def accepts(self) -> Accepts:
        keys = frozenset(map(sort_key, self.values))
        return lambda value: value is not _MISSING and sort_key(value) not in keys  # type: ignore[arg-type]


def equals(attribute: str, value: Scalar) -> In:
    return In(attribute, (value,))


# --- intervals -----------------------------------------------------------------------------------

_NUMBERS: Final = frozenset({int, float})
_BELOW: Final[dict[bool, Callable[[Any, Any], bool]]] = {True: operator.lt, False: operator.le}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Range(ValuePredicate):
    """Within an interval.

    At least one end is given; None is the open side. An empty interval accepts nothing.
    """

    attribute: str
    low: Scalar = None
    high: Scalar = None
    low_open: bool = False
    high_open: bool = False

    def __post_init__(self) -> None:
        low, high = canonical(self.low), canonical(self.high)
        ours = kind(high if low is None else low)
        if ours not in ORDERED or (high is not None and kind(high) is not ours):
            raise FilterError(
                f"the ends {shown(self.low)} and {shown(self.high)} do not make an interval",
                expected="two numbers, two strings or two timestamps",
            )
        set_ = object.__setattr__
        set_(self, "low", low)
        set_(self, "high", high)
        set_(self, "low_open", bool(self.low_open) and low is not None)
        set_(self, "high_open", bool(self.high_open) and high is not None)

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


# --- strings -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Like(ValuePredicate):
    """A string that fits a pattern.

    With `ignore_case` the pattern is held folded. Build with `like`.
    """

    attribute: str
    pattern: Glob
    ignore_case: bool = False

    def key(self) -> tuple[object, ...]:
        return self.attribute, self.pattern.segments, self.ignore_case

    def accepts(self) -> Accepts:
        fits = globs.matcher(self.pattern)
        if self.ignore_case:
            fold = globs.fold
            return lambda value: type(value) is str and fits(fold(value))
        return lambda value: type(value) is str and fits(value)


def like(attribute: str, pattern: Glob, ignore_case: bool = False) -> Predicate:
    """A pattern as its simplest predicate: without wildcards it is an equality."""
    if ignore_case:
        pattern = pattern.folded()
        if not all(globs.is_caseless(char) for char in pattern.tokens()):
            return Like(attribute, pattern, ignore_case=True)
    return equals(attribute, pattern.segments[0]) if pattern.is_exact else Like(attribute, pattern)


def starts_with(attribute: str, prefix: str, ignore_case: bool = False) -> Predicate:
    return like(attribute, Glob((prefix, "")), ignore_case)


def ends_with(attribute: str, suffix: str, ignore_case: bool = False) -> Predicate:
    return like(attribute, Glob(("", suffix)), ignore_case)


def contains(attribute: str, inner: str, ignore_case: bool = False) -> Predicate:
    return like(attribute, globs.glob(("", inner, "")), ignore_case)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Matches(ValuePredicate):
    """A string in which RE2 finds `pattern` somewhere.

    Anchor it with ^ and $ to bind the whole string.
    """

    attribute: str
    pattern: str

    def __post_init__(self) -> None:
        regular_expression(self.pattern)

    def key(self) -> tuple[object, ...]:
        return self.attribute, self.pattern

    def accepts(self) -> Accepts:
        search = regular_expression(self.pattern).search
        return lambda value: type(value) is str and search(value) is not None


@lru_cache(maxsize=1024)
def regular_expression(pattern: str) -> re2._Regexp:
    """The compiled RE2 expression; FilterError with RE2's reason where it refuses."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as refused:
        reason = refused.args[0].decode() if isinstance(refused.args[0], bytes) else refused
        raise FilterError(
            f"RE2 refuses the regular expression {shown(pattern)}: {reason}",
            expected="an expression in RE2 syntax (no look-around, no back-references)",
        ) from None


Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InNetwork(ValuePredicate):
    """A string that is an IPv4 or IPv6 address within the network."""

    attribute: str
    network: Network

    def key(self) -> tuple[object, ...]:
        return self.attribute, str(self.network)

    def accepts(self) -> Accepts:
        network = self.network

        def is_member(value: Value) -> bool:
            if type(value) is not str:
                return False
            try:
                return ipaddress.ip_address(value) in network
            except ValueError:
                return False

        return is_member


def in_network(attribute: str, network: str) -> InNetwork:
    """Reads CIDR notation; bits beyond the mask are ignored."""
    try:
        return InNetwork(attribute, ipaddress.ip_network(network, strict=False))
    except ValueError:
        raise FilterError(
            f"{shown(network)} is not a network", expected="CIDR notation such as '10.0.0.0/8'"
        ) from None


# --- the event itself ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Exists(Predicate):
    """The attribute is there, whatever its value."""

    attribute: str

    def key(self) -> tuple[object, ...]:
        return (self.attribute,)

    def _compile(self) -> Test:
        attribute = self.attribute
        return lambda attributes, event: attribute in attributes


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


# --- two attributes ------------------------------------------------------------------------------


def _some_equal(lefts: Sequence[Scalar], rights: Sequence[Scalar]) -> bool:
    return not set(map(sort_key, lefts)).isdisjoint(map(sort_key, rights))


def _some_unequal(lefts: Sequence[Scalar], rights: Sequence[Scalar]) -> bool:
    if not lefts or not rights:
        return False
    return len({sort_key(value) for values in (lefts, rights) for value in values}) > 1


def _some_less(lefts: Sequence[Scalar], rights: Sequence[Scalar], or_equal: bool) -> bool:
    """Per ordered kind, the least on the left against the greatest on the right."""
    for shared in ORDERED:
        least = min((v for v in lefts if kind(v) is shared), default=None)  # type: ignore[type-var]
        most = max((v for v in rights if kind(v) is shared), default=None)  # type: ignore[type-var]
        if least is None or most is None:
            continue
        if less(least, most) or (or_equal and equal(least, most)):
            return True
    return False


COMPARISONS: Final[dict[str, Callable[[Sequence[Scalar], Sequence[Scalar]], bool]]] = {
    "=": _some_equal,
    "!=": _some_unequal,
    "<": lambda lefts, rights: _some_less(lefts, rights, or_equal=False),
    "<=": lambda lefts, rights: _some_less(lefts, rights, or_equal=True),
    ">": lambda lefts, rights: _some_less(rights, lefts, or_equal=False),
    ">=": lambda lefts, rights: _some_less(rights, lefts, or_equal=True),
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compare(Predicate):
    """Two attributes, both present: some pair of their elements compares so."""

    attribute: str
    operator: str
    other: str

    def key(self) -> tuple[object, ...]:
        return self.attribute, self.operator, self.other

    def _compile(self) -> Test:
        attribute, other, holds = self.attribute, self.other, COMPARISONS[self.operator]

        def some_pair(attributes: dict[str, Value], event: Event) -> bool:
            if attribute not in attributes or other not in attributes:
                return False
            left, right = attributes[attribute], attributes[other]
            lefts = left if isinstance(left, tuple) else (left,)
            rights = right if isinstance(right, tuple) else (right,)
            return holds(lefts, rights)

        return some_pair


def compare(attribute: str, operator: str, value: Scalar) -> Filter:
    """`attribute operator value` for the six comparisons.

    Order against a boolean or null is refused.
    """
    if operator == "=":
        return equals(attribute, value)
    if operator == "!=":
        return NotIn(attribute, (value,))
    if kind(value) not in ORDERED:
        raise FilterError(
            f"{operator} cannot order {shown(value)}", expected="a number, a string or a timestamp"
        )
    if operator in ("<", "<="):
        return Range(attribute, None, value, high_open=operator == "<")
    return Range(attribute, value, None, low_open=operator == ">")
