"""DynamicArray: numbers of four bytes in order, with empty entries at the end (DAS-13).

The array grows by a fixed number of entries when it is full, and shrinks by as many when it has
more empty ones than permitted. Both numbers are the user's to choose, as in the paper, which names
the options and gives no values.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable


class DynamicArray:
    """A sorted set of numbers. Adding and removing move the entries behind: O(size)."""

    __slots__ = ("_empty_max", "_entries", "_growth", "size")

    def __init__(self, numbers: Iterable[int] = (), *, growth: int = 4, empty_max: int = 8) -> None:
        """Take numbers in ascending order."""
        self._entries = array("I", numbers)
        self._growth, self._empty_max = growth, empty_max
        self.size = len(self._entries)

    @property
    def capacity(self) -> int:
        return len(self._entries)

    def add(self, number: int) -> None:
        """Put in a number that is not there."""
        entries, size = self._entries, self.size
        if size == len(entries):
            entries.frombytes(bytes(entries.itemsize * self._growth))
        at = bisect_left(entries, number, 0, size)
        if at < size:
            entries[at + 1 : size + 1] = entries[at:size]
        entries[at] = number
        self.size = size + 1

    def remove(self, number: int) -> None:
        """Take out a number that is there."""
        entries, size = self._entries, self.size
        at = bisect_left(entries, number, 0, size)
        entries[at : size - 1] = entries[at + 1 : size]
        self.size = size - 1
        if len(entries) - self.size > self._empty_max:
            del entries[max(self.size, len(entries) - self._growth) :]

    def numbers(self) -> array[int]:
        """Return the numbers without the empty entries."""
        return self._entries[: self.size]

    def copy(self) -> DynamicArray:
        return DynamicArray(self.numbers(), growth=self._growth, empty_max=self._empty_max)
