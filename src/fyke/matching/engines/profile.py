"""Profiles: a filter of the algebra in the form the papers index.

Idea. The papers' profile is a conjunction with at most one predicate per attribute. A filter is
expanded to boxes, and each box folds into a profile: per dimension one constraint, a set of spans
of places (`places`). What has no spans (patterns, regular expressions, networks, comparisons of two
attributes, residuals) is widened to spans that cover it, or left out, and the profile is no longer
`exact`: an event that passes it must still be checked by the filter.

Example. "a > 1 and a < 5 or not (b = 2)" gives two profiles: a in (1, 5), and b anywhere but at 2,
missing included.

Lists. A list is at several places and takes all that any of them accepts. That is right for one
predicate, but "a > 1 and a < 5" accepts [0, 9], no element of which lies in (1, 5), and
"not (b = 2)" refuses [2, 3], although 3 is not 2. Such constraints are `loose`: an index must let
every list pass them, and what passed so must be checked.

Invariant. An event that the filter accepts satisfies one of its profiles; an event that satisfies
an exact profile, no loose constraint of it by a list, is accepted by the filter.

Cost. As many profiles as boxes, at most `boxes_max`; beyond that a single one, of what is necessary
for the filter. Source. DAS-2, DAS-5 and DAS-9; trees, lists and missing values are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from fyke.filters.algebra.intervals import (
    Spans,
    complement,
    hull,
    intersect,
    point,
    prefix_span,
    union,
)
from fyke.filters.algebra.necessary import Necessary, necessary
from fyke.filters.algebra.normal_form import boxes, negation_normal_form, simplify
from fyke.filters.algebra.value_set import ValueSet, accepted
from fyke.filters.comparison import Compare
from fyke.filters.filter import Filter, Not
from fyke.filters.predicate import Exists, Predicate, TypeIs, ValuePredicate
from fyke.filters.text_predicate import Like
from fyke.matching.engines.places import ALL, MISSING, PRESENT, SCALARS, TYPES, Dimension, spans

BOXES_MAX: Final = 16
SPANS_MAX: Final = 1024
REMEMBERED_MAX: Final = 8_192
SMALL: Final = 8
"""Spans of a filter that is remembered, at most: brokers of one process file the same ones."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """The places that a profile accepts in one dimension; see above for `loose`."""

    spans: Spans
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """A conjunction of constraints, one per dimension."""

    constraints: dict[Dimension, Constraint]
    exact: bool

    def size(self) -> int:
        """Return the number of its spans."""
        return sum(len(each.spans) for each in self.constraints.values())


@dataclass(frozen=True, slots=True)
class _Reading:
    """One literal as spans of one dimension; all spans if it says nothing that is indexed."""

    dimension: Dimension
    spans: Spans
    exact: bool = True
    loose: bool = False


_UNREAD: Final = _Reading(TYPES, (ALL,), exact=False)
_REMEMBERED: Final[dict[tuple[Filter, int, int], tuple[Profile, ...]]] = {}


def profiles(
    filter: Filter, boxes_max: int = BOXES_MAX, spans_max: int = SPANS_MAX
) -> tuple[Profile, ...]:
    """Return the profiles of a filter; empty if no event matches.

    A profile without constraints cannot be indexed.
    """
    key = filter, boxes_max, spans_max
    known = _REMEMBERED.get(key)
    if known is not None:
        return known
    found = _profiles(filter, boxes_max, spans_max)
    if sum(each.size() for each in found) <= SMALL:
        if len(_REMEMBERED) >= REMEMBERED_MAX:
            _REMEMBERED.clear()
        _REMEMBERED[key] = found
    return found


def _profiles(filter: Filter, boxes_max: int, spans_max: int) -> tuple[Profile, ...]:
    expanded = boxes(filter, boxes_max)
    if expanded is None:
        readings = [_of_alternatives(each) for each in _needs(filter)]
        found = [_folded([*readings, _UNREAD], spans_max)]
    else:
        found = [
            _folded([each for literal in box for each in _readings(literal)], spans_max)
            for box in expanded
        ]
    distinct: list[Profile] = []
    for each in found:
        if each is not None and each not in distinct:
            distinct.append(each)
    return tuple(distinct)


def _needs(filter: Filter) -> tuple[Necessary, ...]:
    return necessary(negation_normal_form(simplify(filter)))


def _folded(readings: Iterable[_Reading], spans_max: int) -> Profile | None:
    """Return a profile of one constraint per dimension; None where no event satisfies all."""
    groups: dict[Dimension, list[_Reading]] = {}
    exact = True
    for each in readings:
        exact = exact and each.exact
        if each.spans != (ALL,):
            groups.setdefault(each.dimension, []).append(each)
    constraints: dict[Dimension, Constraint] = {}
    for dimension, group in groups.items():
        loose = len(group) > 1 or group[0].loose
        met = _met(group, spans_max)
        if met is None:
            met, exact = (hull(group[0].spans),), False
        if met == (ALL,):
            continue
        if not met and not loose:
            return None
        constraints[dimension] = Constraint(met, loose)
    return Profile(constraints, exact)


def _met(group: list[_Reading], spans_max: int) -> Spans | None:
    """Return the spans that all readings share; None as soon as they are too many."""
    met: Spans = (ALL,)
    for each in group:
        met = intersect(met, each.spans)
        if len(met) > spans_max:
            return None
    return met


# --- literals ------------------------------------------------------------------------------------


def _readings(literal: Filter) -> Iterator[_Reading]:
    match literal:
        case Not():
            yield _negated(literal.child)
        case Compare(attribute, _, other):
            yield _Reading(attribute, SCALARS, exact=False)
            yield _Reading(other, SCALARS, exact=False)
        case Predicate():
            yield _positive(literal, literal.attribute)
        case _:
            yield _UNREAD


def _positive(predicate: Predicate, attribute: str) -> _Reading:
    match predicate:
        case Exists():
            return _Reading(attribute, PRESENT)
        case TypeIs(name):
            return _Reading(TYPES, _name(name))
        case ValuePredicate():
            values = accepted(predicate)
            covered = [*spans(values), *(each for one in values.languages for each in _text(one))]
            return _Reading(attribute, union(covered), exact=not values.languages)
    return _Reading(attribute, SCALARS, exact=False)


def _negated(leaf: Filter) -> _Reading:
    match leaf:
        case Exists(attribute):
            return _Reading(attribute, MISSING)
        case TypeIs(name):
            return _Reading(TYPES, complement(_name(name), ALL), loose=True)
        case ValuePredicate() if not accepted(leaf).languages:
            refused = spans(accepted(leaf))
            return _Reading(leaf.attribute, complement(refused, ALL), loose=True)
    return _UNREAD


def _name(name: str) -> Spans:
    return spans(ValueSet(strings=(point(name),)))


def _text(language: ValuePredicate) -> Spans:
    """Return strings among which those of a language are."""
    prefix = ""
    if isinstance(language, Like) and not language.ignore_case:
        prefix = language.pattern.literal_prefix
    return spans(ValueSet(strings=(prefix_span(prefix),)))


def _of_alternatives(need: Necessary) -> _Reading:
    """Return the union of the spans of several predicates, of which one holds."""
    read = [_positive(each, need.attribute) for each in need.alternatives]
    if len({each.dimension for each in read}) > 1:
        return _UNREAD
    united = union(bounds for each in read for bounds in each.spans)
    return _Reading(read[0].dimension, united, exact=False)
