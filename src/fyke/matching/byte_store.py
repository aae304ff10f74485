"""ByteStore: byte strings by slot, end to end in one piece of memory.

Idea. A string is appended to the bytes; the slot's place says where it starts and how long it is,
in one 64-bit integer. A string that goes away leaves dead bytes. When more than half are dead, the
bytes become the *base* and a new, empty *tail* takes what comes; every change from then on also
moves the strings of a few slots from the base to the tail, and when all have moved, the base goes.
Example. "ab" at slot 0 and "c" at slot 2 are the bytes `abc` and the places

    start 0, size 2      -1 (nothing)      start 2, size 1

Place. 38 bits where it starts, one for which of the two pieces it is in, 24 for its size. The
pieces take turns: what was the tail keeps its bit when it becomes the base.
Opened. The arrays of a snapshot, which are mapped and read-only, are the base. At the first change
the places are copied, 8 bytes a slot; the bytes stay where they are, shared with other processes.
Cost. O(1) amortised a change, and never more than a few strings moved; 8 bytes a slot, a reserve
of at most a quarter, and while strings move at most twice the bytes that live.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from fyke.errors import FykeError
from fyke.matching.arrays import Arrays

SIZE_MAX: Final = 2**24 - 1
"""Bytes of one string."""
_PIECE: Final = 2**24
_START: Final = 25
_ABSENT: Final = -1
_DEAD_MIN: Final = 2**16
_MOVED: Final = 32
"""Slots whose strings are moved with one change."""
_GATHERED: Final = 2**14
"""Strings that are copied at once, so that the arrays of positions stay small."""


class ByteStore:
    """Strings by slot; the caller knows which slots are taken."""

    __slots__ = (
        *("_base", "_dead", "_end", "_is_mapped", "_moving", "_piece"),
        *("_places", "_tail", "_view"),
    )

    def __init__(self) -> None:
        self._base = memoryview(b"")
        self._tail = bytearray()
        self._piece = 0
        """The bit of the places in the tail."""
        self._moving: int | None = None
        """The first slot whose string may still be in a base that goes away."""
        self._dead = 0
        self._end = 0
        self._is_mapped = False
        self._set_places(np.empty(16, np.int64))

    def _set_places(self, places: npt.NDArray[np.int64]) -> None:
        self._places = places
        self._view = places.data  # one place is read faster through it

    @property
    def places(self) -> npt.NDArray[np.int64]:
        """The places of slots up to the last one ever taken; negative where there is no string."""
        return self._places[: self._end]

    @property
    def nbytes(self) -> int:
        """The bytes that are held in the memory of this process or mapped."""
        return self._places.nbytes + len(self._base) + self._tail.__alloc__()

    # --- one string

    def get(self, slot: int) -> bytes:
        """Return the string of a slot that has one."""
        place = self._view[slot]
        start = place >> _START
        end = start + (place & SIZE_MAX)
        if place & _PIECE == self._piece:
            return bytes(self._tail[start:end])
        return self._base[start:end].tobytes()

    def put(self, slot: int, data: bytes) -> None:
        """Give a string to a slot, which may be the first that was never taken."""
        self._own(max(slot + 1, self._end))
        if slot == self._end:
            self._end += 1
        elif (old := self._view[slot]) >= 0:
            self._dead += old & SIZE_MAX
        self._append(slot, data)
        self._tidy()

    def drop(self, slot: int) -> None:
        """Take the string from a slot that has one."""
        self._own(self._end)
        self._dead += self._view[slot] & SIZE_MAX
        self._view[slot] = _ABSENT
        self._tidy()

    def _append(self, slot: int, data: bytes) -> None:
        self._view[slot] = len(self._tail) << _START | self._piece | len(data)
        try:
            self._tail += data
        except BufferError:  # these bytes are being read: the reader keeps them
            self._tail = self._tail + data

    def _own(self, slots: int) -> None:
        """Make room for this number of places, in memory that may be written."""
        if self._is_mapped or slots > len(self._places):
            self._set_places(grown(self._places, self._end, slots))
            self._is_mapped = False

    # --- dead bytes

    def _tidy(self) -> None:
        """Move a few strings out of a base that goes away; begin when half the bytes are dead."""
        if self._moving is None:
            if self._dead <= _DEAD_MIN or 2 * self._dead <= len(self._base) + len(self._tail):
                return
            self._moving = 0
            if not self._base:
                self._base, self._tail = memoryview(self._tail), bytearray()
                self._piece ^= _PIECE
        first, end = self._moving, min(self._moving + _MOVED, self._end)
        for slot in range(first, end):
            place = self._view[slot]
            if place >= 0 and place & _PIECE != self._piece:
                self._append(slot, self.get(slot))
                self._dead += place & SIZE_MAX
        self._moving = end
        if end == self._end:
            self._dead -= len(self._base)
            self._base, self._moving = memoryview(b""), None

    # --- many strings

    def texts(self, slots: Iterable[int]) -> list[str]:
        """Return the strings of some slots, read as UTF-8."""
        view, tail, piece = self._view, self._tail, self._piece
        found = []
        for slot in slots:
            place = view[slot]
            if place & _PIECE == piece:
                start = place >> _START
                found.append(tail[start : start + (place & SIZE_MAX)].decode())
            else:
                found.append(self.get(slot).decode())
        return found

    def gathered(
        self, slots: npt.NDArray[np.integer[Any]]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return the strings of some slots, end to end, and where each begins and the last ends."""
        return self._copied(self._places[slots])

    def _copied(
        self, places: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        base, tail = np.frombuffer(self._base, np.uint8), np.frombuffer(self._tail, np.uint8)
        sizes = sizes_at(places)
        offsets = offsets_of(sizes)
        out = np.empty(offsets[-1], np.uint8)
        shifts = (places >> _START) - offsets[:-1]
        in_tail = places & _PIECE == self._piece
        for first in range(0, places.size, _GATHERED):
            part = slice(first, first + _GATHERED)
            begin, end = offsets[first], offsets[min(first + _GATHERED, places.size)]
            positions = np.repeat(shifts[part], sizes[part])
            positions += np.arange(begin, end)
            if base.size and tail.size:
                from_tail = np.repeat(in_tail[part], sizes[part])
                out[begin:end][from_tail] = tail[positions[from_tail]]
                out[begin:end][~from_tail] = base[positions[~from_tail]]
            else:
                np.take(tail if tail.size else base, positions, out=out[begin:end], mode="clip")
        return offsets, out

    # --- the whole

    def end_to_end(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return all strings in the order of slots, and where each begins and the last ends.

        Copies nothing where they lie so already: then do not keep the bytes beyond a change.
        """
        sizes = sizes_at(self.places)
        there = sizes > 0
        if self._base and self._tail:
            return self._copied(np.where(there, self.places, 0))
        offsets = offsets_of(sizes)
        if not np.array_equal(self.places[there] >> _START, offsets[:-1][there]):
            return self._copied(np.where(there, self.places, 0))
        return offsets, np.frombuffer(self._tail or self._base, np.uint8)[: offsets[-1]]

    def arrays(self) -> Arrays:
        """Return what `of` takes: as small as can be, and the same for the same strings."""
        offsets, data = self.end_to_end()
        places = np.where(self.places >= 0, offsets[:-1] << _START | np.diff(offsets), _ABSENT)
        return {"places": places, "bytes": data}

    @classmethod
    def of(cls, arrays: Arrays) -> ByteStore:
        """Return a store over arrays that are neither copied nor written.

        KeyError where one is missing, FykeError where they do not fit each other.
        """
        places, data = arrays["places"], arrays["bytes"]
        if places.dtype != np.int64 or data.dtype != np.uint8 or places.ndim != 1 or data.ndim != 1:
            raise FykeError("the places of strings are of another type")
        sizes = sizes_at(places)
        ends = np.where(places >= 0, (places >> _START) + sizes, 0)
        is_wrong = (places < _ABSENT) | ((places >= 0) & (places & _PIECE != 0))
        if is_wrong.any() or ends.max(initial=0) > data.size:
            raise FykeError("the places of strings are outside their bytes")
        store = cls()
        store._base, store._piece = data.data, _PIECE
        store._end, store._is_mapped = places.size, True
        store._set_places(places)
        store._dead = max(data.size - int(sizes.sum()), 0)
        return store


def sizes_at(places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the sizes of strings; 0 where there is none."""
    return np.where(places >= 0, places & SIZE_MAX, 0)


def starts_at(places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where strings start, all in the same piece."""
    return places >> _START


def grown(array: npt.NDArray[Any], used: int, needed: int) -> npt.NDArray[Any]:
    """Return a copy that may be written, with room for more than is needed."""
    wider = np.empty(max(needed + needed // 4, 16), array.dtype)
    wider[:used] = array[:used]
    return wider


def offsets_of(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where strings of some sizes start that lie end to end, and where the last ends."""
    offsets = np.zeros(sizes.size + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
