"""Box trees: many boxes over the same axes, packed so that most are never looked at.

Idea. Sixteen neighbouring boxes make a leaf, sixteen leaves a node, and so on up to one root; a
node stores the hulls of its sixteen children, laid out so that one vector comparison per axis tests
all of them. Neighbours are found by halving: along the axis on which the boxes lie farthest apart
(relative to the spread of that axis in the whole segment), at a multiple of sixteen's power, so
that every node is full but the last of its level.

    node     per axis low[16], high[16]; leaves look the same, their children are the boxes
    group    [axes, levels, boxes, exact, place in `owners`, places of levels in `nodes`, axes...]

A lane without a child has an interval that no code lies in. The hull of an interval that goes
around (a negation) is everything.
Invariant. A child's intervals lie within its node's, so a test that fails loses nothing.
Cost. 8 bytes per axis and box and a fifteenth more for the nodes; building is n log n.
Source. R-trees by sort-tile-recursive packing (Leutenegger, 1997).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from fyke.matching.compiled.boxes.box_table import Places
from fyke.matching.compiled.coding.codes import HIGHEST, LOWEST, MISSING
from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.kernels.lanes import LANES

SLOTS_MAX: Final = 8
"""Boxes with more constraints stay in runs."""
LEVELS_MAX: Final = 8
GROUP: Final = 5 + LEVELS_MAX + SLOTS_MAX
"""Words of a group."""
LEVELS_AT: Final = 5
AXES_AT: Final = 5 + LEVELS_MAX


def trees_size(trees: Places, slots: Places) -> tuple[int, int]:
    """Return how many words the nodes and the owners of some trees take."""
    node_words = owner_words = 0
    for (start, end), width in zip(trees.tolist(), slots.tolist(), strict=True):
        count = -(-(end - start) // LANES)
        owner_words += count * LANES
        node_words += count * width * 2 * LANES
        while count > 1:
            count = -(-count // LANES)
            node_words += count * width * 2 * LANES
    return node_words, owner_words


@kernel
def plant(
    starts: Any,
    axis: Any,
    low: Any,
    high: Any,
    exact: Any,
    owner: Any,
    order: Any,
    trees: Any,
    slots: Any,
    spans: Any,
    groups: Any,
    nodes: Any,
    owners: Any,
) -> None:
    """Fill groups, nodes and owners; `order` is rearranged within each tree."""
    node_end = 0
    owner_end = 0
    for tree in range(len(trees)):
        begin, end = trees[tree, 0], trees[tree, 1]
        width = slots[tree]
        arrange(starts, low, high, axis, order, begin, end, width, spans)
        box = order[begin]
        groups[tree, 0] = width
        groups[tree, 2] = end - begin
        groups[tree, 3] = exact[box]
        groups[tree, 4] = owner_end
        for slot in range(width):
            groups[tree, AXES_AT + slot] = axis[starts[box] + slot]
        for at in range(begin, end):
            owners[owner_end + at - begin] = owner[order[at]]
        owner_end += -(-(end - begin) // LANES) * LANES
        node_end = write_leaves(starts, low, high, order, begin, end, width, nodes, node_end)
        groups[tree, LEVELS_AT] = node_end - -(-(end - begin) // LANES) * width * 2 * LANES
        count = -(-(end - begin) // LANES)
        level = 0
        while count > 1:
            level += 1
            below = groups[tree, LEVELS_AT + level - 1]
            groups[tree, LEVELS_AT + level] = node_end
            node_end = write_nodes(nodes, below, count, width, node_end)
            count = -(-count // LANES)
        groups[tree, 1] = level


@kernel
def write_leaves(
    starts: Any,
    low: Any,
    high: Any,
    order: Any,
    begin: int,
    end: int,
    width: int,
    nodes: Any,
    node_end: int,
) -> int:
    for first in range(begin, end, LANES):
        for slot in range(width):
            at = node_end + slot * 2 * LANES
            for lane in range(LANES):
                nodes[at + lane] = nodes[at + LANES + lane] = LOWEST
                if first + lane < end:
                    constraint = starts[order[first + lane]] + slot
                    nodes[at + lane] = low[constraint]
                    nodes[at + LANES + lane] = high[constraint]
        node_end += width * 2 * LANES
    return node_end


@kernel
def write_nodes(nodes: Any, below: int, count: int, width: int, node_end: int) -> int:
    """Write one level over `count` nodes that start at `below`. Return where it ends."""
    size = width * 2 * LANES
    for first in range(0, count, LANES):
        for slot in range(width):
            at = node_end + slot * 2 * LANES
            for lane in range(LANES):
                nodes[at + lane] = nodes[at + LANES + lane] = LOWEST
                if first + lane < count:
                    child = below + (first + lane) * size + slot * 2 * LANES
                    least, most = hull(nodes, child)
                    nodes[at + lane] = least
                    nodes[at + LANES + lane] = most
        node_end += size
    return node_end


@kernel
def hull(nodes: Any, at: int) -> Any:
    """Return the interval that holds sixteen intervals; lanes without a child do not count."""
    least, most = np.int64(HIGHEST), np.int64(MISSING)
    for lane in range(LANES):
        low, high = np.int64(nodes[at + lane]), np.int64(nodes[at + LANES + lane])
        if low == LOWEST and high == LOWEST:
            continue
        if low > high:
            return np.int64(MISSING), np.int64(HIGHEST)
        least = min(least, low)
        most = max(most, high)
    return least, most


# --- neighbours ----------------------------------------------------------------------------------


@kernel
def arrange(
    starts: Any,
    low: Any,
    high: Any,
    axis: Any,
    order: Any,
    begin: int,
    end: int,
    width: int,
    spans: Any,
) -> None:
    """Rearrange a range of boxes so that neighbours are close."""
    pending = np.zeros((128, 2), np.int64)
    pending[0, 0], pending[0, 1] = begin, end
    waiting = 1
    while waiting > 0:
        waiting -= 1
        left, right = pending[waiting, 0], pending[waiting, 1]
        if right - left <= LANES:
            continue
        slot = widest(starts, low, high, axis, order, left, right, width, spans)
        leaves = -(-(right - left) // LANES)
        unit = 1
        while unit * LANES < leaves:
            unit *= LANES
        middle = left + -(-(leaves // 2) // unit) * unit * LANES
        if middle >= right:
            middle = left + unit * LANES
        part(starts, low, high, order, left, right, middle, slot)
        pending[waiting, 0], pending[waiting, 1] = left, middle
        pending[waiting + 1, 0], pending[waiting + 1, 1] = middle, right
        waiting += 2


@inlined
def centre(starts: Any, low: Any, high: Any, box: int, slot: int) -> Any:
    at = starts[box] + slot
    return np.int64(low[at]) + np.int64(high[at])


@kernel
def widest(
    starts: Any,
    low: Any,
    high: Any,
    axis: Any,
    order: Any,
    left: int,
    right: int,
    width: int,
    spans: Any,
) -> int:
    """Return the slot on which the boxes of a range lie farthest apart."""
    best, best_spread = 0, -1.0
    for slot in range(width):
        least = most = centre(starts, low, high, order[left], slot)
        for at in range(left + 1, right):
            middle = centre(starts, low, high, order[at], slot)
            least = min(least, middle)
            most = max(most, middle)
        spread = np.float64(most - least) / spans[axis[starts[order[left]] + slot]]
        if spread > best_spread:
            best, best_spread = slot, spread
    return best


@kernel
def part(
    starts: Any, low: Any, high: Any, order: Any, left: int, right: int, middle: int, slot: int
) -> None:
    """Bring the boxes with the smaller centres before `middle` (quickselect)."""
    right -= 1
    while left < right:
        pivot = centre(starts, low, high, order[(left + right) // 2], slot)
        i, j = left, right
        while i <= j:
            while centre(starts, low, high, order[i], slot) < pivot:
                i += 1
            while centre(starts, low, high, order[j], slot) > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return
