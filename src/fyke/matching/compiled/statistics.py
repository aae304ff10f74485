"""Statistics: which share of the events has a symbol: learned, expected before, or guessed.

What is expected of a symbol was given (`expectation`), with a weight. Where nothing was, there is a
guess, which weighs as much as `GUESS_WEIGHT` events: for a value its share among the subscriptions
that name a value of the same attribute, because what many people wait for tends to happen often; a
fixed one for patterns, presence and types. What is observed soon outweighs both. A symbol is
observed from the moment on in which it is given out.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from fyke.matching.compiled.box_table import BoxTable
from fyke.matching.compiled.codes import OTHER
from fyke.matching.compiled.coding import Codes
from fyke.matching.compiled.expectation import UNKNOWN, Expectations
from fyke.matching.compiled.vocabulary import KEYED, SYMBOL_STEP, AxisKind, Vocabulary

Shares: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

GUESS_WEIGHT: Final = 256
ROWS: Final = 256
"""So many rows of a batch are learned from."""
GUESS: Final = {
    AxisKind.VALUE: 0.01,
    AxisKind.TEXT: 0.005,
    AxisKind.TYPE: 0.3,
    AxisKind.PRESENCE: 0.5,
}


class Statistics:
    """Counts of symbols among the events looked at, by half the symbol."""

    def __init__(self, expectations: Expectations | None = None) -> None:
        self.events = 0
        self.counts = np.zeros(0, np.int64)
        self.since = np.zeros(0, np.int64)
        """How many events had been looked at before each symbol."""
        self._expectations = expectations

    @classmethod
    def of(
        cls,
        expectations: Expectations,
        counts: np.ndarray[Any, Any],
        since: np.ndarray[Any, Any],
        events: int,
    ) -> Statistics:
        """Those that were kept; ValueError where they do not fit each other."""
        is_plain = counts.dtype == since.dtype == np.int64 and counts.ndim == 1
        if not is_plain or counts.shape != since.shape or len(counts) > expectations.sizes[0]:
            raise ValueError("the counts of events are not what they should be")
        statistics = cls(expectations)
        statistics.counts, statistics.since, statistics.events = counts, since, events
        return statistics

    def observe(self, codes: Codes, vocabulary: Vocabulary, rows: int = ROWS) -> None:
        """Takes note of the symbols of the first events."""
        rows = min(rows, codes.events)
        self._reserve(vocabulary.next_symbol // SYMBOL_STEP)
        keyed = [axis for axis, (kind, _) in enumerate(vocabulary.axes) if kind in KEYED]
        keyed = [axis for axis in keyed if axis < codes.lows.shape[1]]
        seen = [codes.lows[:rows, axis] for axis in keyed if not _is_text(vocabulary, axis)]
        seen += [
            codes.accepted[codes.accepted_at[row] : codes.accepted_at[row + 1]]
            for axis in keyed
            if _is_text(vocabulary, axis)
            for row in codes.lows[:rows, axis].tolist()
            if row >= 0
        ]
        self.events += rows
        if seen:
            symbols = np.concatenate(seen)
            places = symbols[symbols > OTHER] // SYMBOL_STEP
            places = places[places < len(self.counts)]
            self.counts = self.counts + np.bincount(places, minlength=len(self.counts))

    def _reserve(self, size: int) -> None:
        """Room for symbols that were given out meanwhile."""
        new = size - len(self.counts)
        if new > 0:
            self.since = np.append(self.since, np.full(new, self.events))
            self.counts = np.append(self.counts, np.zeros(new, np.int64))

    def seen(self, place: int) -> tuple[int, int]:
        """How many events had a symbol, of how many."""
        if place >= len(self.counts):
            return 0, 0
        return int(self.counts[place]), self.events - int(self.since[place])

    def share(self, kind: AxisKind, symbol: int) -> float:
        """The expected share of events that have a symbol."""
        place = symbol // SYMBOL_STEP
        expected, weight = UNKNOWN if self._expectations is None else self._expectations[place]
        if not weight:
            expected, weight = GUESS[kind], GUESS_WEIGHT
        seen, events = self.seen(place)
        return (expected * weight + seen) / (weight + events)

    def shares(self, boxes: BoxTable, vocabulary: Vocabulary) -> Shares:
        """The expected shares by half the symbol, guessing values from these boxes."""
        size = vocabulary.next_symbol // SYMBOL_STEP + 1
        expected, weight = vocabulary.expectations.arrays(size)
        is_known = weight > 0
        prior = np.where(is_known, expected, _guesses(boxes, vocabulary, size))
        weight = np.where(is_known, weight, np.float32(GUESS_WEIGHT))
        counts, since = self.counts, self.since
        known = min(size, len(counts), len(since))
        seen, events = np.zeros(size), np.zeros(size)
        seen[:known] = counts[:known]
        events[:known] = self.events - since[:known]
        return ((prior * weight + seen) / (weight + events)).astype(np.float32)


def _guesses(boxes: BoxTable, vocabulary: Vocabulary, size: int) -> Shares:
    kinds = np.array([kind for kind, _ in vocabulary.axes], np.int32)
    points = boxes.low == boxes.high
    axis, place = boxes.axis[points], boxes.low[points] // SYMBOL_STEP
    guesses = np.full(size, GUESS[AxisKind.VALUE], np.float32)
    for kind, guess in GUESS.items():
        if kind is not AxisKind.VALUE:
            guesses[place[kinds[axis] == kind]] = guess
    of_value = kinds[axis] == AxisKind.VALUE
    named = np.bincount(place[of_value], minlength=size)
    per_axis = np.bincount(axis[of_value], minlength=len(kinds))
    guesses[place[of_value]] = named[place[of_value]] / per_axis[axis[of_value]]
    return guesses


def _is_text(vocabulary: Vocabulary, axis: int) -> bool:
    return vocabulary.axes[axis][0] is AxisKind.TEXT
