"""SegmentOfSlot: where each slot stands, as a segment and the owner number in it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from fyke.matching.compiled.segment.segment import GONE, Segment

NOWHERE: Final = -1


class SegmentOfSlot:
    """Segments and owners by slot, in two arrays, which are filled when first asked."""

    def __init__(self) -> None:
        self._new: list[Segment] = []
        self._segments: dict[int, Segment] = {}
        self._next = 0
        self._segment = np.full(0, NOWHERE, np.int32)
        self._owner = np.zeros(0, np.int32)

    def move(self, old: Iterable[Segment], new: Segment) -> None:
        """Note that the subscriptions of old segments stand in a new one."""
        gone = set(map(id, old))
        self._segments = {
            number: segment for number, segment in self._segments.items() if id(segment) not in gone
        }
        self._new = [segment for segment in self._new if id(segment) not in gone]
        self._new.append(new)

    def remove(self, slot: int) -> Segment | None:
        """Put a tombstone in the place of a slot. Return its segment, if it stood in one."""
        while self._new:
            self._enter(self._new.pop())
        if slot >= len(self._segment):
            return None
        segment, owner = self._segments.get(int(self._segment[slot])), int(self._owner[slot])
        if segment is None or segment.slots[owner] != slot:
            return None
        segment.remove(owner)
        return segment

    def _enter(self, segment: Segment) -> None:
        owners = np.flatnonzero(segment.slots != GONE)
        slots = segment.slots[owners]
        self._reserve(int(slots.max(initial=-1)) + 1)
        self._segments[self._next] = segment
        self._segment[slots] = self._next
        self._owner[slots] = owners
        self._next += 1

    def _reserve(self, size: int) -> None:
        if size > len(self._segment):
            room = max(size, 2 * len(self._segment)) - len(self._segment)
            self._segment = np.concatenate([self._segment, np.full(room, NOWHERE, np.int32)])
            self._owner = np.concatenate([self._owner, np.zeros(room, np.int32)])
