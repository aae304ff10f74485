"""Intake: subscriptions on their way into a segment."""

from __future__ import annotations

from array import array

import numpy as np

from fyke.filters.filter import Filter
from fyke.matching.compiled.box_table import BoxTable, BoxWriter, Words
from fyke.matching.compiled.boxing import Boxing
from fyke.matching.compiled.program import program
from fyke.matching.compiled.segment import GONE, Programs, ProgramWriter
from fyke.matching.compiled.statistics import Statistics
from fyke.matching.compiled.vocabulary import Vocabulary


class Intake:
    """Boxes filters one by one, for a segment of all of them (`merging.Merge`)."""

    def __init__(self, vocabulary: Vocabulary, statistics: Statistics) -> None:
        self._vocabulary = vocabulary
        self._boxing = Boxing(vocabulary, statistics.share)
        self._slots = array("i")
        self._boxes = BoxWriter()
        self._programs = ProgramWriter()

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, slot: int, filter: Filter) -> None:
        words = self._vocabulary
        boxes = self._boxing.run(filter)
        is_decided = boxes.is_decided(words)
        self._boxes.add(boxes)
        self._programs.add(None if is_decided else program(filter, words))
        self._slots.append(slot)

    def remove(self, slot: int) -> None:
        """Strikes out a subscription that was added."""
        self._slots[self._slots.index(slot)] = GONE

    def boxes(self) -> BoxTable:
        return self._boxes.table()

    def programs(self) -> Programs:
        return self._programs.programs()

    def slots(self) -> Words:
        return np.array(self._slots, np.int32)
