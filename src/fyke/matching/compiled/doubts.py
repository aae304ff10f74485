"""Doubts: candidates that boxes leave open, decided one by one and added to what was found.

A candidate's program (`program`) runs over the event's codes. Where it comes to a part that codes
cannot decide it pauses; the exact answer comes from a `Check`, and the program goes on from there.
Where there is no program the filter itself answers.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np

from fyke.matching.compiled.box_table import Places, Words
from fyke.matching.compiled.coding import Codes
from fyke.matching.compiled.gathering import decide
from fyke.matching.compiled.lanes import LANES, base
from fyke.matching.compiled.program import ACCEPT, PAUSED, REFUSE, STEP, UNKNOWN
from fyke.matching.compiled.room import Room
from fyke.matching.compiled.segment import Segment
from fyke.matching.compiled.traversal import DOUBT, STRETCH
from fyke.matching.compiled.young import Young
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


def decided(
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


def decided_alone(
    part: Part, codes: Codes, room: Room, doubts: int, check: Check, work: Work
) -> list[int]:
    """The owners in doubt that accept the only event.

    What `decided` does, for few: lists of Python's are quicker than arrays then.
    """
    owners: list[int] = room.doubts[1 : doubts * DOUBT : DOUBT].tolist()
    if part.has_several:
        owners = list({owner if owner >= 0 else ~owner for owner in owners})
    elif codes.is_wide:
        owners = list(set(owners))
    steps = [0] * len(owners)
    accepted: list[int] = []
    while owners:
        again: dict[int, int] = {}
        verdicts = _run_alone(part, codes, room, owners, steps)
        for owner, verdict in zip(owners, verdicts, strict=True):
            if verdict <= UNKNOWN:
                work.checks += 1
                verdict = _answer(part, owner, verdict, check)
            if verdict == ACCEPT:
                accepted.append(owner)
            elif verdict >= 0:
                again[owner] = verdict
        owners, steps = list(again), list(again.values())
    return accepted


def _run_alone(
    part: Part, codes: Codes, room: Room, owners: list[int], steps: list[int]
) -> list[int]:
    count = len(owners)
    rows, (events, at_owners, at_steps, at_verdicts) = room.few(count)
    rows[1, :count], rows[2, :count] = owners, steps
    lows, _, axes, *others = codes.bases
    arguments: Any = (
        *part.program_bases, events, at_owners, at_steps, count, lows, axes, *others, at_verdicts,
    )  # fmt: skip
    decide(*arguments)
    verdicts: list[int] = rows[3, :count].tolist()
    return verdicts


def _answer(part: Part, owner: int, verdict: int, check: Check) -> int:
    """The exact answer about the only event, or the step to go on from."""
    slot = int(part.slots[owner])
    if slot < 0:
        return REFUSE
    if verdict == UNKNOWN:
        return ACCEPT if check.filter(0, slot) else REFUSE
    step = int(part.program_at[owner]) + (PAUSED - verdict) * STEP
    holds = check.part(0, slot, int(part.programs[step + 2]))
    return int(part.programs[step + (4 if holds else 5)])


def _run(part: Part, codes: Codes, events: Words, owners: Words, steps: Words) -> Words:
    """How far the programs come, each from its step on."""
    verdicts = np.empty(len(events), np.int32)
    lows, _, axes, *others = codes.bases
    arguments: Any = (
        *part.program_bases, base(events), base(owners), base(steps),
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
