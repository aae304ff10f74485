"""Validation of a segment that comes from a file, before kernels walk it.

Checksums say that a file is what was written, not that it was written rightly. Kernels follow
offsets without looking where they lead, so a segment is walked once, with every step looked at: a
place that is out of bounds, a jump backwards, a cluster that its symbol does not lead to is refused
with the array and the place. What is then left can be wrong, as a filter can, but a search ends and
reads nothing outside the arrays.

    clusters   heads, runs and boxes follow each other without gaps from word 1 to the slack, and
               so do the groups of one cluster those of the one before
    table      leads to each cluster but the root, and to nothing else; it has a free place
    groups     as many levels as the boxes need, all within `nodes`; lanes without a child are empty
    programs   one after the other, in the order of owners; steps go forward only

Cost. One pass over all but the nodes: about 50 ms for a million subscriptions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from fyke.errors import FykeError
from fyke.matching.compiled.boxes.access import ROOT
from fyke.matching.compiled.boxes.box_table import Flags, Words
from fyke.matching.compiled.boxes.box_tree import AXES_AT, GROUP, LEVELS_AT, LEVELS_MAX, SLOTS_MAX
from fyke.matching.compiled.boxes.program import (
    ACCEPT,
    ACCEPTED,
    AMONG,
    INSIDE,
    OPAQUE,
    REFUSE,
    STEP,
)
from fyke.matching.compiled.coding.axes import SYMBOL_STEP, AxisKind
from fyke.matching.compiled.coding.codes import LOWEST
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.kernels.lanes import LANES
from fyke.matching.compiled.segment.layout import CLUSTER, RUN, place_of
from fyke.matching.compiled.segment.segment import GONE, NO_PROGRAM, Segment

GOOD: Final = -1


def validate(segment: Segment, vocabulary: Vocabulary) -> None:
    """Raise FykeError unless kernels can walk the segment."""
    arrays = segment.arrays()
    for name, part in arrays.items():
        if part.dtype != np.int32 or part.ndim != 1 or not part.flags.c_contiguous:
            raise FykeError(f"the array {name} of a segment is no list of 32-bit integers")
    is_text = np.array([kind is AxisKind.TEXT for kind, _ in vocabulary.axes], np.bool_)
    axes, owners = len(vocabulary.axes), len(segment.slots)
    _check_owners(segment, owners)
    for name in ("keyed", "pairs", "texts"):
        _check_range(name, arrays[name], 0, axes)
    if not is_text[segment.texts].all() or len(segment.pairs) % 2:
        raise FykeError("the axes of a segment are not of their kind")
    _check_programs(segment, is_text)
    _check_layout(segment, axes, owners, vocabulary.next_symbol)


def check_slots(segments: Sequence[Segment], slots: np.ndarray[Any, Any]) -> None:
    """Raise FykeError unless these segments hold these slots, ascending, and each once."""
    held = [segment.slots[segment.slots != GONE] for segment in segments]
    if not np.array_equal(np.sort(np.concatenate([*held, np.zeros(0, np.int32)])), slots):
        raise FykeError("the index is not one of the subscriptions in the snapshot")


def _check_owners(segment: Segment, owners: int) -> None:
    _check_range("slots", segment.slots, GONE, 2**31)
    _check_range("roots", segment.roots, 0, owners)
    if (
        len(segment.program_at) != owners
        or int((segment.slots == GONE).sum()) != segment.tombstones
    ):
        raise FykeError("a segment does not have the subscriptions that it should")


def _check_programs(segment: Segment, is_text: Flags) -> None:
    at = segment.program_at
    starts = at[at != NO_PROGRAM]
    _refuse("program_at", int(np.argmin(at)) if (at < NO_PROGRAM).any() else GOOD)
    _refuse("program_at", first_descent(starts))
    _refuse("programs", check_programs(segment.programs, starts, is_text))


def _check_layout(segment: Segment, axes: int, owners: int, symbols: int) -> None:
    index = segment.layout
    size, trees = len(index.table), len(index.groups) // GROUP
    if size < 2 or size & (size - 1) or len(index.groups) % GROUP or len(index.owners) < LANES:
        raise FykeError("the table, the groups or the owners of a segment have an impossible size")
    heads = np.zeros(len(index.clusters) // CLUSTER + 1, np.int32)
    count, bad = check_clusters(index.clusters, heads, axes, owners, symbols, trees)
    _refuse("clusters", bad)
    heads = heads[:count]
    if index.root != (int(heads[0]) if count and index.clusters[heads[0]] == ROOT else 0):
        raise FykeError("the cluster of boxes without a symbol is not where it should be")
    numbers = np.searchsorted(heads, index.table)
    _refuse("table", check_table(index.table, index.clusters, heads, numbers))
    _refuse("groups", check_groups(index.groups, index.nodes, len(index.owners), axes))
    _check_range("owners", index.owners, -owners, max(owners, 1))
    if not segment.has_several and has_complements(index.clusters, heads, index.owners):
        raise FykeError("a segment has owners of several boxes and says that it has none")


def _check_range(name: str, words: Words, low: int, end: int) -> None:
    if len(words) and (int(words.min()) < low or int(words.max()) >= end):
        is_out = (words < low) | (words >= end)
        _refuse(name, int(np.argmax(is_out)))


def _refuse(name: str, place: int) -> None:
    if place != GOOD:
        raise FykeError(f"the array {name} of a segment is wrong at word {place}")


# --- programs ------------------------------------------------------------------------------------


@kernel
def first_descent(starts: Any) -> int:
    """Return the first place that is not above the one before."""
    for number in range(1, len(starts)):
        if starts[number] <= starts[number - 1]:
            return number
    return GOOD


@kernel
def check_programs(programs: Any, starts: Any, is_text: Any) -> int:
    if len(programs) == 0:
        return 0
    for number in range(len(starts)):
        start = int(starts[number])
        end = int(starts[number + 1]) if number + 1 < len(starts) else len(programs) - 1
        if end >= len(programs):
            return start
        last = 0
        step = 0
        while step <= last:
            here = start + step * STEP
            if here + STEP > end or not is_step(programs, here, end - start, step, is_text):
                return here
            last = max(last, int(programs[here + 4]), int(programs[here + 5]))
            step += 1
    return GOOD


@inlined
def is_step(programs: Any, here: int, size: int, step: int, is_text: Any) -> bool:
    kind, axis = int(programs[here]), int(programs[here + 1])
    one, other = int(programs[here + 2]), int(programs[here + 3])
    if kind < INSIDE or kind > OPAQUE or axis < 0:
        return False
    if kind == OPAQUE:
        if one < 0:
            return False
    elif axis >= len(is_text) and not (kind == AMONG and other == 0):
        return False
    if kind == ACCEPTED and not is_text[axis]:
        return False
    if kind != INSIDE and kind != OPAQUE and (one < 0 or other < 0 or one + other > size):
        return False
    for successor in (int(programs[here + 4]), int(programs[here + 5])):
        if successor <= step and successor not in (ACCEPT, REFUSE):
            return False
    return True


# --- clusters ------------------------------------------------------------------------------------


@kernel
def check_clusters(
    words: Any, heads: Any, axes: int, owners: int, symbols: int, trees: int
) -> tuple[int, int]:
    """Fill in where each cluster is. Return how many, and the first place that is wrong."""
    end = len(words) - LANES
    at = 1
    count = 0
    tree = 0
    while at < end:
        if at + CLUSTER > end:
            return count, at
        symbol, second, runs = int(words[at]), int(words[at + 1]), int(words[at + 2])
        first, last = int(words[at + 3]), int(words[at + 4])
        is_known = 0 <= symbol < symbols and 0 <= second < symbols
        if not is_known or (symbol | second) % SYMBOL_STEP or (symbol == ROOT and second != ROOT):
            return count, at
        if runs < 0 or first != tree or first > last or last > trees:
            return count, at + 2
        tree = last
        heads[count] = at
        count += 1
        at += CLUSTER
        for _ in range(runs):
            if not is_run(words, at, end, axes, owners):
                return count, at
            at += int(words[at + 2])
    return count, GOOD if at == end and tree == trees else at


@inlined
def is_run(words: Any, at: int, end: int, axes: int, owners: int) -> bool:
    if at + RUN > end:
        return False
    axis, n, size = int(words[at]), int(words[at + 1]), int(words[at + 2])
    if axis < -1 or axis >= axes or n < 1 or size < RUN or size > end - at:
        return False
    marks = at + RUN + (2 * n if axis >= 0 else 0)
    place = marks + n
    if place > at + size:
        return False
    for number in range(n):
        stop = at + size
        if number + 1 < n:
            stop = at + (int(words[marks + number + 1]) >> 1)
        if at + (int(words[marks + number]) >> 1) != place or stop > at + size:
            return False
        if not is_box(words, place, stop, axis, axes, owners):
            return False
        place = stop
    return True


@inlined
def is_box(words: Any, at: int, stop: int, lead: int, axes: int, owners: int) -> bool:
    """Return True if this is an owner and its constraints; none where the run has no axis."""
    if stop <= at or (stop - at - 1) % 3 or (lead < 0 and stop != at + 1):
        return False
    owner = int(words[at])
    if owner >= owners or owner < -owners:
        return False
    for constraint in range(at + 1, stop, 3):
        if words[constraint] < 0 or words[constraint] >= axes:
            return False
    return True


@kernel
def check_table(table: Any, clusters: Any, heads: Any, numbers: Any) -> int:
    """Return the first place that leads nowhere, or from where a cluster is sought in vain.

    `numbers` has, for each place of the table, where its cluster stands among the heads.
    """
    taken = 0
    for place in range(len(table)):
        if table[place] != 0:
            taken += 1
            number = numbers[place]
            if number >= len(heads) or heads[number] != table[place]:
                return place
    if taken == len(table):
        return 0
    hashed = 0
    for number in range(len(heads)):
        symbol, second = int(clusters[heads[number]]), int(clusters[heads[number] + 1])
        if symbol == ROOT:
            if number != 0:
                return 0
            continue
        at = int(place_of(symbol, second, len(table)))
        while table[at] != heads[number]:
            if table[at] == 0:
                return at
            at = (at + 1) & (len(table) - 1)
        hashed += 1
    return GOOD if hashed == taken else 0


@kernel
def has_complements(clusters: Any, heads: Any, owners: Any) -> bool:
    """Return True if an owner is stored as its complement; of runs that were checked before."""
    for place in range(len(owners)):
        if owners[place] < 0:
            return True
    for number in range(len(heads)):
        at = heads[number] + CLUSTER
        for _ in range(clusters[heads[number] + 2]):
            axis, n = int(clusters[at]), int(clusters[at + 1])
            marks = at + RUN + (2 * n if axis >= 0 else 0)
            for box in range(n):
                if clusters[at + (clusters[marks + box] >> 1)] < 0:
                    return True
            at += clusters[at + 2]
    return False


# --- trees ---------------------------------------------------------------------------------------


@kernel
def check_groups(groups: Any, nodes: Any, owners: int, axes: int) -> int:
    for head in range(0, len(groups), GROUP):
        width, levels, count = int(groups[head]), int(groups[head + 1]), int(groups[head + 2])
        start = int(groups[head + 4])
        if width < 1 or width > SLOTS_MAX or levels < 0 or levels >= LEVELS_MAX or count < 1:
            return head
        if start < 0 or start + -(-count // LANES) * LANES > owners:
            return head + 4
        for slot in range(width):
            if groups[head + AXES_AT + slot] < 0 or groups[head + AXES_AT + slot] >= axes:
                return head + AXES_AT + slot
        children = count
        for level in range(levels + 1):
            place = int(groups[head + LEVELS_AT + level])
            if not is_level(nodes, place, width, children):
                return head + LEVELS_AT + level
            children = -(-children // LANES)
        if children != 1 or (levels > 0 and count <= LANES**levels):
            return head + 1
    return GOOD


@inlined
def is_level(nodes: Any, place: int, width: int, children: int) -> bool:
    """Return True if a level lies within the nodes, and lanes without a child are empty."""
    size = width * 2 * LANES
    count = -(-children // LANES)
    if place < 0 or place + count * size > len(nodes):
        return False
    last = place + (count - 1) * size
    for lane in range(children - (count - 1) * LANES, LANES):
        for slot in range(0, size, 2 * LANES):
            if nodes[last + slot + lane] != LOWEST or nodes[last + slot + LANES + lane] != LOWEST:
                return False
    return True
