"""Renewal: a new generation of the index, made from the filters while the old one serves.

Idea. A vocabulary only grows, and a merge reads boxes back without what the layout left out. So all
subscriptions are boxed again now and then, from their filters, with a new vocabulary: words that
nobody uses any more are gone, and the access is chosen among all constraints, by what was learned.

    Renewal(segments)     everything is in these segments, which nobody merges meanwhile
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
from fyke.filters.glob import Glob
from fyke.matching.compiled.box_table import Words
from fyke.matching.compiled.expectation import UNSEEN, WEIGHT_MAX, WEIGHT_MIN, Expected, Given
from fyke.matching.compiled.intake import Intake
from fyke.matching.compiled.merging import Merge
from fyke.matching.compiled.segment import GONE, Segment
from fyke.matching.compiled.statistics import Statistics
from fyke.matching.compiled.vocabulary import SYMBOL_STEP, Vocabulary

TURN: Final = 32
"""After so many filters others have their turn."""
PAUSE_S: Final = 1e-5


class Renewal:
    """The next generation of an engine's index, on its way."""

    def __init__(self, segments: Sequence[Segment], source: Recollection, tree_from: int) -> None:
        self.given = source.given
        self.vocabulary = Vocabulary(source)
        self.statistics = Statistics(self.vocabulary.expectations)
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
        """One that was here from the beginning is struck out where it lives."""
        self._added.pop(slot, None)
        self._round_of.pop(slot, None)

    def take_added(self) -> dict[int, Filter]:
        """What was added since the last time, to be boxed by `box_added`."""
        added, self._added = self._added, {}
        self._round_of |= dict.fromkeys(added, len(self._rounds))
        return added

    # --- boxing

    def box_all(self, filter_of: Callable[[int], Filter]) -> None:
        """The filters of slots that change meanwhile do not count, whatever they are by then."""
        slots = self._slots[self._order].tolist()
        self._first = self._segment((slot, filter_of(slot)) for slot in slots)

    def box_added(self, added: dict[int, Filter]) -> None:
        self._rounds.append((self._segment(added.items()), np.array(list(added), np.int32)))

    def _segment(self, pairs: Iterable[tuple[int, Filter]]) -> Segment:
        intake = Intake(self.vocabulary, self.statistics)
        for number, (slot, filter) in enumerate(pairs, 1):
            intake.add(slot, filter)
            if number % TURN == 0:
                sleep(PAUSE_S)
        merge = Merge((), intake)
        merge.run(self.vocabulary, self.statistics, self._tree_from)
        return merge.result()

    # --- the result

    def segments(self) -> tuple[Segment, ...]:
        """The segments of all that is there now; what follows in the vocabulary asks `given`."""
        assert self._first is not None
        parts = [(self._first, self._present()[self._order])]
        for number, (segment, slots) in enumerate(self._rounds):
            is_here = [self._round_of.get(slot) == number for slot in slots.tolist()]
            parts.append((segment, np.where(is_here, slots, GONE).astype(np.int32)))
        for segment, slots in parts:
            segment.slots = slots
            segment.removed = int((slots == GONE).sum())
        self.vocabulary.expectations.source = self.given
        return tuple(segment for segment, _ in parts if segment.live)

    def _present(self) -> Words:
        """The slots that were here in the beginning, GONE where they went since."""
        pairs = zip(self._old, self._kept, strict=True)
        slots = [segment.slots[kept] for segment, kept in pairs]
        return np.concatenate([*slots, np.zeros(0, np.int32)])


class Recollection:
    """What an old vocabulary and its statistics have learned, or else what was given."""

    def __init__(self, vocabulary: Vocabulary, statistics: Statistics, given: Given) -> None:
        self.given = given
        self._words = vocabulary
        self._statistics = statistics

    def value(self, attribute: str, key: object) -> Expected:
        axes = self._words.attributes.get(attribute)
        symbol = None if axes is None else axes.symbols.get(key)
        return self._learned(symbol) or self.given.value(attribute, key)

    def presence(self, attribute: str) -> Expected:
        axes = self._words.attributes.get(attribute)
        symbol = None if axes is None or axes.presence < 0 else axes.presence_symbol
        return self._learned(symbol) or self.given.presence(attribute)

    def type(self, name: str) -> Expected:
        _, symbol = self._words.types.get(name, (0, None))
        return self._learned(symbol) or self.given.type(name)

    def pattern(self, attribute: str, pattern: Glob, ignore_case: bool) -> Expected:
        axes = self._words.attributes.get(attribute)
        symbol = None if axes is None else axes.pattern_symbols.get((pattern, ignore_case))
        return self._learned(symbol) or self.given.pattern(attribute, pattern, ignore_case)

    def _learned(self, symbol: int | None) -> Expected | None:
        if symbol is None:
            return None
        place = symbol // SYMBOL_STEP
        share, weight = self._words.expectations[place]
        seen, events = self._statistics.seen(place)
        if weight + events < WEIGHT_MIN:
            return None
        expected = (share * weight + max(seen, UNSEEN)) / (weight + events)
        return min(expected, 1.0), min(weight + events, WEIGHT_MAX)
