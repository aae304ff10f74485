"""Ordered codes of whole columns: `codes.number_code` and `codes.timestamp_code` as kernels.

An integer beyond 2**53 may not be a float64. Its code is that of the nearest one; where that is a
grid point, it is that of the gap beside it. So it is with decimals, of which only those whose
nearest float64 is a grid point are looked at one by one.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from fyke.events.arrow.decimals import read_decimals
from fyke.matching.compiled.boxes.box_table import Words
from fyke.matching.compiled.coding.codes import (
    MAGNITUDE,
    NUMBER_REST,
    NUMBER_SHIFT,
    TIME_REST,
    TIME_SHIFT,
    number_code,
)
from fyke.matching.compiled.kernels.kernel import inlined, kernel

EXACT_MAX: Final = 2**53
_INTEGERS_END: Final = 2.0**63


def number_codes(numbers: np.ndarray[Any, Any], out: Words, column: int) -> None:
    """Write the code of each int64 or float64."""
    if numbers.dtype == np.int64:
        rounded = numbers.astype(np.float64)
        integer_codes(numbers, rounded, rounded.view(np.int64), out, column)
    else:
        float_codes(numbers.view(np.int64), out, column)


def decimal_codes(decimals: Any, rounded: np.ndarray[Any, Any], out: Words, column: int) -> None:
    """Write the code of each decimal of an Arrow array; `rounded` are the nearest float64."""
    float_codes(rounded.view(np.int64), out, column)
    exact = read_decimals(decimals).item
    for place in np.flatnonzero(out[:, column] & 1 == 0).tolist():
        out[place, column] = number_code(exact(place))


@inlined
def code_of_bits(bits: int) -> int:
    """Return the code of a float64."""
    key = bits if bits >= 0 else -(bits & MAGNITUDE)
    return key >> NUMBER_SHIFT << 1 | (1 if key & NUMBER_REST != 0 else 0)


@kernel
def float_codes(bits: Any, out: Any, column: int) -> None:
    for at in range(len(bits)):
        out[at, column] = code_of_bits(int(bits[at]))


@kernel
def integer_codes(numbers: Any, rounded: Any, bits: Any, out: Any, column: int) -> None:
    for at in range(len(numbers)):
        code = code_of_bits(int(bits[at]))
        number = int(numbers[at])
        if code & 1 == 0 and (number > EXACT_MAX or number < -EXACT_MAX):
            if rounded[at] >= _INTEGERS_END or number < int(rounded[at]):
                code -= 1
            elif number > int(rounded[at]):
                code += 1
        out[at, column] = code


@kernel
def moment_codes(microseconds: Any, out: Any, column: int) -> None:
    for at in range(len(microseconds)):
        moment = int(microseconds[at])
        out[at, column] = moment >> TIME_SHIFT << 1 | (1 if moment & TIME_REST != 0 else 0)
