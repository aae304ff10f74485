"""Ordering: the meaning of a filter under a schema, the oracle of `filters.resolution`.

Nothing is rewritten here: each comparison looks up the places of both sides in the declared order,
element by element and pair by pair.
"""

from __future__ import annotations

from datetime import datetime

from fyke.events.domain import Enumeration
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.events.value import Kind, Scalar, parse_timestamp
from fyke.filters.comparison import Compare
from fyke.filters.filter import And, Filter, Not, Or
from fyke.filters.predicate import In, NotIn, Range


def accepts(filter: Filter, event: Event, schema: Schema) -> bool:
    """Return True if a filter accepts an event whose text the schema has read."""
    match filter:
        case And():
            return all(accepts(child, event, schema) for child in filter.children)
        case Or():
            return any(accepts(child, event, schema) for child in filter.children)
        case Not(child=child):
            return not accepts(child, event, schema)
        case Range(attribute, low, high):
            order = schema.orders.get(attribute)
            if order is not None and filter.kind is Kind.STRING:
                return any(_is_within(filter, each, order) for each in _elements(event, attribute))
            low, high = _read(attribute, low, schema), _read(attribute, high, schema)
            if not isinstance(low, str) and not isinstance(high, str):
                filter = Range(attribute, low, high, filter.low_open, filter.high_open)
        case In(attribute, values) | NotIn(attribute, values):
            filter = type(filter)(attribute, tuple(_read(attribute, v, schema) for v in values))
        case Compare(attribute, operator, other) if operator not in ("=", "!="):
            orders = [schema.orders[each] for each in (attribute, other) if each in schema.orders]
            if orders and all(order == orders[0] for order in orders):
                lefts, rights = _elements(event, attribute), _elements(event, other)
                return any(_holds(operator, x, y, orders[0]) for x in lefts for y in rights)
    return filter.matches(event)


def _elements(event: Event, attribute: str) -> tuple[Scalar, ...]:
    value = event.attributes.get(attribute, ())
    return value if isinstance(value, tuple) else (value,)


def _is_within(range_: Range, value: Scalar, order: Enumeration) -> bool:
    if any(end is not None and end not in order.values for end in (range_.low, range_.high)):
        return value in order.values and range_.accepts()(value)
    ends = (
        (">" if range_.low_open else ">=", range_.low),
        ("<" if range_.high_open else "<=", range_.high),
    )
    return all(end is None or _holds(sign, value, end, order) for sign, end in ends)


def _holds(operator: str, left: Scalar, right: Scalar, order: Enumeration) -> bool:
    if left not in order.values or right not in order.values:
        return False
    x, y = order.values.index(str(left)), order.values.index(str(right))
    return {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[operator]


def _read(attribute: str, value: Scalar, schema: Schema) -> Scalar | datetime:
    if attribute not in schema.timestamps or not isinstance(value, str):
        return value
    try:
        return parse_timestamp(value)
    except ValueError:
        return value
