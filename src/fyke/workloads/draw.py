"""Random numbers by address: a draw depends on the seed, the row and the column, on nothing else.

    def price(draw: Draw) -> Codes:
        return 500 * (950 + draw.below(1, 101)) // 1_000

    price(Draw(Stream(7, "ticks"), row_numbers(3, 7)))      [512 478 521]

Idea. splitmix64 turns a counter into a random word. The counter of (row, column) is
16 * row + column, the start is a hash of the seed and of the stream's name. So any rows can be
drawn alone, in any order, on any machine. Rows are drawn many at a time, as arrays; a single row is
an array of one.
Invariant. Everything is integer arithmetic on 64 bits, and tables are searched with integers.
Products must stay within 63 bits. `tests/workloads/one_row.py` draws the same without arrays.
Source. Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

COLUMNS: Final = 16
"""Columns of a row; a generator numbers its own from 0."""

Bits: TypeAlias = NDArray[np.uint64]
"""Random bits: 64, or the upper 32 of them, so that products fit."""
Codes: TypeAlias = NDArray[np.int64]

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_HALF: Final = np.uint64(32)
_MASK: Final = (1 << 64) - 1

_Item = TypeVar("_Item")


def row_numbers(count: int, start: int = 0) -> Codes:
    """Return the row numbers of a range."""
    return np.arange(start, start + count, dtype=np.int64)


def mix(words: Bits) -> Bits:
    """Map 64 bits to 64 bits, one to one; every bit of the result depends on every bit."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def scale(halves: Bits, limit: int | Codes) -> Codes:
    """Return numbers from 0 up to but excluding `limit`, which is at most 2**32."""
    return ((halves * np.asarray(limit, np.uint64)) >> _HALF).view(np.int64)


class RandomStream:
    """The words of one seed and one name, by row and column."""

    __slots__ = ("start",)

    def __init__(self, seed: int, name: str) -> None:
        start = mix(np.array([seed & _MASK], np.uint64))
        for byte in name.encode():
            start = mix(start + np.uint64(byte) + _GOLDEN)
        self.start = start[0]

    def half(self, rows: Codes, column: int) -> Bits:
        """Return the upper 32 bits of the words in a column."""
        addresses = rows.view(np.uint64) * np.uint64(COLUMNS) + np.uint64(column)
        return mix(addresses * _GOLDEN + self.start) >> _HALF

    def below(self, rows: Codes, column: int, limit: int | Codes) -> Codes:
        """Return integers from 0 up to but excluding `limit`, which is at most 2**32."""
        return scale(self.half(rows, column), limit)

    def shuffled(self, items: Iterable[_Item]) -> list[_Item]:
        """Return the items in an order of this stream's own."""
        given = list(items)
        words = mix(row_numbers(len(given)).view(np.uint64) + self.start)
        return [given[at] for at in np.argsort(words, kind="stable").tolist()]


class Choice:
    """A choice among 0, 1, ... with the given integer weights."""

    __slots__ = ("ends",)

    def __init__(self, weights: Sequence[int]) -> None:
        total = sum(weights)
        self.ends = np.array([(end << 32) // total for end in accumulate(weights)], np.uint64)

    def pick(self, halves: Bits) -> Codes:
        """Return the numbers on which 32 random bits fall."""
        return np.searchsorted(self.ends, halves, side="right")


class KeyedChoice:
    """Several choices, of which a key says one.

    One search serves all: the ends of choice k are moved up by k * 2**32.
    """

    __slots__ = ("_ends", "_starts")

    def __init__(self, choices: Sequence[Choice]) -> None:
        moved = [choice.ends + (np.uint64(key) << _HALF) for key, choice in enumerate(choices)]
        self._ends = np.concatenate(moved)
        self._starts = np.cumsum([0, *map(len, moved[:-1])], dtype=np.int64)

    def pick(self, halves: Bits, keys: Codes) -> Codes:
        """Return the numbers on which 32 random bits fall, each in the choice of its key."""
        moved = halves | (keys.view(np.uint64) << _HALF)
        return np.searchsorted(self._ends, moved, side="right") - self._starts[keys]


def popularity(count: int, flat: int) -> Choice:
    """Return a Zipf choice among `count` ranks.

    Rank k weighs 1 / (k + flat), so `flat` tames the head.
    """
    return Choice([(1 << 40) // (rank + flat) for rank in range(count)])


class Ranges:
    """A number within ranges: the range by weight, uniform inside, upper ends excluded."""

    __slots__ = ("choice", "starts", "widths")

    def __init__(self, ends: Sequence[int], weights: Sequence[int]) -> None:
        self.starts = np.array(ends[:-1], np.int64)
        self.widths = np.array([end - start for start, end in pairwise(ends)], np.int64)
        self.choice = Choice(weights)

    def inside(self, at: Codes, halves: Bits) -> Codes:
        """Return a number of each range that stands at `at`."""
        return self.starts[at] + scale(halves, self.widths[at])

    def pick(self, which: Bits, inside: Bits) -> Codes:
        """Return the numbers on which two times 32 random bits fall."""
        return self.inside(self.choice.pick(which), inside)


class Draw:
    """The random numbers of a stream's rows, by column."""

    __slots__ = ("number", "stream")

    def __init__(self, stream: RandomStream, number: Codes) -> None:
        self.stream = stream
        self.number = number

    def half(self, column: int) -> Bits:
        """Return 32 random bits."""
        return self.stream.half(self.number, column)

    def below(self, column: int, limit: int) -> Codes:
        """Return numbers from 0 up to but excluding `limit`, which is at most 2**32."""
        return self.stream.below(self.number, column, limit)

    def pick(self, choice: Choice, column: int) -> Codes:
        """Return one of a choice."""
        return choice.pick(self.half(column))

    def pick_by(self, choice: KeyedChoice, keys: Codes, column: int) -> Codes:
        """Return one of the choice that the key says."""
        return choice.pick(self.half(column), keys)

    def chance(self, per_mille: int | Codes, column: int) -> Codes:
        """Return 1 with a chance in thousandths, else 0."""
        return (self.below(column, 1_000) < per_mille).astype(np.int64)

    def inside(self, ranges: Ranges, at: Codes, column: int) -> Codes:
        """Return a number of the range that stands at `at`."""
        return ranges.inside(at, self.half(column))

    def within(self, ranges: Ranges, which: int, inside: int) -> Codes:
        """Return a number of the ranges; two columns decide."""
        return ranges.pick(self.half(which), self.half(inside))

    def seek(self, number: Codes, stream: RandomStream | None = None) -> Draw:
        """Return the draw at other numbers, of the same stream or another."""
        return Draw(stream or self.stream, number)
