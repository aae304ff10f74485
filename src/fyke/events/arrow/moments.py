"""Timestamps and dates as microseconds since 1970, UTC.

A timestamp without a time zone is taken as UTC, because that is what Spark and Parquet mean by it.
Nanoseconds are cut to whole microseconds, towards the past. A date is midnight UTC. What lies
outside the years 1 to 9999 is refused.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fyke.events.arrow.numbers import PER_SECOND
from fyke.events.arrow.scalars import Scalars, data, refusal, validity, without

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_DAY: Final = 86_400 * 10**6
_OUTSIDE: Final = "the timestamp is outside the years 1 to 9999 in UTC"


def read_moments(array: Any) -> Scalars:
    """Return the moments of a timestamp or date array."""
    ticks, length = _ticks(array)
    valid = validity(array)
    inside = (ticks >= -(-_FIRST // length)) & (ticks <= _LAST // length)
    refused = refusal(valid, inside)
    moments = ticks if length == 1 else np.where(inside, ticks, 0) * length
    return Scalars(
        "timestamp",
        pa.array(moments).view(TIMESTAMP),
        valid if refused is None else without(valid, refused),
        lambda place: _EPOCH + timedelta(microseconds=moments.item(place)),
        () if refused is None else ((np.flatnonzero(refused), _OUTSIDE),),
    )


def _ticks(array: Any) -> tuple[NDArray[np.int64], int]:
    """Return moments in ticks since 1970, and how many microseconds a tick is."""
    if pa.types.is_date32(array.type):
        return data(array, np.dtype(np.int32)).astype(np.int64), _DAY
    ticks = data(array, np.dtype(np.int64))
    if pa.types.is_date64(array.type):
        return ticks // 86_400_000, _DAY
    if array.type.unit == "ns":
        return ticks // 1000, 1
    return ticks, 10**6 // PER_SECOND[array.type.unit]
