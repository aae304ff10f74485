"""Traversal: visits in, the owners of the boxes found out.

Visits are taken cluster by cluster. A cluster consists of *units*, its runs (`run_scan`) and its
trees (`tree_walk`), and a unit of parts that fit the cache; a part is held against a block of the
events that visit before the next part is touched. Inside a block the work is done stage by stage,
each a plain loop over pairs (event, what is still possible): no branch depends on a single verdict,
so processors do not guess wrong.

Two streams come out. *Found* are owners of exact boxes that hold the event without doubt, in
stretches: (event, where its stretch starts). *Doubts* are pairs (event, owner) that something else
must decide: the box is not exact, a code is in doubt (`codes`), or the box looks at an attribute of
which the event has a list: the kernel sees only the least and the greatest code of a list.

When the room for one of them may end, the state is kept and the call returns MORE; the caller makes
room and calls again. State: next visit, unit of its cluster, part of the unit, first event of the
block, place of the run; then the number of visits, and the ends of found, stretches and doubts.
"""

from __future__ import annotations

from typing import Any, Final

from fyke.matching.compiled.boxes.box_tree import GROUP
from fyke.matching.compiled.kernels.frames import EventBases, IndexBases, WorkspaceBases
from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.kernels.lanes import LANES, frame_at, prefetch, put, word
from fyke.matching.compiled.search.pairs import BLOCK, DOUBT, SCRATCH, STRETCH
from fyke.matching.compiled.search.probe import VISIT
from fyke.matching.compiled.search.run_scan import RUN_PART, scan
from fyke.matching.compiled.search.tree_walk import PART_LEVEL, tree_of, walk
from fyke.matching.compiled.segment.layout import CLUSTER

__all__ = ["DONE", "DOUBT", "MORE", "SCRATCH", "STATE", "STRETCH", "begin", "traverse"]

DONE: Final = 0
MORE: Final = 1
STATE: Final = 9
"""Words of the state."""


@kernel
def traverse(index_frame: Any, events_frame: Any, workspace: Any, visit_count: int) -> int:
    """Work through the visits from the state on. Return DONE or MORE."""
    index: IndexBases = frame_at(IndexBases, index_frame)
    events: EventBases = frame_at(EventBases, events_frame)
    out: WorkspaceBases = frame_at(WorkspaceBases, workspace)
    clusters, groups, visits = index.clusters, index.groups, out.visits
    state, scratch = out.state, out.scratch
    start = word(state, 0)
    unit = word(state, 1)
    part = word(state, 2)
    inner = word(state, 3)
    run_at = word(state, 4)
    ends = (word(state, 6), word(state, 7), word(state, 8))
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
            if is_run:
                parts = (word(clusters, run_at + 1) + RUN_PART - 1) // RUN_PART
            else:
                level = min(word(groups, group + 1), PART_LEVEL)
                boxes = LANES << (4 * level)
                parts = (word(groups, group + 2) + boxes - 1) // boxes
            while part < parts:
                while start + inner < stop:
                    first = start + inner
                    count = min(stop - first, BLOCK)
                    if is_run:
                        has_room, ends = scan(
                            clusters, run_at, part, visits, first, count, events, scratch, out, ends
                        )
                        done = count if has_room else 0
                    else:
                        tree = tree_of(groups, group, index.nodes, index.owners)
                        has_room, done, ends = walk(
                            tree, level, part, visits, first, count, events, scratch, out, ends
                        )
                    inner += done
                    if not has_room:
                        put(state, 0, start)
                        put(state, 1, unit)
                        put(state, 2, part)
                        put(state, 3, inner)
                        put(state, 4, run_at)
                        keep(state, ends)
                        return MORE
                inner = 0
                part += 1
            part = 0
            if is_run:
                run_at += word(clusters, run_at + 2)
            unit += 1
        unit = 0
        start = stop
    put(state, 0, start)
    keep(state, ends)
    return DONE


@inlined
def keep(state: Any, ends: tuple[int, int, int]) -> None:
    put(state, 6, ends[0])
    put(state, 7, ends[1])
    put(state, 8, ends[2])


@inlined
def begin(state: Any, visit_count: int) -> None:
    """Write the state before the first visit."""
    for at in range(STATE):
        put(state, at, 0)
    put(state, 5, visit_count)
