"""The draws of `draw` for many rows at once: the same integers, in numpy.

Each function is the twin of a method there; `half` takes row numbers instead of one, the others
take arrays of 32 random bits (kept in 64, so that products fit).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fyke.workloads.draw import COLUMNS, GOLDEN, HALF, Choice, Ranges, Stream

Words: TypeAlias = NDArray[np.uint64]

_HALF: Final = np.uint64(HALF)


def numbers(count: int, start: int = 0) -> Words:
    """The row numbers of a range."""
    return np.arange(start, start + count, dtype=np.int64).astype(np.uint64)


def mix(words: Words) -> Words:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def half(stream: Stream, rows: Words, column: int) -> Words:
    """`Stream.half`."""
    addresses = rows * np.uint64(COLUMNS) + np.uint64(column)
    return mix(addresses * np.uint64(GOLDEN) + np.uint64(stream.start)) >> _HALF


def scale(halves: Words, limit: int | Words) -> Words:
    """`Stream.below`: numbers from 0 up to but excluding `limit`."""
    return (halves * np.asarray(limit, dtype=np.uint64)) >> _HALF


def pick(choice: Choice, halves: Words) -> NDArray[np.int64]:
    """`Choice.pick`."""
    return np.searchsorted(_ends(choice), halves, side="right").astype(np.int64, copy=False)


def pick_within(ranges: Ranges, which: Words, inside: Words) -> Words:
    """`Ranges.pick`, for ranges of numbers that are not negative."""
    chosen = pick(ranges.choice, which)
    starts, widths = _table(tuple(ranges.starts)), _table(tuple(ranges.widths))
    return starts[chosen] + scale(inside, widths[chosen])


@lru_cache(maxsize=64)
def _ends(choice: Choice) -> Words:
    return np.array(choice.ends, dtype=np.uint64)


@lru_cache(maxsize=64)
def _table(values: tuple[int, ...]) -> Words:
    return np.array(values, dtype=np.uint64)
