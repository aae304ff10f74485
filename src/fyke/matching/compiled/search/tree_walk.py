"""Tree walk: a part of a box tree (`box_tree`) against a block of events, level by level.

On each level the pairs (event, node) become the pairs (event, child) whose hull holds the event;
what the leaves hold is put into the streams. In a large part an event meets many nodes; there one
plain event is taken after the other, and its codes stay in registers.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from fyke.matching.compiled.boxes.box_tree import AXES_AT, LEVELS_AT
from fyke.matching.compiled.kernels.frames import EventBases, WorkspaceBases
from fyke.matching.compiled.kernels.kernel import inlined
from fyke.matching.compiled.kernels.lanes import (
    ALL,
    LANES,
    emit,
    ends_at,
    first,
    inside_2,
    inside_3,
    inside_all,
    number,
    put,
    repeat,
    touched,
    word,
)
from fyke.matching.compiled.search.pairs import (
    HERE,
    PAIRS,
    STRETCH,
    THERE,
    doubt_owner,
    has_room,
    open_stretch,
)
from fyke.matching.compiled.search.probe import VISIT

PART_LEVEL: Final = 2
"""A part of a tree has this level at its top: at most 16**3 boxes."""


class Tree(NamedTuple):
    """The words of a group that the walk needs all the time, and the arrays it leads into."""

    groups: Any
    at: int
    nodes: Any
    owners: Any
    width: int
    is_exact: bool
    axes: tuple[int, int, int]
    """The first three, or some of them again."""


@inlined
def tree_of(groups: Any, at: int, nodes: Any, owners: Any) -> Tree:
    width = word(groups, at)
    first_axis = at + AXES_AT
    a = word(groups, first_axis)
    b = word(groups, first_axis + 1) if width > 1 else a
    c = word(groups, first_axis + 2) if width > 2 else a
    return Tree(groups, at, nodes, owners, width, word(groups, at + 3) != 0, (a, b, c))


@inlined
def walk(
    tree: Tree,
    top: int,
    part: int,
    visits: Any,
    first_visit: int,
    count: int,
    events: EventBases,
    scratch: Any,
    out: WorkspaceBases,
    ends: tuple[int, int, int],
) -> tuple[bool, int, tuple[int, int, int]]:
    """Hold the part of a tree below one node against a block of visits.

    Return False where room ends, the number of visits that are done, and the ends.
    """
    if top < PART_LEVEL:
        for at in range(count):
            event = word(visits, (first_visit + at) * VISIT)
            put(scratch, at, event * 2 + int(is_plain(tree, events, event)))
            put(scratch, PAIRS + at, part)
        return walk_pairs(tree, top, count, events, scratch, out, ends)
    for at in range(count):
        event = word(visits, (first_visit + at) * VISIT)
        if is_plain(tree, events, event):
            goes_on, ends = walk_event(tree, top, part, event, events, scratch, out, ends)
        else:
            put(scratch, 0, event * 2)
            put(scratch, PAIRS, part)
            goes_on, _, ends = walk_pairs(tree, top, 1, events, scratch, out, ends)
        if not goes_on:
            return False, at, ends
    return True, count, ends


@inlined
def walk_event(
    tree: Tree,
    top: int,
    part: int,
    event: int,
    events: EventBases,
    scratch: Any,
    out: WorkspaceBases,
    ends: tuple[int, int, int],
) -> tuple[bool, tuple[int, int, int]]:
    """Hold the part of a tree below one node against one plain event."""
    size = tree.width * 2 * LANES
    codes = event * events.axes
    a, b, c = first_codes(tree, events, codes)
    put(scratch, HERE, part)
    count = 1
    here, there = HERE, THERE
    for level in range(top, 0, -1):
        level_at = word(tree.groups, tree.at + LEVELS_AT + level)
        after = there
        for place in range(here, here + count):
            node = word(scratch, place)
            mask = holding(tree, level_at + node * size, events, codes, a, b, c)
            after = number(node * LANES, mask, scratch, after)
        count = after - there
        here, there = there, here
    if not has_room(out, ends, count * LANES):
        return False, ends
    leaves = word(tree.groups, tree.at + LEVELS_AT)
    owner_at = word(tree.groups, tree.at + 4)
    end, stretch, doubt = ends
    for place in range(here, here + count):
        node = word(scratch, place)
        mask = holding(tree, leaves + node * size, events, codes, a, b, c)
        end = emit(tree.owners, owner_at + node * LANES, mask, out.found, end)
    if end > ends[0]:
        put(out.stretches, stretch * STRETCH, event)
        put(out.stretches, stretch * STRETCH + 1, ends[0])
        stretch += 1
    return True, (end, stretch, doubt)


@inlined
def walk_pairs(
    tree: Tree,
    top: int,
    count: int,
    events: EventBases,
    scratch: Any,
    out: WorkspaceBases,
    ends: tuple[int, int, int],
) -> tuple[bool, int, tuple[int, int, int]]:
    """Walk down from the first `count` pairs of the list. Return as `walk` does."""
    visits = count
    size = tree.width * 2 * LANES
    here, there = HERE, THERE
    for level in range(top, 0, -1):
        level_at = word(tree.groups, tree.at + LEVELS_AT + level)
        after = there
        for place in range(here, here + count):
            tagged, node = word(scratch, place), word(scratch, PAIRS + place)
            mask = children(tree, level_at + node * size, events, tagged)
            repeat(tagged, scratch, after)
            after = number(node * LANES, mask, scratch, PAIRS + after) - PAIRS
        count = after - there
        here, there = there, here
    if not has_room(out, ends, count * LANES):
        return False, 0, ends
    return True, visits, leaf_stage(tree, events, scratch, here, count, out, ends)


@inlined
def is_plain(tree: Tree, events: EventBases, event: int) -> bool:
    """Return True if all that a leaf holds of the event is sure."""
    codes = event * events.axes
    is_wide = word(events.wide, event) >= 0
    odd = int(not tree.is_exact)
    for slot in range(tree.width):
        at = codes + word(tree.groups, tree.at + AXES_AT + slot)
        code = word(events.lows, at)
        odd |= code & 1
        if is_wide:
            odd |= int(word(events.highs, at) != code)
    return odd == 0


@inlined
def children(tree: Tree, at: int, events: EventBases, tagged: int) -> int:
    """Return which of a node's sixteen children the event may lie in."""
    codes = (tagged >> 1) * events.axes
    if tagged & 1 != 0 or word(events.wide, tagged >> 1) < 0:
        a, b, c = first_codes(tree, events, codes)
        return holding(tree, at, events, codes, a, b, c)
    mask = ALL
    for slot in range(tree.width):
        axis = word(tree.groups, tree.at + AXES_AT + slot)
        least, most = word(events.lows, codes + axis), word(events.highs, codes + axis)
        mask &= touched(tree.nodes, at, at + LANES, least, most)
        at += 2 * LANES
    return mask


@inlined
def first_codes(tree: Tree, events: EventBases, codes: int) -> tuple[int, int, int]:
    a, b, c = tree.axes
    lows = events.lows
    return word(lows, codes + a), word(lows, codes + b), word(lows, codes + c)


@inlined
def holding(tree: Tree, at: int, events: EventBases, codes: int, a: int, b: int, c: int) -> int:
    """Return which children of a node hold an event without lists, given its first codes."""
    if tree.width == 2:
        return inside_2(tree.nodes, at, a, b)
    if tree.width == 3:
        return inside_3(tree.nodes, at, a, b, c)
    axes_at = tree.at + AXES_AT
    return inside_all(tree.nodes, at, tree.width, events.lows, codes, tree.groups, axes_at)


# --- leaves --------------------------------------------------------------------------------------


@inlined
def leaf_stage(
    tree: Tree,
    events: EventBases,
    scratch: Any,
    here: int,
    count: int,
    out: WorkspaceBases,
    ends: tuple[int, int, int],
) -> tuple[int, int, int]:
    leaves = word(tree.groups, tree.at + LEVELS_AT)
    owner_at = word(tree.groups, tree.at + 4)
    size = tree.width * 2 * LANES
    end, stretch, doubt = ends
    since, last = end, -1
    for place in range(here, here + count):
        tagged, node = word(scratch, place), word(scratch, PAIRS + place)
        event = tagged >> 1
        at = leaves + node * size
        mask = children(tree, at, events, tagged)
        sure = mask
        if tagged & 1 == 0:
            sure &= clear_mask(tree, at, events, event)
        stretch, since = open_stretch(out, stretch, since, end, last, event)
        last = event
        end = emit(tree.owners, owner_at + node * LANES, sure, out.found, end)
        if sure != mask:
            doubt = doubt_owners(tree, owner_at + node * LANES, mask & ~sure, event, out, doubt)
    return end, stretch + int(end > since), doubt


@inlined
def clear_mask(tree: Tree, at: int, events: EventBases, event: int) -> int:
    """Return which of a leaf's boxes leave no doubt about an event that is not plain."""
    if not tree.is_exact:
        return 0
    clear = ALL
    codes = event * events.axes
    is_wide = word(events.wide, event) >= 0
    for slot in range(tree.width):
        axis = word(tree.groups, tree.at + AXES_AT + slot)
        code = word(events.lows, codes + axis)
        if is_wide and word(events.highs, codes + axis) != code:
            return 0
        if code & 1:
            clear &= ~ends_at(tree.nodes, at, at + LANES, code)
        at += 2 * LANES
    return clear


@inlined
def doubt_owners(
    tree: Tree, owner_at: int, mask: int, event: int, out: WorkspaceBases, doubt: int
) -> int:
    while mask != 0:
        doubt = doubt_owner(out, doubt, event, word(tree.owners, owner_at + first(mask)))
        mask &= mask - 1
    return doubt
