"""Random numbers by address: a draw depends on the seed, the row and the column, on nothing else.

Idea. splitmix64 turns a counter into a random word. The counter of (row, column) is
16 * row + column, the start is a hash of the seed and of the stream's name. So any row can be drawn
alone, in any order, on any machine.
Invariant. Everything is integer arithmetic on 64 bits, and tables are searched with integers; the
same sentences in numpy (`vector_draw`) give the same rows.
Source. Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final, TypeVar

COLUMNS: Final = 16
"""Columns of a row; a generator numbers its own from 0."""

GOLDEN: Final = 0x9E3779B97F4A7C15
_MASK: Final = (1 << 64) - 1
HALF: Final = 32

_Item = TypeVar("_Item")


def mix(word: int) -> int:
    """64 bits to 64 bits, one to one; every bit of the result depends on every bit."""
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _MASK
    return word ^ (word >> 31)


class Stream:
    """The words of one seed and one name, by row and column."""

    __slots__ = ("start",)

    def __init__(self, seed: int, name: str) -> None:
        start = mix(seed & _MASK)
        for byte in name.encode():
            start = mix((start + byte + GOLDEN) & _MASK)
        self.start = start

    def half(self, row: int, column: int) -> int:
        """The upper 32 bits of the word at (row, column)."""
        return mix((self.start + (row * COLUMNS + column) * GOLDEN) & _MASK) >> HALF

    def below(self, row: int, column: int, limit: int) -> int:
        """An integer from 0 up to but excluding `limit`, which is at most 2**32."""
        return (self.half(row, column) * limit) >> HALF

    def shuffled(self, items: Iterable[_Item]) -> list[_Item]:
        """The items in an order of this stream's own."""
        numbered = sorted(
            (mix((self.start + row) & _MASK), row, item) for row, item in enumerate(items)
        )
        return [item for _, _, item in numbered]


class Choice:
    """A choice among 0, 1, ... with the given integer weights."""

    __slots__ = ("ends",)

    def __init__(self, weights: Sequence[int]) -> None:
        total = sum(weights)
        self.ends = [(end << HALF) // total for end in accumulate(weights)]

    def pick(self, half: int) -> int:
        """The number on which 32 random bits fall."""
        return bisect_right(self.ends, half)


def popularity(count: int, flat: int) -> Choice:
    """A Zipf choice among `count` ranks; rank k weighs 1 / (k + flat), so `flat` tames the head."""
    return Choice([(1 << 40) // (rank + flat) for rank in range(count)])


class Ranges:
    """A number within ranges: the range by weight, uniform inside, upper ends excluded."""

    __slots__ = ("choice", "starts", "widths")

    def __init__(self, ends: Sequence[int], weights: Sequence[int]) -> None:
        self.starts = ends[:-1]
        self.widths = [end - start for start, end in pairwise(ends)]
        self.choice = Choice(weights)

    def pick(self, which: int, inside: int) -> int:
        """The number on which two times 32 random bits fall."""
        number = self.choice.pick(which)
        return self.starts[number] + ((inside * self.widths[number]) >> HALF)
