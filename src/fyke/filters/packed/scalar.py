"""Scalars as few bytes: a tag of four bits, which its user stores, and what follows it.

    null false true                 nothing
    int of 1, 2, 3, 4, 6, 8 bytes   the integer, its lowest byte first
    decimal                         a byte (digits << 4 | width), then an integer of that width:
                                    8.35 is 835 of two digits
    float                           the 8 bytes of a float64 that is no short decimal
    string                          length and UTF-8
    timestamp                       8 bytes, microseconds since 1970
    exact                           the text of a decimal for which no float64 stands

The ends of an interval share a tag, and with it the width, where both are of one kind.

Invariant. What is read equals what was written, in kind and to the last bit: a decimal is taken
only if dividing gives the float back. Readers raise IndexError, ValueError, OverflowError or
struct.error on bytes that hold no value, and may read beyond the end (see `varint`).
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Final, TypeAlias

from fyke.errors import FilterError, shown
from fyke.events.value import Scalar, canonical
from fyke.filters.packed.varint import pack_text, read_text

NULL, FALSE, TRUE = 0, 1, 2
WIDTHS: Final = (1, 2, 3, 4, 6, 8)
INT: Final = 3
FLOAT, STRING, TIMESTAMP, DECIMAL, EXACT = 9, 10, 11, 12, 13

Tagged: TypeAlias = tuple[int, bytes]

_WIDTH: Final = tuple(next(w for w in WIDTHS if bits < 8 * w) for bits in range(64))
"""The bytes of an integer by its bits without the sign."""
_INT_TAG: Final = {width: INT + at for at, width in enumerate(WIDTHS)}
_TAG_WIDTH: Final = {tag: width for width, tag in _INT_TAG.items()}
_DIGITS_MAX: Final = 4
_MANTISSA_MAX: Final = 2**47 - 1
_POWERS: Final = tuple(10**digits for digits in range(_DIGITS_MAX + 1))
_DOUBLE: Final = struct.Struct("<d")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


# --- writing -------------------------------------------------------------------------------------


def pack(value: Scalar) -> Tagged:
    """Return the tag and the bytes of a scalar; FilterError if the value cannot be compared."""
    match value:
        case str():
            return STRING, pack_text(value)
        case None:
            return NULL, b""
        case bool():
            return (TRUE if value else FALSE), b""
        case int():
            width = _width(value)
            return _INT_TAG[width], value.to_bytes(width, "little", signed=True)
        case float():
            return _decimals((value,)) or (FLOAT, _DOUBLE.pack(_finite(value)))
        case datetime():
            return TIMESTAMP, _moment(value)
        case Decimal():
            return EXACT, pack_text(str(value))
    raise FilterError(f"a value of type {type(value).__name__} cannot be stored")


def pack_ends(low: Scalar, high: Scalar) -> Tagged | None:
    """Return two ends of an interval under one tag; None if they need two."""
    if type(low) is int and type(high) is int:
        width = max(_width(low), _width(high))
        return _INT_TAG[width], low.to_bytes(width, "little", signed=True) + high.to_bytes(
            width, "little", signed=True
        )
    if type(low) in (int, float) and type(high) in (int, float):
        decimals = _decimals((low, high))  # type: ignore[arg-type]
        if decimals is not None:
            return decimals
    tag, first = pack(low)
    other_tag, second = pack(high)
    return (tag, first + second) if tag == other_tag != DECIMAL else None


def _width(value: int) -> int:
    bits = value.bit_length() if value >= 0 else (~value).bit_length()
    if bits > 63:
        raise FilterError(f"the integer {shown(value)} does not fit in 64 bits")
    return _WIDTH[bits]


def _decimals(values: tuple[int | float, ...]) -> Tagged | None:
    """Return numbers as integers over a power of ten; None if that is not exact or not shorter."""
    for digits in range(1, _DIGITS_MAX + 1):
        power = _POWERS[digits]
        mantissas = []
        for value in values:
            if not -_MANTISSA_MAX <= value * power <= _MANTISSA_MAX:
                return None
            mantissas.append(round(value * power))
            if mantissas[-1] / power != value:
                break
        else:
            width = max(map(_width, mantissas))
            ends = [each.to_bytes(width, "little", signed=True) for each in mantissas]
            return DECIMAL, bytes([digits << 4 | width]) + b"".join(ends)
    return None


def _finite(value: float) -> float:
    if not isfinite(value):
        raise FilterError(f"{value} is not a number that can be compared")
    return value


def _moment(value: datetime) -> bytes:
    if value.utcoffset() is None:
        raise FilterError(f"the timestamp {shown(str(value))} has no time zone")
    return ((value - _EPOCH) // _MICROSECOND).to_bytes(8, "little", signed=True)


# --- reading -------------------------------------------------------------------------------------


def read(tag: int, data: bytes, at: int) -> tuple[Scalar, int]:
    """Read the scalar at a place. Return it and its end."""
    if INT <= tag < FLOAT:
        end = at + _TAG_WIDTH[tag]
        return int.from_bytes(data[at:end], "little", signed=True), end
    if tag == STRING:
        return read_text(data, at)
    if tag == DECIMAL:
        (value,), at = _read_decimals(data, at, 1)
        return value, at
    if tag <= TRUE:
        return (None, False, True)[tag], at
    return _read_rare(tag, data, at)


def read_ends(tag: int, data: bytes, at: int) -> tuple[Scalar, Scalar, int]:
    """Read both ends of an interval. Return them and where they end."""
    if INT <= tag < FLOAT:
        middle = at + _TAG_WIDTH[tag]
        end = middle + _TAG_WIDTH[tag]
        low = int.from_bytes(data[at:middle], "little", signed=True)
        return low, int.from_bytes(data[middle:end], "little", signed=True), end
    if tag == DECIMAL:
        ends, at = _read_decimals(data, at, 2)
        return ends[0], ends[1], at
    first, at = read(tag, data, at)
    second, at = read(tag, data, at)
    return first, second, at


def _read_decimals(data: bytes, at: int, count: int) -> tuple[list[float], int]:
    digits, width = data[at] >> 4, data[at] & 15
    power, at = _POWERS[digits], at + 1
    values = []
    for _ in range(count):
        values.append(int.from_bytes(data[at : at + width], "little", signed=True) / power)
        at += width
    return values, at


def _read_rare(tag: int, data: bytes, at: int) -> tuple[Scalar, int]:
    if tag == FLOAT:
        return _finite(_DOUBLE.unpack_from(data, at)[0]), at + 8
    if tag == TIMESTAMP:
        microseconds = int.from_bytes(data[at : at + 8], "little", signed=True)
        return _EPOCH + timedelta(microseconds=microseconds), at + 8
    if tag == EXACT:
        text, at = read_text(data, at)
        try:
            return canonical(Decimal(text)), at
        except InvalidOperation:
            raise ValueError("no decimal") from None
    raise ValueError("an unknown tag")
