"""Traversal: visits in, the owners of the boxes found out.

For each visit the runs and the trees of the cluster are held against the event's codes. Visits are
taken cluster by cluster: a run, and a part of a tree that fits the cache, is held against all
events that visit before the next one is touched.

Two streams come out. *Found* are owners of exact boxes that hold the event without doubt, in
stretches: (event, where its stretch starts). *Doubts* are pairs (event, owner) that something else
must decide: the box is not exact, a code is in doubt (`codes`), or the box looks at an attribute of
which the event has a list: the kernel sees only the least and the greatest code of a list.

When the room for one of them ends, the state is kept and the call returns MORE; the caller makes
room and calls again. State: next visit, unit of its cluster, part of the unit, event within, place
of the run; then the number of visits, and the ends of found, stretches and doubts.
"""

from __future__ import annotations

from typing import Any, Final

from fyke.matching.compiled.box_tree import AXES_AT, GROUP, LEVELS_AT
from fyke.matching.compiled.kernel import inlined, kernel
from fyke.matching.compiled.lanes import (
    ALL,
    LANES,
    emit,
    ends,
    first,
    holds,
    inside,
    inside_all,
    number,
    prefetch,
    put,
    touched,
    touches,
    word,
)
from fyke.matching.compiled.layout import CLUSTER, RUN
from fyke.matching.compiled.probe import VISIT

DONE: Final = 0
MORE: Final = 1
PART_LEVEL: Final = 2
"""A part of a tree has this level at its top: at most 16**3 boxes."""
STATE: Final = 9
"""Words of the state."""

STRETCH: Final = 2
DOUBT: Final = 2
SLOTS: Final = 8
LIST: Final = 2 * SLOTS
OTHER_LIST: Final = LIST + LANES**PART_LEVEL + LANES
SCRATCH: Final = OTHER_LIST + LANES**PART_LEVEL + LANES
"""Words of scratch: the event's least and greatest codes by slot, then two lists of nodes."""


@kernel
def traverse(
    clusters: Any,
    groups: Any,
    nodes: Any,
    owners: Any,
    visits: Any,
    visit_count: int,
    lows: Any,
    highs: Any,
    axes: int,
    wide: Any,
    state: Any,
    scratch: Any,
    found: Any,
    found_room: int,
    stretches: Any,
    stretch_room: int,
    doubts: Any,
    doubt_room: int,
) -> int:
    """Works through the visits from the state on; DONE or MORE."""
    start = word(state, 0)
    unit = word(state, 1)
    part = word(state, 2)
    inner = word(state, 3)
    run_at = word(state, 4)
    end, stretch, doubt = word(state, 6), word(state, 7), word(state, 8)
    while start < visit_count:
        cluster = word(visits, start * VISIT + 1)
        stop = start + 1
        while stop < visit_count and word(visits, stop * VISIT + 1) == cluster:
            stop += 1
        if stop < visit_count:
            prefetch(clusters, word(visits, stop * VISIT + 1))
        runs = word(clusters, cluster + 2)
        first_group = word(clusters, cluster + 3)
        units = runs + word(clusters, cluster + 4) - first_group
        if unit == 0 and part == 0 and inner == 0:
            run_at = cluster + CLUSTER
        while unit < units:
            is_run = unit < runs
            group = (first_group + unit - runs) * GROUP
            level = 0
            parts = 1
            most = 0
            if is_run:
                most = word(clusters, run_at + 1)
            else:
                level = word(groups, group + 1)
                if level > PART_LEVEL:
                    level = PART_LEVEL
                most = LANES << (4 * level)
                parts = (word(groups, group + 2) + most - 1) // most
            while part < parts:
                while start + inner < stop:
                    if (
                        end + most + LANES > found_room
                        or stretch >= stretch_room
                        or doubt + most > doubt_room
                    ):
                        put(state, 0, start)
                        put(state, 1, unit)
                        put(state, 2, part)
                        put(state, 3, inner)
                        put(state, 4, run_at)
                        put(state, 6, end)
                        put(state, 7, stretch)
                        put(state, 8, doubt)
                        return MORE
                    event = word(visits, (start + inner) * VISIT)
                    is_wide = word(wide, event) >= 0
                    before = end
                    if is_run:
                        end, doubt = scan(
                            clusters, run_at, lows, highs, event, event * axes, is_wide,
                            found, end, doubts, doubt,
                        )  # fmt: skip
                    else:
                        end, doubt = walk(
                            groups, group, nodes, owners, level, part, lows, highs, event,
                            event * axes, is_wide, scratch, found, end, doubts, doubt,
                        )  # fmt: skip
                    if end > before:
                        put(stretches, stretch * STRETCH, event)
                        put(stretches, stretch * STRETCH + 1, before)
                        stretch += 1
                    inner += 1
                inner = 0
                part += 1
            part = 0
            if is_run:
                run_at += word(clusters, run_at + 2)
            unit += 1
        unit = 0
        start = stop
    put(state, 6, end)
    put(state, 7, stretch)
    put(state, 8, doubt)
    put(state, 0, start)
    return DONE


@inlined
def begin(state: Any, visit_count: int) -> None:
    """The state before the first visit."""
    for at in range(STATE):
        put(state, at, 0)
    put(state, 5, visit_count)


@inlined
def settle(
    event: int, owner: int, is_sure: bool, found: Any, end: int, doubts: Any, doubt: int
) -> tuple[int, int]:
    """Puts an owner into the stream where it belongs."""
    if is_sure:
        put(found, end, owner)
        return end + 1, doubt
    put(doubts, doubt * DOUBT, event)
    put(doubts, doubt * DOUBT + 1, owner)
    return end, doubt + 1


# --- runs ----------------------------------------------------------------------------------------


@inlined
def scan(
    clusters: Any,
    at: int,
    lows: Any,
    highs: Any,
    event: int,
    codes: int,
    is_wide: bool,
    found: Any,
    end: int,
    doubts: Any,
    doubt: int,
) -> tuple[int, int]:
    """One run against one event."""
    axis, n = word(clusters, at), word(clusters, at + 1)
    low_at = at + RUN
    high_at = low_at + n
    mark_at = low_at
    code = most = 0
    if axis >= 0:
        mark_at = high_at + n
        code = word(lows, codes + axis)
        most = word(highs, codes + axis) if is_wide else code
    start = 0
    while start < n:
        mask = ALL
        tied = 0
        if axis >= 0:
            if most != code:
                mask = tied = touched(clusters, low_at + start, high_at + start, code, most)
            else:
                mask = inside(clusters, low_at + start, high_at + start, code)
                if code & 1:
                    tied = ends(clusters, low_at + start, high_at + start, code)
        if start + LANES > n:
            mask &= (1 << (n - start)) - 1
        while mask != 0:
            lane = first(mask)
            mask &= mask - 1
            mark = word(clusters, mark_at + start + lane)
            box = at + (mark >> 1)
            stop = at + word(clusters, at + 2)
            if start + lane + 1 < n:
                stop = at + (word(clusters, mark_at + start + lane + 1) >> 1)
            verdict = rest_verdict(clusters, box + 1, stop, lows, highs, codes, is_wide)
            if verdict != 0:
                is_sure = mark & 1 != 0 and verdict == 1 and not (tied >> lane) & 1
                owner = word(clusters, box)
                end, doubt = settle(event, owner, is_sure, found, end, doubts, doubt)
        start += LANES
    return end, doubt


@inlined
def rest_verdict(
    clusters: Any, at: int, stop: int, lows: Any, highs: Any, codes: int, is_wide: bool
) -> int:
    """The constraints behind the leading one: 1 if all hold, 0 if one fails, 2 in doubt."""
    verdict = 1
    while at < stop:
        axis, low, high = word(clusters, at), word(clusters, at + 1), word(clusters, at + 2)
        code = word(lows, codes + axis)
        most = word(highs, codes + axis) if is_wide else code
        if most != code:
            if not touches(low, high, code, most):
                return 0
            verdict = 2
        elif not holds(low, high, code):
            return 0
        elif code & 1 and code in (low, high):
            verdict = 2
        at += 3
    return verdict


# --- trees ---------------------------------------------------------------------------------------


@inlined
def walk(
    groups: Any,
    group: int,
    nodes: Any,
    owners: Any,
    top: int,
    node: int,
    lows: Any,
    highs: Any,
    event: int,
    codes: int,
    is_wide: bool,
    scratch: Any,
    found: Any,
    end: int,
    doubts: Any,
    doubt: int,
) -> tuple[int, int]:
    """The part of a tree below one node against one event."""
    width = word(groups, group)
    owner_at = word(groups, group + 4)
    size = width * 2 * LANES
    odd = 0
    is_spread = False
    for slot in range(width):
        axis = word(groups, group + AXES_AT + slot)
        code = word(lows, codes + axis)
        odd |= code & 1
        put(scratch, slot, code)
        if is_wide:
            most = word(highs, codes + axis)
            put(scratch, SLOTS + slot, most)
            is_spread |= most != code
    is_exact = word(groups, group + 3) != 0 and not is_spread
    here, there = LIST, OTHER_LIST
    put(scratch, here, node)
    count = 1
    for level in range(top, 0, -1):
        level_at = word(groups, group + LEVELS_AT + level)
        after = there
        for place in range(here, here + count):
            node = word(scratch, place)
            mask = node_mask(nodes, level_at + node * size, width, scratch, is_spread)
            after = number(node * LANES, mask, scratch, after)
        count = after - there
        here, there = there, here
    leaves = word(groups, group + LEVELS_AT)
    if is_exact and odd == 0:
        for place in range(here, here + count):
            node = word(scratch, place)
            mask = node_mask(nodes, leaves + node * size, width, scratch, False)
            end = emit(owners, owner_at + node * LANES, mask, found, end)
        return end, doubt
    for place in range(here, here + count):
        node = word(scratch, place)
        at = leaves + node * size
        mask = node_mask(nodes, at, width, scratch, is_spread)
        end, doubt = settle_leaf(
            nodes, at, width, mask, odd, is_exact, owners, owner_at + node * LANES, scratch,
            event, found, end, doubts, doubt,
        )  # fmt: skip
    return end, doubt


@inlined
def node_mask(nodes: Any, at: int, width: int, scratch: Any, is_spread: bool) -> int:
    """Which of a node's sixteen children the event may lie in."""
    if not is_spread:
        if width == 2:
            return inside_all(nodes, at, 2, scratch, 0)
        if width == 3:
            return inside_all(nodes, at, 3, scratch, 0)
        return inside_all(nodes, at, width, scratch, 0)
    mask = ALL
    for slot in range(width):
        least, most = word(scratch, slot), word(scratch, SLOTS + slot)
        mask &= touched(nodes, at, at + LANES, least, most)
        at += 2 * LANES
    return mask


@inlined
def settle_leaf(
    nodes: Any,
    at: int,
    width: int,
    mask: int,
    odd: int,
    is_exact: bool,
    owners: Any,
    owner_at: int,
    scratch: Any,
    event: int,
    found: Any,
    end: int,
    doubts: Any,
    doubt: int,
) -> tuple[int, int]:
    """Puts the owners of a leaf's boxes into the streams."""
    sure = mask if is_exact else 0
    if sure != 0 and odd != 0:
        for slot in range(width):
            code = word(scratch, slot)
            if code & 1:
                sure &= ~ends(nodes, at, at + LANES, code)
            at += 2 * LANES
    end = emit(owners, owner_at, sure, found, end)
    mask &= ~sure
    while mask != 0:
        lane = first(mask)
        mask &= mask - 1
        end, doubt = settle(event, word(owners, owner_at + lane), False, found, end, doubts, doubt)
    return end, doubt
