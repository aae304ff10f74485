"""Domain: the part of a set of values that a schema leaves (DAS-17).

Over the integers `a > 1 and a < 2` is empty and `a < 5 or a > 4` is everything. So a set of spans
is first cut down to the domain's own values, and covering is exact on finite domains.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fyke.events.domain import (
    Boolean,
    Enumeration,
    FiniteDomain,
    FixedPoint,
    Integer,
    Real,
    String,
    Timestamp,
)
from fyke.filters.algebra.intervals import AFTER, BEFORE, Cut, Span, Spans, intersect, point, union
from fyke.filters.algebra.value_set import ValueSet, without

if TYPE_CHECKING:
    from fyke.events.schema import Schema


def within_domain(values: ValueSet, attribute: str, schema: Schema | None) -> ValueSet:
    """Return the part of a set that an attribute can hold.

    If the schema does not know the attribute, this is the whole set.
    """
    declared = None if schema is None else schema.attribute(attribute)
    if declared is None:
        return values
    match declared.domain:
        case Boolean():
            return ValueSet(booleans=values.booleans)
        case String():
            return ValueSet(strings=values.strings, languages=values.languages)
        case Timestamp():
            return ValueSet(timestamps=values.timestamps)
        case Real(low, high):
            return ValueSet(numbers=intersect(values.numbers, (_closed(low, high),)))
        case Integer() | FixedPoint() as domain:
            numbers = intersect(values.numbers, (_closed(domain.low, domain.high),))
            return ValueSet(numbers=tuple(_discrete(numbers, domain)))
        case Enumeration(members):
            held = (point(member) for member in members if _holds(values, member))
            return ValueSet(strings=union(held))
    return values


def _closed(low: float | None, high: float | None) -> Span:
    return (
        BEFORE if low is None else (0, low, 0),
        AFTER if high is None else (0, high, 1),
    )


def _holds(values: ValueSet, text: str) -> bool:
    return without(ValueSet(strings=(point(text),)), values).is_empty


def _discrete(spans: Spans, domain: Integer | FixedPoint) -> Iterable[Span]:
    """Shrink each span to the first and the last value of the domain in it."""
    for low, high in spans:
        first, last = _first_after(low, domain), _first_after(high, domain) - 1
        if first <= last:
            yield (0, domain.at(first), 0), (0, domain.at(last), 1)


def _first_after(cut: Cut, domain: FiniteDomain) -> int:
    """Return the index of the first value behind a cut that lies within the domain's ends."""
    _, value, side = cut
    if isinstance(domain, Integer):
        following: int = math.floor(value) + 1 if side else math.ceil(value)
        return following - domain.low
    search = bisect_right if side else bisect_left
    return search(range(domain.size), value, key=domain.at)
