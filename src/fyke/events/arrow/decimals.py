"""Decimals, exactly.

Idea. A decimal is an integer of digits over a power of ten. A column all of whose decimals are
int64, or exactly float64, is a column of numbers; otherwise they stay decimals, and each cell is
its canonical form (an int, a float, or else a `Decimal`).
Example. decimal(9, 2): 1.50 and 2.00 are 150/10**2 and 200/10**2, both exactly float64, since the
fives of 10**2 divide 150 and 200; with 0.10 among them, 10/10**2, they stay decimals.
Cost. Vectorised where the digits fit in 64 bits; `nearest_floats` where they are below 2**53.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fyke.events.arrow.numbers import numbers
from fyke.events.arrow.scalars import Mask, Scalars, data, validity
from fyke.events.value import Scalar, canonical

_EXACT_POWERS: Final = 22
"""10**22 is the last power of ten that is exactly a float64."""


def read_decimals(array: Any) -> Scalars:
    """The numbers or decimals of a decimal array of any width."""
    valid, scale = validity(array), array.type.scale
    digits = _digits(array, valid)
    if digits is not None and 0 <= scale <= 18 and not (digits % 10**scale).any():
        return numbers(digits // 10**scale, valid)
    if digits is not None and 0 <= scale <= _EXACT_POWERS and _are_floats(digits, scale):
        return numbers(digits / 10.0**scale, valid)
    width = array.type.bit_width // 8
    buffer, start = array.buffers()[1], array.offset * width

    def item(place: int) -> Scalar:
        first = start + place * width
        number = int.from_bytes(buffer[first : first + width].to_pybytes(), "little", signed=True)
        return canonical(Decimal(f"{number}E{-scale}"))

    return Scalars("decimal", array, valid, item)


def nearest_floats(array: Any) -> NDArray[np.float64]:
    """Decimals without nulls, each as the nearest float64; that keeps their order."""
    digits, scale = _digits(array, None), array.type.scale
    if digits is not None and 0 <= scale <= _EXACT_POWERS and _are_small(digits):
        nearest: NDArray[np.float64] = digits / 10.0**scale  # both exact, so rounded only once
        return nearest
    cells = read_decimals(array)
    return np.array([float(cells.item(place)) for place in range(len(cells))], np.float64)  # type: ignore[arg-type]


def _digits(array: Any, valid: Mask | None) -> NDArray[np.int64] | None:
    """The digits as integers, 0 at a null; None where some do not fit in 64 bits."""
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


def _are_floats(digits: NDArray[np.int64], scale: int) -> bool:
    """Whether all of digits / 10**scale are float64: the fives of the divisor must cancel."""
    return _are_small(digits) and not (digits % 5**scale).any()


def _are_small(digits: NDArray[np.int64]) -> bool:
    return bool(((digits >= -(2**53)) & (digits <= 2**53)).all())
