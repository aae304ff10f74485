"""Decimals, exactly.

Idea. A decimal is an integer of digits over a power of ten. A column of int64, or of decimals of up
to 15 digits, is a column of numbers: for each such decimal a float64 stands (`events.number`), the
quotient of the two. Otherwise they stay decimals, and each cell is its canonical form (an int, a
float, or else an `ExactDecimal`). Of a cell zeros at the end count for nothing.
Example. decimal(9, 2): 8.40 is 840 / 10**2, the float64 8.4. With 1234567890123456.78 beside it, of
18 digits, a column decimal(18, 2) stays one of decimals.
Cost. Vectorised where the digits fit in 64 bits and are few, as those of money are.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fyke.errors import EventError
from fyke.events.arrow.numbers import numbers
from fyke.events.arrow.scalars import Mask, Scalars, data, validity, without
from fyke.events.number import DIGITS_MAX
from fyke.events.value import Scalar, admit, canonical

_EXACT_POWERS: Final = 22
"""10**22 is the last power of ten that is exactly a float64."""
_ANY: Final = Context(prec=400)
_FLOAT_DIGITS: Final = 15
"""No two decimals with at most this many digits have the same nearest float64."""
_SAFE_BYTES: Final = 16
_SAFE_SCALE: Final = 200
"""Decimals of at most these bytes and of at most this scale can be compared, all of them."""


def read_decimals(array: Any) -> Scalars:
    """Return the numbers or decimals of a decimal array of any width."""
    valid, scale = validity(array), array.type.scale
    digits = _digits(array, valid)
    if digits is not None and 0 <= scale <= 18 and not (digits % 10**scale).any():
        return numbers(digits // 10**scale, valid)
    if digits is not None:
        digits, places = _shortened(digits, scale)
        if 0 <= places <= _EXACT_POWERS and _are_below(10**_FLOAT_DIGITS, digits):
            return numbers(digits / 10.0**places, valid)
    width = array.type.bit_width // 8
    buffer, start = array.buffers()[1], array.offset * width

    def decimal(place: int) -> Decimal:
        first = start + place * width
        number = int.from_bytes(buffer[first : first + width].to_pybytes(), "little", signed=True)
        return Decimal(f"{number}E{-scale}")

    def item(place: int) -> Scalar:
        return canonical(decimal(place))

    if width <= _SAFE_BYTES and abs(scale) <= _SAFE_SCALE:
        return Scalars("decimal", array, valid, item)
    refused = np.zeros(len(array), bool)
    reasons = []
    for place in range(len(array)) if valid is None else np.flatnonzero(valid).tolist():
        try:
            admit(decimal(place))
        except EventError as problem:
            refused[place] = True
            reasons.append((np.array([place]), problem.problem))
    return Scalars("decimal", array, without(valid, refused), item, tuple(reasons))


def decimal_array(numbers: Sequence[Decimal], scale: int) -> Any:
    """Return an Arrow array of decimals of up to 38 digits, `scale` of them behind the point."""
    digits = (int(number.scaleb(scale, _ANY)) for number in numbers)
    words = b"".join(each.to_bytes(16, "little", signed=True) for each in digits)
    type_ = pa.decimal128(DIGITS_MAX, scale)
    return pa.Array.from_buffers(type_, len(numbers), [None, pa.py_buffer(words)])


def nearest_floats(array: Any) -> NDArray[np.float64]:
    """Return decimals without nulls, each as the nearest float64; that keeps their order."""
    digits, scale = _digits(array, None), array.type.scale
    if digits is not None and 0 <= scale <= _EXACT_POWERS and _are_below(2**53, digits):
        nearest: NDArray[np.float64] = digits / 10.0**scale  # both exact, so rounded only once
        return nearest
    cells = read_decimals(array)
    return np.array([float(cells.item(place)) for place in range(len(cells))], np.float64)  # type: ignore[arg-type]


def _digits(array: Any, valid: Mask | None) -> NDArray[np.int64] | None:
    """Return the digits as integers, 0 at a null; None where some do not fit in 64 bits."""
    bits = array.type.bit_width
    if bits == 32:
        low = data(array, np.dtype(np.int32)).astype(np.int64)
    else:
        words = data(array, np.dtype((np.int64, (bits // 64,))))
        low = words[:, 0]
        extends = (words[:, 1:] == (low >> 63)[:, None]).all(axis=1)
        if not (extends if valid is None else extends[valid]).all():
            return None
    return low if valid is None else np.where(valid, low, 0)


def _shortened(digits: NDArray[np.int64], scale: int) -> tuple[NDArray[np.int64], int]:
    """Return fewer digits and a smaller scale, where there are many and all end in zeros."""
    while scale > 0 and not _are_below(10**_FLOAT_DIGITS, digits) and not (digits % 10).any():
        digits, scale = digits // 10, scale - 1
    return digits, scale


def _are_below(end: int, digits: NDArray[np.int64]) -> bool:
    return bool(((digits > -end) & (digits < end)).all())
