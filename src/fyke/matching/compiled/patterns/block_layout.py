"""All arrays of a block in two: one of integers, one of bytes. Offsets only, so it can be mapped.

Idea. The integers begin with a header: where each section of integers starts, where the last ends,
the same for the sections of bytes, then the width of the rows and whether marks are needed. Kernels
get the two arrays and cut out what they need; a snapshot stores the two arrays and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fyke.errors import FykeError
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers

(
    NUMBERS,  # by entry, ascending
    STARTS,  # by entry, and one more: its first byte in PATTERNS
    FRONT_STARTS,
    FRONT_REPORTS,
    FRONT_MARKS,
    FRONT_FIRST,
    FRONT_OUTPUT,
    BACK_STARTS,
    BACK_REPORTS,
    BACK_MARKS,
    BACK_FIRST,
    BACK_OUTPUT,
    INNER_STARTS,
    INNER_REPORTS,
    INNER_MARKS,
    NODES,
    FURTHER,
    ROWS,
    WINDOW_BUCKETS,
    WINDOW_RECORDS,
) = range(20)
INTEGER_SECTIONS: Final = 20

REPORTS, MARKS, FIRST, OUTPUT = 1, 2, 3, 4
"""The distances of these sections from the STARTS of the same index."""

PATTERNS, SURE, FRONT_LABEL, BACK_LABEL, SYMBOLS, SIEVE = range(6)
BYTE_SECTIONS: Final = 6

WIDTH: Final = INTEGER_SECTIONS + 1 + BYTE_SECTIONS + 1
"""The place in the header of the number of columns of the rows."""
SURE_AT: Final = INTEGER_SECTIONS + 1 + SURE
"""The place in the header of the size of PATTERNS."""
MARKED: Final = WIDTH + 1
"""The place in the header that is not 0 if some pattern in a report needs marks."""
HEADER: Final = MARKED + 1


@kernel
def integers(words: Integers, section: int) -> Integers:
    return words[words[section] : words[section + 1]]


@kernel
def octets(words: Integers, data: Bytes, section: int) -> Bytes:
    at = INTEGER_SECTIONS + 1 + section
    return data[words[at] : words[at + 1]]


def pack(words: Sequence[Integers], data: Sequence[Bytes]) -> tuple[Integers, Bytes]:
    """Return the sections, in order, as the two arrays."""
    header = [
        *np.cumsum([HEADER, *map(len, words)]),
        *np.cumsum([0, *map(len, data)]),
        int(data[SYMBOLS].max()) + 1,
        any(words[section].any() for section in (FRONT_MARKS, BACK_MARKS, INNER_MARKS)),
    ]
    return np.concatenate([np.array(header, np.int32), *words]), np.concatenate(data)


def check(words: Integers, data: Bytes, entries: int) -> None:
    """Raise FykeError unless the header fits the arrays."""
    if len(words) >= HEADER:
        ends, byte_ends = words[: INTEGER_SECTIONS + 1], words[INTEGER_SECTIONS + 1 : WIDTH]
        if (
            (ends[0], ends[-1]) == (HEADER, len(words))
            and (byte_ends[0], byte_ends[-1]) == (0, len(data))
            and (np.diff(ends) >= 0).all()
            and (np.diff(byte_ends) >= 0).all()
            and ends[1] - ends[0] == entries
        ):
            return
    raise FykeError("the stored patterns do not hold what their header says")
