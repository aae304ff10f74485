"""Workspace: the arrays that the kernels of a search write to.

It is kept from search to search and grows when a kernel asks for MORE, so that its size follows the
results, not the number of subscriptions. A workspace serves one thread.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fyke.matching.compiled.boxes.box_table import Words
from fyke.matching.compiled.kernels.frames import Frame, PairBases, WorkspaceBases
from fyke.matching.compiled.kernels.lanes import LANES, aligned, base
from fyke.matching.compiled.search.probe import VISIT
from fyke.matching.compiled.search.traversal import DOUBT, SCRATCH, STATE, STRETCH

_STAMP_MAX: Final = 2**31 - 1
_SIZE: Final = 1 << 12
_ROWS: Final = 4


class Workspace:
    """The arrays that kernels write to."""

    def __init__(self) -> None:
        self.state = np.zeros(STATE, np.int32)
        self.scratch = aligned(SCRATCH)
        self.visits = np.zeros(_SIZE * VISIT, np.int32)
        self.found = np.zeros(_SIZE, np.int32)
        self.stretches = np.zeros(_SIZE * STRETCH, np.int32)
        self.doubts = np.zeros(_SIZE * DOUBT, np.int32)
        self._columns = aligned(0)
        self._aside = self._places = np.zeros(0, np.int32)
        self._stamps = np.zeros(_SIZE, np.int32)
        self._stamp = 0
        self._few = _few_pairs(0)
        self._lay_out()

    def _lay_out(self) -> None:
        """Make the frame that kernels are handed."""
        group = WorkspaceBases(
            state=base(self.state),
            scratch=base(self.scratch),
            visits=base(self.visits),
            visit_room=len(self.visits) // VISIT,
            found=base(self.found),
            found_room=len(self.found),
            stretches=base(self.stretches),
            stretch_room=len(self.stretches) // STRETCH,
            doubts=base(self.doubts),
            doubt_room=len(self.doubts) // DOUBT,
        )
        self.frame = Frame(group)

    def grow(self) -> None:
        """Double the room, and keep what is written so far."""
        for name in ("found", "stretches", "doubts"):
            words = getattr(self, name)
            grown = np.zeros(2 * len(words), np.int32)
            grown[: len(words)] = words
            setattr(self, name, grown)
        self._lay_out()

    def grow_visits(self) -> None:
        self.visits = np.zeros(2 * len(self.visits), np.int32)
        self._lay_out()

    def few(self, count: int) -> tuple[Words, Frame]:
        """Return four rows of `count` words or more, the first of zeros, and their frame."""
        if self._few[0].shape[1] < count:
            self._few = _few_pairs(2 * count + LANES)
        return self._few

    def columns(self, size: int) -> Words:
        """Return `size` words or more for columns of codes, with any content."""
        if len(self._columns) < size:
            self._columns = aligned(size)
        return self._columns

    def aside(self, bits: int) -> tuple[Words, Words]:
        """Return an array as long as the visits, and one of a word per value of `bits` bits."""
        if len(self._aside) != len(self.visits):
            self._aside = np.empty_like(self.visits)
        if len(self._places) <= 1 << bits:
            self._places = np.empty((1 << bits) + 1, np.int32)
        return self._aside, self._places

    def stamps(self, owners: int, events: int) -> tuple[Words, int]:
        """Return a word for each owner, none above the number that comes along, for `events`."""
        if len(self._stamps) < owners or self._stamp > _STAMP_MAX - events:
            self._stamps, self._stamp = np.zeros(max(owners, len(self._stamps)), np.int32), 0
        stamp, self._stamp = self._stamp, self._stamp + events
        return self._stamps, stamp


def _few_pairs(count: int) -> tuple[Words, Frame]:
    rows = np.zeros((_ROWS, count), np.int32)
    events, owners, steps, verdicts = map(base, rows)
    return rows, Frame(PairBases(events=events, owners=owners, steps=steps, verdicts=verdicts))
