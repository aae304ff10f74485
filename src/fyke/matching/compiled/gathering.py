"""Gathering: what was found, event by event.

`decide` runs the programs of subscriptions in doubt; `gather` turns stretches, which come cluster
by cluster, into one list per event; `sift` translates owners to slots, drops those removed, and
keeps one of those found through several boxes.
"""

from __future__ import annotations

from typing import Any

from fyke.matching.compiled.kernel import kernel
from fyke.matching.compiled.lanes import LANES, copy, put, word
from fyke.matching.compiled.program import UNKNOWN, run
from fyke.matching.compiled.traversal import STRETCH


@kernel
def decide(
    programs: Any,
    program_at: Any,
    events: Any,
    owners: Any,
    steps: Any,
    count: int,
    codes: Any,
    axes: int,
    wide: Any,
    lists: Any,
    accepted_at: Any,
    accepted: Any,
    verdicts: Any,
) -> None:
    """Runs the program of each pair (event, owner) from a step on."""
    for number in range(count):
        start = word(program_at, word(owners, number))
        verdict = UNKNOWN
        if start >= 0:
            event = word(events, number)
            verdict = run(
                programs, start, word(steps, number), codes, event * axes, lists,
                word(wide, event), accepted_at, accepted,
            )  # fmt: skip
        put(verdicts, number, verdict)


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
    """Owners by event: those of event start + i stand from offsets[i] to offsets[i + 1].

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
    """Slots by event, in place of owners; the offsets are moved along.

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
