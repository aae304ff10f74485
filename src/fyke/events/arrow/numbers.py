"""Integers, floats and durations as numbers.

NaN, the infinities and integers beyond int64 are refused.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fyke.events.arrow.scalars import Mask, Refusal, Scalars, data, refusal, validity, without
from fyke.events.number import INT_MAX

NUMBERS: Final[dict[Any, np.dtype[Any]]] = {
    arrow: np.dtype(arrow.to_pandas_dtype())
    for arrow in (
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64()),
    )
}
PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def numbers(values: NDArray[Any], valid: Mask | None, refused: tuple[Refusal, ...] = ()) -> Scalars:
    """Return the scalars of an int64 or float64 array."""
    return Scalars("number", pa.array(values), valid, values.item, refused)


def read_numbers(array: Any) -> Scalars:
    """Return the scalars of an array of one of the types in NUMBERS."""
    dtype = NUMBERS[array.type]
    values, valid = data(array, dtype), validity(array)
    if dtype.kind == "f":
        return _floats(values.astype(np.float64, copy=False), valid)
    if dtype == np.uint64:
        return _wide_integers(values, valid)
    return numbers(values.astype(np.int64, copy=False), valid)


def _floats(values: NDArray[np.float64], valid: Mask | None) -> Scalars:
    refused = refusal(valid, np.isfinite(values))
    if refused is None:
        return numbers(values, valid)
    reasons = []
    for name in ("nan", "inf", "-inf"):
        found = np.isnan(values) if name == "nan" else values == float(name)
        problem = f"{name} is not a number that can be compared"
        reasons.append((np.flatnonzero(found & refused), problem))
    return numbers(values, without(valid, refused), tuple(reasons))


def _wide_integers(values: NDArray[np.uint64], valid: Mask | None) -> Scalars:
    beyond = refusal(valid, values <= INT_MAX)
    signed = values.view(np.int64)
    if beyond is None:
        return numbers(signed, valid)
    reason = np.flatnonzero(beyond), "the integer does not fit in 64 bits"
    return numbers(signed, without(valid, beyond), (reason,))


def read_durations(array: Any) -> Scalars:
    """Return seconds, divided as Python divides integers: so is a `timedelta` in a document."""
    ticks, valid = data(array, np.dtype(np.int64)), validity(array)
    per_second = PER_SECOND[array.type.unit]
    whole, rest = np.divmod(ticks, per_second)
    if not (rest if valid is None else rest[valid]).any():
        return numbers(whole, valid)
    seconds = ticks / per_second
    for place in np.flatnonzero((ticks > 2**53) | (ticks < -(2**53))):
        seconds[place] = int(ticks[place]) / per_second
    return numbers(seconds, valid)
