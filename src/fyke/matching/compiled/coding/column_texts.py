"""Texts: the strings of an Arrow array as kernels see them, seven bytes at a time.

Idea. Arrow keeps strings end to end as UTF-8, and where each one ends. Kernels read the bytes as
words of 64 bits, where they stand: a *chunk* is up to seven bytes put together from two words, the
first byte lowest. So a string of up to seven bytes is one number, and no byte is looked at alone.

    "ab", "cdefghijk"    offsets 0, 2, 11    words "abcdefgh"    tail "ijk"
    chunk(2, 7) = "cdefghi"    chunk(9, 2) = "jk"

`words` holds the whole words; `tail` is the last one, which the end of the bytes cuts short.
Why seven: the numbers stay positive, so that plain Python and compiled code agree on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from fyke.matching.compiled.boxes.box_table import Places
from fyke.matching.compiled.kernels.kernel import inlined, kernel

CHUNK: Final = 7
"""Bytes of a chunk."""
WORD: Final = 8
HEAD: Final = 4
"""Bytes that the code of a string is made of, but for the last two bits."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Strings, none of them missing."""

    offsets: np.ndarray[Any, Any]
    words: Places
    tail: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def parts(self) -> tuple[Any, Any, int]:
        """The three arguments by which a kernel gets the strings."""
        return self.offsets, self.words, self.tail


def texts(array: Any) -> Texts:
    """Return the strings of an array of string or large_string without nulls."""
    _, ends, characters = array.buffers()
    width = np.dtype(np.int64 if pa.types.is_large_string(array.type) else np.int32)
    if not len(array):
        return Texts(frozen(np.zeros(1, width)), frozen(np.zeros(0, np.int64)), 0)
    offsets = np.frombuffer(ends, width, len(array) + 1, array.offset * width.itemsize)
    held = np.frombuffer(b"" if characters is None else characters, np.uint8)
    if held.ctypes.data % WORD:
        held = held.copy()
    whole = len(held) // WORD * WORD
    tail = int.from_bytes(held[whole:].tobytes(), "little")
    return Texts(frozen(offsets), frozen(held[:whole].view("<i8")), tail)


def frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a read-only view, as of Arrow's own arrays: kernels are compiled for these only."""
    view = array.view()
    view.setflags(write=False)
    return view


@inlined
def word_at(words: Any, tail: int, place: int) -> int:
    return int(words[place]) if place < len(words) else tail


@inlined
def chunk(words: Any, tail: int, at: int, size: int) -> int:
    """Return `size` bytes, up to seven, from byte `at` on."""
    place, shift = at >> 3, (at & 7) << 3
    low = word_at(words, tail, place) >> shift & (((1 << (63 - shift)) << 1) - 1)
    high = (word_at(words, tail, place + 1) << 1) << (63 - shift)
    return (low | high) & ((1 << (size << 3)) - 1)


@kernel
def string_codes(offsets: Any, words: Any, tail: int, out: Any, column: int) -> None:
    """Write the `codes.string_code` of each text."""
    for number in range(len(offsets) - 1):
        start = int(offsets[number])
        size = int(offsets[number + 1]) - start
        read = min(size, HEAD)
        head = chunk(words, tail, start, read)
        big = (head & 0xFF) << 24 | (head & 0xFF00) << 8 | head >> 8 & 0xFF00 | head >> 24
        is_more = size > HEAD or (big & 3) != 0
        if size > 0 and head >> ((read - 1) << 3) == 0:
            is_more = True
        out[number, column] = big >> 2 << 1 | (1 if is_more else 0)
