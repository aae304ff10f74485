"""IdTable: ids of subscriptions by slot, and slots by id, without a Python object for either.

Idea. The ids are byte strings in a store; a `SlotTable` finds them by their hashes, which are kept
by slot, four bytes each.
Hash. BLAKE2: the same in every process, so that tables live in snapshots; and nobody finds a
million ids of one cell by hand.
Slots. Those of removed ids are given out again, the last one first.
Cost. Two microseconds a change, nearly as much a lookup; for ids of 12 characters some 35 bytes
each. No change moves more than a few ids or cells; arrays that are full are copied, some
milliseconds at a million ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from fyke.errors import FykeError, shown
from fyke.matching.arrays import Arrays
from fyke.matching.byte_store import SIZE_MAX, ByteStore, grown, offsets_of, sizes_at, starts_at
from fyke.matching.slot_table import EMPTY, SlotTable, slots_in

if TYPE_CHECKING:
    import pyarrow as pa

_STRING_BYTES_MAX: Final = 2**31 - 1
"""Bytes of one Arrow array of strings with 32-bit offsets, at most."""
_FEW: Final = 4
"""Ids are copied one by one until one slot in this number has been asked for; then all are laid out
as an Arrow array to take them from, as they are from the start where a snapshot was opened."""


class IdTable:
    """A bijection between ids and the slots that are taken."""

    def __init__(self) -> None:
        self._ids = ByteStore()
        self._free: list[int] | None = []
        self._is_mapped = False
        self._strings: pa.Array | None = None
        self._longest = 0
        self._asked = 0
        """Ids asked for since the last change."""
        self._set_hashes(np.empty(16, np.uint32))
        self._table = SlotTable()

    def _set_hashes(self, hashes: npt.NDArray[np.uint32]) -> None:
        self._hashes, self._hash_at = hashes, hashes.data

    def __len__(self) -> int:
        return self._table.count

    @property
    def nbytes(self) -> int:
        return self._ids.nbytes + self._hashes.nbytes + self._table.nbytes

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """The places of ids by slot; negative where a slot is free."""
        return self._ids.places

    def slots(self) -> npt.NDArray[np.int64]:
        """Return the slots that are taken, in ascending order."""
        return np.flatnonzero(self.places >= 0)

    # --- one id

    def slot(self, id: object) -> int | None:
        """Return the slot of an id; None where there is no such id."""
        slot = self._found(id)
        return None if slot == EMPTY else slot

    def id(self, slot: int) -> str:
        """Return the id at a slot that is taken."""
        return self._ids.get(slot).decode()

    def add(self, id: str) -> int:
        """Add an id. Return its slot."""
        data = _encoded(id)
        hash = _hash(data)
        if self._table.find(hash, data, self._hash_at, self._ids.get) != EMPTY:
            raise FykeError(f"the subscription id {shown(id)} is taken; use replace")
        free = self._changed()
        slot = free.pop() if free else self._table.count
        if slot >= len(self._hashes):
            self._set_hashes(grown(self._hashes, slot, slot + 1))
        self._ids.put(slot, data)
        self._hash_at[slot] = hash
        self._table.add(slot, self._hash_at)
        return slot

    def remove(self, id: str) -> int:
        """Remove an id. Return the slot that it had, which may be given to another."""
        slot = self._found(id)
        if slot == EMPTY:
            raise FykeError(f"there is no subscription {shown(id)}")
        free = self._changed()
        self._table.remove(slot, self._hash_at)
        self._ids.drop(slot)
        free.append(slot)
        return slot

    def _found(self, id: object) -> int:
        """Return the slot of an id; EMPTY if there is none, or if it cannot be an id."""
        try:
            data = id.encode() if isinstance(id, str) else None
        except UnicodeEncodeError:
            data = None
        if data is None:
            return EMPTY
        return self._table.find(_hash(data), data, self._hash_at, self._ids.get)

    def _changed(self) -> list[int]:
        """Make the arrays writable before a change. Return the free slots."""
        self._strings, self._asked = None, 0
        if self._is_mapped:
            self._set_hashes(grown(self._hashes, len(self._hashes), len(self._hashes)))
            self._is_mapped = False
        if self._free is None:
            self._free = np.flatnonzero(self.places < 0)[::-1].tolist()
        return self._free

    # --- many ids

    def names(self, slots: Iterable[int]) -> list[str]:
        """Return the ids at some slots that are taken."""
        return self._ids.texts(slots)

    def ids(self, slots: npt.NDArray[np.integer[Any]]) -> pa.Array:
        """Return the ids at many slots as an Arrow array of strings, of large ones beyond 2 GB."""
        self._asked += slots.size
        if self._strings is None and _FEW * self._asked < len(self.places):
            return _strings(*self._ids.gathered(slots))
        import pyarrow as pa

        strings = self._every_id()
        if slots.size * self._longest > _STRING_BYTES_MAX:
            strings = strings.cast(pa.large_string())
        return strings.take(pa.array(slots))

    def coded_ids(self, slots: npt.NDArray[np.integer[Any]]) -> pa.DictionaryArray:
        """Return the slots as indices into the ids of all slots: no string is made or hashed."""
        import pyarrow as pa

        return pa.DictionaryArray.from_arrays(pa.array(slots), self._every_id(), safe=False)

    def _every_id(self) -> pa.Array:
        if self._strings is None:
            offsets, data = self._ids.end_to_end()
            self._longest = int(np.diff(offsets).max(initial=0))
            self._strings = _strings(offsets, data)
        return self._strings

    # --- the snapshot

    def arrays(self) -> Arrays:
        """Return what `of` takes."""
        hashes = self._hashes[: len(self.places)]
        hashes = np.where(self.places >= 0, hashes, np.uint32(0))
        ids = self._ids.arrays()
        offsets = offsets_of(sizes_at(ids["places"]))
        if offsets[-1] <= _STRING_BYTES_MAX:
            offsets = offsets.astype(np.int32)
        table = self._table.whole(hashes)
        return {**ids, "offsets": offsets, "hashes": hashes, "table": table}

    @classmethod
    def of(cls, arrays: Arrays) -> IdTable:
        """Return a table over arrays; its first change copies them, but never the ids.

        KeyError where one is missing, FykeError where they do not fit each other.
        """
        table = cls()
        table._ids = ByteStore.of(arrays)
        table._is_mapped, table._free = True, None
        table._set_hashes(arrays["hashes"])
        table._table = SlotTable(arrays["table"], int(np.count_nonzero(table.places >= 0)))
        table._verify(arrays["table"], arrays["bytes"])
        table._lay_out(arrays["offsets"], arrays["bytes"])
        return table

    def _lay_out(self, offsets: npt.NDArray[np.integer[Any]], data: npt.NDArray[np.uint8]) -> None:
        """Take ids that lie end to end as an Arrow array; FykeError if they do not."""
        right = offsets_of(sizes_at(self.places))
        starts = np.where(self.places >= 0, starts_at(self.places), right[:-1])
        if not np.array_equal(starts, right[:-1]) or right[-1] != data.size:
            raise FykeError("the ids do not lie end to end")
        if offsets.dtype not in (np.int32, np.int64) or not np.array_equal(offsets, right):
            raise FykeError("the offsets of ids are not those of their places")
        self._longest = int(np.diff(offsets).max(initial=0))
        self._strings = _strings(offsets, data)

    def _verify(self, cells: npt.NDArray[np.int32], data: npt.NDArray[np.uint8]) -> None:
        places, hashes, count = self.places, self._hashes, len(self)
        if hashes.dtype != np.uint32 or hashes.shape != places.shape:
            raise FykeError("the hashes of ids are not as many as the ids")
        size = cells.size
        if cells.dtype != np.int32 or cells.ndim != 1 or size <= count or size & (size - 1):
            raise FykeError("the table of ids has a wrong size")
        slots = slots_in(cells)
        if not slots.size == np.count_nonzero(cells) == count or not _are_all(slots, places):
            raise FykeError("the table of ids does not hold every slot once")
        if not _are_texts(places[places >= 0], data):
            raise FykeError("an id is not UTF-8")


def _are_all(slots: npt.NDArray[np.int32], places: npt.NDArray[np.int64]) -> bool:
    """Return True if these are the slots that are taken, if they are as many."""
    if slots.max(initial=-1) >= places.size:
        return False
    held = np.zeros(places.size, np.bool_)
    held[slots] = True
    return np.array_equal(held, places >= 0)


def _are_texts(places: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> bool:
    """Return True if the bytes are UTF-8 and no place begins or ends within a character."""
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


def _strings(offsets: npt.NDArray[np.integer[Any]], data: npt.NDArray[np.uint8]) -> pa.Array:
    import pyarrow as pa

    count, size = len(offsets) - 1, int(offsets[-1])
    if size > _STRING_BYTES_MAX:
        wide = offsets.astype(np.int64, copy=False)
        return pa.LargeStringArray.from_buffers(count, pa.py_buffer(wide), pa.py_buffer(data))
    narrow = offsets.astype(np.int32, copy=False)
    return pa.StringArray.from_buffers(count, pa.py_buffer(narrow), pa.py_buffer(data))
