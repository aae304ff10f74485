"""Memtable: the subscriptions that came lately, each box compared with every event.

Idea. A segment costs some hundred calls of numpy to build, however small it is; where subscriptions
come between one batch and the next, that is more than the search. So they stay as they were boxed,
one box after another, until they are many or have been compared with many events (`engine`). A
block of events is turned to columns, and a constraint of a box is held against sixteen events at a
time; an equality comes first, after which little is left.

    box          [axis, low, high] for each constraint, in filter order
    columns      per axis, the codes of the events of a block; then where their lists are

Lanes of events with lists stay in until the box as a whole is looked at, which also tells what is
sure from what is in doubt (`run_scan.rest_verdict`).
Invariant. No box names a pattern: whether one accepts a string is no comparison of codes.
Cost. A tenth of a microsecond for a box and a thousand events; for a single event a few
nanoseconds a box. Making it is one copy of the boxes.
Source. The memory table of log-structured merge trees (O'Neil et al., 1996), without its order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from fyke.matching.compiled.boxes.box_table import Words
from fyke.matching.compiled.coding.codes import HIGHEST
from fyke.matching.compiled.coding.event_coding import Codes
from fyke.matching.compiled.kernels.frames import (
    BoxBases,
    EventBases,
    Frame,
    ProgramBases,
    WorkspaceBases,
)
from fyke.matching.compiled.kernels.kernel import inlined, kernel
from fyke.matching.compiled.kernels.lanes import (
    ALL,
    LANES,
    base,
    between,
    first,
    frame_at,
    put,
    word,
)
from fyke.matching.compiled.search.pairs import STRETCH, doubt_owner, has_room
from fyke.matching.compiled.search.run_scan import rest_verdict
from fyke.matching.compiled.search.traversal import DONE, MORE, keep
from fyke.matching.compiled.segment.segment import GONE

BLOCK_MAX: Final = 1_024
"""Events of a block."""
COLUMNS: Final = 1 << 16
"""Words of a block's columns; more only where sixteen events take more."""
CONSTRAINT: Final = 3


@dataclass(slots=True, eq=False)
class Memtable:
    """Boxes in the order they came; like a segment, it changes in `slots` only."""

    starts: Words
    """The starts of each box's constraints, and the end of the last ones."""
    constraints: Words
    owners: Words
    exact: Words
    slots: Words
    programs: Words
    program_at: Words
    has_several: bool
    tombstones: int
    is_dense: bool = False
    index_frame: Frame = field(init=False)
    program_frame: Frame = field(init=False)

    def __post_init__(self) -> None:
        self.program_frame = Frame(
            ProgramBases(words=base(self.programs), at=base(self.program_at))
        )
        boxed = BoxBases(
            starts=base(self.starts),
            constraints=base(self.constraints),
            owners=base(self.owners),
            exact=base(self.exact),
            boxes=len(self.owners),
        )
        self.index_frame = Frame(boxed)

    def remove(self, owner: int) -> None:
        """Put a tombstone in the place of a subscription."""
        self.tombstones += 1
        self.slots[owner] = GONE


def block_of(codes: Codes) -> tuple[int, int]:
    """Return how many events make a block, and how many words their columns take."""
    axes = codes.lows.shape[1] + 1
    events = min(COLUMNS // axes // LANES * LANES, BLOCK_MAX)
    events = max(min(events, -(-codes.events // LANES) * LANES), LANES)
    return events, events * axes


@kernel
def compare(
    boxes_frame: Any,
    events_frame: Any,
    workspace: Any,
    start: int,
    end: int,
    columns: Any,
    block: int,
) -> int:
    """Hold all boxes against the events from `start` to `end`. Return DONE or MORE.

    State: how many events are done, the next box; then as in `traversal`.
    """
    boxed: BoxBases = frame_at(BoxBases, boxes_frame)
    events: EventBases = frame_at(EventBases, events_frame)
    out: WorkspaceBases = frame_at(WorkspaceBases, workspace)
    state = out.state
    event = start + word(state, 0)
    box = word(state, 1)
    ends = (word(state, 6), word(state, 7), word(state, 8))
    while event < end:
        count = min(block, end - event)
        if box == 0:
            turn(events, event, count, columns, block)
        while box < boxed.boxes:
            if not has_room(out, ends, count):
                put(state, 0, event - start)
                put(state, 1, box)
                keep(state, ends)
                return MORE
            ends = compare_box(boxed, box, events, event, count, columns, block, out, ends)
            box += 1
        box = 0
        event += count
    keep(state, ends)
    return DONE


@inlined
def turn(events: EventBases, event: int, count: int, columns: Any, block: int) -> None:
    """Write the codes of a block as columns."""
    axes = events.axes
    for number in range(count):
        at = (event + number) * axes
        for axis in range(axes):
            put(columns, axis * block + number, word(events.lows, at + axis))
        put(columns, axes * block + number, word(events.wide, event + number))


@inlined
def compare_box(
    boxed: BoxBases,
    box: int,
    events: EventBases,
    event: int,
    count: int,
    columns: Any,
    block: int,
    out: WorkspaceBases,
    ends: tuple[int, int, int],
) -> tuple[int, int, int]:
    constraints = boxed.constraints
    begin = word(boxed.starts, box) * CONSTRAINT
    stop = word(boxed.starts, box + 1) * CONSTRAINT
    owner, is_exact = word(boxed.owners, box), word(boxed.exact, box) != 0
    lead = leading_of(constraints, begin, stop)
    for number in range(0, count, LANES):
        lanes = ALL if number + LANES <= count else (1 << (count - number)) - 1
        lists = between(columns, events.axes * block + number, 0, HIGHEST) if events.is_wide else 0
        mask = lanes
        if lead < stop:
            mask &= held(constraints, lead, columns, block, number) | lists
        at = begin
        while mask != 0 and at < stop:
            mask &= held(constraints, at, columns, block, number) | lists
            at += CONSTRAINT
        while mask != 0:
            each = event + number + first(mask)
            mask &= mask - 1
            has_list = word(events.wide, each) >= 0
            codes = each * events.axes
            verdict = rest_verdict(constraints, begin, stop, events, codes, has_list)
            if verdict != 0:
                ends = put_pair(out, ends, each, owner, is_exact and verdict == 1)
    return ends


@inlined
def leading_of(constraints: Any, begin: int, stop: int) -> int:
    """Return where the first equality stands, or the first constraint."""
    for at in range(begin, stop, CONSTRAINT):
        if word(constraints, at + 1) == word(constraints, at + 2):
            return at
    return begin


@inlined
def held(constraints: Any, at: int, columns: Any, block: int, number: int) -> int:
    """Return which of sixteen events hold a constraint by their (least) code."""
    column = word(constraints, at) * block
    return between(columns, column + number, word(constraints, at + 1), word(constraints, at + 2))


@inlined
def put_pair(
    out: WorkspaceBases, ends: tuple[int, int, int], event: int, owner: int, is_sure: bool
) -> tuple[int, int, int]:
    end, stretch, doubt = ends
    if not is_sure:
        return end, stretch, doubt_owner(out, doubt, event, owner)
    put(out.found, end, owner)
    put(out.stretches, stretch * STRETCH, event)
    put(out.stretches, stretch * STRETCH + 1, end)
    return end + 1, stretch + 1, doubt
