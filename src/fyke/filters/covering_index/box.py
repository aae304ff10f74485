"""Box: a filter of at most one plain predicate per attribute, whose covering is decided at once.

Equalities, lists, intervals and prefixes are sets of values between two cuts, types are names. A
box covers another iff it asks for no other attributes and types, and of each for no less: DAS-17,
which is exact for such filters. What is asked for is what the predicate says; A box
contains what a domain leaves of it: over the integers, "a > 3" begins at 4. An attribute that the
schema requires, and that no predicate names, has its whole domain.

    "type is Stock and price < 10"  covers  "type is Stock and price between 2 and 5 and volume = 3"
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from fyke.events.value import Kind, sort_key
from fyke.filters.algebra.domain import within_domain
from fyke.filters.algebra.intervals import Span, is_point, prefix_span, span
from fyke.filters.algebra.value_set import ANYTHING, accepted
from fyke.filters.covering_index.footprint import (
    Corner,
    Footprint,
    Key,
    conforming,
    first_corner,
    is_single,
)
from fyke.filters.filter import And, Filter
from fyke.filters.predicate import In, Range, TypeIs, ValuePredicate
from fyke.filters.text_predicate import Like

if TYPE_CHECKING:
    from fyke.events.schema import Schema

_NONE: Final[frozenset[str]] = frozenset()
_NO_LISTS: Final[dict[str, frozenset[Key]]] = {}


class Box(NamedTuple):
    """Corners by attribute, as asked for and as left by domains; values that count one by one."""

    asked: dict[str, Corner]
    left: dict[str, Corner]
    lists: dict[str, frozenset[Key]]
    types: frozenset[str]
    conforming: frozenset[str]
    """The types, and their supertypes."""
    single: frozenset[str] = _NONE
    """Attributes that are never lists."""
    required: tuple[str, ...] = ()
    """Attributes that are there, maybe as lists, without being asked for."""

    def covers(self, other: Box) -> bool | None:
        """Return True if this box accepts every event that the other accepts;

        None if it is unclear.
        """
        for name, (kind, low, high) in self.asked.items():
            theirs = other.left.get(name)
            if theirs is None or theirs[0] is not kind or theirs[1] < low or theirs[2] > high:
                return False
        if not self.types <= other.conforming:
            return False
        return self._covers_lists(other) if self.lists else True

    def _covers_lists(self, other: Box) -> bool | None:
        verdicts = [self._lists(name, other) for name in self.lists]
        return False if False in verdicts else None if None in verdicts else True

    def _lists(self, name: str, other: Box) -> bool | None:
        keys = other.lists.get(name)
        if keys is not None:
            return keys <= self.lists[name] or (None if self._is_discrete(other) else False)
        kind, low, high = other.left[name]
        if is_point((low, high)):
            return (kind, low[1]) in self.lists[name]
        return None if self._is_discrete(other) else False

    @staticmethod
    def _is_discrete(other: Box) -> bool:
        return other.left is not other.asked

    def footprint(self) -> Footprint:
        corners: dict[str, tuple[Corner, ...]] = {
            name: (corner,) for name, corner in self.left.items()
        }
        corners |= dict.fromkeys(self.required, ())
        if not self.single:
            return Footprint(corners, types=self.conforming)
        return Footprint(corners, types=self.conforming, bans=dict.fromkeys(self.single))


def box(filter: Filter, schema: Schema | None) -> Box | None:
    """Return the box of a filter; None if a box cannot say it, or if nothing satisfies it."""
    asked: dict[str, Corner] = {}
    lists: dict[str, frozenset[Key]] = {}
    types: list[str] = []
    parts = filter.children if isinstance(filter, And) else (filter,)
    for part in parts:
        if isinstance(part, TypeIs):
            types.append(part.name)
            continue
        corner = _corner(part)
        if corner is None or not isinstance(part, ValuePredicate):
            return None
        name = part.attribute
        if name in asked or name == "type":
            return None
        asked[name] = corner
        if isinstance(part, In) and len(part.values) > 1:
            lists[name] = frozenset(map(sort_key, part.values))
    left = asked if schema is None else _within(parts, asked, schema)
    if left is None:
        return None
    if schema is None:
        return Box(asked, left, lists or _NO_LISTS, *_types(tuple(types), schema))
    unasked = _unasked(asked, types, schema)
    if unasked:
        left = {**left, **_whole_domains(unasked, schema)}
    single = frozenset(name for name in left if is_single(name, schema))
    required = tuple(name for name in unasked if name not in left)
    return Box(asked, left, lists or _NO_LISTS, *_types(tuple(types), schema), single, required)


def _unasked(asked: dict[str, Corner], types: list[str], schema: Schema) -> list[str]:
    """Return the attributes that the schema requires and the filter does not name."""
    names = (name for each in (None, *types) for name in schema.required_of(each))
    return [name for name in dict.fromkeys(names) if name not in asked]


def _whole_domains(names: list[str], schema: Schema) -> dict[str, Corner]:
    """Return the corners of the whole domains of single-valued attributes."""
    found = {
        name: first_corner(within_domain(ANYTHING, name, schema))
        for name in names
        if is_single(name, schema)
    }
    return {name: corner for name, corner in found.items() if corner is not None}


@lru_cache(maxsize=1_024)
def _types(names: tuple[str, ...], schema: Schema | None) -> tuple[frozenset[str], frozenset[str]]:
    """Return types, and with them the types to which they conform."""
    above = (each for name in names for each in conforming(name, schema))
    return frozenset(names), frozenset(above)


def _corner(part: Filter) -> Corner | None:
    match part:
        case In(_, values):
            (kind, first), (last_kind, last) = sort_key(values[0]), sort_key(values[-1])
            return (kind, (0, first, 0), (0, last, 1)) if kind is last_kind else None
        case Range():
            return _placed(part.kind, span(part))
        case Like(_, pattern, False) if pattern.is_prefix:
            return _placed(Kind.STRING, prefix_span(pattern.segments[0]))
    return None


def _placed(kind: Kind, bounds: Span) -> Corner | None:
    return (kind, *bounds) if bounds[0] < bounds[1] else None


def _within(
    parts: tuple[Filter, ...], asked: dict[str, Corner], schema: Schema
) -> dict[str, Corner] | None:
    """Return the corners that domains leave; None if one leaves nothing."""
    declared = [
        part
        for part in parts
        if isinstance(part, ValuePredicate) and schema.attribute(part.attribute) is not None
    ]
    if not declared:
        return asked
    left = dict(asked)
    for part in declared:
        corner = first_corner(within_domain(accepted(part), part.attribute, schema))
        if corner is None:
            return None
        left[part.attribute] = corner
    return left
