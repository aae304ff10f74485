"""Rows: the draws of `row` for many numbers at once, in numpy."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fyke.workloads.draw import HALF, Choice, Ranges, Stream
from fyke.workloads.row import Draw
from fyke.workloads.vector_draw import Words, half, pick, scale

Codes: TypeAlias = NDArray[np.int64]

_HALF: Final = np.uint64(HALF)


class Rows(Draw[Codes]):
    """The draws of many rows."""

    __slots__ = ()

    def below(self, column: int, limit: int) -> Codes:
        return scale(self._half(column), limit).view(np.int64)

    def pick(self, choice: Choice, column: int) -> Codes:
        return pick(choice, self._half(column))

    def pick_by(self, choices: tuple[Choice, ...], key: Codes, column: int) -> Codes:
        """One search: the ends of choice k are moved up by k * 2**32."""
        ends, starts = _laid_out(choices)
        halves = self._half(column) | (key.view(np.uint64) << _HALF)
        return np.searchsorted(ends, halves, side="right") - starts[key]

    def chance(self, per_mille: Codes, column: int) -> Codes:
        return (self.below(column, 1_000) < per_mille).astype(np.int64)

    def inside(self, ranges: Ranges, at: Codes, column: int) -> Codes:
        starts, widths = _table(tuple(ranges.starts)), _table(tuple(ranges.widths))
        drawn = scale(self._half(column), widths[at].view(np.uint64))
        return starts[at] + drawn.view(np.int64)

    def look_up(self, table: tuple[int, ...], at: Codes) -> Codes:
        return _table(table)[at]

    def seek(self, number: Codes, stream: Stream | None = None) -> Rows:
        return Rows(stream or self.stream, number)

    def _half(self, column: int) -> Words:
        return half(self.stream, self.number.view(np.uint64), column)


def rows_of(stream: Stream, count: int, start: int) -> Rows:
    """The rows of a range of numbers."""
    return Rows(stream, np.arange(start, start + count, dtype=np.int64))


@lru_cache(maxsize=64)
def _laid_out(choices: tuple[Choice, ...]) -> tuple[Words, Codes]:
    """The ends of all choices, and how many stand before those of each."""
    ends = [end + (key << HALF) for key, choice in enumerate(choices) for end in choice.ends]
    lengths = [0, *(len(choice.ends) for choice in choices[:-1])]
    return np.array(ends, np.uint64), np.cumsum(lengths, dtype=np.int64)


@lru_cache(maxsize=64)
def _table(values: tuple[int, ...]) -> Codes:
    return np.array(values, np.int64)
