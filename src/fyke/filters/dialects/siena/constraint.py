"""Constraint: one attribute constraint as a predicate."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from fyke.errors import FilterError, shown
from fyke.events.value import Kind, Scalar, kind, parse_timestamp
from fyke.filters.filter import Filter, disjunction
from fyke.filters.predicate import Exists, In, NotIn, Range, compare
from fyke.filters.text_predicate import contains, ends_with, like, starts_with
from fyke.filters.texts.glob import Glob, glob

TYPES: Final[dict[str, Kind]] = {
    "string": Kind.STRING,
    "int": Kind.NUMBER,
    "integer": Kind.NUMBER,
    "long": Kind.NUMBER,
    "float": Kind.NUMBER,
    "double": Kind.NUMBER,
    "date": Kind.TIMESTAMP,
    "datetime": Kind.TIMESTAMP,
    "bool": Kind.BOOL,
    "boolean": Kind.BOOL,
}
_WHOLE: Final = frozenset({"int", "integer", "long"})
_ORDERS: Final = frozenset({"<", "<=", ">", ">="})
_TEXTUAL: Final[dict[str, Callable[[str, str], Filter]]] = {
    ">*": starts_with,
    "*<": ends_with,
    "*": contains,
    "~": lambda attribute, pattern: like(attribute, _pattern(pattern)),
}
OPERATORS: Final = frozenset({"=", "!=", *_ORDERS, *_TEXTUAL, "any"})
OPERATOR: Final = "one of = != < <= > >= >* *< * ~ any"
_PATTERN_PART: Final = re.compile(r"\\(.)|\*|\\|[^*\\]+", re.DOTALL)
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One attribute constraint, as the notations give it; `type` and `value` may be left out."""

    name: str
    operator: str
    value: Scalar = None
    type: str | None = None


def predicate(constraint: Constraint) -> Filter:
    """Return the filter of the events that one constraint accepts."""
    name, operator = constraint.name, constraint.operator
    if operator == "any":
        return Exists(name) if constraint.type is None else _of_kind(name, TYPES[constraint.type])
    value = _operand(constraint)
    if operator in _TEXTUAL:
        if not isinstance(value, str):
            raise FilterError(
                f"{operator} cannot be applied to {shown(value)}", expected="a string"
            )
        return _TEXTUAL[operator](name, value)
    if operator == "!=":
        return NotIn(name, (value,)) if constraint.type is None else _differs(name, value)
    return compare(name, operator, value)


def _operand(constraint: Constraint) -> Scalar:
    """Return the value in the declared type."""
    value, declared = constraint.value, constraint.type
    if value is None:
        raise FilterError(
            "the constraint has no value", expected="a string, a number, true, false or a timestamp"
        )
    if declared is None:
        return value
    wanted = TYPES[declared]
    if wanted is Kind.TIMESTAMP and isinstance(value, str):
        try:
            return parse_timestamp(value)
        except ValueError as error:
            raise FilterError(str(error)) from None
    if kind(value) is not wanted or (declared in _WHOLE and not isinstance(value, int)):
        raise FilterError(f"{shown(value)} is not of type {declared}")
    return value


def _pattern(text: str) -> Glob:
    """Read a pattern: `*` stands for any text, a backslash takes the next character literally."""
    segments: list[list[str]] = [[]]
    for found in _PATTERN_PART.finditer(text):
        if found[0] == "*":
            segments.append([])
        elif found[0] == "\\":
            raise FilterError("the pattern ends in a single backslash", expected="two of them")
        else:
            segments[-1].append(found[1] or found[0])
    return glob(["".join(parts) for parts in segments])


def _differs(name: str, value: Scalar) -> Filter:
    """Accept other values of the same kind: for ordered kinds below or above (SUM-7)."""
    if isinstance(value, bool):
        return In(name, (not value,))
    return disjunction((compare(name, "<", value), compare(name, ">", value)))


def _of_kind(name: str, wanted: Kind) -> Filter:
    match wanted:
        case Kind.STRING:
            return Range(name, "", None)
        case Kind.NUMBER:
            return Range(name, None, sys.float_info.max)
        case Kind.TIMESTAMP:
            return Range(name, _EARLIEST, None)
    return In(name, (False, True))
