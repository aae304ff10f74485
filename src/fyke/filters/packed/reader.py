"""Reading a filter from bytes, which may be any."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import fyke.filters.residual  # noqa: F401  (the class declares itself)
from fyke.errors import FilterError
from fyke.filters import predicate as p
from fyke.filters import text_predicate as t
from fyke.filters.comparison import Compare
from fyke.filters.declaration import BY_CODE, Declaration
from fyke.filters.filter import DEPTH_MAX, FALSE, TRUE, And, Filter, Not, Or
from fyke.filters.packed import codes, scalar
from fyke.filters.packed.names import NameTable
from fyke.filters.packed.varint import read_text, read_varint
from fyke.filters.texts.glob import ONE, Glob

_Read: TypeAlias = tuple[Filter, int]
"""A filter and where its bytes end."""


def unpack(data: bytes, names: NameTable) -> Filter:
    """Read a filter from its bytes."""
    try:
        filter, end = _read(data, 0, names, 1)
    except (IndexError, struct.error):
        raise FilterError(
            "the packed filter is corrupt: it ends early, or a name is missing"
        ) from None
    except (ValueError, OverflowError) as refused:
        raise FilterError(f"the packed filter is corrupt: {refused}") from None
    if end != len(data):
        raise FilterError("the packed filter is corrupt: it does not end where its bytes end")
    return filter


def _read(data: bytes, at: int, names: NameTable, depth: int) -> _Read:
    code = data[at]
    at += 1
    if code >= codes.INTERVAL:
        return _read_interval(code, data, at, names)
    if code >= codes.AND:
        return _read_children(code, data, at, names, depth)
    if code >= codes.EQUAL:
        name, at = names.read(data, at)
        value, at = scalar.read(code & 15, data, at)
        return (p.In if code < codes.UNEQUAL else p.NotIn)(name, (value,)), at
    if code == codes.NOT:
        child, at = _read(data, at, names, _deeper(depth))
        return Not((child,)), at
    if code in _READERS:
        return _READERS[code](data, at, names)
    if code in BY_CODE:
        return _read_declared(BY_CODE[code], data, at, names)
    raise ValueError(f"no node begins with the byte {code}")


def _deeper(depth: int) -> int:
    if depth == DEPTH_MAX:
        raise ValueError(f"nested deeper than {DEPTH_MAX} levels")
    return depth + 1


def _read_children(code: int, data: bytes, at: int, names: NameTable, depth: int) -> _Read:
    depth = _deeper(depth)
    count = code & 15
    if not count:
        count, at = read_varint(data, at)
    if count < 2 or code >= codes.OPERATORS_END:
        raise ValueError("an operator has fewer than two children")
    children = []
    for _ in range(count):
        child, at = _read(data, at, names, depth)
        children.append(child)
    return (And if code < codes.OR else Or)(tuple(children)), at


def _read_interval(code: int, data: bytes, at: int, names: NameTable) -> _Read:
    name, at = names.read(data, at)
    if code & codes.BOTH:
        low, high, at = scalar.read_ends(code & 15, data, at)
        low_open, high_open = code & codes.LOW_OPEN != 0, code & codes.HIGH_OPEN != 0
        return p.Range(name, low, high, low_open, high_open), at
    end, at = scalar.read(code & 15, data, at)
    if code & codes.HIGH_ONLY:
        return p.Range(name, None, end, False, code & codes.ONLY_OPEN != 0), at
    return p.Range(name, end, None, code & codes.ONLY_OPEN != 0), at


def _read_range(data: bytes, at: int, names: NameTable) -> _Read:
    shape = data[at]
    name, at = names.read(data, at + 1)
    low, at = scalar.read(data[at], data, at + 1)
    high, at = scalar.read(data[at], data, at + 1)
    return p.Range(name, low, high, shape & codes.LOW_OPEN != 0, shape & codes.HIGH_OPEN != 0), at


def _read_members(data: bytes, at: int, names: NameTable) -> tuple[str, tuple[Any, ...], int]:
    name, at = names.read(data, at)
    count, at = read_varint(data, at)
    members = []
    for _ in range(count):
        value, at = scalar.read(data[at], data, at + 1)
        members.append(value)
    return name, tuple(members), at


def _read_in(data: bytes, at: int, names: NameTable) -> _Read:
    name, members, at = _read_members(data, at, names)
    return p.In(name, members), at


def _read_not_in(data: bytes, at: int, names: NameTable) -> _Read:
    name, members, at = _read_members(data, at, names)
    return p.NotIn(name, members), at


def _read_pattern(data: bytes, at: int, names: NameTable) -> tuple[str, Glob, int]:
    name, at = names.read(data, at)
    size, at = read_varint(data, at)
    segments = (
        map(bytes.decode, each.split(codes.ONE)) for each in data[at : at + size].split(codes.STAR)
    )
    return name, Glob(tuple(map(ONE.join, segments))), at + size


def _read_like(data: bytes, at: int, names: NameTable) -> _Read:
    name, pattern, at = _read_pattern(data, at, names)
    return t.Like(name, pattern), at


def _read_ilike(data: bytes, at: int, names: NameTable) -> _Read:
    name, pattern, at = _read_pattern(data, at, names)
    return t.Like(name, pattern, ignore_case=True), at


def _read_compare(data: bytes, at: int, names: NameTable) -> _Read:
    operator = codes.COMPARISONS[data[at]]
    name, at = names.read(data, at + 1)
    other, at = names.read(data, at)
    return Compare(name, operator, other), at


def _read_declared(declaration: Declaration, data: bytes, at: int, names: NameTable) -> _Read:
    name, at = names.read(data, at)
    if declaration.text is None:
        return declaration.make(name), at
    text, at = read_text(data, at)
    return declaration.make(name, text), at


_READERS: Final[dict[int, Callable[[bytes, int, NameTable], _Read]]] = {
    codes.FALSE: lambda data, at, names: (FALSE, at),
    codes.TRUE: lambda data, at, names: (TRUE, at),
    codes.IN: _read_in,
    codes.NOT_IN: _read_not_in,
    codes.RANGE: _read_range,
    codes.LIKE: _read_like,
    codes.ILIKE: _read_ilike,
    codes.COMPARE: _read_compare,
}
