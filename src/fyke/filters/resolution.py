"""Resolution: what a filter means under a schema, said in words that need no schema.

Idea. A schema may give text a meaning that the text alone does not have: an enumeration puts its
members in an order (DAS-4, DAS-5), text at a Timestamp is a moment. `resolve` writes a filter with
plain sets of the values that events hold then, so that whoever indexes, covers or merges filters
needs to know nothing about it.

    lvl > 'low'                  lvl in ('medium', 'high')
    lvl between 'high' and 'low' false
    lvl < peak                   lvl in ('low') and peak in ('medium', 'high') or ...
    since > '2026-01-31'         since > timestamp '2026-01-31T00:00:00Z'

Law. Members compare by their places. In an event, text that is not a member and values of another
kind compare with nothing: the comparison is false, its `not` is true.
Order. Resolve first: `simplify` and `fold` join intervals by the order of texts.
Two attributes. Some pair of elements is in order iff, in some halving of the members, one list has
an element in the lower half and the other in the upper half: n members give n - 1 halvings, and
n log n values in their sets. Where one attribute is an enumeration, its order holds for both.
Total. Nothing is refused, because a broker may learn of a schema after the filter: a comparison
that the schema has no order for (`lvl > 'lwo'`) goes by text. `check_order` refuses it at the door.
Once. No interval of text is left where there is an enumeration, not even one that goes by text:
joined with others it could end at two members, and would mean something else the next time.
Cost. Linear in the filter, unless the schema has neither enumerations nor timestamps: then nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from fyke.errors import SchemaError, shown
from fyke.events.value import Kind, Scalar
from fyke.filters.algebra.normal_form import rebuilt
from fyke.filters.comparison import Compare
from fyke.filters.filter import FALSE, Filter, conjunction, disjunction, walk
from fyke.filters.predicate import In, NotIn, Range
from fyke.filters.residual import Residual

if TYPE_CHECKING:
    from fyke.events.domain import Enumeration
    from fyke.events.schema import Schema

GROWTH: Final = 2
"""Levels by which a filter may become deeper."""

_MEMBERS_SHOWN: Final = 20
_UNORDERED: Final = ("=", "!=")
_ANY_TEXT: Final = ("", None)
"""The ends of the interval that holds all text."""


def resolve(filter: Filter, schema: Schema | None) -> Filter:
    """Return the filter with the meaning that a schema gives it.

    If the schema changes nothing, this is the filter itself.
    """
    if schema is None or not (schema.orders or schema.timestamps):
        return filter
    return _resolve(filter, schema, True)


def resolve_values(filter: Filter, schema: Schema | None) -> Filter:
    """Resolve a filter as `resolve` does, but keep comparisons of two attributes.

    Reasoning about filters needs no more: what a comparison implies (`a < b` implies `a <= b`)
    holds in any order, and pairs of many alternatives would only be searched.
    """
    if schema is None or not (schema.orders or schema.timestamps):
        return filter
    return _resolve(filter, schema, False)


def resolve_strictly(filter: Filter, schema: Schema | None) -> Filter:
    """Resolve a filter as `resolve` does; SchemaError if `check_order` refuses it."""
    if schema is not None:
        check_order(filter, schema)
    return resolve(filter, schema)


def check_order(filter: Filter, schema: Schema) -> None:
    """Raise SchemaError if a filter asks for an order that the schema does not have.

    Intervals beside a residual were not written by anybody: its dialect has to look there.
    """
    if not (schema.orders or schema.timestamps):
        return
    nodes = list(walk(filter))
    if any(isinstance(node, Residual) for node in nodes):
        return
    for node in nodes:
        match node:
            case Range(attribute, low, high) if (low, high) != _ANY_TEXT:
                _check_ends(attribute, (low, high), schema)
            case Compare(attribute, operator, other) if operator not in _UNORDERED:
                _check_common(attribute, other, schema)


def _check_ends(attribute: str, ends: tuple[Scalar, ...], schema: Schema) -> None:
    texts = [end for end in ends if isinstance(end, str)]
    order = schema.orders.get(attribute)
    for text in texts:
        if order is not None and not order.contains(text):
            problem = f"{shown(text)} has no place in the order of {_list(order)}"
            raise SchemaError(problem, attribute=attribute)
        if attribute in schema.timestamps and isinstance(schema.read_value(attribute, text), str):
            problem = f"{shown(text)} is compared with a timestamp and is none"
            raise SchemaError(problem, attribute=attribute)


def _check_common(attribute: str, other: str, schema: Schema) -> None:
    orders = schema.orders.get(attribute), schema.orders.get(other)
    if None not in orders and orders[0] != orders[1]:
        problem = f"it and {shown(other)} are different enumerations, with no order in common"
        raise SchemaError(problem, attribute=attribute)


def _list(order: Enumeration) -> str:
    members = [shown(member) for member in order.values[:_MEMBERS_SHOWN]]
    return ", ".join(members) + (", ..." if order.size > _MEMBERS_SHOWN else "")


# --- leaves ---------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _resolve(filter: Filter, schema: Schema, in_pairs: bool) -> Filter:
    match filter:
        case Range(attribute) if attribute in schema.orders:
            return _resolve_order(filter, schema.orders[attribute])
        case Range(attribute) if attribute in schema.timestamps:
            return _resolve_times(filter, schema)
        case In(attribute, values) | NotIn(attribute, values) if attribute in schema.timestamps:
            read = tuple(schema.read_value(attribute, value) for value in values)
            return filter if read == values else type(filter)(attribute, read)
        case Compare(_, operator, _) if in_pairs and operator not in _UNORDERED:
            return _resolve_compare(filter, schema)
    if not filter.children:
        return filter
    children = [_resolve(child, schema, in_pairs) for child in filter.children]
    if all(map(_is_same, children, filter.children)):
        return filter
    return rebuilt(filter, children)


def _is_same(one: object, other: object) -> bool:
    return one is other


def _resolve_order(range_: Range, order: Enumeration) -> Filter:
    """Return the members of an enumeration that lie within an interval."""
    if range_.kind is not Kind.STRING:
        return range_
    ends = [end for end in (range_.low, range_.high) if end is not None]
    if not all(map(order.contains, ends)):
        is_within = range_.accepts()
        return _members(range_, (each for each in order.values if is_within(each)))
    first = 0 if range_.low is None else order.index(range_.low) + range_.low_open
    last = order.size if range_.high is None else order.index(range_.high) + (not range_.high_open)
    return _members(range_, order.values[first:last])


def _members(range_: Range, members: Iterable[str]) -> Filter:
    kept = tuple(members)
    return In(range_.attribute, kept) if kept else FALSE


def _resolve_times(range_: Range, schema: Schema) -> Filter:
    """Return the interval between moments. If all text is read as moments, there is no text."""
    if range_.kind is not Kind.STRING:
        return range_
    name = range_.attribute
    low, high = schema.read_value(name, range_.low), schema.read_value(name, range_.high)
    if any(isinstance(end, str) for end in (low, high)):
        return FALSE
    return Range(name, low, high, range_.low_open, range_.high_open)


def _resolve_compare(compare: Compare, schema: Schema) -> Filter:
    orders = schema.orders.get(compare.attribute), schema.orders.get(compare.other)
    order = orders[0] or orders[1]
    if order is None or (None not in orders and orders[0] != orders[1]):
        return compare
    lower, upper = compare.attribute, compare.other
    if compare.operator.startswith(">"):
        lower, upper = upper, lower
    return disjunction(_pairs(lower, upper, order.values, compare.operator.endswith("=")))


def _pairs(lower: str, upper: str, members: tuple[str, ...], or_equal: bool) -> Iterator[Filter]:
    """Yield the ways in which an element of one attribute comes before an element of the other."""
    half = len(members) // 2
    if half:
        yield conjunction((In(lower, members[:half]), In(upper, members[half:])))
        yield from _pairs(lower, upper, members[:half], or_equal)
        yield from _pairs(lower, upper, members[half:], or_equal)
    elif or_equal:
        yield conjunction((In(lower, members), In(upper, members)))
