"""Needs: the values that a filter asks of every event. One of a set of needs must be met.

A conjunction has the needs of one child: the cheapest are taken. A disjunction has the needs of all
its children. A value that a filter forbids is a ban: every filter that it covers forbids the value
too.

    "a = 1 and (b < 2 or c = 3)"      AtValue(a, 1), or one of AtSpan(b, ..2), AtValue(c, 3)
    "not a = 1"                       Ban(a, 1)
    "a = 1 or not b = 2"              none: nothing is needed always
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from fyke.events.value import Kind, sort_key
from fyke.filters.algebra.domain import within_domain
from fyke.filters.algebra.intervals import Cut, prefix_span, span
from fyke.filters.algebra.value_set import accepted
from fyke.filters.covering_index.footprint import Footprint, Key, key_corner
from fyke.filters.filter import And, Constant, Filter, Not, Or
from fyke.filters.predicate import Exists, In, Predicate, Range, TypeIs, ValuePredicate
from fyke.filters.text_predicate import Like

if TYPE_CHECKING:
    from fyke.events.schema import Schema

VALUES_MAX: Final = 16
"""A longer list of values is one interval."""


class AtValue(NamedTuple):
    """The attribute has this value."""

    attribute: str
    key: Key


class AtSpan(NamedTuple):
    """It has a value of a kind between two cuts."""

    attribute: str
    kind: Kind
    low: Cut
    high: Cut


class AtType(NamedTuple):
    """The event has this type."""

    name: str


class Present(NamedTuple):
    """The attribute is there."""

    attribute: str


class Ban(NamedTuple):
    """The attribute must not have this value; None if it must not have several."""

    attribute: str
    key: Key | None


Need: TypeAlias = AtValue | AtSpan | AtType | Present | Ban
Needs: TypeAlias = Sequence[Need]
Cost: TypeAlias = Callable[[Need], float]


def cheapest(normal: Filter, cost: Cost, schema: Schema | None) -> Needs | None:
    """Return the cheapest needs of a filter in negation normal form; None if it needs nothing."""
    found = _needs(normal, cost)
    if found is not None:
        return found[1]
    parts = normal.children if isinstance(normal, And) else (normal,)
    bans = [ban for part in parts if (ban := _ban(part, schema)) is not None]
    return [min(bans, key=cost)] if bans else None


def _needs(normal: Filter, cost: Cost) -> tuple[float, Needs] | None:
    match normal:
        case And():
            found = [each for child in normal.children if (each := _needs(child, cost))]
            return min(found, key=lambda each: each[0], default=None)
        case Or():
            needed = [_needs(child, cost) for child in normal.children]
            if None in needed:
                return None
            each_of = [each for each in needed if each is not None]
            return sum(each[0] for each in each_of), [
                need for _, needs in each_of for need in needs
            ]
        case Constant(False):
            return 0.0, []
        case Predicate():
            needs = of_leaf(normal)
            return sum(map(cost, needs)), needs
    return None


def of_leaf(leaf: Predicate) -> Needs:
    match leaf:
        case In(attribute, values):
            keys = [sort_key(value) for value in values]
            if len(keys) <= VALUES_MAX or keys[0][0] is not keys[-1][0]:
                return [AtValue(attribute, key) for key in keys]
            return [AtSpan(attribute, keys[0][0], (0, keys[0][1], 0), (0, keys[-1][1], 1))]
        case Range(attribute):
            return [AtSpan(attribute, leaf.kind, *span(leaf))]
        case Like(attribute, pattern, False) if pattern.is_prefix:
            return [AtSpan(attribute, Kind.STRING, *prefix_span(pattern.segments[0]))]
        case TypeIs(name):
            return [AtType(name)]
    return [Present(leaf.attribute)]


def may_cover(parts: Sequence[Needs], footprint: Footprint) -> bool:
    """Return False only if the footprint does not meet what some part of a filter needs.

    Parts that need one of several are left out.
    """
    return all(len(needs) > 1 or _holds(needs[0], footprint) for needs in parts)


def _holds(need: Need, footprint: Footprint) -> bool:
    if isinstance(need, AtType):
        return need.name in footprint.types
    if need.attribute in footprint.vague:
        return True
    corners = footprint.corners.get(need.attribute)
    if corners is None or isinstance(need, Present):
        return corners is not None
    if isinstance(need, AtValue):
        return key_corner(need.key) in corners
    if isinstance(need, AtSpan):
        _, kind, first, last = need
        return any(each is kind and first <= low and high <= last for each, low, high in corners)
    return True


def _ban(part: Filter, schema: Schema | None) -> Ban | None:
    """Return the ban of one part of a conjunction."""
    if not isinstance(part, Not):
        return None
    leaf = part.child
    if isinstance(leaf, Exists | TypeIs):
        return Ban(leaf.attribute, None)
    if not isinstance(leaf, ValuePredicate):
        return None
    name = leaf.attribute
    if schema is not None and schema.attribute(name) is not None:
        is_vain = within_domain(accepted(leaf), name, schema).is_empty
        return None if is_vain else Ban(name, None)
    if isinstance(leaf, In) and len(leaf.values) == 1 and name != "type":
        return Ban(name, sort_key(leaf.values[0]))
    return Ban(name, None)
