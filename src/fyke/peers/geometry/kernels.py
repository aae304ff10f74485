"""Kernels: the algebra of `boxes` over columns, for pools of a few hundred peers at a time.

`Columns` has the boxes of all rows one behind the other: row r has the boxes around it from
`first[r]` on, `around[r]` of them, and then those within it, `within[r]` of them.

Selection. A row is needed if a part of it is in no box within those selected before. So its part of
the target is cut along those boxes, one after the other, until a fragment is left that none of
them meets. Small boxes meet few others: this costs far less than to keep what is left of the whole
target. In five dimensions a wide box shatters into tens of thousands; beyond a budget of fragments
a row is selected without proof, so that a peer is selected too many, never too few.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fyke.matching.compiled.kernel import inlined, kernel


class Columns(NamedTuple):
    """Arrays by row, and by box."""

    sequence: Any
    tie: Any
    first: Any
    around: Any
    within: Any
    low: Any
    high: Any
    low_at: Any
    """Where a box begins on each axis, from 0 to 1."""
    high_at: Any


class Scratch(NamedTuple):
    """Room for a selection: fragments on a stack, and the boxes within those selected so far."""

    low: Any
    high: Any
    following: Any
    """The first of the boxes taken that a fragment was not held against yet."""
    taken_low: Any
    taken_high: Any
    budget: int
    """Fragments that are looked at for one row."""


@inlined
def _meets(low: Any, high: Any, a: int, other_low: Any, other_high: Any, b: int) -> bool:
    for axis in range(low.shape[1]):
        if low[a, axis] > other_high[b, axis] or other_low[b, axis] > high[a, axis]:
            return False
    return True


@inlined
def _rows_meet(columns: Columns, one: int, other: int) -> bool:
    low, high = columns.low, columns.high
    for a in range(columns.first[one], columns.first[one] + columns.around[one]):
        for b in range(columns.first[other], columns.first[other] + columns.around[other]):
            if _meets(low, high, a, low, high, b):
                return True
    return False


@inlined
def _is_before(columns: Columns, one: int, other: int) -> bool:
    a, b = columns.sequence[one], columns.sequence[other]
    return bool(a < b or (a == b and columns.tie[one] < columns.tie[other]))


@kernel
def order(columns: Columns, rows: Any) -> Any:
    """Return rows in the order of their sequence ids."""
    places = np.argsort(columns.sequence[rows])
    ordered = rows[places]
    for at in range(1, len(ordered)):  # equal ids are rare
        back = at
        while back > 0 and _is_before(columns, ordered[back], ordered[back - 1]):
            ordered[back], ordered[back - 1] = ordered[back - 1], ordered[back]
            back -= 1
    return ordered


@kernel
def overlapping(columns: Columns, rows: Any, target: int) -> Any:
    """Return the rows, in order, that have a point in common with a target and are not it."""
    kept = np.empty(len(rows), np.int64)
    count = 0
    for row in rows:
        if row != target and _rows_meet(columns, row, target):
            kept[count] = row
            count += 1
    return order(columns, kept[:count])


@kernel
def select(columns: Columns, ordered: Any, target: int, scratch: Scratch) -> Any:
    """Return which of some rows the target needs as ring links: `boxes.select_peers`.

    The rows overlap the target and are in order.
    """
    count = len(ordered)
    is_chosen = np.zeros(count, np.bool_)
    start = 0
    while start < count and _is_before(columns, ordered[start], target):
        start += 1
    for direction in range(2):
        taken = 0
        for step in range(count):
            at = (start + step) % count if direction == 0 else (start - 1 - step) % count
            row = ordered[at]
            if not _is_needed(columns, row, target, scratch, taken):
                continue
            is_chosen[at] = True
            first = columns.first[row] + columns.around[row]
            for box in range(first, first + columns.within[row]):
                if taken < len(scratch.taken_low):
                    _copy(
                        columns.low, columns.high, box, scratch.taken_low, scratch.taken_high, taken
                    )
                    taken += 1
    return ordered[is_chosen]


@inlined
def _is_needed(columns: Columns, row: int, target: int, scratch: Scratch, taken: int) -> bool:
    """Return True if a row has a point of the target that is in none of the boxes taken."""
    for a in range(columns.first[row], columns.first[row] + columns.around[row]):
        for b in range(columns.first[target], columns.first[target] + columns.around[target]):
            if _meets(columns.low, columns.high, a, columns.low, columns.high, b):
                low, high = scratch.low, scratch.high
                for axis in range(low.shape[1]):
                    low[0, axis] = max(columns.low[a, axis], columns.low[b, axis])
                    high[0, axis] = min(columns.high[a, axis], columns.high[b, axis])
                if _is_open(scratch, taken):
                    return True
    return False


@inlined
def _is_open(scratch: Scratch, taken: int) -> bool:
    """Return True if the first fragment has a point in none of the boxes taken, or if it shatters
    into more fragments than the budget allows.
    """
    low, high, following = scratch.low, scratch.high, scratch.following
    axes, left, looked = low.shape[1], 1, 0
    following[0] = 0
    while left:
        at = left - 1
        box = following[at]
        while box < taken and not _meets(scratch.taken_low, scratch.taken_high, box, low, high, at):
            box += 1
        looked += 1
        if box == taken or looked > scratch.budget or left + 2 * axes > len(low):
            return True
        for axis in range(axes):  # parts outside of the box lie behind, what is in it is gone
            first, last = scratch.taken_low[box, axis], scratch.taken_high[box, axis]
            if low[at, axis] < first:
                _copy(low, high, at, low, high, left)
                high[left, axis] = first - 1
                low[at, axis] = first
                following[left] = box + 1
                left += 1
            if last < high[at, axis]:
                _copy(low, high, at, low, high, left)
                low[left, axis] = last + 1
                high[at, axis] = last
                following[left] = box + 1
                left += 1
        left -= 1
        if left > at:
            _copy(low, high, left, low, high, at)
            following[at] = box + 1
    return False


@inlined
def _copy(low: Any, high: Any, source: int, to_low: Any, to_high: Any, to: int) -> None:
    for axis in range(low.shape[1]):
        to_low[to, axis] = low[source, axis]
        to_high[to, axis] = high[source, axis]


@inlined
def _distance(columns: Columns, one: int, other: int) -> float:
    """Return the square of the distance; 0 iff they have a point in common."""
    least = np.inf
    low, high, low_at, high_at = columns.low, columns.high, columns.low_at, columns.high_at
    for a in range(columns.first[one], columns.first[one] + columns.around[one]):
        for b in range(columns.first[other], columns.first[other] + columns.around[other]):
            if _meets(low, high, a, low, high, b):
                return 0.0
            total = 0.0
            for axis in range(low.shape[1]):
                gap = max(low_at[a, axis] - high_at[b, axis], low_at[b, axis] - high_at[a, axis])
                if gap > 0:
                    total += gap * gap
            least = min(least, max(total, 1e-300))
    return least


@kernel
def closest(columns: Columns, rows: Any, target: int, count: int, seed: int) -> Any:
    """Return the rows closest to a target, at most `count`; equally close ones by chance."""
    keys = np.empty(len(rows), np.float64)
    state = np.uint64(seed) | np.uint64(1)
    for at in range(len(rows)):
        distance = _distance(columns, rows[at], target)
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        chance = float(state >> np.uint64(11)) / 9007199254740992.0
        keys[at] = distance if distance > 0 else chance - 1
    return rows[np.argsort(keys)[:count]]


@kernel
def holding(columns: Columns, rows: Any, point: Any) -> Any:
    """Return the rows, as they come, that have a point in a box around them."""
    kept = np.empty(len(rows), np.int64)
    count = 0
    for row in rows:
        for box in range(columns.first[row], columns.first[row] + columns.around[row]):
            inside = True
            for axis in range(len(point)):
                code = point[axis]
                if code < columns.low[box, axis] or columns.high[box, axis] < code:
                    inside = False
                    break
            if inside:
                kept[count] = row
                count += 1
                break
    return kept[:count]
