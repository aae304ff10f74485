"""Search: a segment held against coded events, a tile of them at a time.

probe -> sort the visits -> traverse -> decide what is in doubt -> gather by event -> sift.
For a single event all but the last two are one call, and nothing has to be gathered.
The boxes of a memtable are compared instead of probed and traversed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np

from fyke.matching.compiled.boxes.box_table import Words
from fyke.matching.compiled.coding.event_coding import Codes
from fyke.matching.compiled.kernels.frames import WorkspaceBases
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.kernels.lanes import base, frame_at, put, word
from fyke.matching.compiled.search.exact_check import ExactCheck, Part, decide_all, settle_open
from fyke.matching.compiled.search.gathering import decide_event, gather, sift
from fyke.matching.compiled.search.probe import VISIT, probe, sort_visits
from fyke.matching.compiled.search.traversal import DONE, MORE, begin, traverse
from fyke.matching.compiled.search.workspace import Workspace
from fyke.matching.compiled.segment.memtable import Memtable, block_of, compare
from fyke.matching.compiled.segment.segment import Segment
from fyke.matching.engines.contract import Work

TILE: Final = 2048
"""Events that are searched together, about."""
_MORE_VISITS: Final = 2

# --- one event -----------------------------------------------------------------------------------


def search_event(
    segment: Segment, codes: Codes, workspace: Workspace, check: ExactCheck, work: Work
) -> list[int]:
    """Return the slots that accept a single event, in no particular order, maybe more than once."""
    index, programs, events = segment.index_frame, segment.program_frame, codes.frame
    while (
        status := find(index.handle, programs.handle, events.handle, workspace.frame.handle)
    ) != DONE:
        if status == MORE:
            workspace.grow()
        else:
            workspace.grow_visits()
    _, _, _, _, open_, visits, found, candidates, _ = workspace.state.tolist()
    work.probes += visits
    if not candidates:
        return []
    work.candidates += candidates
    return _slots_of_one(segment, codes, workspace, found, open_, check, work)


def search_event_memtable(
    memtable: Memtable, codes: Codes, workspace: Workspace, check: ExactCheck, work: Work
) -> list[int]:
    """Return the same of a memtable."""
    found, _, doubts = _compare_all(memtable, codes, 0, 1, workspace)
    work.candidates += found + doubts
    while len(workspace.found) < found + doubts:
        workspace.grow()
    programs, events = memtable.program_frame.handle, codes.frame.handle
    found, open_ = decide_event(programs, events, workspace.frame.handle, found, doubts)
    return _slots_of_one(memtable, codes, workspace, found, open_, check, work)


def _slots_of_one(
    part: Part,
    codes: Codes,
    workspace: Workspace,
    found: int,
    open_: int,
    check: ExactCheck,
    work: Work,
) -> list[int]:
    """Return the slots of the owners that were found for the only event, and of those left open."""
    slots: list[int] = []
    if found:
        owners = workspace.found[:found]
        if part.has_several:
            owners = np.where(owners < 0, ~owners, owners)
        slots = part.slots[owners].tolist()
    if open_:
        accepted = settle_open(part, codes, workspace, open_, check, work)
        if accepted:
            slots += part.slots[accepted].tolist()
    return [slot for slot in slots if slot >= 0] if part.tombstones else slots


@kernel
def find(index: Any, programs: Any, events: Any, workspace: Any) -> int:
    """Search for the one event whose codes are given, and decide what codes can decide.

    State, where it is DONE: how many stay open, the visits, how many are found, the candidates.
    """
    count, reached = probe(index, events, workspace, 0, 1)
    if reached != 1:
        return _MORE_VISITS
    out: WorkspaceBases = frame_at(WorkspaceBases, workspace)
    state = out.state
    begin(state, count)
    if traverse(index, events, workspace, count) == MORE:
        return MORE
    found, doubts = word(state, 6), word(state, 8)
    if found + doubts > out.found_room:
        return MORE
    put(state, 7, found + doubts)
    if doubts > 0:
        found, open_ = decide_event(programs, events, workspace, found, doubts)
        put(state, 6, found)
        put(state, 4, open_)
    return DONE


# --- many events ---------------------------------------------------------------------------------


def tiles(events: int) -> list[tuple[int, int]]:
    """Return where tiles start and end.

    All are about as large: fewer events share a visit in a small one, which costs them more.
    """
    if not events:
        return []
    count = max(1, round(events / TILE))
    bounds = [events * at // count for at in range(count + 1)]
    return list(pairwise(bounds))


def _new_words(count: int) -> Words:
    return np.empty(count, np.int32)


def search(
    segment: Segment,
    codes: Codes,
    start: int,
    end: int,
    workspace: Workspace,
    check: ExactCheck,
    work: Work,
    words: Callable[[int], Words] = _new_words,
) -> tuple[Words, Words]:
    """Return the slots that accept the events from `start` to `end`.

    Those of event start + i stand from offsets[i] to offsets[i + 1], in an array that `words` gave
    or in one of their own.
    """
    visits = _visits(segment, codes, start, end, workspace)
    ends = _traverse(segment, codes, visits, workspace)
    work.probes += len(visits) // VISIT
    return _of_many(segment, codes, start, end, workspace, ends, check, work, words)


def search_memtable(
    memtable: Memtable,
    codes: Codes,
    start: int,
    end: int,
    workspace: Workspace,
    check: ExactCheck,
    work: Work,
) -> tuple[Words, Words]:
    """Return the same of a memtable."""
    ends = _compare_all(memtable, codes, start, end, workspace)
    return _of_many(memtable, codes, start, end, workspace, ends, check, work, _new_words)


def _of_many(
    part: Part,
    codes: Codes,
    start: int,
    end: int,
    workspace: Workspace,
    ends: tuple[int, int, int],
    check: ExactCheck,
    work: Work,
    words: Callable[[int], Words],
) -> tuple[Words, Words]:
    """Return what the workspace holds about the events, event by event."""
    found, stretches, doubts = ends
    work.candidates += found + doubts
    if doubts:
        found, stretches = decide_all(part, codes, workspace, found, stretches, doubts, check, work)
    offsets = np.zeros(end - start + 2, np.int32)
    owners = words(found)
    gather(
        base(workspace.found), found, base(workspace.stretches), stretches, start, end - start,
        base(offsets), base(owners),
    )  # fmt: skip
    return _sift(part, offsets[:-1], owners, workspace)


def _visits(segment: Segment, codes: Codes, start: int, end: int, workspace: Workspace) -> Words:
    """Return all visits, those of one cluster together."""
    index, events = segment.index_frame.handle, codes.frame.handle
    while True:
        count, reached = probe(index, events, workspace.frame.handle, start, end)
        if reached == end:
            break
        workspace.grow_visits()
    visits = workspace.visits[: count * VISIT]
    if codes.is_wide:  # lists may lead to a cluster twice
        distinct = np.unique(visits.view(np.int64)).view(np.int32)
        visits = workspace.visits[: len(distinct)]
        visits[:] = distinct
    elif count:
        half = -(-len(segment.layout.clusters).bit_length() // 2)
        aside, places = workspace.aside(half)
        sort_visits(base(visits), base(aside), count, half, base(places))
    return visits


def _traverse(
    segment: Segment, codes: Codes, visits: Words, workspace: Workspace
) -> tuple[int, int, int]:
    """Return how many were found, in how many stretches, and how many are in doubt."""
    workspace.state[:] = 0
    index, events, count = segment.index_frame, codes.frame, len(visits) // VISIT
    while traverse(index.handle, events.handle, workspace.frame.handle, count) == MORE:
        workspace.grow()
    *_, found, stretches, doubts = workspace.state.tolist()
    return found, stretches, doubts


def _compare_all(
    memtable: Memtable, codes: Codes, start: int, end: int, workspace: Workspace
) -> tuple[int, int, int]:
    """Return the same counts for a memtable, whose boxes are compared with all events."""
    workspace.state[:] = 0
    block, size = block_of(codes)
    columns = base(workspace.columns(size))
    boxed, events = memtable.index_frame.handle, codes.frame.handle
    while compare(boxed, events, workspace.frame.handle, start, end, columns, block) == MORE:
        workspace.grow()
    *_, found, stretches, doubts = workspace.state.tolist()
    return found, stretches, doubts


def _sift(part: Part, offsets: Words, owners: Words, workspace: Workspace) -> tuple[Words, Words]:
    if not part.has_several:
        slots = owners if part.is_dense else part.slots[owners]
        if not part.tombstones:
            return offsets, slots
    events = len(offsets) - 1
    stamps, stamp = workspace.stamps(len(part.slots), events)
    kept = np.empty(len(owners), np.int32)
    count = sift(
        base(offsets), events, base(owners), base(part.slots), base(stamps), stamp, base(kept)
    )
    return offsets, kept[:count]
