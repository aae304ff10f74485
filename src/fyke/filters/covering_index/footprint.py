"""Footprint: what one way of satisfying a filter leaves at each attribute, for an index to hold.

Idea. Take a branch of a filter that the search behind `covers` leaves open (`open_branch`). Where
it wants a value of an attribute, the values left to choose from have a lowest and a highest cut: a
*corner*. A filter that covers this one must contain both, or the branch stays open beside its
negation.
Example. "a > 3 and not a = 5 and exists b" wants, of `a`, numbers just behind 3 and beyond; `b` may
hold anything; 5 is banned from `a`.
Invariant. If `covers(wide, narrow)`, every set of needs of `wide` (`needs`) is met somewhere in the
footprint of `narrow`. Where that cannot be said of single values, the attribute is *vague* and
meets every need.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from fyke.events.value import Kind, Scalar, sort_key
from fyke.filters.algebra.covering import Branch, Facts, open_branch
from fyke.filters.algebra.domain import within_domain
from fyke.filters.algebra.intervals import Cut, Spans, is_point, point
from fyke.filters.algebra.value_set import ANYTHING, NOTHING, ValueSet, without
from fyke.filters.filter import Filter, Not
from fyke.filters.predicate import TypeIs, ValuePredicate
from fyke.filters.text_predicate import Like, TextPredicate
from fyke.filters.texts.glob import ONE

if TYPE_CHECKING:
    from fyke.events.schema import Schema

Corner: TypeAlias = tuple[Kind, Cut, Cut]
"""A kind of values, with the cuts at which they begin and end."""
Key: TypeAlias = tuple[Kind, Scalar]
"""A value that equals no value of another kind."""

BUDGET: Final = 2_000
"""Literals that the search for a branch may look at."""


class Footprint(NamedTuple):
    """The corners, types and bans of one open branch."""

    corners: Mapping[str, tuple[Corner, ...]]
    """The corners of the values wanted of an attribute; empty if its presence is enough."""
    vague: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    """Types that it may be seen to ask for, with their supertypes."""
    bans: Mapping[str, frozenset[Key] | None] = MappingProxyType({})
    """Values that an attribute must not have; None if they are more than a list."""


def footprint(filter: Filter, schema: Schema | None) -> Footprint | None:
    """Return the footprint of a filter;

    None if no branch is found, or if nothing can be said of it.
    """
    branch = open_branch(filter, schema=schema, budget=BUDGET)
    if branch is None:
        return None
    corners: dict[str, tuple[Corner, ...]] = {}
    vague: set[str] = set()
    for name, facts in branch.facts.items():
        if not facts.present:
            continue
        found = [_corner(values, schema, name) for values in _left(name, facts, schema)]
        if None in found:
            vague.add(name)
        else:
            corners[name] = tuple(each for each in found if each is not None)
    several = any(low[1] != high[1] for _, low, high in corners.get("type", ()))
    if several and _may_forbid_types(branch, schema):
        return None  # some of the types may be impossible, and with them a corner
    return Footprint(corners, frozenset(vague), _types(branch, schema), _bans(branch, schema))


def _left(name: str, facts: Facts, schema: Schema | None) -> list[ValueSet]:
    """Return the values to choose from, for each value that is wanted."""
    wanted = facts.some_in
    if is_single(name, schema):
        wanted = wanted[:1] or (ANYTHING,)
    return [within_domain(without(each, facts.none_in), name, schema) for each in wanted]


def _corner(values: ValueSet, schema: Schema | None, name: str) -> Corner | None:
    found = first_corner(values)
    if found is None and values.languages and not is_single(name, schema):
        return _spoken(values.languages[0])
    return found


def first_corner(values: ValueSet) -> Corner | None:
    """Return the corner of the first kind of values; None if they are not spans."""
    if values.null:
        return key_corner(sort_key(None))
    if values.booleans:
        return Kind.BOOL, (0, min(values.booleans), 0), (0, max(values.booleans), 1)
    by_kind: tuple[tuple[Kind, Spans], ...] = (
        (Kind.NUMBER, values.numbers),
        (Kind.STRING, values.strings),
        (Kind.TIMESTAMP, values.timestamps),
    )
    for kind, spans in by_kind:
        if spans:
            return kind, spans[0][0], spans[-1][1]
    return None


def _spoken(language: ValuePredicate) -> Corner | None:
    """Return the corner of one string of a language, if one is known."""
    match language:
        case Like(_, pattern):
            text: str | None = "".join(pattern.segments).replace(ONE, "x")
        case TextPredicate():
            text = language.some_string()
        case _:
            return None
    if text is None or not language.accepts()(text):
        return None
    return (Kind.STRING, *point(text))


def key_corner(key: Key) -> Corner:
    return key[0], (0, key[1], 0), (0, key[1], 1)


def _types(branch: Branch, schema: Schema | None) -> frozenset[str]:
    names = {leaf.name for leaf in branch.opaque if isinstance(leaf, TypeIs)}
    for values in branch.facts.get("type", Facts()).some_in:
        if values.strings and values.strings[0][0][0] == 0:
            names.add(values.strings[0][0][1])
    return frozenset(each for name in names for each in conforming(name, schema))


def conforming(name: str, schema: Schema | None) -> tuple[str, ...]:
    """Return the types that an event of a type has."""
    return (name,) if schema is None else (name, *schema.supertypes(name))


def _bans(branch: Branch, schema: Schema | None) -> dict[str, frozenset[Key] | None]:
    bans: dict[str, frozenset[Key] | None] = {}
    for name, facts in branch.facts.items():
        if facts.missing or is_single(name, schema):
            bans[name] = None
        elif facts.none_in != NOTHING:
            is_plain = name != "type" and (schema is None or schema.attribute(name) is None)
            bans[name] = _few_values(facts.none_in) if is_plain else None
    if _denies_types(branch):
        bans["type"] = None
    if any(_lacks(name, facts, schema) for name, facts in branch.facts.items()):
        bans["type"] = None
    return bans


def _denies_types(branch: Branch) -> bool:
    return any(isinstance(each, Not) and isinstance(each.child, TypeIs) for each in branch.opaque)


def _may_forbid_types(branch: Branch, schema: Schema | None) -> bool:
    """Return False only if all types that are named are possible."""
    if schema is None or _denies_types(branch):
        return _denies_types(branch)
    owners = (None, *(each.name for each in schema.types))
    required = {name for owner in owners for name in schema.required_of(owner)}
    return any(
        name in required and _lacks(name, facts, schema) for name, facts in branch.facts.items()
    )


def _lacks(name: str, facts: Facts, schema: Schema | None) -> bool:
    """Return False only if every type is possible with the attribute as it is.

    A type is impossible if it requires an attribute that the branch forbids.
    """
    forbids = facts.missing or facts.none_in != NOTHING
    return forbids and schema is not None and schema.attribute(name) is not None


def _few_values(values: ValueSet) -> frozenset[Key] | None:
    """Return the values of a small set; None if it is not a list."""
    by_kind: tuple[tuple[Kind, Spans], ...] = (
        (Kind.NUMBER, values.numbers),
        (Kind.STRING, values.strings),
        (Kind.TIMESTAMP, values.timestamps),
    )
    if values.languages or not all(is_point(each) for _, spans in by_kind for each in spans):
        return None
    keys = [(kind, low[1]) for kind, spans in by_kind for low, _ in spans]
    keys += [sort_key(value) for value in values.booleans]
    if values.null:
        keys.append(sort_key(None))
    return frozenset(keys)


def is_single(name: str, schema: Schema | None) -> bool:
    """Return True if the schema declares that the attribute is never a list."""
    return schema is not None and schema.is_single(name)
