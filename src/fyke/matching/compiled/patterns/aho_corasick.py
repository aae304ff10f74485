"""Which of many strings occur in a text: the automaton of Aho and Corasick over a trie.

Idea. A state is a node of the trie: the longest beginning of any string that the text read so far
ends with. Where a byte leads no further down, the search falls back to the longest proper ending of
that beginning which is itself a node (`fail`), and tries there. Each node knows the nearest output
among itself and what it falls back to, each output the next one behind it (`further`).
Near the root, where texts spend their time, falling back is avoided: the first nodes have rows with
the next state for every byte that occurs in the strings (bytes that do not occur share a column,
which leads to the root). Breadth first, the nodes near the root are those with small numbers.
Example. Strings he, she, hers; text `ushers`: after `she` the outputs of she and, further, he.
Invariant. fail[n] < n and is less deep. An output that was seen in this text ends the walk along
the outputs, because all behind it were seen with it: each output is reported once in a text.
Cost. Linear in the text plus the distinct outputs reached, whatever the strings. 24 bytes a node;
what is known of a node lies side by side, because large automata live outside of the caches.
Source. A. V. Aho, M. J. Corasick, Efficient string matching, CACM 18 (1975).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.patterns import block_layout
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers
from fyke.matching.compiled.patterns.block_layout import integers, octets
from fyke.matching.compiled.patterns.trie import Trie, child

CELLS_MIN: Final = 1 << 16
CELLS_MAX: Final = 1 << 22
"""Cells of all rows: two for each node, within these bounds."""

FIRST, EDGE, FAIL, OUTPUT = range(4)
"""The four words of a node: its first child; the byte that leads to it, and 256 times the byte of
its only child, or times 256 plus the number of its children; where to fall back to; the nearest
output, or -1."""
RECORD: Final = 4


class Automaton(NamedTuple):
    nodes: Integers
    """Four words for each node."""
    further: Integers
    """By output: the next one that occurs wherever it does, or -1."""
    symbols: Bytes
    """By byte: its column in the rows; 0 if no string has it."""
    rows: Integers
    """By node near the root and column: twice the next state, plus 1 if that has an output."""


@kernel
def link(trie: Trie) -> Automaton:
    """Return the automaton of a trie of strings that are not empty."""
    first, label, output = trie.first, trie.label, trie.output.copy()
    count = len(label)
    symbols, width = _columns(label)
    tall = max(1, min(count, min(max(CELLS_MIN, 2 * count), CELLS_MAX) // width))
    rows = np.zeros(tall * width, np.int32)
    fail = np.zeros(count, np.int32)
    further = np.full(len(trie.starts) - 1, -1, np.int32)
    for node in range(count):
        back = int(fail[node])
        if node > 0:
            if output[node] >= 0:
                further[output[node]] = output[back]
            else:
                output[node] = output[back]
        if node < tall:
            row = node * width
            for column in range(width):
                rows[row + column] = rows[back * width + column]
            for each in range(first[node], first[node + 1]):
                rows[row + int(symbols[label[each]])] = each
        if node > 0:
            for each in range(first[node], first[node + 1]):
                state, byte = back, label[each]
                following = -1
                while state >= tall:
                    following = child(first, label, state, byte)
                    if following >= 0:
                        break
                    state = int(fail[state])
                if following < 0:
                    following = int(rows[state * width + int(symbols[byte])])
                fail[each] = following
    for cell in range(len(rows)):
        rows[cell] = 2 * rows[cell] + (output[rows[cell]] >= 0)
    return Automaton(_records(first, label, fail, output), further, symbols, rows)


@kernel
def _records(first: Integers, label: Bytes, fail: Integers, output: Integers) -> Integers:
    nodes = np.empty(RECORD * len(label), np.int32)
    for node in range(len(label)):
        at = RECORD * node
        children = int(first[node + 1]) - int(first[node])
        edge = int(label[first[node]]) if children == 1 else 256 + children
        nodes[at + FIRST] = first[node]
        nodes[at + EDGE] = (edge << 8) + int(label[node])
        nodes[at + FAIL] = fail[node]
        nodes[at + OUTPUT] = output[node]
    return nodes


@kernel
def _columns(label: Bytes) -> tuple[Bytes, int]:
    symbols = np.zeros(256, np.uint8)
    for node in range(1, len(label)):
        symbols[label[node]] = 1
    width = 1
    for byte in range(256):
        if symbols[byte] == 1:
            symbols[byte] = width
            width += 1
    return symbols, width


@inlined
def outputs_in(text: Bytes, words: Integers, data: Bytes, seen: Bytes, outputs: Integers) -> int:
    """Fill in the outputs that the text reaches. Return how many. `seen` is all 0, also after."""
    nodes = integers(words, block_layout.NODES)
    if len(nodes) == RECORD:
        return 0
    further = integers(words, block_layout.FURTHER)
    symbols = octets(words, data, block_layout.SYMBOLS)
    rows = integers(words, block_layout.ROWS)
    width = int(words[block_layout.WIDTH])
    tall = len(rows) // width
    found, state = 0, 0
    for at in range(len(text)):
        byte = text[at]
        following = -1
        while state >= tall:
            following = _child(nodes, state, byte)
            if following >= 0:
                break
            state = int(nodes[RECORD * state + FAIL])
        if following < 0:
            cell = int(rows[state * width + int(symbols[byte])])
            state = cell >> 1
            if cell & 1 == 0:
                continue
        else:
            state = following
        reached = int(nodes[RECORD * state + OUTPUT])
        while reached >= 0 and seen[reached] == 0:
            seen[reached] = 1
            outputs[found] = reached
            found += 1
            reached = int(further[reached])
    for each in range(found):
        seen[outputs[each]] = 0
    return found


@inlined
def _child(nodes: Integers, node: int, byte: int) -> int:
    """Return the child to which a byte leads, or -1."""
    edge = nodes[RECORD * node + EDGE] >> 8
    low = int(nodes[RECORD * node + FIRST])
    if edge == byte:
        return low
    if edge <= 256:
        return -1
    high = low + edge - 256
    while high - low > 1:
        middle = (low + high) >> 1
        if nodes[RECORD * middle + EDGE] & 255 <= byte:
            low = middle
        else:
            high = middle
    return low if nodes[RECORD * low + EDGE] & 255 == byte else -1
