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
from fyke.filters.covering_index.weak_code import Code, dtype_of

Codes: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]
Rows: TypeAlias = npt.NDArray[np.int64]

_FREE: Final = -1
_HASH: Final = 2**32 - 1


class ColumnBlock:
    """Rows of one make: a column holds single values of a kind, or intervals."""

    __slots__ = (
        *("_before", "_dead", "_has_values", "_hashes", "_heads", "_high", "_low", "_points"),
        *("_rows", "_slots"),
    )

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
        self._has_values = any(self._points)
        self._hashes = np.empty(0, np.uint32)
        self._heads = np.full(4, _FREE, np.int32)
        """The last row of each bucket, by the lower bits of the hash."""
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
        if self._has_values:
            self._hashes[row] = hash(bucket) & _HASH
            if row >= 2 * self._heads.size:
                self._file_all()
            else:
                at = int(self._hashes[row]) % self._heads.size
                self._before[row] = self._heads[at]
                self._heads[at] = row

    def remove(self, slot: int, bucket: Hashable) -> None:
        row = self._unfile(slot, bucket) if self._has_values else self._row(slot)
        self._slots[row] = _FREE
        self._dead += 1
        if self._dead > 16 and 2 * self._dead > self._rows:
            self._close_ranks()

    def _row(self, slot: int) -> int:
        return int(np.flatnonzero(self._slots[: self._rows] == slot)[0])

    def _unfile(self, slot: int, bucket: Hashable) -> int:
        at = (hash(bucket) & _HASH) % self._heads.size
        after, row = _FREE, int(self._heads[at])
        while self._slots[row] != slot:
            after, row = row, int(self._before[row])
        if after == _FREE:
            self._heads[at] = self._before[row]
        else:
            self._before[after] = self._before[row]
        return row

    def _file_all(self) -> None:
        """Put all rows into buckets again, about as many as there are rows."""
        size = 4
        while size < self._rows:
            size *= 2
        live = self.all()
        if not live.size:
            self._heads = np.full(size, _FREE, np.int32)
            return
        places = self._hashes[live] % size
        order = np.argsort(places, kind="stable")
        rows, places = live[order], places[order]
        is_next = np.concatenate(([False], places[1:] == places[:-1]))
        self._before[rows] = np.where(is_next, np.roll(rows, 1), _FREE)
        self._heads = np.full(size, _FREE, np.int32)
        is_last = np.concatenate((~is_next[1:], [True]))
        self._heads[places[is_last]] = rows[is_last]

    def _grow(self, size: int) -> None:
        def wider(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            made = np.empty(size, array.dtype)
            made[: self._rows] = array[: self._rows]
            return made

        self._move(wider)

    def _close_ranks(self) -> None:
        kept = np.flatnonzero(self._slots[: self._rows] != _FREE)
        self._move(lambda array: array[kept])
        self._rows, self._dead = kept.size, 0
        if self._has_values:
            self._file_all()

    def _move(self, moved: Any) -> None:
        self._slots = moved(self._slots)
        if self._has_values:
            self._before, self._hashes = moved(self._before), moved(self._hashes)
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
        if not self._has_values:
            return self.all()
        key = hash(bucket) & _HASH
        found, row = [], int(self._heads[key % self._heads.size])
        while row != _FREE:
            if self._hashes[row] == key:
                found.append(row)
            row = int(self._before[row])
        return np.array(found, np.int64)

    def slots(self, rows: Rows) -> list[int]:
        found: list[int] = self._slots[rows].tolist()
        return found

    def around(self, rows: Rows, column: int, low: Code, high: Code) -> Mask:
        """Return which rows contain an interval."""
        return self._compare(self._low[column][rows] <= low, self._high[column][rows] >= high)

    def within(self, rows: Rows, column: int, low: Code, high: Code) -> Mask:
        """Return which rows lie in an interval."""
        return self._compare(self._low[column][rows] >= low, self._high[column][rows] <= high)

    def beginning(self, rows: Rows, column: int, low: Code, high: Code) -> Mask:
        """Return which rows begin in an interval."""
        codes = self._low[column][rows]
        return self._compare(codes >= low, codes <= high)

    @staticmethod
    def _compare(one: Any, other: Any) -> Mask:
        both: Mask = one & other
        return both

    @property
    def nbytes(self) -> int:
        columns = {id(each): each.nbytes for each in (*self._low, *self._high)}
        others = (self._slots, self._before, self._hashes, self._heads)
        return sum(columns.values()) + sum(each.nbytes for each in others)
