"""The operators of match expressions, such as {"prefix": "a"}, each read to one condition.

Most conditions are predicates of the core and are kept as such, so that the compiler and the
interpreter cannot differ about a scalar. Two are not: `Refusing`, because a list may satisfy "some
element does not start with x" and "some element starts with x" at once, and `Presence`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_network
from typing import Final, NoReturn, TypeAlias, TypeGuard

from fyke.errors import FilterError, shown
from fyke.events.number import ExactDecimal
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.dialects.eventbridge.complexity import too_complex
from fyke.filters.dialects.eventbridge.source import Json, Object, write_source
from fyke.filters.texts.glob import Glob, glob


@dataclass(frozen=True, slots=True)
class Refusing:
    """A value that satisfies none of the predicates: `anything-but` of string patterns."""

    predicates: tuple[p.ValuePredicate, ...]

    def accepts(self) -> p.Accepts:
        tests = [predicate.accepts() for predicate in self.predicates]
        return lambda value: not any(accepts(value) for accepts in tests)


class Presence(Enum):
    """`exists`: some value is there, or none; an empty array and an object are no values."""

    PRESENT = True
    ABSENT = False


Condition: TypeAlias = p.ValuePredicate | Refusing | Presence


def read_expression(path: str, expression: Object) -> Condition:
    """Read the condition that an object with one operator describes."""
    operator, operand = _only_pair(path, expression, _OPERATORS)
    return _OPERATORS[operator](path, operand)


def _only_pair(path: str, expression: Object, operators: Iterable[str]) -> tuple[str, Json]:
    """Return the one operator of an object, and its operand."""
    expected = f"one of {', '.join(operators)}"
    if len(expression.pairs) != 1:
        refuse(path, f"{len(expression.pairs)} operators in one object", expected)
    operator, operand = expression.pairs[0]
    if operator not in operators:
        refuse(path, f"{shown(operator)} is no operator here", expected)
    return operator, operand


def _exactly(path: str, operand: Json) -> Condition:
    return p.equals(path, _string(path, "exactly", operand))


def _prefix(path: str, operand: Json) -> Condition:
    text, ignore_case = _affix(path, "prefix", operand)
    return _like(path, Glob((text, "")), ignore_case)


def _suffix(path: str, operand: Json) -> Condition:
    text, ignore_case = _affix(path, "suffix", operand)
    return _like(path, Glob(("", text)), ignore_case)


def _affix(path: str, operator: str, operand: Json) -> tuple[str, bool]:
    if not isinstance(operand, Object):
        return _string(path, operator, operand), False
    inner, text = _only_pair(path, operand, ("equals-ignore-case",))
    return _string(path, inner, text), True


def _equals_ignore_case(path: str, operand: Json) -> Condition:
    return _like(path, Glob((_string(path, "equals-ignore-case", operand),)), ignore_case=True)


def _wildcard(path: str, operand: Json) -> Condition:
    return _like(path, _wildcard_glob(path, _string(path, "wildcard", operand)))


def _exists(path: str, operand: Json) -> Condition:
    if not isinstance(operand, bool):
        refuse(path, f"exists {_written(operand)}", "true or false")
    return Presence(operand)


def _like(path: str, pattern: Glob, ignore_case: bool = False) -> p.ValuePredicate:
    predicate = t.like(path, pattern, ignore_case)
    assert isinstance(predicate, p.ValuePredicate)
    return predicate


_TOKEN: Final = re.compile(r"\\[*\\]|\*(?!\*)|[^\\*]+")


def wildcard_segments(path: str, text: str) -> tuple[str, ...]:
    """Read a wildcard: `*` is any string, `\\*` a star, `\\\\` a backslash."""
    pieces: list[list[str]] = [[]]
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            problem = f"wildcard {shown(text)} at character {at}"
            refuse(path, problem, "no two stars in a row, and a backslash only before * or \\")
        if token[0] == "*":
            pieces.append([])
        else:
            pieces[-1].append(token[0][1:] if token[0][0] == "\\" else token[0])
        at = token.end()
    return tuple("".join(segment) for segment in pieces)


def _wildcard_glob(path: str, text: str) -> Glob:
    segments = wildcard_segments(path, text)
    if too_complex([segments]):
        refuse(path, f"wildcard {shown(text)} is too complex", "fewer stars or repetitions")
    return glob(segments)


# --- anything-but ---------------------------------------------------------------------------------


def _anything_but(path: str, operand: Json) -> Condition:
    if isinstance(operand, Object):
        return _anything_but_pattern(path, operand)
    values = _several(path, "anything-but", operand)
    kinds = {_KINDS.get(type(value)) for value in values}
    if kinds not in ({"string"}, {"number"}):
        refuse(path, f"anything-but {_written(operand)}", "only strings, or only numbers")
    return p.NotIn(path, tuple(v for v in values if not isinstance(v, (Object, list))))


_KINDS: Final[dict[type, str]] = {
    str: "string",
    int: "number",
    float: "number",
    ExactDecimal: "number",
}


def _anything_but_pattern(path: str, operand: Object) -> Condition:
    operator, inner = _only_pair(path, operand, _REFUSABLE)
    name = f"anything-but {operator}"
    texts = [_string(path, name, text) for text in _several(path, name, inner)]
    if operator in ("prefix", "suffix") and "" in texts:
        refuse(path, f"anything-but {operator} of an empty string", "a non-empty string")
    read = _REFUSABLE[operator]
    refused = tuple(read(path, text) for text in dict.fromkeys(texts))
    exact = [
        value for predicate in refused if isinstance(predicate, p.In) for value in predicate.values
    ]
    if len(exact) == len(refused):
        return p.NotIn(path, tuple(exact))
    return Refusing(refused)


def _several(path: str, operator: str, operand: Json) -> list[Json]:
    values: list[Json] = operand if isinstance(operand, list) else [operand]
    if not values:
        refuse(path, f"{operator} of an empty array", "at least one value")
    return values


_REFUSABLE: Final[dict[str, Callable[[str, str], p.ValuePredicate]]] = {
    "prefix": lambda path, text: _like(path, Glob((text, ""))),
    "suffix": lambda path, text: _like(path, Glob(("", text))),
    "wildcard": lambda path, text: _like(path, _wildcard_glob(path, text)),
    "equals-ignore-case": lambda path, text: _like(path, Glob((text,)), ignore_case=True),
}


# --- numbers and addresses ------------------------------------------------------------------------


def _numeric(path: str, operand: Json) -> Condition:
    match operand:
        case ["=", low] if _is_number(low):
            return p.equals(path, low)
        case ["<" | "<=" as below, high] if _is_number(high):
            return p.Range(path, None, high, high_open=below == "<")
        case [">" | ">=" as above, low] if _is_number(low):
            return p.Range(path, low, None, low_open=above == ">")
        case [">" | ">=" as above, low, "<" | "<=" as below, high] if (
            _is_number(low) and _is_number(high) and low < high
        ):
            return p.Range(path, low, high, low_open=above == ">", high_open=below == "<")
    refuse(
        path,
        f"numeric {_written(operand)}",
        'an array such as ["=", 5], ["<", 10] or [">", 0, "<=", 5], the lower bound first',
    )


def _is_number(value: Json) -> TypeGuard[int | float | ExactDecimal]:
    return _KINDS.get(type(value)) == "number"


_NETWORK: Final = re.compile(r"(?:[0-9.]+|[0-9a-fA-F:]+)/[0-9]{1,3}")


def _cidr(path: str, operand: Json) -> Condition:
    text = _string(path, "cidr", operand)
    try:
        network = ip_network(text if _NETWORK.fullmatch(text) else "", strict=False)
    except ValueError:
        refuse(path, f"cidr {shown(text)}", "such as 10.0.0.0/24 or 2001:db8::/32")
    if network.prefixlen == network.max_prefixlen:
        refuse(path, f"cidr {shown(text)} holds one address", "the address as a plain string")
    return t.InNetwork(path, network)


# --- shared ---------------------------------------------------------------------------------------


_SHOWN_MAX: Final = 72


def _string(path: str, operator: str, operand: Json) -> str:
    if not isinstance(operand, str):
        refuse(path, f"{operator} {_written(operand)}", "a string")
    return operand


def _written(operand: Json) -> str:
    text = write_source(operand)
    return text if len(text) <= _SHOWN_MAX else text[:_SHOWN_MAX] + "…"


def refuse(path: str, problem: str, expected: str) -> NoReturn:
    """Raise FilterError that names the field."""
    raise FilterError(f"field {shown(path)}: {problem}", expected=expected)


_OPERATORS: Final[dict[str, Callable[[str, Json], Condition]]] = {
    "prefix": _prefix,
    "suffix": _suffix,
    "equals-ignore-case": _equals_ignore_case,
    "wildcard": _wildcard,
    "anything-but": _anything_but,
    "numeric": _numeric,
    "cidr": _cidr,
    "exists": _exists,
    "exactly": _exactly,
}
