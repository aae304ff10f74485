"""Search: a segment held against coded events, a tile of them at a time.

probe -> sort the visits -> traverse -> decide what is in doubt -> gather by event -> sift.
For a single event the first three are one call, and nothing has to be gathered.
Subscriptions that are young are compared (`young`) instead of probed and traversed.

The room that the kernels write to is kept and grows when they ask for MORE, so its size follows
the results, not the number of subscriptions. A `Room` serves one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from fyke.matching.compiled.box_table import Places, Words
from fyke.matching.compiled.coding import Codes
from fyke.matching.compiled.gathering import decide, gather, sift
from fyke.matching.compiled.kernel import kernel
from fyke.matching.compiled.lanes import LANES, aligned, base
from fyke.matching.compiled.probe import VISIT, probe, sort_visits
from fyke.matching.compiled.program import ACCEPT, PAUSED, REFUSE, STEP, UNKNOWN
from fyke.matching.compiled.segment import Segment
from fyke.matching.compiled.traversal import (
    DONE,
    DOUBT,
    MORE,
    SCRATCH,
    STATE,
    STRETCH,
    begin,
    traverse,
)
from fyke.matching.compiled.young import Young, block_of, compare
from fyke.matching.engine import Work

Part: TypeAlias = Segment | Young
"""Subscriptions that are searched together."""


class Check(Protocol):
    """The exact answers, for events by number."""

    def filter(self, event: int, slot: int) -> bool:
        """Whether the filter of a slot accepts an event."""
        ...

    def part(self, event: int, slot: int, number: int) -> bool:
        """Whether an opaque part of it does (`program.opaque_parts`)."""
        ...


TILE: Final = 2048
"""So many events are searched together, about."""
_STAMP_MAX: Final = 2**31 - 1
_ROOM: Final = 1 << 12
_MORE_VISITS: Final = 2


class Room:
    """What the kernels write to."""

    def __init__(self) -> None:
        self.state = np.zeros(STATE, np.int32)
        self.scratch = aligned(SCRATCH)
        self.visits = np.zeros(_ROOM * VISIT, np.int32)
        self.found = np.zeros(_ROOM, np.int32)
        self.stretches = np.zeros(_ROOM * STRETCH, np.int32)
        self.doubts = np.zeros(_ROOM * DOUBT, np.int32)
        self._columns = aligned(0)
        self._aside = self._places = np.zeros(0, np.int32)
        self._stamps = np.zeros(_ROOM, np.int32)
        self._stamp = 0
        self._lay_out()

    def _lay_out(self) -> None:
        """What kernels are handed for this room."""
        self.visit_bases = (base(self.visits), len(self.visits) // VISIT)
        self.bases = (
            base(self.state), base(self.scratch), base(self.found), len(self.found),
            base(self.stretches), len(self.stretches) // STRETCH,
            base(self.doubts), len(self.doubts) // DOUBT,
        )  # fmt: skip

    def grow(self) -> None:
        """Twice the room, what is written so far kept."""
        for name in ("found", "stretches", "doubts"):
            words = getattr(self, name)
            grown = np.zeros(2 * len(words), np.int32)
            grown[: len(words)] = words
            setattr(self, name, grown)
        self._lay_out()

    def grow_visits(self) -> None:
        self.visits = np.zeros(2 * len(self.visits), np.int32)
        self._lay_out()

    def columns(self, size: int) -> Words:
        """So many words for columns of codes, whatever is in them."""
        if len(self._columns) < size:
            self._columns = aligned(size)
        return self._columns

    def aside(self, bits: int) -> tuple[Words, Words]:
        """As much as for visits, and a word for each value of so many bits and one more."""
        if len(self._aside) != len(self.visits):
            self._aside = np.empty_like(self.visits)
        if len(self._places) <= 1 << bits:
            self._places = np.empty((1 << bits) + 1, np.int32)
        return self._aside, self._places

    def stamps(self, owners: int, events: int) -> tuple[Words, int]:
        """A word for each owner, and a number that none of them is above, for so many events."""
        if len(self._stamps) < owners or self._stamp > _STAMP_MAX - events:
            self._stamps, self._stamp = np.zeros(max(owners, len(self._stamps)), np.int32), 0
        stamp, self._stamp = self._stamp, self._stamp + events
        return self._stamps, stamp


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
    found, stretches, doubts = ends
    work.candidates += found + doubts
    if doubts:
        found, _ = _decided(part, codes, room, found, stretches, doubts, check, work)
    if not found:
        return []
    owners = room.found[:found]
    if part.has_several:
        owners = np.where(owners < 0, ~owners, owners)
    slots: list[int] = part.slots[owners].tolist()
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
        found, stretches = _decided(part, codes, room, found, stretches, doubts, check, work)
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


# --- doubts --------------------------------------------------------------------------------------


def _decided(
    part: Part,
    codes: Codes,
    room: Room,
    found: int,
    stretches: int,
    doubts: int,
    check: Check,
    work: Work,
) -> tuple[int, int]:
    """Adds those in doubt that are accepted to what was found; its new ends."""
    may_repeat = part.has_several or codes.is_wide
    events, owners = _pairs(room.doubts[: doubts * DOUBT], may_repeat)
    verdicts = np.zeros(len(events), np.int32)
    undecided = np.arange(len(events))
    while len(undecided):
        found_now = _run(part, codes, events[undecided], owners[undecided], verdicts[undecided])
        work.checks += int((found_now <= UNKNOWN).sum())
        verdicts[undecided] = _answered(part, events, owners, undecided, found_now, check)
        undecided = np.flatnonzero(verdicts >= 0)
    accepted = verdicts == ACCEPT
    return _added(room, found, stretches, events[accepted], owners[accepted], part.has_several)


def _run(part: Part, codes: Codes, events: Words, owners: Words, steps: Words) -> Words:
    """How far the programs come, each from its step on."""
    verdicts = np.empty(len(events), np.int32)
    lows, _, axes, *others = codes.bases
    arguments: Any = (
        base(part.programs), base(part.program_at), base(events), base(owners), base(steps),
        len(events), lows, axes, *others, base(verdicts),
    )  # fmt: skip
    decide(*arguments)
    return verdicts


def _answered(
    part: Part, events: Words, owners: Words, pairs: Places, verdicts: Words, check: Check
) -> Words:
    """The verdicts without those that are unknown; steps to go on from where programs paused."""
    open_ = np.flatnonzero(verdicts <= UNKNOWN)
    asked = owners[pairs[open_]]
    steps = part.program_at[asked] + (PAUSED - verdicts[open_]) * STEP
    places = zip(
        open_.tolist(),
        events[pairs[open_]].tolist(),
        part.slots[asked].tolist(),
        steps.tolist(),
        verdicts[open_].tolist(),
        strict=True,
    )
    programs = part.programs
    for at, event, slot, step, verdict in places:
        if slot < 0:
            verdicts[at] = REFUSE
        elif verdict == UNKNOWN:
            verdicts[at] = ACCEPT if check.filter(event, slot) else REFUSE
        else:
            holds = check.part(event, slot, int(programs[step + 2]))
            verdicts[at] = programs[step + (4 if holds else 5)]
    return verdicts


def _pairs(doubts: Words, may_repeat: bool) -> tuple[Words, Words]:
    """Events and owners, each pair once; an owner of several boxes is known by its number."""
    events, owners = doubts[0::DOUBT], doubts[1::DOUBT]
    if not may_repeat:
        return events.copy(), owners.copy()
    pairs = events.astype(np.int64) << 32 | np.where(owners < 0, ~owners, owners)
    pairs.sort()
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])]
    return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)


def _added(
    room: Room, found: int, stretches: int, events: Words, owners: Words, has_several: bool
) -> tuple[int, int]:
    """Appends pairs as stretches of one. An owner may have been found through another box."""
    count = len(events)
    while len(room.found) < found + count + LANES or len(room.stretches) < STRETCH * (
        stretches + count
    ):
        room.grow()
    room.found[found : found + count] = ~owners if has_several else owners
    added = room.stretches[STRETCH * stretches : STRETCH * (stretches + count)]
    added[0::STRETCH] = events
    added[1::STRETCH] = np.arange(found, found + count)
    return found + count, stretches + count
