"""Filter to canonical native text: `parse(str(f)) == f` for every filter, residuals included."""

from __future__ import annotations

import re
from datetime import datetime

from fyke.events.value import Scalar, format_timestamp
from fyke.filters.comparison import Compare
from fyke.filters.filter import And, Constant, Filter, Not, Or
from fyke.filters.glob import to_like
from fyke.filters.parser import RESERVED
from fyke.filters.predicate import Exists, In, NotIn, Range, TypeIs
from fyke.filters.residual import Residual
from fyke.filters.text_predicate import InNetwork, Like, Matches

_BARE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def to_text(filter: Filter) -> str:
    """The canonical text of a filter."""
    match filter:
        case And():
            return " and ".join(_operand(child, Or) for child in filter.children)
        case Or():
            return " or ".join(map(to_text, filter.children))
        case Not():
            return f"not {_operand(filter.child, Or, And)}"
        case Constant(value):
            return "true" if value else "false"
        case Residual(dialect, text):
            return f"residual {dialect} {literal(text)}"
        case TypeIs(name):
            return f"type is {attribute_name(name) if _BARE.fullmatch(name) else literal(name)}"
    return _predicate(filter)


def _operand(child: Filter, *looser: type[Filter]) -> str:
    text = to_text(child)
    return f"({text})" if isinstance(child, looser) else text


def _predicate(filter: Filter) -> str:
    match filter:
        case Exists(attribute):
            return f"exists {attribute_name(attribute)}"
        case Compare(attribute, operator, other):
            return f"{attribute_name(attribute)} {operator} {attribute_name(other)}"
        case In(attribute, values):
            return attribute_name(attribute) + _membership(values, "=", "in", "is null")
        case NotIn(attribute, values):
            return attribute_name(attribute) + _membership(values, "!=", "not in", "is not null")
        case Range():
            return _range(filter)
        case Like():
            return attribute_name(filter.attribute) + _pattern(filter)
        case Matches(attribute, pattern):
            return f"{attribute_name(attribute)} matches {literal(pattern)}"
        case InNetwork(attribute, network):
            return f"{attribute_name(attribute)} in cidr {literal(str(network))}"
    raise TypeError(f"no native syntax for {type(filter).__name__}")


def _membership(values: tuple[Scalar, ...], single: str, several: str, null: str) -> str:
    if values == (None,):
        return f" {null}"
    if len(values) == 1:
        return f" {single} {literal(values[0])}"
    return f" {several} ({', '.join(map(literal, values))})"


def _range(range_: Range) -> str:
    name, low, high = attribute_name(range_.attribute), range_.low, range_.high
    if low is None:
        return f"{name} {'<' if range_.high_open else '<='} {literal(high)}"
    if high is None:
        return f"{name} {'>' if range_.low_open else '>='} {literal(low)}"
    ends = [
        literal(end) + (" exclusive" if is_open else "")
        for end, is_open in ((low, range_.low_open), (high, range_.high_open))
    ]
    return f"{name} between {ends[0]} and {ends[1]}"


def _pattern(like: Like) -> str:
    pattern = like.pattern
    if like.ignore_case:
        return f" ilike {literal(to_like(pattern))}"
    if pattern.accepts_all:
        return " like '%'"
    if pattern.is_prefix:
        return f" starts with {literal(pattern.segments[0])}"
    if pattern.is_suffix:
        return f" ends with {literal(pattern.segments[1])}"
    if pattern.is_contains:
        return f" contains {literal(pattern.segments[1])}"
    return f" like {literal(to_like(pattern))}"


def attribute_name(name: str) -> str:
    """The name as it stands in native text, quoted where it must be."""
    if _BARE.fullmatch(name) and name.lower() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


def literal(value: Scalar) -> str:
    """A scalar as it stands in native text."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case datetime():
            return f"timestamp '{format_timestamp(value)}'"
    return str(value)
