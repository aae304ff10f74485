"""Filters as JSON documents and as bytes. Every tree comes back equal, residuals included.

A document is `true`, `false`, or an object with one member that names what it is:

    {"and": [filter, ...]}     {"or": [filter, ...]}     {"not": filter}
    {"in": ["symbol", ["A", "B"]]}                       {"not in": ["symbol", [null]]}
    {"range": ["price", {">=": 8.3, "<": 8.7}]}          either end may be absent
    {"like": ["exchange", "N%SE"]}                       {"ilike": ["exchange", "n%"]}
    {"matches": ["name", "^x+$"]}                        {"in network": ["ip", "10.0.0.0/8"]}
    {"exists": "price"}                                  {"type is": "Stock"}
    {"compare": ["bid", "<", "ask"]}                     {"residual": ["cesql", "..."]}

Values are JSON's; a timestamp is {"timestamp": "2026-01-31T12:00:00Z"}, and a number that float64
would round {"decimal": "0.10000000000000001"}. The bytes are a version byte and MessagePack of the
document. Both readers hold to `Limits` and refuse everything else with a FilterError that names the
place, `and[1].not.range: ...`. What `parse` accepts under some limits they accept under the same.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Final

import msgspec

import fyke.filters.residual  # noqa: F401  (the class declares itself)
from fyke.errors import EventError, FilterError, shown
from fyke.events.number import read_number
from fyke.events.value import Scalar, admit, format_timestamp, parse_timestamp
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.comparison import COMPARISONS, Compare
from fyke.filters.declaration import BY_MEMBER, DECLARATIONS, Declaration
from fyke.filters.filter import (
    DEPTH_MAX,
    FALSE,
    TRUE,
    And,
    Constant,
    Filter,
    Not,
    Or,
    conjunction,
    disjunction,
    negation,
)
from fyke.filters.texts.glob import from_like, to_like
from fyke.limits import DEFAULT_LIMITS, Limits

VERSION: Final = 1


def encode(filter: Filter) -> bytes:
    """Return the binary form of a filter."""
    return bytes([VERSION]) + msgspec.msgpack.encode(to_document(filter))


def decode(data: bytes, limits: Limits = DEFAULT_LIMITS) -> Filter:
    """Read a filter from its binary form."""
    if not data:
        raise FilterError("the binary form of the filter is empty")
    if data[0] != VERSION:
        raise FilterError(f"version {data[0]} of the binary form; expected {VERSION}")
    try:
        document = msgspec.msgpack.decode(memoryview(data)[1:])
    except RecursionError:
        raise FilterError("the binary form of the filter is corrupt: nested too deep") from None
    except (msgspec.MsgspecError, ValueError, TypeError) as refused:
        raise FilterError(f"the binary form of the filter is corrupt: {refused}") from None
    return from_document(document, limits)


# --- writing -------------------------------------------------------------------------------------


def to_document(filter: Filter) -> object:
    """Return the JSON document of a filter."""
    match filter:
        case Constant(value):
            return value
        case And():
            return {"and": list(map(to_document, filter.children))}
        case Or():
            return {"or": list(map(to_document, filter.children))}
        case Not():
            return {"not": to_document(filter.child)}
    declaration = DECLARATIONS.get(type(filter))
    if declaration is not None:
        strings = declaration.strings(filter)
        return {declaration.member: strings[0] if len(strings) == 1 else list(strings)}
    return _predicate_document(filter)


def _predicate_document(filter: Filter) -> object:
    match filter:
        case p.In(attribute, values):
            return {"in": [attribute, list(map(_value_document, values))]}
        case p.NotIn(attribute, values):
            return {"not in": [attribute, list(map(_value_document, values))]}
        case p.Range():
            return {"range": [filter.attribute, _ends_document(filter)]}
        case t.Like(attribute, pattern, ignore_case):
            return {"ilike" if ignore_case else "like": [attribute, to_like(pattern)]}
        case Compare(attribute, operator, other):
            return {"compare": [attribute, operator, other]}
    raise TypeError(f"no document for {type(filter).__name__}")


def _ends_document(range_: p.Range) -> dict[str, object]:
    ends: dict[str, object] = {}
    if range_.low is not None:
        ends[">" if range_.low_open else ">="] = _value_document(range_.low)
    if range_.high is not None:
        ends["<" if range_.high_open else "<="] = _value_document(range_.high)
    return ends


def _value_document(value: Scalar) -> object:
    match value:
        case datetime():
            return {"timestamp": format_timestamp(value)}
        case Decimal():
            return {"decimal": str(value)}
    return value


# --- reading -------------------------------------------------------------------------------------


def from_document(document: object, limits: Limits = DEFAULT_LIMITS) -> Filter:
    """Read a filter from a JSON document."""
    return _Reading(limits).filter(document, "", 1)


class _Reading:
    """One walk over a document, with a budget of predicates and of levels."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.left = limits.nodes_max
        # One level of text, `(a or b and ...)`, is two of the tree; `a is missing` is two as well.
        self.depth_max = min(2 * limits.depth_max + 4, DEPTH_MAX)

    def filter(self, document: object, place: str, depth: int) -> Filter:
        if depth > self.depth_max:
            raise _refusal(place, "nested too deep")
        if isinstance(document, bool):
            return TRUE if document else FALSE
        if not isinstance(document, dict) or len(document) != 1:
            raise _refusal(place, _brief(document), "true, false or an object with one member")
        ((name, body),) = document.items()
        inner = f"{place}.{name}" if place else name
        if name in ("and", "or"):
            return self._join(name, body, inner, depth)
        if name == "not":
            return negation(self.filter(body, inner, depth + 1))
        if name in _READERS:
            return self._predicate(_READERS[name], body, inner)
        if name in BY_MEMBER:
            return self._predicate(_of_strings(BY_MEMBER[name]), body, inner)
        raise _refusal(place, f"unknown member {shown(name)}", f"one of {', '.join(members())}")

    def _join(self, name: str, body: object, place: str, depth: int) -> Filter:
        if not isinstance(body, list) or not body:
            raise _refusal(place, _brief(body), "a list of filters")
        children = []
        for number, child in enumerate(body):
            children.append(self.filter(child, f"{place}[{number}]", depth + 1))
        return conjunction(children) if name == "and" else disjunction(children)

    def _predicate(
        self, read: Callable[[object, Limits], Filter], body: object, place: str
    ) -> Filter:
        self.left -= 1
        if self.left < 0:
            raise _refusal(place, f"more than {self.limits.nodes_max} predicates")
        try:
            return read(body, self.limits)
        except FilterError as refused:
            raise _refusal(place, refused.problem, refused.expected) from None
        except (EventError, ValueError) as refused:
            raise _refusal(place, str(refused)) from None


def _refusal(place: str, problem: str, expected: str | None = None) -> FilterError:
    return FilterError(f"{place}: {problem}" if place else problem, expected=expected)


def _brief(document: object) -> str:
    """Return a short text for a document that was not expected. Nested values are not printed."""
    if isinstance(document, (dict, list)):
        return "an object" if isinstance(document, dict) else "a list"
    return shown(document)


def _membership(body: object, limits: Limits) -> tuple[str, tuple[Scalar, ...]]:
    match body:
        case [str(attribute), list(values)]:
            if len(values) > limits.list_size_max:
                raise FilterError(f"{len(values)} values are more than {limits.list_size_max}")
            return _text(attribute, limits), tuple(_value(value, limits) for value in values)
    raise FilterError(_brief(body), expected="an attribute and a list of values")


def _in(body: object, limits: Limits) -> Filter:
    return p.In(*_membership(body, limits))


def _not_in(body: object, limits: Limits) -> Filter:
    return p.NotIn(*_membership(body, limits))


def _range(body: object, limits: Limits) -> Filter:
    match body:
        case [str(attribute), dict(ends)] if _are_ends(ends):
            read = {operator: _value(end, limits) for operator, end in ends.items()}
            if None not in read.values():
                low, high = read.get(">=", read.get(">")), read.get("<=", read.get("<"))
                return p.Range(_text(attribute, limits), low, high, ">" in read, "<" in read)
    raise FilterError(_brief(body), expected='an attribute and ends such as {">=": 1, "<": 5}')


def _are_ends(ends: dict[object, object]) -> bool:
    lows, highs = ends.keys() & {">", ">="}, ends.keys() & {"<", "<="}
    return 1 <= len(ends) == len(lows) + len(highs) and len(lows) < 2 and len(highs) < 2


def _like(body: object, limits: Limits) -> Filter:
    attribute, pattern = _texts(body, 2, limits)
    return t.like(attribute, from_like(pattern))


def _ilike(body: object, limits: Limits) -> Filter:
    attribute, pattern = _texts(body, 2, limits)
    return t.like(attribute, from_like(pattern), ignore_case=True)


def _compare(body: object, limits: Limits) -> Filter:
    attribute, operator, other = _texts(body, 3, limits)
    if operator not in COMPARISONS:
        raise FilterError(shown(operator), expected=f"one of {' '.join(COMPARISONS)}")
    return Compare(attribute, operator, other)


def _of_strings(declaration: Declaration) -> Callable[[object, Limits], Filter]:
    def read(body: object, limits: Limits) -> Filter:
        if declaration.text is None:
            return declaration.make(_text(body, limits))
        return declaration.make(*_texts(body, 2, limits))

    return read


def _texts(body: object, count: int, limits: Limits) -> list[str]:
    if not isinstance(body, list) or len(body) != count:
        raise FilterError(_brief(body), expected=f"a list of {count} strings")
    return [_text(member, limits) for member in body]


def _text(member: object, limits: Limits) -> str:
    if not isinstance(member, str):
        raise FilterError(_brief(member), expected="a string")
    if len(member) > limits.text_length_max:
        raise FilterError(f"a text longer than {limits.text_length_max} characters")
    admit(member)
    return member


def _value(member: object, limits: Limits) -> Scalar:
    match member:
        case str():
            return _text(member, limits)
        case None | bool() | int() | float():
            return admit(member)
        case {"timestamp": str(text), **others} if not others:
            return parse_timestamp(text)
        case {"decimal": str(text), **others} if not others:
            return read_number(_text(text, limits))
    raise FilterError(
        _brief(member), expected='a scalar, {"timestamp": "..."} or {"decimal": "..."}'
    )


_READERS: Final[dict[str, Callable[[object, Limits], Filter]]] = {
    "in": _in,
    "not in": _not_in,
    "range": _range,
    "like": _like,
    "ilike": _ilike,
    "compare": _compare,
}


def members() -> tuple[str, ...]:
    """Return every member that a document may have."""
    return "and", "or", "not", *_READERS, *BY_MEMBER
