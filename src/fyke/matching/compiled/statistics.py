"""Statistics: which share of the events has a symbol, learned from the events and guessed before.

The guess for a value is its share among the subscriptions that name a value of the same attribute:
what many people wait for tends to happen often. Patterns, presence and types have a fixed guess.
Every symbol's guess weighs as much as `GUESS_WEIGHT` events; what is observed soon outweighs it.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from fyke.matching.compiled.box_table import BoxTable
from fyke.matching.compiled.codes import OTHER
from fyke.matching.compiled.coding import Codes
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
        """The expected shares by half the symbol, guessing values from these boxes."""
        size = vocabulary.next_symbol // SYMBOL_STEP + 1
        kinds = np.array([kind for kind, _ in vocabulary.axes], np.int32)
        points = boxes.low == boxes.high
        axis, place = boxes.axis[points], boxes.low[points] // SYMBOL_STEP
        guesses = np.full(size, GUESS[AxisKind.VALUE], np.float64)
        for kind, guess in GUESS.items():
            if kind is not AxisKind.VALUE:
                guesses[place[kinds[axis] == kind]] = guess
        of_value = kinds[axis] == AxisKind.VALUE
        named = np.bincount(place[of_value], minlength=size)
        per_axis = np.bincount(axis[of_value], minlength=len(kinds))
        guesses[place[of_value]] = named[place[of_value]] / per_axis[axis[of_value]]
        seen = np.zeros(size)
        known = min(size, len(self.counts))
        seen[:known] = self.counts[:known]
        shares = (guesses * GUESS_WEIGHT + seen) / (GUESS_WEIGHT + self.events)
        return shares.astype(np.float32)


def _is_text(vocabulary: Vocabulary, axis: int) -> bool:
    return vocabulary.axes[axis][0] is AxisKind.TEXT
