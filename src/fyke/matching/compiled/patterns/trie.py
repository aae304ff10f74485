"""A trie of byte strings in five flat arrays, built breadth first without sorting the strings.

Idea. Nodes are numbered breadth first, so the children of a node lie side by side, sorted by their
byte: node n owns the nodes first[n] to first[n + 1], and label[m] is the byte on the edge to m. A
node in which strings end has an output, and an output lists the numbers of those strings.
Building is a radix sort from the most significant byte that leaves its recursion tree behind: a
node stands for a range of the strings, those with the same beginning; the range is ordered by the
next byte, and each run of equal bytes becomes a child.
Example. ab, ac, b: the root 0 owns nodes 1 (a) and 2 (b), node 1 owns 3 (b) and 4 (c), so first =
[1, 3, 5, 5, 5, 5]; nodes 2, 3 and 4 have outputs.
Invariant. The parent of a node, and whatever is less deep, has a smaller number.
Cost. Building takes time linear in the bytes of the strings, memory linear in the nodes (9 bytes
each). Walking down takes the time of finding each byte among the children.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers

_FEW: Final = 16
"""Strings that are sorted by insertion, and children that are searched one by one, at most."""


class Trie(NamedTuple):
    first: Integers
    """By node, and one more: its first child."""
    label: Bytes
    """By node: the byte that leads to it."""
    output: Integers
    """By node: its output, or -1."""
    starts: Integers
    """By output, and one more: its first report."""
    reports: Integers
    """The numbers of the strings that end at an output, output after output."""


@kernel
def grow(data: Bytes, at: Integers, length: Integers, step: int) -> Trie:
    """Return the trie of the strings that start `at` a byte and are read with a step of 1 or -1."""
    count = len(at)
    order = np.arange(count).astype(np.int32)
    spare = np.empty(count, np.int32)
    tally = np.empty(257, np.int32)
    size = 2 * count + 64
    first = np.empty(size + 1, np.int32)
    label = np.empty(size, np.uint8)
    output = np.empty(size, np.int32)
    low = np.empty(size, np.int32)
    high = np.empty(size, np.int32)
    starts = np.empty(count + 1, np.int32)
    reports = np.empty(count, np.int32)
    nodes, outputs, reported = 1, 0, 0
    label[0], low[0], high[0] = 0, 0, count
    level, depth = 0, 0
    while level < nodes:
        level_end = nodes
        if nodes + count > size:
            size = 2 * size + count
            first, output = _widened(first, size + 1), _widened(output, size)
            low, high = _widened(low, size), _widened(high, size)
            label = _widened(label, size)
        for node in range(level, level_end):
            first[node] = nodes
            here, end = int(low[node]), int(high[node])
            if end - here > 1:
                _arrange(data, at, length, step, depth, order, here, end, spare, tally)
            output[node] = -1
            if here < end and length[order[here]] == depth:
                output[node] = outputs
                starts[outputs] = reported
                outputs += 1
                while here < end and length[order[here]] == depth:
                    reports[reported] = order[here]
                    reported += 1
                    here += 1
            while here < end:
                byte = data[at[order[here]] + depth * step]
                label[nodes] = byte
                low[nodes] = here
                while here < end and data[at[order[here]] + depth * step] == byte:
                    here += 1
                high[nodes] = here
                nodes += 1
        level = level_end
        depth += 1
    first[nodes] = nodes
    starts[outputs] = reported
    return Trie(
        first[: nodes + 1].copy(),
        label[:nodes].copy(),
        output[:nodes].copy(),
        starts[: outputs + 1].copy(),
        reports,
    )


@kernel
def _widened(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    wide = np.empty(size, array.dtype)
    for place in range(len(array)):  # a slice would compile for seconds: its error message is text
        wide[place] = array[place]
    return wide


@kernel
def _arrange(
    data: Bytes,
    at: Integers,
    length: Integers,
    step: int,
    depth: int,
    order: Integers,
    low: int,
    high: int,
    spare: Integers,
    tally: Integers,
) -> None:
    """Order a range of strings by their byte at this depth; those that end here come first."""
    if high - low <= _FEW:
        for place in range(low + 1, high):
            moved = order[place]
            rank = _rank(data, at, length, step, depth, moved)
            while place > low and _rank(data, at, length, step, depth, order[place - 1]) > rank:
                order[place] = order[place - 1]
                place -= 1
            order[place] = moved
        return
    tally[:] = 0
    for place in range(low, high):
        tally[_rank(data, at, length, step, depth, order[place])] += 1
        spare[place] = order[place]
    total = low
    for rank in range(257):
        total += tally[rank]
        tally[rank] = total - tally[rank]
    for place in range(low, high):
        rank = _rank(data, at, length, step, depth, spare[place])
        order[tally[rank]] = spare[place]
        tally[rank] += 1


@kernel
def _rank(data: Bytes, at: Integers, length: Integers, step: int, depth: int, number: int) -> int:
    if length[number] == depth:
        return 0
    return 1 + int(data[at[number] + depth * step])


@kernel
def child(first: Integers, label: Bytes, node: int, byte: int) -> int:
    """Return the child to which a byte leads, or -1."""
    low, high = int(first[node]), int(first[node + 1])
    while high - low > _FEW:
        middle = (low + high) >> 1
        if label[middle] <= byte:
            low = middle
        else:
            high = middle
    for each in range(low, high):
        if label[each] == byte:
            return each
    return -1
