"""Weak codes: cuts as few bytes that never contradict their order.

A number is its nearest float64 as 64 bits, a moment its microseconds, a string its first sixteen
bytes. Two cuts may have one code; but if one cut lies before another, its code is not behind. So a
comparison of codes finds all that there is, and a few more.

    2**53 and 2**53 + 1 have one code, and so have two strings that begin alike for long
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fyke.events.value import Kind
from fyke.filters.algebra.intervals import Cut

Code: TypeAlias = int | bytes

LENGTH: Final = 16
"""Bytes of a string that count."""
_LAST: Final = 2**64 - 1
_SIGN: Final = 2**63
_EPOCH: Final = datetime(1, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def code(kind: Kind, cut: Cut) -> Code:
    """Return the code of a cut between values of a kind."""
    where, value, _ = cut
    if kind is Kind.STRING:
        if where:
            return b"" if where < 0 else b"\xff" * LENGTH
        text: str = value[:LENGTH]
        return text.encode("utf-8", "surrogatepass")[:LENGTH]
    if where:
        return 0 if where < 0 else _LAST
    return _number(value)


def dtype_of(kind: Kind) -> npt.DTypeLike:
    """Return the type of an array of codes."""
    return f"S{LENGTH}" if kind is Kind.STRING else np.uint64


def _number(value: Any) -> int:
    if isinstance(value, datetime):
        return (value - _EPOCH) // _MICROSECOND
    try:
        number = float(value) + 0.0
    except OverflowError:
        return 0 if value < 0 else _LAST
    (bits,) = struct.unpack(">Q", struct.pack(">d", number))
    return int(bits ^ _LAST if bits & _SIGN else bits | _SIGN)
