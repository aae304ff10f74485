"""Young subscriptions: those that came lately, each box compared with every event.

Idea. A segment costs some hundred calls of numpy to build, however small it is; where subscriptions
come between one batch and the next, that is more than the search. So they stay as they were taken
in, box after box, until they are many or have seen many events (`engine`). A block of events is
turned to columns, and a constraint of a box is held against sixteen events at a time; an equality
comes first, after which little is left.

    box          [axis, low, high] for each constraint, in filter order
    columns      per axis, the codes of the events of a block; then where their lists are

Lanes of events with lists stay in until the box as a whole is looked at, which also tells what is
sure from what is in doubt (`run_scan.rest_verdict`).
Invariant. No box names a pattern: whether one accepts a string is no comparison of codes.
Cost. A tenth of a microsecond for a box and a thousand events; for a single event a few
nanoseconds a box. Making it is one copy of what was taken in.
Source. The memory table of log-structured merge trees (O'Neil et al., 1996), without its order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from fyke.matching.compiled.box_table import Words
from fyke.matching.compiled.codes import HIGHEST
from fyke.matching.compiled.coding import Codes
from fyke.matching.compiled.kernel import inlined, kernel
from fyke.matching.compiled.lanes import ALL, LANES, base, between, first, put, word
from fyke.matching.compiled.pairs import STRETCH, Events, Streams, doubt_owner, has_room
from fyke.matching.compiled.run_scan import rest_verdict
from fyke.matching.compiled.segment import GONE
from fyke.matching.compiled.traversal import DONE, MORE, keep

BLOCK_MAX: Final = 1_024
"""Events of a block."""
COLUMNS: Final = 1 << 16
"""Words of a block's columns; more only where sixteen events take more."""
CONSTRAINT: Final = 3


@dataclass(slots=True, eq=False)
class Young:
    """Boxes in the order they came; like a segment, it changes in `slots` only."""

    starts: Words
    """Where the constraints of each box start, and where the last ones end."""
    constraints: Words
    owners: Words
    exact: Words
    slots: Words
    programs: Words
    program_at: Words
    has_several: bool
    removed: int
    is_dense: bool = False
    bases: tuple[Any, ...] = field(init=False)
    program_bases: tuple[Any, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.program_bases = base(self.programs), base(self.program_at)
        self.bases = (
            base(self.starts), base(self.constraints), base(self.owners), base(self.exact),
            len(self.owners),
        )  # fmt: skip

    def remove(self, owner: int) -> None:
        """Strikes a subscription out."""
        self.removed += 1
        self.slots[owner] = GONE


def block_of(codes: Codes) -> tuple[int, int]:
    """How many events make a block, and how many words their columns take."""
    axes = codes.lows.shape[1] + 1
    events = min(COLUMNS // axes // LANES * LANES, BLOCK_MAX)
    events = max(min(events, -(-codes.events // LANES) * LANES), LANES)
    return events, events * axes


@kernel
def compare(
    starts: Any,
    constraints: Any,
    owners: Any,
    exact: Any,
    boxes: int,
    lows: Any,
    highs: Any,
    axes: int,
    wide: Any,
    is_wide: bool,
    start: int,
    end: int,
    columns: Any,
    block: int,
    state: Any,
    scratch: Any,
    found: Any,
    found_room: int,
    stretches: Any,
    stretch_room: int,
    doubts: Any,
    doubt_room: int,
) -> int:
    """Holds all boxes against the events from `start` to `end`; DONE or MORE.

    State: how many events are done, the next box; then as in `traversal`.
    """
    events = Events(lows, highs, axes, wide)
    out = Streams(found, found_room, stretches, stretch_room, doubts, doubt_room)
    event = start + word(state, 0)
    box = word(state, 1)
    ends = (word(state, 6), word(state, 7), word(state, 8))
    while event < end:
        count = min(block, end - event)
        if box == 0:
            turn(events, event, count, columns, block)
        while box < boxes:
            if not has_room(out, ends, count):
                put(state, 0, event - start)
                put(state, 1, box)
                keep(state, ends)
                return MORE
            begin, stop = word(starts, box) * CONSTRAINT, word(starts, box + 1) * CONSTRAINT
            owner, is_exact = word(owners, box), word(exact, box) != 0
            ends = compare_box(
                constraints, begin, stop, owner, is_exact, events, is_wide, event, count,
                columns, block, out, ends,
            )  # fmt: skip
            box += 1
        box = 0
        event += count
    keep(state, ends)
    return DONE


@inlined
def turn(events: Events, event: int, count: int, columns: Any, block: int) -> None:
    """The codes of a block as columns."""
    axes = events.axes
    for number in range(count):
        at = (event + number) * axes
        for axis in range(axes):
            put(columns, axis * block + number, word(events.lows, at + axis))
        put(columns, axes * block + number, word(events.wide, event + number))


@inlined
def compare_box(
    constraints: Any,
    begin: int,
    stop: int,
    owner: int,
    is_exact: bool,
    events: Events,
    is_wide: bool,
    event: int,
    count: int,
    columns: Any,
    block: int,
    out: Streams,
    ends: tuple[int, int, int],
) -> tuple[int, int, int]:
    lead = leading_of(constraints, begin, stop)
    for number in range(0, count, LANES):
        lanes = ALL if number + LANES <= count else (1 << (count - number)) - 1
        lists = between(columns, events.axes * block + number, 0, HIGHEST) if is_wide else 0
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
    """Where the first equality stands, or the first constraint."""
    for at in range(begin, stop, CONSTRAINT):
        if word(constraints, at + 1) == word(constraints, at + 2):
            return at
    return begin


@inlined
def held(constraints: Any, at: int, columns: Any, block: int, number: int) -> int:
    """Which of sixteen events hold a constraint by their (least) code."""
    column = word(constraints, at) * block
    return between(columns, column + number, word(constraints, at + 1), word(constraints, at + 2))


@inlined
def put_pair(
    out: Streams, ends: tuple[int, int, int], event: int, owner: int, is_sure: bool
) -> tuple[int, int, int]:
    end, stretch, doubt = ends
    if not is_sure:
        return end, stretch, doubt_owner(out, doubt, event, owner)
    put(out.found, end, owner)
    put(out.stretches, stretch * STRETCH, event)
    put(out.stretches, stretch * STRETCH + 1, end)
    return end + 1, stretch + 1, doubt
