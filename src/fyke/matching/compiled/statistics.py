"""Statistics: which share of the events has a symbol, learned from the events and guessed before.

The guess for a value is its share among the subscriptions that name a value of the same attribute:
what many people wait for tends to happen often. Patterns, presence and types have a fixed guess.
Every symbol's guess weighs as much as `GUESS_WEIGHT` events; what is observed soon outweighs it.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from fyke.matching.compiled.box_table import BoxTable, Places, Words
from fyke.matching.compiled.codes import OTHER
from fyke.matching.compiled.coding import Codes
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
    """Counts of symbols among the events looked at."""

    def __init__(self) -> None:
        self.events = 0
        self.counts = np.zeros(0, np.int64)

    def observe(self, codes: Codes, vocabulary: Vocabulary, rows: int = ROWS) -> None:
        """Takes note of the symbols of the first events."""
        rows = min(rows, codes.events)
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
            counted = np.bincount(places, minlength=len(self.counts))
            counted[: len(self.counts)] += self.counts
            self.counts = counted

    def share(self, kind: AxisKind, symbol: int) -> float:
        """The expected share of events that have a symbol."""
        place = symbol // SYMBOL_STEP
        seen = int(self.counts[place]) if place < len(self.counts) else 0
        return (GUESS[kind] * GUESS_WEIGHT + seen) / (GUESS_WEIGHT + self.events)

    def shares(self, boxes: BoxTable, vocabulary: Vocabulary) -> Shares:
        """The expected share of each constraint's symbol, guessing values from these boxes.

        1 for constraints that name no symbol.
        """
        kinds = np.array([kind for kind, _ in vocabulary.axes], np.int32)
        guess = np.array([GUESS.get(kind, 0.0) for kind, _ in vocabulary.axes])
        keys = np.flatnonzero((boxes.low == boxes.high) & (guess[boxes.axis] > 0))
        axis, place = boxes.axis[keys], boxes.low[keys] // SYMBOL_STEP
        guesses = guess[axis]
        values = np.flatnonzero(kinds[axis] == AxisKind.VALUE)
        named = _occurrences(place[values], vocabulary.next_symbol)
        guesses[values] = named / np.bincount(axis[values])[axis[values]]
        seen = np.zeros(len(place))
        known = place < len(self.counts)
        seen[known] = self.counts[place[known]]
        shares = np.ones(len(boxes.axis), np.float32)
        shares[keys] = (guesses * GUESS_WEIGHT + seen) / (GUESS_WEIGHT + self.events)
        return shares


def _occurrences(places: Words, end: int) -> Places:
    """How often the number at each place occurs; all are below `end`."""
    if _MANY * len(places) > end:
        return np.bincount(places)[places]
    _, which, counts = np.unique(places, return_inverse=True, return_counts=True)
    return counts[which]


def _is_text(vocabulary: Vocabulary, axis: int) -> bool:
    return vocabulary.axes[axis][0] is AxisKind.TEXT
