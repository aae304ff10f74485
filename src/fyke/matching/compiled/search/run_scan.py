"""Run scan: the boxes of a run (`layout`) against a block of events.

First the axis that all boxes share, sixteen boxes at a time; then, for what passes, the box's next
constraint, without a branch; then, for the few that are left, all of them.
"""

from __future__ import annotations

from typing import Any, Final

from fyke.matching.compiled.kernels.frames import EventBases, WorkspaceBases
from fyke.matching.compiled.kernels.kernel import inlined
from fyke.matching.compiled.kernels.lanes import (
    ALL,
    LANES,
    holds,
    inside,
    number,
    put,
    repeat,
    touched,
    touches,
    word,
)
from fyke.matching.compiled.search.pairs import (
    PAIRS,
    doubt_owner,
    has_room,
    open_stretch,
)
from fyke.matching.compiled.search.probe import VISIT
from fyke.matching.compiled.segment.layout import RUN

RUN_PART: Final = LANES**2
"""Boxes of a run in one part."""
_CIRCLE: Final = 0xFFFFFFFF


@inlined
def scan(
    clusters: Any,
    at: int,
    part: int,
    visits: Any,
    first: int,
    events_count: int,
    events: EventBases,
    scratch: Any,
    out: WorkspaceBases,
    ends: tuple[int, int, int],
) -> tuple[bool, tuple[int, int, int]]:
    """Hold one part of a run against a block of visits. Return False where room ends."""
    lead, n = word(clusters, at), word(clusters, at + 1)
    low_at = at + RUN
    mark_at = low_at + 2 * n if lead >= 0 else low_at
    count = lead_stage(
        clusters, low_at, lead, n, part, visits, first, events_count, events, scratch
    )
    count = next_stage(clusters, at, mark_at, n, events, scratch, count)
    if not has_room(out, ends, count):
        return False, ends
    end, stretch, doubt = ends
    since, last = end, -1
    for place in range(count):
        event = word(scratch, place) >> 1
        lane = word(scratch, PAIRS + place)
        codes = event * events.axes
        is_wide = word(events.wide, event) >= 0
        mark = word(clusters, mark_at + lane)
        box = at + (mark >> 1)
        stop = end_of_box(clusters, at, mark_at, n, lane)
        verdict = rest_verdict(clusters, box + 1, stop, events, codes, is_wide)
        if verdict == 0:
            continue
        owner = word(clusters, box)
        is_sure = mark & 1 != 0 and verdict == 1
        if lead >= 0 and word(scratch, place) & 1 == 0:
            is_sure = is_sure and is_clear(
                clusters, low_at + lane, n, events, codes + lead, is_wide
            )
        if is_sure:
            stretch, since = open_stretch(out, stretch, since, end, last, event)
            last = event
            put(out.found, end, owner)
            end += 1
        else:
            doubt = doubt_owner(out, doubt, event, owner)
    return True, (end, stretch + int(end > since), doubt)


@inlined
def lead_stage(
    clusters: Any,
    low_at: int,
    lead: int,
    n: int,
    part: int,
    visits: Any,
    first: int,
    events_count: int,
    events: EventBases,
    scratch: Any,
) -> int:
    """Write the pairs (event, lane) of boxes whose leading constraint holds. Return how many."""
    count = 0
    begin = part * RUN_PART
    stop = min(n, begin + RUN_PART)
    for visit in range(first, first + events_count):
        event = word(visits, visit * VISIT)
        code = most = 0
        if lead >= 0:
            code = word(events.lows, event * events.axes + lead)
            most = code
            if word(events.wide, event) >= 0:
                most = word(events.highs, event * events.axes + lead)
        tagged = event * 2 + int(most == code and code & 1 == 0)
        for lane in range(begin, stop, LANES):
            mask = ALL
            if lead >= 0:
                if most != code:
                    mask = touched(clusters, low_at + lane, low_at + n + lane, code, most)
                else:
                    mask = inside(clusters, low_at + lane, low_at + n + lane, code)
            if lane + LANES > n:
                mask &= (1 << (n - lane)) - 1
            repeat(tagged, scratch, count)
            count = number(lane, mask, scratch, PAIRS + count) - PAIRS
    return count


@inlined
def next_stage(
    clusters: Any, at: int, mark_at: int, n: int, events: EventBases, scratch: Any, count: int
) -> int:
    """Keep the pairs whose next constraint, if there is one, may hold. Return how many."""
    kept = 0
    for place in range(count):
        tagged = word(scratch, place)
        lane = word(scratch, PAIRS + place)
        event = tagged >> 1
        box = at + (word(clusters, mark_at + lane) >> 1)
        has_next = box + 1 < end_of_box(clusters, at, mark_at, n, lane)
        axis = word(clusters, box + 1) if has_next else 0
        low, high = word(clusters, box + 2), word(clusters, box + 3)
        code = word(events.lows, event * events.axes + axis)
        is_held = ((code - low) & _CIRCLE) <= ((high - low) & _CIRCLE)
        is_wide = word(events.wide, event) >= 0
        put(scratch, kept, tagged)
        put(scratch, PAIRS + kept, lane)
        kept += int(is_held or not has_next or is_wide)
    return kept


@inlined
def end_of_box(clusters: Any, at: int, mark_at: int, n: int, lane: int) -> int:
    after = word(clusters, mark_at + lane + 1) >> 1
    return at + (after if lane + 1 < n else word(clusters, at + 2))


@inlined
def is_clear(
    clusters: Any, low_at: int, n: int, events: EventBases, code_at: int, is_wide: bool
) -> bool:
    """Return True if the leading constraint leaves no doubt."""
    code = word(events.lows, code_at)
    if is_wide and word(events.highs, code_at) != code:
        return False
    is_end = code == word(clusters, low_at) or code == word(clusters, low_at + n)
    return not (code & 1 != 0 and is_end)


@inlined
def rest_verdict(
    clusters: Any, at: int, stop: int, events: EventBases, codes: int, is_wide: bool
) -> int:
    """Return 1 if all constraints behind the leading one hold, 0 if one fails, 2 in doubt."""
    verdict = 1
    while at < stop:
        axis, low, high = word(clusters, at), word(clusters, at + 1), word(clusters, at + 2)
        code = word(events.lows, codes + axis)
        most = word(events.highs, codes + axis) if is_wide else code
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
