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

from fyke.matching.compiled.box_table import BoxTable, Places, Words
from fyke.matching.compiled.codes import OTHER
from fyke.matching.compiled.coding import Codes
from fyke.matching.compiled.expectation import UNKNOWN, Expectations
from fyke.matching.compiled.vocabulary import KEYED, SYMBOL_STEP, AxisKind, Vocabulary

Shares: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]

GUESS_WEIGHT: Final = 256
ROWS: Final = 256
"""So many rows of a batch are learned from."""
_MANY: Final = 16
"""Few numbers are counted by sorting them, many by an array as long as the largest."""
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
        self._axes: tuple[Vocabulary, int, Places, Places] | None = None

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
        symbolic, texts = self._keyed_axes(vocabulary, codes.lows.shape[1])
        seen = [codes.lows[:rows, symbolic].ravel()]
        seen += [
            codes.accepted[codes.accepted_at[row] : codes.accepted_at[row + 1]]
            for row in codes.lows[:rows, texts].ravel().tolist()
            if row >= 0
        ]
        self.events += rows
        symbols = np.concatenate(seen)
        places = symbols[symbols > OTHER] // SYMBOL_STEP
        places = places[places < len(self.counts)]
        if not self.counts.flags.writeable:
            self.counts = self.counts.copy()
        np.add.at(self.counts, places, 1)

    def _keyed_axes(self, vocabulary: Vocabulary, coded: int) -> tuple[Places, Places]:
        """Those among the first axes whose codes are symbols, and whose lead to some."""
        size = min(len(vocabulary.axes), coded)
        if self._axes is None or self._axes[0] is not vocabulary or self._axes[1] != size:
            kinds = [kind for kind, _ in vocabulary.axes[:size]]
            texts = [axis for axis, kind in enumerate(kinds) if kind is AxisKind.TEXT]
            others = [
                axis for axis, kind in enumerate(kinds) if kind in KEYED and axis not in texts
            ]
            self._axes = vocabulary, size, np.array(others, np.int64), np.array(texts, np.int64)
        return self._axes[2], self._axes[3]

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
        """The expected share of each constraint's symbol, guessing values from these boxes.

        1 for constraints that name no symbol.
        """
        kinds = np.array([kind for kind, _ in vocabulary.axes], np.int32)
        guess = np.array([GUESS.get(kind, 0.0) for kind, _ in vocabulary.axes])
        keys = np.flatnonzero((boxes.low == boxes.high) & (guess[boxes.axis] > 0))
        axis, place = boxes.axis[keys], boxes.low[keys] // SYMBOL_STEP
        prior = guess[axis]
        values = np.flatnonzero(kinds[axis] == AxisKind.VALUE)
        named = _occurrences(place[values], vocabulary.next_symbol)
        prior[values] = named / np.bincount(axis[values])[axis[values]]
        expected, weight = vocabulary.expectations.at(place)
        prior = np.where(weight > 0, expected, prior)
        weight = np.where(weight > 0, weight, GUESS_WEIGHT)
        seen, events = self._seen_at(place)
        shares = np.ones(len(boxes.axis), np.float32)
        shares[keys] = (prior * weight + seen) / (weight + events)
        return shares

    def _seen_at(self, places: Words) -> tuple[Places, Places]:
        """`seen` for many places."""
        counts, since = self.counts, self.since
        known = np.flatnonzero(places < min(len(counts), len(since)))
        seen, events = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
        seen[known] = counts[places[known]]
        events[known] = self.events - since[places[known]]
        return seen, events


def _occurrences(places: Words, end: int) -> Places:
    """How often the number at each place occurs; all are below `end`."""
    if _MANY * len(places) > end:
        return np.bincount(places)[places]
    _, which, counts = np.unique(places, return_inverse=True, return_counts=True)
    return counts[which]
