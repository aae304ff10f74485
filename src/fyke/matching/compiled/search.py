"""Search: a segment held against coded events, a tile of them at a time.

probe -> sort the visits -> traverse -> decide what is in doubt -> gather by event -> sift.
For a single event the first three are one call, and nothing has to be gathered.
Subscriptions that are young are compared (`young`) instead of probed and traversed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final

import numpy as np

from fyke.matching.compiled.box_table import Words
from fyke.matching.compiled.coding import Codes
from fyke.matching.compiled.doubts import Check, Part, decided, decided_alone
from fyke.matching.compiled.gathering import gather, sift
from fyke.matching.compiled.kernel import kernel
from fyke.matching.compiled.lanes import base
from fyke.matching.compiled.probe import VISIT, probe, sort_visits
from fyke.matching.compiled.room import Room
from fyke.matching.compiled.segment import Segment
from fyke.matching.compiled.traversal import DONE, MORE, begin, traverse
from fyke.matching.compiled.young import Young, block_of, compare
from fyke.matching.engine import Work

TILE: Final = 2048
"""So many events are searched together, about."""
_MORE_VISITS: Final = 2

# --- one event -----------------------------------------------------------------------------------


def search_event(segment: Segment, codes: Codes, room: Room, check: Check, work: Work) -> list[int]:
    """The slots that accept a single event, in no particular order, maybe more than once."""
    while (status := _find(segment, codes, room)) != DONE:
        if status == MORE:
            room.grow()
        else:
            room.grow_visits()
    *_, visits, found, stretches, doubts = room.state.tolist()
    work.probes += visits
    return _of_one(segment, codes, room, (found, stretches, doubts), check, work)


def search_event_young(
    young: Young, codes: Codes, room: Room, check: Check, work: Work
) -> list[int]:
    """The same among the young."""
    return _of_one(young, codes, room, _compared(young, codes, 0, 1, room), check, work)


def _of_one(
    part: Part, codes: Codes, room: Room, ends: tuple[int, int, int], check: Check, work: Work
) -> list[int]:
    """What the room holds about the only event."""
    found, _, doubts = ends
    work.candidates += found + doubts
    slots: list[int] = []
    if found:
        owners = room.found[:found]
        if part.has_several:
            owners = np.where(owners < 0, ~owners, owners)
        slots = part.slots[owners].tolist()
    if doubts:
        accepted = decided_alone(part, codes, room, doubts, check, work)
        if accepted:
            slots += part.slots[accepted].tolist()
    return [slot for slot in slots if slot >= 0] if part.removed else slots


def _find(segment: Segment, codes: Codes, room: Room) -> int:
    arguments: Any = (*segment.bases, *codes.bases, *room.visit_bases, *room.bases)
    return find(*arguments)


@kernel
def find(
    table: Any,
    size: int,
    clusters: Any,
    root: int,
    keyed: Any,
    keyed_count: int,
    pairs: Any,
    pair_count: int,
    texts: Any,
    text_count: int,
    groups: Any,
    nodes: Any,
    owners: Any,
    lows: Any,
    highs: Any,
    axes: int,
    wide: Any,
    lists: Any,
    accepted_at: Any,
    accepted: Any,
    visits: Any,
    visit_room: int,
    state: Any,
    scratch: Any,
    found: Any,
    found_room: int,
    stretches: Any,
    stretch_room: int,
    doubts: Any,
    doubt_room: int,
) -> int:
    """Probes and traverses for the one event whose codes are given."""
    count, reached = probe(
        table, size, clusters, root, keyed, keyed_count, pairs, pair_count, texts, text_count,
        lows, axes, wide, lists, accepted_at, accepted, 0, 1, visits, visit_room,
    )  # fmt: skip
    if reached != 1:
        return _MORE_VISITS
    begin(state, count)
    return traverse(
        clusters, groups, nodes, owners, visits, count, lows, highs, axes, wide, state, scratch,
        found, found_room, stretches, stretch_room, doubts, doubt_room,
    )  # fmt: skip


# --- many events ---------------------------------------------------------------------------------


def tiles(events: int) -> list[tuple[int, int]]:
    """Where tiles start and end.

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
    room: Room,
    check: Check,
    work: Work,
    words: Callable[[int], Words] = _new_words,
) -> tuple[Words, Words]:
    """The slots that accept the events from `start` to `end`.

    Those of event start + i stand from offsets[i] to offsets[i + 1], in an array that `words` gave
    or in one of their own.
    """
    visits = _visits(segment, codes, start, end, room)
    ends = _traversed(segment, codes, visits, room)
    work.probes += len(visits) // VISIT
    return _of_many(segment, codes, start, end, room, ends, check, work, words)


def search_young(
    young: Young, codes: Codes, start: int, end: int, room: Room, check: Check, work: Work
) -> tuple[Words, Words]:
    """The same among the young."""
    ends = _compared(young, codes, start, end, room)
    return _of_many(young, codes, start, end, room, ends, check, work, _new_words)


def _of_many(
    part: Part,
    codes: Codes,
    start: int,
    end: int,
    room: Room,
    ends: tuple[int, int, int],
    check: Check,
    work: Work,
    words: Callable[[int], Words],
) -> tuple[Words, Words]:
    """What the room holds about the events, event by event."""
    found, stretches, doubts = ends
    work.candidates += found + doubts
    if doubts:
        found, stretches = decided(part, codes, room, found, stretches, doubts, check, work)
    offsets = np.zeros(end - start + 2, np.int32)
    owners = words(found)
    gather(
        base(room.found), found, base(room.stretches), stretches, start, end - start,
        base(offsets), base(owners),
    )  # fmt: skip
    return _sifted(part, offsets[:-1], owners, room)


def _visits(segment: Segment, codes: Codes, start: int, end: int, room: Room) -> Words:
    """All visits, those of one cluster together."""
    lows, _, axes, *others = codes.bases
    while True:
        arguments: Any = (*segment.bases[:10], lows, axes, *others, start, end, *room.visit_bases)
        count, reached = probe(*arguments)
        if reached == end:
            break
        room.grow_visits()
    visits = room.visits[: count * VISIT]
    if codes.is_wide:  # lists may lead to a cluster twice
        return np.unique(visits.view(np.int64)).view(np.int32)
    if count:
        half = -(-len(segment.layout.clusters).bit_length() // 2)
        aside, places = room.aside(half)
        sort_visits(base(visits), base(aside), count, half, base(places))
    return visits


def _traversed(segment: Segment, codes: Codes, visits: Words, room: Room) -> tuple[int, int, int]:
    """How many were found, in how many stretches, and how many are in doubt."""
    _, _, clusters, *_, groups, nodes, owners = segment.bases
    lows, highs, axes, wide, *_ = codes.bases
    room.state[:] = 0
    count = len(visits) // VISIT
    index = (clusters, groups, nodes, owners, base(visits), count, lows, highs, axes, wide)
    while _traverse((*index, *room.bases)) == MORE:
        room.grow()
    *_, found, stretches, doubts = room.state.tolist()
    return found, stretches, doubts


def _traverse(arguments: Any) -> int:
    return traverse(*arguments)


def _compared(young: Young, codes: Codes, start: int, end: int, room: Room) -> tuple[int, int, int]:
    """The same counts for the young, each compared with all events."""
    room.state[:] = 0
    block, size = block_of(codes)
    columns = base(room.columns(size))
    events = (*codes.bases[:4], codes.is_wide, start, end, columns, block)
    while _compare((*young.bases, *events, *room.bases)) == MORE:
        room.grow()
    *_, found, stretches, doubts = room.state.tolist()
    return found, stretches, doubts


def _compare(arguments: Any) -> int:
    return compare(*arguments)


def _sifted(part: Part, offsets: Words, owners: Words, room: Room) -> tuple[Words, Words]:
    if not part.has_several:
        slots = owners if part.is_dense else part.slots[owners]
        if not part.removed:
            return offsets, slots
    events = len(offsets) - 1
    stamps, stamp = room.stamps(len(part.slots), events)
    kept = np.empty(len(owners), np.int32)
    count = sift(
        base(offsets), events, base(owners), base(part.slots), base(stamps), stamp, base(kept)
    )
    return offsets, kept[:count]
