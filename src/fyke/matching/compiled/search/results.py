"""Results: slots by event, from several segments and tiles put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from fyke.matching.compiled.boxes.box_table import Places, Words
from fyke.matching.compiled.kernels.kernel import kernel

ByEvent: TypeAlias = tuple[Words, Words]
"""Offsets and slots: those of event i stand from offsets[i] to offsets[i + 1]."""

_ROOM: Final = 1 << 12
_SPARE: Final = 1.06
"""Later tiles may find a little more than the first."""
_LIKELY_MAX: Final = 1 << 25
"""Slots for which room is made before it is needed, at most."""


def join(parts: Sequence[ByEvent], events: int) -> ByEvent:
    """Return what several segments found for the same events."""
    parts = [part for part in parts if len(part[1])]
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return np.zeros(events + 1, np.int32), np.zeros(0, np.int32)
    offsets = np.stack([offsets for offsets, _ in parts])
    found: ByEvent = interleave(offsets, np.concatenate([slots for _, slots in parts]))
    return found


@kernel
def interleave(offsets: Any, slots: Any) -> Any:
    """Return the slots of parts that stand one after the other, event by event."""
    parts, ends = offsets.shape
    places = np.zeros(parts, np.int64)
    for part in range(1, parts):
        places[part] = places[part - 1] + offsets[part - 1, ends - 1]
    sums, found = np.zeros(ends, np.int32), np.empty(len(slots), np.int32)
    end = 0
    for event in range(ends - 1):
        for part in range(parts):
            for _ in range(offsets[part, event], offsets[part, event + 1]):
                found[end] = slots[places[part]]
                places[part] += 1
                end += 1
        sums[event + 1] = end
    return sums, found


class Lists:
    """The slots of one tile of events after the other.

    A tile may be written directly to its `room`. The first tile says how much room all
    `tiles` will need: one large array comes in large pages, which an array that grows does not.
    """

    def __init__(self, tiles: int = 1) -> None:
        self._tiles = tiles
        self._offsets: list[Places] = [np.zeros(1, np.int64)]
        self._slots = np.empty(0, np.int32)
        self._end = 0
        self._lent: Words | None = None

    def room(self, count: int) -> Words:
        """Return where the next tile's slots will stand, to be filled and given to `add`."""
        self._make_room(count)
        self._lent = self._slots[self._end : self._end + count]
        return self._lent

    def add(self, offsets: Words, slots: Words) -> None:
        """Add one more tile."""
        if slots is not self._lent:
            self._make_room(len(slots))
            self._slots[self._end : self._end + len(slots)] = slots
        self._lent = None
        self._offsets.append(offsets[1:].astype(np.int64) + self._end)
        self._end += len(slots)

    def _make_room(self, count: int) -> None:
        if self._end + count <= len(self._slots):
            return
        self._lent = None
        if not self._end:
            likely = int(count * self._tiles * _SPARE) + _ROOM
            self._slots = np.empty(max(count, min(likely, _LIKELY_MAX)), np.int32)
        else:
            self._slots.resize(max(self._end + count, 2 * len(self._slots)), refcheck=False)

    def all(self) -> tuple[Places, Words]:
        """Return the offsets and slots of all tiles; nothing can be added any more."""
        self._slots.resize(self._end, refcheck=False)
        return np.concatenate(self._offsets), self._slots
