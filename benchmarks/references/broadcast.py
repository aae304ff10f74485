"""numpy broadcast: dense int32 columns, two comparisons per attribute on all subscriptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.pairs import Lists, lists
from fyke.workloads.predicates import NONE, Conjunctions

LOWEST, HIGHEST = -(2**31), 2**31 - 1


def dense(
    filters: Conjunctions, attributes: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Lows and highs, a row per attribute; an attribute that is not asked about accepts all."""
    low = np.full((attributes, len(filters)), LOWEST, np.int32)
    high = np.full((attributes, len(filters)), HIGHEST, np.int32)
    for column in range(filters.attribute.shape[1]):
        rows = np.flatnonzero(filters.attribute[:, column] != NONE)
        at = filters.attribute[rows, column]
        low[at, rows] = filters.low[rows, column]
        high[at, rows] = filters.high[rows, column]
    return low, high


class Broadcast:
    """Holds one event after the other against everything, in buffers that are used again."""

    def __init__(self, filters: Conjunctions, attributes: int) -> None:
        self._low, self._high = dense(filters, attributes)
        self._all, self._one = (np.empty(len(filters), np.bool_) for _ in range(2))

    def match(self, codes: npt.NDArray[np.int32]) -> Lists:
        return lists([self._match(event) for event in codes])

    def _match(self, event: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
        accepted, one = self._all, self._one
        accepted[:] = True
        for low, high, code in zip(self._low, self._high, event, strict=True):
            np.less_equal(low, code, out=one)
            np.logical_and(accepted, one, out=accepted)
            np.greater_equal(high, code, out=one)
            np.logical_and(accepted, one, out=accepted)
        return np.flatnonzero(accepted)
