"""MemtableWriter: boxes of the subscriptions that came lately, on their way into a segment."""

from __future__ import annotations

from array import array

import numpy as np

from fyke.filters.filter import Filter
from fyke.matching.compiled.boxes.box_table import BoxTable, BoxWriter, Words
from fyke.matching.compiled.boxes.boxing import Boxing
from fyke.matching.compiled.boxes.program import program
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.segment.layout import mark_several
from fyke.matching.compiled.segment.memtable import Memtable
from fyke.matching.compiled.segment.segment import GONE, Programs, ProgramWriter


class MemtableWriter:
    """Boxes filters one by one, for a memtable and then for a segment (`compaction.Merge`)."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._boxing = Boxing(vocabulary)
        self._slots = array("i")
        self._boxes = BoxWriter()
        self._programs = ProgramWriter()
        self._tombstones = 0
        self._memtable: Memtable | None = None
        self.has_patterns = False
        """True if some box names a pattern, which a memtable cannot compare."""

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, slot: int, filter: Filter) -> None:
        words = self._vocabulary
        boxes = self._boxing.run(filter)
        is_decided = boxes.is_decided(words)
        self._boxes.add(boxes)
        self._programs.add(None if is_decided else program(filter, words))
        self._slots.append(slot)
        self._memtable = None
        self.has_patterns = self.has_patterns or boxes.name_patterns(words)

    def remove(self, slot: int) -> None:
        """Put a tombstone in the place of a subscription that was added."""
        owner = int(np.flatnonzero(np.frombuffer(self._slots, np.int32) == slot)[0])
        self._slots[owner] = GONE
        self._tombstones += 1
        if self._memtable is not None:
            self._memtable.remove(owner)

    def memtable(self) -> Memtable:
        """Return what was boxed so far, to be searched as it is."""
        if self._memtable is None:
            owners, has_several = self._boxes.owner(), self._boxes.has_several
            programs = self._programs.programs()
            self._memtable = Memtable(
                starts=self._boxes.starts().astype(np.int32),
                constraints=self._boxes.constraints(),
                owners=mark_several(owners) if has_several else owners,
                exact=self._boxes.exact().astype(np.int32),
                slots=self.slots(),
                programs=programs.words,
                program_at=programs.at,
                has_several=has_several,
                tombstones=self._tombstones,
            )
        return self._memtable

    def boxes(self) -> BoxTable:
        return self._boxes.table()

    def programs(self) -> Programs:
        return self._programs.programs()

    def slots(self) -> Words:
        return np.array(self._slots, np.int32)
