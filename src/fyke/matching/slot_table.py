"""SlotTable: slots by the hash of what they hold, in cells that grow a few at a time.

Idea. An open hash table of 32-bit cells with linear probing; a cell holds a slot plus one, or zero.
The owner of the table keeps hashes by slot: a probe compares them before anything else, and
cells move without a look at ids.
Example. In a table of 4 cells, `x` with hash 5 at slot 0 and `y` with hash 9 at slot 1 both belong
to cell 1; the cells are [0, 1, 2, 0].
Invariant. From the cell that a hash points at to the cell that holds the slot no cell is empty.
Removing closes the gap by moving back what may move (Knuth, 6.4, algorithm R), so there are no
tombstones, and searching stays short whatever was removed. At most two thirds of the cells are
taken, a power of two.
Growth. When they are, new cells, twice as many, take what comes, and every change also moves what
is in a few of the *old* cells; a search looks in both. What left an old cell leaves MOVED there, so
that nothing behind it is lost. All have moved long before the new cells are full. Zeros are what
the system hands out page by page, so that even the new cells are not all written at once.
Whole. In a snapshot there is one table: slots sorted by their cell, the i-th goes to the larger of
its cell and the (i-1)-th's place plus one: cell - i, its running maximum, plus i. What runs over
the end begins again at 0.
Cost. A change moves at most `MOVED_AT_ONCE` slots; 6 to 12 bytes a slot, a half more while growing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

EMPTY: Final = -1
"""Stands in place of a slot where there is none."""
_FREE: Final = 0
_MOVED: Final = -1
_CELLS_MIN: Final = 16
MOVED_AT_ONCE: Final = 16
"""Old cells that are emptied with one change."""


class SlotTable:
    """Finds slots; `hashes` are those of all slots that are in the table."""

    __slots__ = ("_array", "_cells", "_is_mapped", "_next", "_old", "count")

    def __init__(self, cells: npt.NDArray[np.int32] | None = None, count: int = 0) -> None:
        """Make an empty table, or one over cells that are copied before the first change."""
        self._is_mapped = cells is not None
        self._set(np.zeros(_CELLS_MIN, np.int32) if cells is None else cells)
        self._old: memoryview | None = None
        self._next = 0
        """The first old cell that was not emptied."""
        self.count = count

    def _set(self, cells: npt.NDArray[np.int32]) -> None:
        self._array, self._cells = cells, cells.data  # one cell is read faster through it

    @property
    def nbytes(self) -> int:
        return self._array.nbytes + (0 if self._old is None else self._old.nbytes)

    # --- one slot

    def find(
        self, hash: int, data: bytes, hashes: memoryview, data_at: Callable[[int], bytes]
    ) -> int:
        """Return the slot that holds some bytes, or EMPTY."""
        cells = self._cells
        mask = len(cells) - 1
        cell = hash & mask
        while held := cells[cell]:
            slot: int = held - 1
            if hashes[slot] == hash and data_at(slot) == data:
                return slot
            cell = cell + 1 & mask
        return EMPTY if self._old is None else self._find_old(hash, data, hashes, data_at)

    def _find_old(
        self, hash: int, data: bytes, hashes: memoryview, data_at: Callable[[int], bytes]
    ) -> int:
        cells = self._old
        assert cells is not None
        mask = len(cells) - 1
        cell = hash & mask
        while held := cells[cell]:
            slot: int = held - 1
            if held != _MOVED and hashes[slot] == hash and data_at(slot) == data:
                return slot
            cell = cell + 1 & mask
        return EMPTY

    def add(self, slot: int, hashes: memoryview) -> None:
        """Add a slot that is not in the table; its hash is known already."""
        if self._is_mapped:
            self._own()
        if 3 * (self.count + 1) > 2 * len(self._cells):
            self._grow(hashes)
        if self._old is not None:
            self._move(self._old, hashes)
        _put(self._cells, hashes[slot], slot)
        self.count += 1

    def remove(self, slot: int, hashes: memoryview) -> None:
        """Remove a slot that is in the table."""
        if self._is_mapped:
            self._own()
        cell = _cell_of(self._cells, hashes[slot], slot)
        if cell != EMPTY:
            self._clear(cell, hashes)
        elif self._old is not None:
            self._old[_cell_of(self._old, hashes[slot], slot)] = _MOVED
        self.count -= 1
        if self._old is not None:
            self._move(self._old, hashes)

    def _own(self) -> None:
        self._set(self._array.copy())
        self._is_mapped = False

    def _clear(self, gap: int, hashes: memoryview) -> None:
        """Empty a cell and close the gap."""
        cells = self._cells
        mask = len(cells) - 1
        cell = gap + 1 & mask
        while held := cells[cell]:
            if (cell - hashes[held - 1]) & mask >= (cell - gap) & mask:
                cells[gap] = held
                gap = cell
            cell = cell + 1 & mask
        cells[gap] = _FREE

    # --- growth

    def _grow(self, hashes: memoryview) -> None:
        while self._old is not None:  # never, as growing takes a tenth of the changes until then
            self._move(self._old, hashes)
        self._old, self._next = self._cells, 0
        self._set(np.zeros(2 * len(self._cells), np.int32))

    def _move(self, old: memoryview, hashes: memoryview) -> None:
        """Empty a few old cells."""
        first, self._next = self._next, self._next + MOVED_AT_ONCE
        for cell in range(first, self._next):
            slot = old[cell] - 1
            if slot >= 0:
                _put(self._cells, hashes[slot], slot)
                old[cell] = _MOVED
        if self._next == len(old):
            self._old = None

    # --- the whole

    def whole(self, hashes: npt.NDArray[np.uint32]) -> npt.NDArray[np.int32]:
        """Return all cells as one table."""
        if self._old is None:
            return self._array
        old = np.frombuffer(self._old, np.int32)
        return arranged(np.append(slots_in(self._array), slots_in(old)), hashes, len(self._array))


def slots_in(cells: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Return the slots in some cells."""
    return cells[cells > _FREE] - np.int32(1)


def arranged(
    slots: npt.NDArray[np.int32], hashes: npt.NDArray[np.uint32], size: int
) -> npt.NDArray[np.int32]:
    """Return a table of `size` cells that holds some slots."""
    belongs = (hashes[slots] & np.uint32(size - 1)).astype(np.int64)
    order = np.argsort(belongs, kind="stable")
    numbers = np.arange(slots.size)
    taken = np.maximum.accumulate(belongs[order] - numbers) + numbers
    cells = np.zeros(size, np.int32)
    fits = taken < size
    cells[taken[fits]] = slots[order[fits]] + 1
    cell = 0
    for slot in slots[order[~fits]].tolist():
        while cells[cell] != _FREE:
            cell += 1
        cells[cell] = slot + 1
    return cells


def _put(cells: Any, hash: int, slot: int) -> None:
    mask = len(cells) - 1
    cell = hash & mask
    while cells[cell]:
        cell = cell + 1 & mask
    cells[cell] = slot + 1


def _cell_of(cells: Any, hash: int, slot: int) -> int:
    """Return the cell that holds a slot, or EMPTY."""
    mask = len(cells) - 1
    cell = hash & mask
    while (held := cells[cell]) != slot + 1:
        if held == _FREE:
            return EMPTY
        cell = cell + 1 & mask
    return cell
