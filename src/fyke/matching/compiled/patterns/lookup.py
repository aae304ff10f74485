"""The patterns of one block that accept each of some texts.

Every key that a text holds is met once; what a key alone does not decide is verified.
"""

from __future__ import annotations

import numpy as np

from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.patterns import block_layout, windows
from fyke.matching.compiled.patterns.aho_corasick import outputs_in
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers, Longs
from fyke.matching.compiled.patterns.block_layout import integers, octets
from fyke.matching.compiled.patterns.marks import WORDS, has_marks, mark_text
from fyke.matching.compiled.patterns.placement import REFUSED, UNDECIDED, fits
from fyke.matching.compiled.patterns.trie import child
from fyke.matching.compiled.patterns.windows import strings_in


@kernel
def search(
    words: Integers,
    data: Bytes,
    alive: Bytes,
    texts: Bytes,
    bounds: Longs,
    begin: int,
    seen: Bytes,
    met: Integers,
    found: Longs,
) -> tuple[int, int]:
    """Fill in what the texts from `begin` on find. Return how many, and the next text.

    Text t lies between bounds[t] and bounds[t + 1]. A find is t << 32 | number, inverted where the
    verdict is open. The search stops before a text whose finds might have no room; at least one
    text has, if `found` is as long as there are patterns.
    """
    entries = len(integers(words, block_layout.NUMBERS))
    records = integers(words, block_layout.WINDOW_RECORDS)
    marks = np.zeros(WORDS, np.int64)
    count = 0
    for turn in range(begin, len(bounds) - 1):
        if count + entries > len(found):
            return count, turn
        text = texts[bounds[turn] : bounds[turn + 1]]
        if words[block_layout.MARKED]:
            mark_text(text, marks)
        count = _anchored(words, data, alive, text, marks, 1, turn, found, count)
        count = _anchored(words, data, alive, text, marks, -1, turn, found, count)
        for each in range(outputs_in(text, words, data, seen, met)):
            count = _report(
                words,
                data,
                alive,
                block_layout.INNER_STARTS,
                met[each],
                text,
                marks,
                turn,
                found,
                count,
            )
        for each in range(strings_in(text, words, data, seen, met)):
            entry = records[windows.RECORD * met[each] + windows.ENTRY]
            count = _admit(words, data, alive, entry, text, turn, found, count)
    return count, len(bounds) - 1


@inlined
def _anchored(
    words: Integers,
    data: Bytes,
    alive: Bytes,
    text: Bytes,
    marks: Longs,
    step: int,
    turn: int,
    found: Longs,
    count: int,
) -> int:
    """Walk down one trie: with step 1 from the front of the text, with -1 from its back."""
    if step == 1:
        base, labels, at = block_layout.FRONT_STARTS, block_layout.FRONT_LABEL, 0
    else:
        base, labels, at = block_layout.BACK_STARTS, block_layout.BACK_LABEL, len(text) - 1
    first = integers(words, base + block_layout.FIRST)
    output = integers(words, base + block_layout.OUTPUT)
    label = octets(words, data, labels)
    node = 0
    while node >= 0:
        if output[node] >= 0:
            count = _report(words, data, alive, base, output[node], text, marks, turn, found, count)
        if at < 0 or at >= len(text):
            break
        node = child(first, label, node, text[at])
        at += step
    return count


@inlined
def _report(
    words: Integers,
    data: Bytes,
    alive: Bytes,
    base: int,
    output: int,
    text: Bytes,
    marks: Longs,
    turn: int,
    found: Longs,
    count: int,
) -> int:
    """Add the patterns of an output that accept the text, or may."""
    starts = integers(words, base)
    reports = integers(words, base + block_layout.REPORTS)
    needed = integers(words, base + block_layout.MARKS)
    for each in range(starts[output], starts[output + 1]):
        if has_marks(marks, needed, each):
            count = _admit(words, data, alive, reports[each], text, turn, found, count)
    return count


@inlined
def _admit(
    words: Integers,
    data: Bytes,
    alive: Bytes,
    entry: int,
    text: Bytes,
    turn: int,
    found: Longs,
    count: int,
) -> int:
    """Add a pattern whose key the text holds, if it accepts the text, or may."""
    if alive[entry] == 0:
        return count
    find = (int(turn) << 32) | int(integers(words, block_layout.NUMBERS)[entry])
    if octets(words, data, block_layout.SURE)[entry] == 0:
        starts = integers(words, block_layout.STARTS)
        patterns = octets(words, data, block_layout.PATTERNS)
        verdict = fits(patterns[starts[entry] : starts[entry + 1]], text)
        if verdict == REFUSED:
            return count
        if verdict == UNDECIDED:
            find = ~find
    found[count] = find
    return count + 1
