"""Indices: numbers given out from 0 on, the smallest free one first; so bit lists stay short."""

from __future__ import annotations

import heapq


class Indices:
    """The numbers in use. When no number is in use, nothing is remembered."""

    __slots__ = ("_end", "_free")

    def __init__(self) -> None:
        self._free: list[int] = []
        self._end = 0

    def __len__(self) -> int:
        return self._end - len(self._free)

    def take(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        self._end += 1
        return self._end - 1

    def release(self, index: int) -> None:
        heapq.heappush(self._free, index)
        if len(self._free) == self._end:
            self._free, self._end = [], 0
