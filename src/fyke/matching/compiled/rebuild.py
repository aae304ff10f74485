"""Rebuild: a new generation of the index, made from the filters while the old one serves.

Idea. A vocabulary only grows, and a merge reads boxes back without what the layout left out. So all
subscriptions are boxed again now and then, from their filters, with a new vocabulary: words that
nobody uses any more are gone, and the access is chosen among all constraints, by what was learned.

    Rebuild(segments)     everything is in these segments, which nobody merges meanwhile
    box_all               the long part, beside matching and changes
    box_added             what was added since, again and again, until it is little
    segments              the last step, under the engine's lock: vocabulary and segments change
                          at once, so codes and the segments searched with them belong together

Invariant. What changes meanwhile is kept. A subscription that is removed is struck out of the old
segment, where `segments` looks; one that is added comes with its filter (`add`), to be boxed later.
Cost. That of building the index; the interpreter is left to others every few dozen filters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import sleep
from typing import Final

import numpy as np

from fyke.filters.filter import Filter
from fyke.matching.compiled.boxes.box_table import Words
from fyke.matching.compiled.coding.frequencies import ObservedSource
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.segment.compaction import Merge
from fyke.matching.compiled.segment.memtable_writer import MemtableWriter
from fyke.matching.compiled.segment.segment import GONE, Segment

TURN: Final = 32
"""Filters that are boxed before others have their turn."""
PAUSE_S: Final = 1e-5


class Rebuild:
    """The next generation of an engine's index, on its way."""

    def __init__(self, segments: Sequence[Segment], source: ObservedSource, tree_from: int) -> None:
        self.sample = source.sample
        self.vocabulary = Vocabulary(source)
        self._tree_from = tree_from
        self._old = tuple(segments)
        self._kept = [np.flatnonzero(segment.slots != GONE) for segment in self._old]
        self._slots = self._present()
        self._order = np.argsort(self._slots)
        self._first: Segment | None = None
        self._added: dict[int, Filter] = {}
        self._rounds: list[tuple[Segment, Words]] = []
        self._round_of: dict[int, int] = {}

    # --- changes meanwhile, under the engine's lock

    def add(self, slot: int, filter: Filter) -> None:
        self._added[slot] = filter

    def remove(self, slot: int) -> None:
        """Forget a slot; one that was here from the beginning is struck out in its segment."""
        self._added.pop(slot, None)
        self._round_of.pop(slot, None)

    def take_added(self) -> dict[int, Filter]:
        """Return what was added since the last time, to be boxed by `box_added`."""
        added, self._added = self._added, {}
        self._round_of |= dict.fromkeys(added, len(self._rounds))
        return added

    # --- boxing

    def box_all(self, filter_of: Callable[[int], Filter]) -> None:
        """Box the filters of all slots; of a slot that changes meanwhile, the filter is ignored."""
        slots = self._slots[self._order].tolist()
        self._first = self._segment((slot, filter_of(slot)) for slot in slots)

    def box_added(self, added: dict[int, Filter]) -> None:
        self._rounds.append((self._segment(added.items()), np.array(list(added), np.int32)))

    def _segment(self, pairs: Iterable[tuple[int, Filter]]) -> Segment:
        writer = MemtableWriter(self.vocabulary)
        for number, (slot, filter) in enumerate(pairs, 1):
            writer.add(slot, filter)
            if number % TURN == 0:
                sleep(PAUSE_S)
        merge = Merge((), writer)
        merge.run(self.vocabulary, self._tree_from)
        return merge.result()

    # --- the result

    def segments(self) -> tuple[Segment, ...]:
        """Return the segments of all that is there now; new symbols will ask `sample`."""
        assert self._first is not None
        parts = [(self._first, self._present()[self._order])]
        for number, (segment, slots) in enumerate(self._rounds):
            is_here = [self._round_of.get(slot) == number for slot in slots.tolist()]
            parts.append((segment, np.where(is_here, slots, GONE).astype(np.int32)))
        for segment, slots in parts:
            segment.slots = slots
            segment.tombstones = int((slots == GONE).sum())
        self.vocabulary.frequencies.source = self.sample
        return tuple(segment for segment, _ in parts if segment.live)

    def _present(self) -> Words:
        """Return the slots that were here in the beginning, GONE where they went since."""
        pairs = zip(self._old, self._kept, strict=True)
        slots = [segment.slots[kept] for segment, kept in pairs]
        return np.concatenate([*slots, np.zeros(0, np.int32)])
