"""A quick refusal: which pairs of neighbouring bytes a pattern needs and a text has.

Idea. Each pair of bytes side by side is hashed to one of 128 bits. A text that a pattern accepts
has all pairs of the pattern's pieces, so all its bits. The bits of patterns with the same key lie
side by side; most patterns that would have to be verified are refused without looking at them.
Example. `%cert%util%` needs ce, er, rt, ut, ti, il; few texts with `cert` have the bits of the
others.
Cost. A nanosecond or two a byte of text, 16 bytes a pattern. Long texts have most of the bits.
Source. Signature files: C. Faloutsos, S. Christodoulakis (1984).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers, Longs
from fyke.matching.compiled.patterns.encoding import STAR

WORDS: Final = 4
_WORD_MASK: Final = 0xFFFFFFFF


@inlined
def _mark(marks: Longs, one: int, other: int) -> None:
    mixed = int(one) * 37 + int(other) * 11
    marks[mixed & 3] |= 1 << ((mixed >> 2) & 31)


@kernel
def mark_patterns(patterns: Bytes, starts: Integers, sure: Bytes, reports: Integers) -> Integers:
    """Return the marks of the patterns in some reports; a sure pattern needs none."""
    all_marks = np.zeros(WORDS * len(reports), np.int64)
    for place in range(len(reports)):
        entry = reports[place]
        if sure[entry] == 0:
            marks = all_marks[WORDS * place : WORDS * (place + 1)]
            for each in range(starts[entry] + 1, starts[entry + 1]):
                if patterns[each - 1] < STAR and patterns[each] < STAR:
                    _mark(marks, patterns[each - 1], patterns[each])
    return all_marks.astype(np.int32)


@inlined
def mark_text(text: Bytes, marks: Longs) -> None:
    marks[:] = 0
    for each in range(1, len(text)):
        _mark(marks, text[each - 1], text[each])


@inlined
def has_marks(text_marks: Longs, marks: Integers, place: int) -> bool:
    """Return True if the text has all that the pattern of a report needs."""
    at = WORDS * place
    lacking = (
        (marks[at] & ~text_marks[0])
        | (marks[at + 1] & ~text_marks[1])
        | (marks[at + 2] & ~text_marks[2])
        | (marks[at + 3] & ~text_marks[3])
    )
    return bool(lacking & _WORD_MASK == 0)
