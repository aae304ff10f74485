"""Intake: subscriptions on their way into a segment."""

from __future__ import annotations

from array import array

import numpy as np

from fyke.filters.filter import Filter
from fyke.matching.compiled.box_table import BoxTable, BoxWriter, Words
from fyke.matching.compiled.boxing import Boxing
from fyke.matching.compiled.layout import marked
from fyke.matching.compiled.program import program
from fyke.matching.compiled.segment import GONE, Programs, ProgramWriter
from fyke.matching.compiled.statistics import Statistics
from fyke.matching.compiled.vocabulary import Vocabulary
from fyke.matching.compiled.young import Young


class Intake:
    """Boxes filters one by one, for a segment of all of them (`merging.Merge`)."""

    def __init__(self, vocabulary: Vocabulary, statistics: Statistics) -> None:
        self._vocabulary = vocabulary
        self._boxing = Boxing(vocabulary, statistics.share)
        self._slots = array("i")
        self._boxes = BoxWriter()
        self._programs = ProgramWriter()
        self._removed = 0
        self._young: Young | None = None
        self.has_patterns = False
        """Whether some box names a pattern, so that these cannot be `young`."""

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, slot: int, filter: Filter) -> None:
        words = self._vocabulary
        boxes = self._boxing.run(filter)
        is_decided = boxes.is_decided(words)
        self._boxes.add(boxes)
        self._programs.add(None if is_decided else program(filter, words))
        self._slots.append(slot)
        self._young = None
        self.has_patterns = self.has_patterns or boxes.name_patterns(words)

    def remove(self, slot: int) -> None:
        """Strikes out a subscription that was added."""
        owner = int(np.flatnonzero(np.frombuffer(self._slots, np.int32) == slot)[0])
        self._slots[owner] = GONE
        self._removed += 1
        if self._young is not None:
            self._young.remove(owner)

    def young(self) -> Young:
        """What was taken in so far, to be searched as it is."""
        if self._young is None:
            owners, has_several = self._boxes.owner(), self._boxes.has_several
            programs = self._programs.programs()
            self._young = Young(
                starts=self._boxes.starts().astype(np.int32),
                constraints=self._boxes.constraints(),
                owners=marked(owners) if has_several else owners,
                exact=self._boxes.exact().astype(np.int32),
                slots=self.slots(),
                programs=programs.words,
                program_at=programs.at,
                has_several=has_several,
                removed=self._removed,
            )
        return self._young

    def boxes(self) -> BoxTable:
        return self._boxes.table()

    def programs(self) -> Programs:
        return self._programs.programs()

    def slots(self) -> Words:
        return np.array(self._slots, np.int32)
