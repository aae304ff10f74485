"""Room: what the kernels of a search write to.

It is kept from search to search and grows when a kernel asks for MORE, so that its size follows the
results, not the number of subscriptions. A room serves one thread.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from fyke.matching.compiled.box_table import Words
from fyke.matching.compiled.lanes import LANES, aligned, base
from fyke.matching.compiled.probe import VISIT
from fyke.matching.compiled.traversal import DOUBT, SCRATCH, STATE, STRETCH

_STAMP_MAX: Final = 2**31 - 1
_ROOM: Final = 1 << 12
_ROWS: Final = 4


class Room:
    """What the kernels write to."""

    def __init__(self) -> None:
        self.state = np.zeros(STATE, np.int32)
        self.scratch = aligned(SCRATCH)
        self.visits = np.zeros(_ROOM * VISIT, np.int32)
        self.found = np.zeros(_ROOM, np.int32)
        self.stretches = np.zeros(_ROOM * STRETCH, np.int32)
        self.doubts = np.zeros(_ROOM * DOUBT, np.int32)
        self._columns = aligned(0)
        self._aside = self._places = np.zeros(0, np.int32)
        self._stamps = np.zeros(_ROOM, np.int32)
        self._stamp = 0
        self._few: tuple[Words, tuple[Any, ...]] = np.zeros((_ROWS, 0), np.int32), ()
        self._lay_out()

    def _lay_out(self) -> None:
        """What kernels are handed for this room."""
        self.visit_bases = (base(self.visits), len(self.visits) // VISIT)
        self.bases = (
            base(self.state), base(self.scratch), base(self.found), len(self.found),
            base(self.stretches), len(self.stretches) // STRETCH,
            base(self.doubts), len(self.doubts) // DOUBT,
        )  # fmt: skip

    def grow(self) -> None:
        """Twice the room, what is written so far kept."""
        for name in ("found", "stretches", "doubts"):
            words = getattr(self, name)
            grown = np.zeros(2 * len(words), np.int32)
            grown[: len(words)] = words
            setattr(self, name, grown)
        self._lay_out()

    def grow_visits(self) -> None:
        self.visits = np.zeros(2 * len(self.visits), np.int32)
        self._lay_out()

    def few(self, count: int) -> tuple[Words, tuple[Any, ...]]:
        """Four rows of so many words, of which the first is zeros, and what kernels are handed."""
        rows, bases = self._few
        if rows.shape[1] < count:
            rows = np.zeros((_ROWS, 2 * count + LANES), np.int32)
            bases = tuple(map(base, rows))
            self._few = rows, bases
        return rows, bases

    def columns(self, size: int) -> Words:
        """So many words for columns of codes, whatever is in them."""
        if len(self._columns) < size:
            self._columns = aligned(size)
        return self._columns

    def aside(self, bits: int) -> tuple[Words, Words]:
        """As much as for visits, and a word for each value of so many bits and one more."""
        if len(self._aside) != len(self.visits):
            self._aside = np.empty_like(self.visits)
        if len(self._places) <= 1 << bits:
            self._places = np.empty((1 << bits) + 1, np.int32)
        return self._aside, self._places

    def stamps(self, owners: int, events: int) -> tuple[Words, int]:
        """A word for each owner, and a number that none of them is above, for so many events."""
        if len(self._stamps) < owners or self._stamp > _STAMP_MAX - events:
            self._stamps, self._stamp = np.zeros(max(owners, len(self._stamps)), np.int32), 0
        stamp, self._stamp = self._stamp, self._stamp + events
        return self._stamps, stamp
