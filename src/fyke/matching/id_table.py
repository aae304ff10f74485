"""IdTable: ids of subscriptions by slot, and slots by id, without a Python object for either.

Idea. The ids are byte strings in a store; an open hash table of 32-bit slots finds them, with
linear probing. The hash of each id is kept, four bytes: a probe compares it before the id, and the
table is rebuilt without reading an id.
Example. In a table of 4 cells, `x` with hash 5 at slot 0 and `y` with hash 9 at slot 1 both belong
to cell 1; the cells are [-1, 0, 1, -1].
Invariant. From the cell that an id's hash points at to the cell that holds its slot no cell is
empty. Removing closes the gap by moving back what may move (Knuth, 6.4, algorithm R), so there are
no tombstones, and searching stays short whatever was removed. At most two thirds of the cells are
taken, a power of two.
Rebuild. Slots sorted by their cell, the i-th goes to the larger of its cell and the (i-1)-th's
place plus one: cell - i, its running maximum, plus i. What runs over the end begins again at 0.
Hash. BLAKE2: the same in every process, so that tables live in snapshots; and nobody finds a
million ids of one cell by hand.
Slots. Those of removed ids are given out again, the last one first.
Cost. Two microseconds a change, nearly as much a lookup; for ids of 12 characters some 35 bytes
each. The table doubles in one go: that took 0.1 s at 700,000 ids, 0.3 s at 1.4 million.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from fyke.errors import FykeError, shown
from fyke.matching.byte_store import SIZE_MAX, ByteStore, grown, sizes_at, starts_at

if TYPE_CHECKING:
    import pyarrow as pa

_EMPTY: Final = -1
_CELLS_MIN: Final = 16
_STRING_BYTES_MAX: Final = 2**31 - 1
"""More do not fit in one Arrow array of strings with 32-bit offsets."""
_FEW: Final = 4
"""Ids are copied one by one where fewer than one in so many slots is asked for."""


class IdTable:
    """A bijection between ids and the slots that are taken."""

    def __init__(self) -> None:
        self._ids = ByteStore()
        self._free: list[int] | None = []
        self._count = 0
        self._is_mapped = False
        self._strings: pa.Array | None = None
        self._longest = 0
        self._set_hashes(np.empty(16, np.uint32))
        self._set_table(np.full(_CELLS_MIN, _EMPTY, np.int32))

    def _set_hashes(self, hashes: npt.NDArray[np.uint32]) -> None:
        self._hashes, self._hash_at = hashes, hashes.data

    def _set_table(self, table: npt.NDArray[np.int32]) -> None:
        self._table, self._cells = table, table.data

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        return self._ids.nbytes + self._hashes.nbytes + self._table.nbytes

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """Negative where a slot is free."""
        return self._ids.places

    def slots(self) -> npt.NDArray[np.int64]:
        """The slots that are taken, in ascending order."""
        return np.flatnonzero(self.places >= 0)

    # --- one id

    def slot(self, id: object) -> int | None:
        """The slot of an id; None where there is no such id."""
        slot = self._found(id)[1]
        return None if slot == _EMPTY else slot

    def id(self, slot: int) -> str:
        """The id at a slot that is taken."""
        return self._ids.get(slot).decode()

    def add(self, id: str) -> int:
        """The slot of a new id."""
        data = _encoded(id)
        hash = _hash(data)
        cell, slot = self._find(data, hash)
        if slot != _EMPTY:
            raise FykeError(f"the subscription id {shown(id)} is taken; use replace")
        free = self._changed()
        if 3 * (self._count + 1) > 2 * len(self._table):
            self._rebuild(2 * len(self._table))
            cell = self._find(data, hash)[0]
        slot = free.pop() if free else self._count
        if slot >= len(self._hashes):
            self._set_hashes(grown(self._hashes, slot, slot + 1))
        self._ids.put(slot, data)
        self._hash_at[slot] = hash
        self._cells[cell] = slot
        self._count += 1
        return slot

    def remove(self, id: str) -> int:
        """The slot that an id had; it may be given to another."""
        cell, slot = self._found(id)
        if slot == _EMPTY:
            raise FykeError(f"there is no subscription {shown(id)}")
        free = self._changed()
        self._clear(cell)
        self._ids.drop(slot)
        free.append(slot)
        self._count -= 1
        return slot

    def _found(self, id: object) -> tuple[int, int]:
        """As `_find`; what cannot be an id is not found."""
        try:
            data = id.encode() if isinstance(id, str) else None
        except UnicodeEncodeError:
            data = None
        return (_EMPTY, _EMPTY) if data is None else self._find(data, _hash(data))

    def _find(self, data: bytes, hash: int) -> tuple[int, int]:
        """The cell and the slot of an id, or the cell where it belongs and no slot."""
        cells, hashes, mask = self._cells, self._hash_at, len(self._table) - 1
        cell = hash & mask
        while (slot := cells[cell]) != _EMPTY:
            if hashes[slot] == hash and self._ids.get(slot) == data:
                break
            cell = cell + 1 & mask
        return cell, slot

    def _clear(self, gap: int) -> None:
        """Empties a cell and closes the gap."""
        cells, hashes, mask = self._cells, self._hash_at, len(self._table) - 1
        cell = gap + 1 & mask
        while (slot := cells[cell]) != _EMPTY:
            if (cell - hashes[slot]) & mask >= (cell - gap) & mask:
                cells[gap] = slot
                gap = cell
            cell = cell + 1 & mask
        cells[gap] = _EMPTY

    def _changed(self) -> list[int]:
        """Before a change: arrays that may be written; returns the free slots."""
        self._strings = None
        if self._is_mapped:
            self._set_hashes(grown(self._hashes, len(self._hashes), len(self._hashes)))
            self._set_table(self._table.copy())
            self._is_mapped = False
        if self._free is None:
            self._free = np.flatnonzero(self.places < 0)[::-1].tolist()
        return self._free

    def _rebuild(self, cells: int) -> None:
        """The table with so many cells."""
        slots = self.slots()
        belongs = (self._hashes[slots] & np.uint32(cells - 1)).astype(np.int64)
        order = np.argsort(belongs, kind="stable")
        numbers = np.arange(slots.size)
        taken = np.maximum.accumulate(belongs[order] - numbers) + numbers
        table = np.full(cells, _EMPTY, np.int32)
        fits = taken < cells
        table[taken[fits]] = slots[order[fits]]
        cell = 0
        for slot in slots[order[~fits]].tolist():
            while table[cell] != _EMPTY:
                cell += 1
            table[cell] = slot
        self._set_table(table)

    # --- many ids

    def names(self, slots: Iterable[int]) -> list[str]:
        """The ids at some slots that are taken."""
        return self._ids.texts(slots)

    def ids(self, slots: npt.NDArray[np.integer[Any]]) -> pa.Array:
        """The ids at many slots, as an Arrow array of strings; of large strings beyond 2 GB."""
        if self._strings is None and _FEW * slots.size < len(self.places):
            return _strings(*self._ids.gathered(slots))
        import pyarrow as pa

        if self._strings is None:
            offsets, data = self._ids.end_to_end()
            self._longest = int(np.diff(offsets).max(initial=0))
            self._strings = _strings(offsets, data)
        strings = self._strings
        if slots.size * self._longest > _STRING_BYTES_MAX:
            strings = strings.cast(pa.large_string())
        return strings.take(pa.array(slots))

    # --- the snapshot

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What `of` takes."""
        hashes = self._hashes[: len(self.places)]
        hashes = np.where(self.places >= 0, hashes, np.uint32(0))
        return {**self._ids.arrays(), "hashes": hashes, "table": self._table}

    @classmethod
    def of(cls, arrays: dict[str, npt.NDArray[Any]]) -> IdTable:
        """A table over arrays that are copied when it first changes, the ids themselves never.

        KeyError where one is missing, FykeError where they do not fit each other.
        """
        table = cls()
        table._ids = ByteStore.of(arrays)
        table._is_mapped, table._free = True, None
        table._set_hashes(arrays["hashes"])
        table._set_table(arrays["table"])
        table._count = int(np.count_nonzero(table.places >= 0))
        table._verify(arrays["bytes"])
        return table

    def _verify(self, data: npt.NDArray[np.uint8]) -> None:
        places, hashes, cells = self.places, self._hashes, self._table
        if hashes.dtype != np.uint32 or hashes.shape != places.shape:
            raise FykeError("the hashes of ids are not as many as the ids")
        size = cells.size
        if cells.dtype != np.int32 or cells.ndim != 1 or size <= self._count or size & (size - 1):
            raise FykeError("the table of ids has a wrong size")
        slots = cells[cells != _EMPTY]
        if slots.size != self._count or slots.min(initial=0) < 0 or not _are_all(slots, places):
            raise FykeError("the table of ids does not hold every slot once")
        if not _are_texts(places[places >= 0], data):
            raise FykeError("an id is not UTF-8")


def _are_all(slots: npt.NDArray[np.int32], places: npt.NDArray[np.int64]) -> bool:
    """Whether these are the slots that are taken, if they are as many."""
    if slots.max(initial=-1) >= places.size:
        return False
    held = np.zeros(places.size, np.bool_)
    held[slots] = True
    return np.array_equal(held, places >= 0)


def _are_texts(places: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> bool:
    """Whether the bytes are UTF-8 and no place begins or ends within a character."""
    try:
        if str(data.data, "utf-8").isascii():
            return True
    except UnicodeDecodeError:
        return False
    starts = starts_at(places)
    for cuts in (starts, starts + sizes_at(places)):
        if (data[cuts[cuts < data.size]] & 0xC0 == 0x80).any():
            return False
    return True


def _encoded(id: str) -> bytes:
    if not isinstance(id, str):
        raise FykeError(f"a subscription id is a string, not {type(id).__name__}")
    try:
        data = id.encode()
    except UnicodeEncodeError:
        raise FykeError(f"the subscription id {shown(id)} holds a lone surrogate") from None
    if len(data) > SIZE_MAX:
        raise FykeError(f"a subscription id of {len(data)} bytes; expected at most {SIZE_MAX}")
    return data


def _hash(data: bytes) -> int:
    return int.from_bytes(blake2b(data, digest_size=4).digest(), "little")


def _strings(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> pa.Array:
    import pyarrow as pa

    count, size = len(offsets) - 1, int(offsets[-1])
    if size > _STRING_BYTES_MAX:
        return pa.LargeStringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(data))
    narrow = offsets.astype(np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(narrow), pa.py_buffer(data))
