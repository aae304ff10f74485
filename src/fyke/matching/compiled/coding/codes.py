"""Codes: values as 32-bit integers that keep their order.

Idea. The index compares int32 codes. On an ordered axis (numbers, timestamps, strings) a value lies
on a grid point or between two: a grid point has an even code, and all values strictly between two
points share the odd code between theirs. So the order of codes never contradicts that of values,
equal even codes mean equal values, and only equal *odd* codes leave a doubt, which the caller
settles with the exact filter.

    numbers      the upper bits of the float64: 20 significant bits; integers to 2**20 are exact
    timestamps   steps of 2**28 microseconds, about four and a half minutes
    strings      the first 30 bits of their UTF-8

On an axis of values the codes are symbols from a dictionary: even, above OTHER, never in doubt.

An interval of codes covers the interval of values it is made of, and so does its complement the
complement: a value is decided wrongly by neither unless its code is odd and an end
(`lanes.ends_at`).
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fyke.events.value import Kind, Scalar, format_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from fyke.filters.predicate import Range

Interval: TypeAlias = tuple[int, int]

MISSING: Final = -(2**31)
"""The code of an attribute that is not there, on every axis."""
OTHER: Final = 0
"""The code of a value that no subscription mentions."""
LOWEST: Final = MISSING + 1
HIGHEST: Final = 2**31 - 1

NUMBER_SHIFT: Final = 33
NUMBER_REST: Final = (1 << NUMBER_SHIFT) - 1
MAGNITUDE: Final = (1 << 63) - 1
EXACT_MAX: Final = 1 << 53
"""Integers up to this are float64 exactly."""
TIME_SHIFT: Final = 28
TIME_REST: Final = (1 << TIME_SHIFT) - 1
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)

_to_bits: Final = struct.Struct("<d").pack
_from_bits: Final = struct.Struct("<q").unpack


def number_code(number: Any) -> int:
    """Return the code of an int64, a float64 or a decimal."""
    rounded = float(number)
    (bits,) = _from_bits(_to_bits(rounded))
    key = bits if bits >= 0 else -(bits & MAGNITUDE)
    code: int = (key >> NUMBER_SHIFT) << 1 | (key & NUMBER_REST != 0)
    if rounded == number or code & 1:
        return code
    return code + 1 if number > rounded else code - 1


def timestamp_code(moment: datetime) -> int:
    microseconds = (moment - EPOCH) // MICROSECOND
    return (microseconds >> TIME_SHIFT) << 1 | (microseconds & TIME_REST != 0)


def string_code(text: str) -> int:
    data = text[:4].encode()
    head = int.from_bytes(data[:4].ljust(4, b"\0"), "big")
    is_more = len(text) > 4 or len(data) > 4 or data[-1:] == b"\0" or head & 3
    return head >> 2 << 1 | bool(is_more)


CODE: Final[dict[Kind, Callable[[Any], int]]] = {
    Kind.NUMBER: number_code,
    Kind.TIMESTAMP: timestamp_code,
    Kind.STRING: string_code,
}


def interval(range_: Range) -> Interval | None:
    """Return the codes that the values of a range can have; None where it has none."""
    code = CODE[range_.kind]
    low, high = LOWEST, HIGHEST
    if range_.low is not None:
        low = _low_end(code(range_.low), range_.low_open)
    if range_.high is not None:
        high = _high_end(code(range_.high), range_.high_open)
    return (low, high) if low <= high else None


def _low_end(code: int, is_open: bool) -> int:
    return code + 1 if is_open and not code & 1 else code


def _high_end(code: int, is_open: bool) -> int:
    return code - 1 if is_open and not code & 1 else code


def complement(low: int, high: int) -> Interval | None:
    """Return the codes outside of an interval, MISSING included: an interval that goes around.

    None where these are all codes.
    """
    if low == high and low & 1:
        return None
    return high if high & 1 else high + 1, low if low & 1 else low - 1


def differs(code: int) -> Interval:
    """Return all codes of an axis of values but one."""
    return code + 1, code - 1


def scalar_key(value: Scalar) -> object:
    """Return the key of a scalar in a dictionary of values: True is not 1."""
    return ("boolean", value) if value.__class__ is bool else value


def key_document(key: object) -> object:
    """Return such a key as data: as in JSON, timestamps and decimals as tagged objects."""
    match key:
        case ("boolean", value):
            return value
        case datetime():
            return {"timestamp": format_timestamp(key)}
        case Decimal():
            return {"decimal": str(key)}
    return key
