"""Placement: does a pattern fit a text? Segments are placed from left to right on the bytes.

Idea. The head is anchored at the front, the tail at the back; each segment between them takes the
leftmost place behind the one before it, which is always right, because a segment has a fixed length
in characters. ONE takes a lead byte and the bytes that continue it.
Example. `a%b_%c` on `axbüzc`: a at 0, `b_` at 2 (4 bytes end at 5), c is the last byte.
Cost. Usually linear in the text. Trying every place takes the product of text and segment at worst,
so the work is counted, and beyond a multiple of the text the verdict is left to another
method (UNDECIDED).
"""

from __future__ import annotations

from typing import Final

from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.patterns.block_arrays import Bytes
from fyke.matching.compiled.patterns.encoding import ONE, STAR

REFUSED: Final = 0
ACCEPTED: Final = 1
UNDECIDED: Final = 2
_WORK_PER_BYTE: Final = 8
_WORK_MIN: Final = 4_096


@kernel
def fits(pattern: Bytes, text: Bytes) -> int:
    """Return ACCEPTED or REFUSED, or UNDECIDED where it takes too much work."""
    head = 0
    while head < len(pattern) and pattern[head] != STAR:
        head += 1
    at = _end(pattern, 0, head, text, 0, len(text))
    if head == len(pattern):
        return ACCEPTED if at == len(text) else REFUSED
    tail = len(pattern)
    while pattern[tail - 1] != STAR:
        tail -= 1
    stop = _back(pattern, tail, text)
    if at < 0 or stop < at or _end(pattern, tail, len(pattern), text, stop, len(text)) < 0:
        return REFUSED
    budget = _WORK_MIN + _WORK_PER_BYTE * (len(text) + len(pattern))
    low = head + 1
    while low < tail:
        high = low
        while pattern[high] != STAR:
            high += 1
        # the leftmost place of the segment between low and high
        while True:
            end = _end(pattern, low, high, text, at, stop)
            if end >= 0:
                break
            budget += end
            if budget < 0:
                return UNDECIDED
            at += 1  # inside a character nothing fits that did not fit at its start
            if at > stop:
                return REFUSED
        at = end
        low = high + 1
    return ACCEPTED


@kernel
def _end(pattern: Bytes, low: int, high: int, text: Bytes, at: int, stop: int) -> int:
    """Return where a segment that starts `at` ends; else minus the bytes compared."""
    for each in range(low, high):
        if at >= stop:
            return low - each - 1
        byte = pattern[each]
        if byte == ONE:
            at += 1
            while at < stop and text[at] & 0xC0 == 0x80:
                at += 1
        elif text[at] == byte:
            at += 1
        else:
            return low - each - 1
    return at


@kernel
def _back(pattern: Bytes, tail: int, text: Bytes) -> int:
    """Return where the last characters start, as many as the tail has; -1 if there are fewer."""
    at = len(text)
    for each in range(tail, len(pattern)):
        if pattern[each] & 0xC0 != 0x80:
            at -= 1
            while at >= 0 and text[at] & 0xC0 == 0x80:
                at -= 1
            if at < 0:
                return -1
    return at
