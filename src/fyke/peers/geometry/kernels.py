"""Kernels: the algebra of `boxes` over columns, for pools of a few hundred peers at a time.

`Columns` has the boxes of all rows one behind the other: row r has the boxes around it from
`first[r]` on, `around[r]` of them, and then those within it, `within[r]` of them.

Selection. A row is needed if a part of it is in no box within those selected before. So its part of
the target is cut along those boxes that meet it, one after the other, until a fragment is left that
none of them meets. Small boxes meet few others: this costs far less than to keep what is left of
the whole target. In five dimensions a wide box shatters into tens of thousands; beyond a budget of
fragments a row is selected without proof, so that a peer is selected too many, never too few.

Extension. Whether a row is needed in a direction depends on those before it only. So who becomes
known changes nothing before it, and behind it only those that it meets; a wide peer with hundreds
of links asks for two or three of them again, not for all.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from fyke.matching.compiled.kernels.kernel import inlined, kernel

UP: Final = 1
"""Needed as the next one in the order of sequence ids, for some event."""
DOWN: Final = 2
"""Needed as the one before."""


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
    """The place where a box begins on each axis, from 0 to 1."""
    high_at: Any


class Scratch(NamedTuple):
    """Room for a selection: the boxes within all rows side by side, those of them that a row is
    held against, and its fragments on a stack.
    """

    low: Any
    high: Any
    following: Any
    """The first of the boxes taken that a fragment was not held against yet."""
    taken: Any
    """Boxes that meet the first fragment; what has most of it comes first, so it shatters less."""
    taken_size: Any
    near_low: Any
    near_high: Any
    near_at: Any
    """The place, among the rows, of the row that each box belongs to."""
    near_first: Any
    """The first box of each row."""
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


@inlined
def _comes_before(columns: Columns, one: int, other: int, start: int) -> bool:
    """Return True if going up from `start`, and round, one is met before the other."""
    one_is_low, other_is_low = _is_before(columns, one, start), _is_before(columns, other, start)
    if one_is_low != other_is_low:
        return bool(other_is_low)
    return bool(_is_before(columns, one, other))


@kernel
def going_round(columns: Columns, rows: Any, start: int) -> Any:
    """Return rows in the cyclic order of sequence ids, beginning behind `start`; once each."""
    ordered = rows[np.argsort(columns.sequence[rows])]
    for at in range(1, len(ordered)):  # equal ids are rare
        back = at
        while back > 0 and _is_before(columns, ordered[back], ordered[back - 1]):
            ordered[back], ordered[back - 1] = ordered[back - 1], ordered[back]
            back -= 1
    found = np.empty(len(rows), np.int64)
    count = low = 0
    while low < len(ordered) and _is_before(columns, ordered[low], start):
        low += 1
    for step in range(len(ordered)):
        row = ordered[(low + step) % len(ordered)]
        if count == 0 or found[count - 1] != row:
            found[count] = row
            count += 1
    return found[:count]


@kernel
def overlapping(columns: Columns, rows: Any, target: int) -> Any:
    """Return the rows that have a point in common with a target and are not it, going round."""
    kept = np.empty(len(rows), np.int64)
    count = 0
    for row in rows:
        if row != target and _rows_meet(columns, row, target):
            kept[count] = row
            count += 1
    return going_round(columns, kept[:count], target)


@kernel
def select(columns: Columns, known: Any, target: int, scratch: Scratch) -> Any:
    """Return which rows the target needs as ring links, and in which directions, going round:
    `boxes.select_peers`.
    """
    rows = overlapping(columns, known, target)
    count = len(rows)
    needs = np.zeros(count, np.uint8)
    _gather(columns, rows, count, scratch)
    for at in range(count):
        if _is_needed(columns, rows[at], target, needs, UP, 0, at, scratch):
            needs[at] |= UP
    for at in range(count - 1, -1, -1):
        if _is_needed(columns, rows[at], target, needs, DOWN, at + 1, count, scratch):
            needs[at] |= DOWN
    return rows[needs > 0], needs[needs > 0]


@kernel
def extend(
    columns: Columns, links: Any, needs: Any, known: Any, target: int, scratch: Scratch
) -> Any:
    """Return the ring links of a target, and their needs, after some rows became known.

    Each fresh row is held against the links before it. If it is needed, those behind it that it
    meets are asked again; all others stay as they are.
    """
    fresh = overlapping(columns, known, target)
    rows = np.empty(len(links) + len(fresh), np.int64)
    found = np.zeros(len(rows), np.uint8)
    count = len(links)
    rows[:count] = links
    found[:count] = needs
    _gather(columns, rows, count, scratch)
    for row in fresh:
        at, end = 0, count
        while at < end:
            middle = (at + end) // 2
            if _comes_before(columns, rows[middle], row, target):
                at = middle + 1
            else:
                end = middle
        if at < count and rows[at] == row:
            continue
        need = 0
        if _is_needed(columns, row, target, found, UP, 0, at, scratch):
            need |= UP
        if _is_needed(columns, row, target, found, DOWN, at, count, scratch):
            need |= DOWN
        if need == 0:
            continue
        for back in range(count, at, -1):
            rows[back], found[back] = rows[back - 1], found[back - 1]
        rows[at], found[at] = row, need
        count += 1
        _gather(columns, rows, count, scratch)
        if need & UP:
            for other in range(at + 1, count):
                if not found[other] & UP or not _hides(columns, row, rows[other]):
                    continue
                it = rows[other]
                if not _is_needed(columns, it, target, found, UP, 0, other, scratch):
                    found[other] &= DOWN
        if need & DOWN:
            for other in range(at - 1, -1, -1):
                if not found[other] & DOWN or not _hides(columns, row, rows[other]):
                    continue
                it, end = rows[other], count
                if not _is_needed(columns, it, target, found, DOWN, other + 1, end, scratch):
                    found[other] &= UP
        kept = 0
        for other in range(count):
            if found[other]:
                rows[kept], found[kept] = rows[other], found[other]
                kept += 1
        if kept < count:
            count = kept
            _gather(columns, rows, count, scratch)
    return rows[:count], found[:count]


@inlined
def _hides(columns: Columns, row: int, other: int) -> bool:
    """Return True if a row has for sure a point that another one may have."""
    low, high = columns.low, columns.high
    first = columns.first[row] + columns.around[row]
    for a in range(first, first + columns.within[row]):
        for b in range(columns.first[other], columns.first[other] + columns.around[other]):
            if _meets(low, high, a, low, high, b):
                return True
    return False


@inlined
def _is_needed(
    columns: Columns, row: int, target: int, needs: Any, direction: int, begin: int, end: int,
    scratch: Scratch,
) -> bool:  # fmt: skip
    """Return True if a row has a point of the target that no row from `begin` to `end` has for
    sure; of those the ones that are needed in this direction are enough.
    """
    low, high = columns.low, columns.high
    for a in range(columns.first[row], columns.first[row] + columns.around[row]):
        for b in range(columns.first[target], columns.first[target] + columns.around[target]):
            if not _meets(low, high, a, low, high, b):
                continue
            for axis in range(low.shape[1]):
                scratch.low[0, axis] = max(low[a, axis], low[b, axis])
                scratch.high[0, axis] = min(high[a, axis], high[b, axis])
            taken = _take(needs, direction, begin, end, scratch)
            if taken >= 0 and _is_open(scratch, taken):
                return True
    return False


@inlined
def _gather(columns: Columns, rows: Any, count: int, scratch: Scratch) -> None:
    """Put the boxes within some rows side by side: each of them is looked at many times. What has
    no room is left out, so that others are selected too many.
    """
    boxes = 0
    for at in range(count):
        scratch.near_first[at] = boxes
        first = columns.first[rows[at]] + columns.around[rows[at]]
        for box in range(first, first + columns.within[rows[at]]):
            if boxes < len(scratch.near_low):
                _copy(columns.low, columns.high, box, scratch.near_low, scratch.near_high, boxes)
                scratch.near_at[boxes] = at
                boxes += 1
    scratch.near_first[count] = boxes


@inlined
def _take(needs: Any, direction: int, begin: int, end: int, scratch: Scratch) -> int:
    """Take the boxes that meet the first fragment. Return how many; -1 if one has all of it."""
    low, high = scratch.near_low, scratch.near_high
    taken = 0
    for box in range(scratch.near_first[begin], scratch.near_first[end]):
        if not _meets(low, high, box, scratch.low, scratch.high, 0):
            continue
        if not needs[scratch.near_at[box]] & direction:
            continue
        has_all = True
        for axis in range(low.shape[1]):
            if scratch.low[0, axis] < low[box, axis] or high[box, axis] < scratch.high[0, axis]:
                has_all = False
        if has_all:
            return -1
        if taken < len(scratch.taken):
            size = 1.0
            for axis in range(low.shape[1]):
                first = max(scratch.low[0, axis], low[box, axis])
                size *= min(scratch.high[0, axis], high[box, axis]) - first + 1.0
            to = taken
            while to > 0 and scratch.taken_size[to - 1] < size:
                scratch.taken_size[to] = scratch.taken_size[to - 1]
                scratch.taken[to] = scratch.taken[to - 1]
                to -= 1
            scratch.taken_size[to] = size
            scratch.taken[to] = box
            taken += 1
    return taken


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
        while box < taken and not _meets(
            scratch.near_low, scratch.near_high, scratch.taken[box], low, high, at
        ):
            box += 1
        looked += 1
        if box == taken or looked > scratch.budget or left + 2 * axes > len(low):
            return True
        cut = scratch.taken[box]
        for axis in range(axes):  # parts outside of the box lie behind, what is in it is gone
            first, last = scratch.near_low[cut, axis], scratch.near_high[cut, axis]
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
