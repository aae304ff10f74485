"""Writing a filter as bytes: a function per class of node, one for all that are declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fyke.errors import FilterError
from fyke.events.value import Scalar
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.comparison import Compare
from fyke.filters.declaration import DECLARATIONS
from fyke.filters.filter import And, Constant, Filter, Not, Or, conjunction, disjunction
from fyke.filters.packed import codes, scalar
from fyke.filters.packed.names import NameTable
from fyke.filters.packed.varint import pack_text, varint
from fyke.filters.texts.glob import ONE


def pack(filter: Filter, names: NameTable) -> bytes:
    """Return the bytes of a filter. New names get numbers."""
    out = bytearray()
    try:
        _write(filter, out, names)
    except UnicodeEncodeError:
        raise FilterError("a string of the filter holds a lone surrogate") from None
    return bytes(out)


def _write(filter: Filter, out: bytearray, names: NameTable) -> None:
    write = _WRITERS.get(type(filter), _write_declared)
    write(filter, out, names)


def _write_operator(filter: And | Or, out: bytearray, names: NameTable) -> None:
    children = filter.children
    code, joined = (codes.AND, conjunction) if type(filter) is And else (codes.OR, disjunction)
    if len(children) < 2:  # built by hand
        _write(joined(children), out, names)
        return
    if len(children) <= codes.INLINE_MAX:
        out.append(code | len(children))
    else:
        out.append(code)
        out += varint(len(children))
    for child in children:
        _write(child, out, names)


def _write_not(filter: Not, out: bytearray, names: NameTable) -> None:
    out.append(codes.NOT)
    _write(filter.child, out, names)


def _write_in(filter: p.In, out: bytearray, names: NameTable) -> None:
    _write_members(codes.EQUAL, codes.IN, filter, out, names)


def _write_not_in(filter: p.NotIn, out: bytearray, names: NameTable) -> None:
    _write_members(codes.UNEQUAL, codes.NOT_IN, filter, out, names)


def _write_members(
    single: int, several: int, filter: p.In | p.NotIn, out: bytearray, names: NameTable
) -> None:
    if len(filter.values) == 1:
        tag, data = scalar.pack(filter.values[0])
        out.append(single | tag)
        out += names.pack(filter.attribute)
        out += data
        return
    out.append(several)
    out += names.pack(filter.attribute)
    out += varint(len(filter.values))
    for value in filter.values:
        _write_value(value, out)


def _write_value(value: Scalar, out: bytearray) -> None:
    tag, data = scalar.pack(value)
    out.append(tag)
    out += data


def _write_range(filter: p.Range, out: bytearray, names: NameTable) -> None:
    low, high = filter.low, filter.high
    if low is None or high is None:
        shape = codes.ONLY_OPEN if filter.low_open or filter.high_open else 0
        shape |= codes.HIGH_ONLY if low is None else 0
        ends: scalar.Tagged | None = scalar.pack(high if low is None else low)
    else:
        shape = codes.BOTH | (codes.LOW_OPEN if filter.low_open else 0)
        shape |= codes.HIGH_OPEN if filter.high_open else 0
        ends = scalar.pack_ends(low, high)
    if ends is None:
        out += bytes((codes.RANGE, shape))
        out += names.pack(filter.attribute)
        _write_value(low, out)
        _write_value(high, out)
    else:
        out.append(codes.INTERVAL | shape | ends[0])
        out += names.pack(filter.attribute)
        out += ends[1]


def _write_like(filter: t.Like, out: bytearray, names: NameTable) -> None:
    segments = (map(str.encode, segment.split(ONE)) for segment in filter.pattern.segments)
    data = codes.STAR.join(map(codes.ONE.join, segments))
    out.append(codes.ILIKE if filter.ignore_case else codes.LIKE)
    out += names.pack(filter.attribute)
    out += varint(len(data))
    out += data


def _write_compare(filter: Compare, out: bytearray, names: NameTable) -> None:
    out += bytes((codes.COMPARE, codes.COMPARISONS.index(filter.operator)))
    out += names.pack(filter.attribute)
    out += names.pack(filter.other)


def _write_declared(filter: Filter, out: bytearray, names: NameTable) -> None:
    declaration = DECLARATIONS.get(type(filter))
    if declaration is None:
        raise FilterError(f"a filter of type {type(filter).__name__} cannot be stored")
    name, *texts = declaration.strings(filter)
    out.append(declaration.code)
    out += names.pack(name)
    for text in texts:
        out += pack_text(text)


_WRITERS: Final[dict[type[Filter], Callable[[Any, bytearray, NameTable], None]]] = {
    Constant: lambda f, out, names: out.append(codes.TRUE if f.value else codes.FALSE),
    And: _write_operator,
    Or: _write_operator,
    Not: _write_not,
    p.In: _write_in,
    p.NotIn: _write_not_in,
    p.Range: _write_range,
    t.Like: _write_like,
    Compare: _write_compare,
}
