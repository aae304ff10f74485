"""Columns: many intervals of equal make, some 20 bytes each, searched by comparing arrays.

Idea. Filters that ask for the same attributes in the same way (a value here, an interval there) are
rows of one block. A row has a slot, a code per value and two per interval (`weak_code`); rows with
the same values lie in one bucket. A question with these values looks at one bucket only, any other
compares whole columns, eight bytes a row.
Example. "symbol = 'OTE' and price < 10", slot 7:

    slot 7      symbol: code('OTE')      price: 0 .. code(10)      bucket: hash(('OTE',))

Invariant. What is found contains all rows whose intervals contain, or lie in, the one asked for.
Cost. O(1) amortised a change, with a look at the bucket; rows that go leave a hole until half of
the block is holes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fyke.events.value import Kind
from fyke.routing.covering.weak_code import Code, dtype_of

Codes: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]

_FREE: Final = -1


class Block:
    """Rows of one make: a column holds single values of a kind, or intervals."""

    __slots__ = ("_before", "_buckets", "_dead", "_high", "_low", "_points", "_rows", "_slots")

    def __init__(self, columns: Sequence[tuple[Kind, bool]]) -> None:
        self._points = tuple(is_point for _, is_point in columns)
        self._rows = 0
        self._dead = 0
        self._slots = np.empty(0, np.int32)
        self._low: list[Codes] = [np.empty(0, dtype_of(kind)) for kind, _ in columns]
        self._high: list[Codes] = [
            low if is_point else np.empty(0, low.dtype)
            for low, is_point in zip(self._low, self._points, strict=True)
        ]
        self._buckets: dict[int, int] = {}
        """The last row of each."""
        self._before = np.empty(0, np.int32)
        """Of each row, the one before it in its bucket."""

    def __len__(self) -> int:
        return self._rows - self._dead

    # --- changes ----------------------------------------------------------------------------------

    def add(self, slot: int, bounds: Sequence[tuple[Code, Code]], bucket: Hashable) -> None:
        row = self._rows
        if row == len(self._slots):
            self._grow(max(4, row + row // 8 + 1))
        self._slots[row] = slot
        for at, (low, high) in enumerate(bounds):
            self._low[at][row] = low
            if not self._points[at]:
                self._high[at][row] = high
        self._rows += 1
        if any(self._points):
            self._file(hash(bucket), row)

    def remove(self, slot: int, bucket: Hashable) -> None:
        row = self._unfile(hash(bucket), slot) if any(self._points) else self._row(slot)
        self._slots[row] = _FREE
        self._dead += 1
        if self._dead > 16 and 2 * self._dead > self._rows:
            self._close_ranks()

    def _row(self, slot: int) -> int:
        return int(np.flatnonzero(self._slots[: self._rows] == slot)[0])

    def _unfile(self, key: int, slot: int) -> int:
        after, row = _FREE, self._buckets[key]
        while self._slots[row] != slot:
            after, row = row, int(self._before[row])
        before = int(self._before[row])
        if after != _FREE:
            self._before[after] = before
        elif before != _FREE:
            self._buckets[key] = before
        else:
            del self._buckets[key]
        return row

    def _file(self, key: int, row: int) -> None:
        self._before[row] = self._buckets.get(key, _FREE)
        self._buckets[key] = row

    def _grow(self, size: int) -> None:
        def wider(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            made = np.empty(size, array.dtype)
            made[: self._rows] = array[: self._rows]
            return made

        self._move(wider)

    def _close_ranks(self) -> None:
        kept = np.flatnonzero(self._slots[: self._rows] != _FREE)
        places = np.cumsum(self._slots[: self._rows] != _FREE) - 1
        self._move(lambda array: array[kept])
        if any(self._points):
            there = self._before != _FREE
            self._before[there] = places[self._before[there]]
        self._buckets = {key: int(places[row]) for key, row in self._buckets.items()}
        self._rows, self._dead = kept.size, 0

    def _move(self, moved: Any) -> None:
        self._slots, self._before = moved(self._slots), moved(self._before)
        for at, is_point in enumerate(self._points):
            self._low[at] = moved(self._low[at])
            self._high[at] = self._low[at] if is_point else moved(self._high[at])

    # --- questions --------------------------------------------------------------------------------

    def all(self) -> Rows:
        return np.flatnonzero(self._slots[: self._rows] != _FREE)

    @staticmethod
    def none() -> Rows:
        return np.empty(0, np.int64)

    def at(self, bucket: Hashable) -> Rows:
        """Return the rows of a bucket."""
        if not any(self._points):
            return self.all()
        found, row = [], self._buckets.get(hash(bucket), _FREE)
        while row != _FREE:
            found.append(row)
            row = int(self._before[row])
        return np.array(found, np.int64)

    def slots(self, rows: Rows) -> list[int]:
        found: list[int] = self._slots[rows].tolist()
        return found

    def around(self, rows: Rows, column: int, low: Code, high: Code) -> Mask:
        """Return which rows contain an interval."""
        return self._compared(self._low[column][rows] <= low, self._high[column][rows] >= high)

    def within(self, rows: Rows, column: int, low: Code, high: Code) -> Mask:
        """Return which rows lie in an interval."""
        return self._compared(self._low[column][rows] >= low, self._high[column][rows] <= high)

    def beginning(self, rows: Rows, column: int, low: Code, high: Code) -> Mask:
        """Return which rows begin in an interval."""
        codes = self._low[column][rows]
        return self._compared(codes >= low, codes <= high)

    @staticmethod
    def _compared(one: Any, other: Any) -> Mask:
        both: Mask = one & other
        return both

    @property
    def nbytes(self) -> int:
        columns = {id(each): each.nbytes for each in (*self._low, *self._high)}
        return sum(columns.values()) + self._slots.nbytes + self._before.nbytes
