"""Gathering: what was found, event by event.

`decide` runs the programs of subscriptions in doubt, `decide_event` those about a single event;
`gather` turns stretches, which come cluster by cluster, into one list per event; `sift` translates
owners to slots, drops those removed, and keeps one of those found through several boxes.
"""

from __future__ import annotations

from typing import Any

from fyke.matching.compiled.boxes.program import ACCEPT, REFUSE, UNKNOWN, run
from fyke.matching.compiled.kernels.frames import (
    EventBases,
    PairBases,
    ProgramBases,
    WorkspaceBases,
)
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.kernels.lanes import LANES, copy, frame_at, put, word
from fyke.matching.compiled.search.traversal import DOUBT, STRETCH


@kernel
def decide(programs_frame: Any, events_frame: Any, pairs_frame: Any, count: int) -> None:
    """Run the program of each pair (event, owner) from a step on."""
    programs: ProgramBases = frame_at(ProgramBases, programs_frame)
    events: EventBases = frame_at(EventBases, events_frame)
    pairs: PairBases = frame_at(PairBases, pairs_frame)
    for number in range(count):
        start = word(programs.at, word(pairs.owners, number))
        verdict = UNKNOWN
        if start >= 0:
            event, step = word(pairs.events, number), word(pairs.steps, number)
            verdict = run(programs.words, start, step, events, event)
        put(pairs.verdicts, number, verdict)


@kernel
def decide_event(
    programs_frame: Any, events_frame: Any, workspace: Any, found: int, doubts: int
) -> tuple[int, int]:
    """Run the programs of all owners in doubt about the first event.

    Owners that are accepted are added to what was found, whose new end is returned. Those that
    stay open, each behind its verdict, are left where the doubts were; so is their number.
    """
    programs: ProgramBases = frame_at(ProgramBases, programs_frame)
    events: EventBases = frame_at(EventBases, events_frame)
    out: WorkspaceBases = frame_at(WorkspaceBases, workspace)
    open_ = 0
    for number in range(doubts):
        owner = word(out.doubts, number * DOUBT + 1)
        start = word(programs.at, owner if owner >= 0 else ~owner)
        verdict = UNKNOWN
        if start >= 0:
            verdict = run(programs.words, start, 0, events, 0)
        if verdict == ACCEPT:
            put(out.found, found, owner)
            found += 1
        elif verdict != REFUSE:
            put(out.doubts, open_ * DOUBT, verdict)
            put(out.doubts, open_ * DOUBT + 1, owner)
            open_ += 1
    return found, open_


@kernel
def gather(
    found: Any,
    end: int,
    stretches: Any,
    count: int,
    start: int,
    events: int,
    offsets: Any,
    owners: Any,
) -> None:
    """Write owners by event: those of event start + i from offsets[i] to offsets[i + 1].

    `offsets` has room for one more than that; it comes in as zeros.
    """
    for number in range(count):
        after = word(stretches, (number + 1) * STRETCH + 1) if number + 1 < count else end
        event = word(stretches, number * STRETCH) - start
        size = after - word(stretches, number * STRETCH + 1)
        put(offsets, event + 2, word(offsets, event + 2) + size)
    for event in range(events):
        put(offsets, event + 2, word(offsets, event + 2) + word(offsets, event + 1))
    for number in range(count):
        after = word(stretches, (number + 1) * STRETCH + 1) if number + 1 < count else end
        event = word(stretches, number * STRETCH) - start
        place = word(offsets, event + 1)
        at = word(stretches, number * STRETCH + 1)
        while at + LANES <= after:
            copy(found, at, owners, place)
            at += LANES
            place += LANES
        while at < after:
            put(owners, place, word(found, at))
            at += 1
            place += 1
        put(offsets, event + 1, place)


@kernel
def sift(
    offsets: Any, events: int, owners: Any, slots: Any, stamps: Any, stamp: int, kept: Any
) -> int:
    """Write slots by event to `kept`, and move the offsets along. Return the end.

    `stamps` has a word for each owner, none of them above `stamp`.
    """
    end = 0
    start = word(offsets, 0)
    for event in range(events):
        stop = word(offsets, event + 1)
        stamp += 1
        for at in range(start, stop):
            owner = word(owners, at)
            if owner < 0:
                owner = ~owner
                if word(stamps, owner) == stamp:
                    continue
                put(stamps, owner, stamp)
            slot = word(slots, owner)
            if slot >= 0:
                put(kept, end, slot)
                end += 1
        start = stop
        put(offsets, event + 1, end)
    return end
