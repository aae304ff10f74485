"""Sixteen at a time: the few operations on arrays of 32-bit words that the search is written in.

Idea. The hot loops see an array only as a *base* and an index. In `fast` mode a base is an address
and each operation here is a handful of vector instructions (any processor: LLVM picks them); in the
other modes a base is the numpy array itself and the operations are the plain functions below, which
say what the fast ones do, with every access checked. So a kernel is written once, `word(words, at)`
instead of `words[at]`, and is fast, checked or plain by `kernel.MODE`.
Why addresses. numba counts references to arrays that pass through helpers, which made the same
traversal two to three times slower.

Intervals. `low <= high` holds the values from low to high; `low > high` holds all *but* those
strictly between high and low: a negation. Both are one comparison on a circle:
(value - low) mod 2**32 <= (high - low) mod 2**32.

    word(base, at)                      one word, as an int64
    long_word(base, at)                 the same of an array of 64-bit words
    put(base, at, value)
    inside(base, lows, highs, value)    mask of the 16 intervals that hold the value
    inside_all(base, at, width, codes, first, axes, axes_at)
                                        mask of the 16 boxes at `at` (per axis low[16], high[16])
                                        that hold the codes of `width` axes, told from `axes_at` on;
                                        the code of an axis stands that far behind `first`
    inside_2(base, at, a, b), inside_3(base, at, a, b, c)
                                        the same for two and three codes that are at hand
    between(base, at, low, high)        mask of the 16 words that one interval holds
    touched(base, lows, highs, a, b)    mask of the 16 that hold something of a..b; for lists
    ends_at(base, lows, highs, value)   mask of the 16 that have the value as an end
    emit(base, at, mask, out, end)      the chosen ones of 16 words, appended; the new end
    number(start, mask, out, end)       the chosen ones of start .. start + 15, likewise
    repeat(value, out, at)              sixteen times the value
    copy(base, at, out, end)            sixteen words
    first(mask), prefetch(base, at)
    frame_at(group, handle)             the arrays and numbers of a frame (`frames`), by name
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fyke.matching.compiled.kernels.kernel import MODE, inlined

__all__ = [
    "ALL", "LANES", "aligned", "base", "between", "copy", "emit", "ends_at", "first", "frame_at",
    "holds", "inside", "inside_2", "inside_3", "inside_all", "long_word", "number", "prefetch",
    "put", "repeat", "touched", "touches", "word",
]  # fmt: skip

LANES: Final = 16
ALL: Final = 0xFFFF
CACHE_LINE: Final = 64


def base(words: np.ndarray[Any, Any]) -> Any:
    """Return the base of an int32 array, for the operations. The caller keeps the array alive."""
    return words.ctypes.data if MODE == "fast" else words.reshape(-1)


def aligned(size: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return zeros that start a cache line: words across two lines take twice as long to read."""
    room = np.zeros(size + LANES, np.int32)
    start = -room.ctypes.data % CACHE_LINE // room.itemsize
    return room[start : start + size]


@inlined
def holds(low: int, high: int, value: int) -> bool:
    """Return True if one interval holds the value."""
    if low <= high:
        return low <= value and value <= high
    return value <= high or value >= low


@inlined
def touches(low: int, high: int, least: int, most: int) -> bool:
    """Return True if one interval holds something between `least` and `most`."""
    if low <= high:
        return low <= most and least <= high
    return least <= high or most >= low


if TYPE_CHECKING or MODE != "fast":

    @inlined
    def word(words: Any, at: int) -> int:
        return int(words[at])

    @inlined
    def long_word(words: Any, at: int) -> int:
        return int(words[at])

    @inlined
    def put(words: Any, at: int, value: int) -> None:
        words[at] = value

    @inlined
    def inside(words: Any, lows: int, highs: int, value: int) -> int:
        mask = 0
        for lane in range(LANES):
            if holds(int(words[lows + lane]), int(words[highs + lane]), value):
                mask |= 1 << lane
        return mask

    @inlined
    def inside_all(
        words: Any, at: int, width: int, codes: Any, first: int, axes: Any, axes_at: int
    ) -> int:
        mask = ALL
        for slot in range(width):
            lows = at + slot * 2 * LANES
            code = int(codes[first + int(axes[axes_at + slot])])
            mask &= inside(words, lows, lows + LANES, code)
        return mask

    @inlined
    def inside_2(words: Any, at: int, a: int, b: int) -> int:
        high = at + LANES
        return inside(words, at, high, a) & inside(words, high + LANES, high + 2 * LANES, b)

    @inlined
    def inside_3(words: Any, at: int, a: int, b: int, c: int) -> int:
        third = at + 4 * LANES
        return inside_2(words, at, a, b) & inside(words, third, third + LANES, c)

    @inlined
    def between(words: Any, at: int, low: int, high: int) -> int:
        mask = 0
        for lane in range(LANES):
            if holds(low, high, int(words[at + lane])):
                mask |= 1 << lane
        return mask

    @inlined
    def touched(words: Any, lows: int, highs: int, least: int, most: int) -> int:
        mask = 0
        for lane in range(LANES):
            if touches(int(words[lows + lane]), int(words[highs + lane]), least, most):
                mask |= 1 << lane
        return mask

    @inlined
    def ends_at(words: Any, lows: int, highs: int, value: int) -> int:
        mask = 0
        for lane in range(LANES):
            if words[lows + lane] == value or words[highs + lane] == value:
                mask |= 1 << lane
        return mask

    @inlined
    def emit(words: Any, at: int, mask: int, out: Any, end: int) -> int:
        for lane in range(LANES):
            if mask >> lane & 1:
                out[end] = words[at + lane]
                end += 1
        return end

    @inlined
    def number(start: int, mask: int, out: Any, end: int) -> int:
        for lane in range(LANES):
            if mask >> lane & 1:
                out[end] = start + lane
                end += 1
        return end

    @inlined
    def repeat(value: int, out: Any, at: int) -> None:
        for lane in range(LANES):
            out[at + lane] = value

    @inlined
    def copy(words: Any, at: int, out: Any, end: int) -> None:
        for lane in range(LANES):
            out[end + lane] = words[at + lane]

    @inlined
    def first(mask: int) -> int:
        lane = 0
        while not mask >> lane & 1:
            lane += 1
        return lane

    @inlined
    def prefetch(words: Any, at: int) -> None:
        pass

    @inlined
    def frame_at(group: Any, handle: Any) -> Any:
        return handle

else:
    from fyke.matching.compiled.kernels.intrinsics import (
        between,
        copy,
        emit,
        ends_at,
        first,
        frame_at,
        inside,
        inside_2,
        inside_3,
        inside_all,
        long_word,
        number,
        prefetch,
        put,
        repeat,
        touched,
        word,
    )
