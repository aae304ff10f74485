"""Exact check: candidates that boxes leave open, decided one by one and added to what was found.

A candidate's program (`program`) runs over the event's codes. Where it comes to a part that codes
cannot decide it pauses; the filter decides the part (`ExactCheck`), and the program goes on from
there. Where there is no program the filter as a whole answers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from fyke.events.event import Event
from fyke.filters.filter import Filter, Test
from fyke.matching.compiled.boxes.box_table import Places, Words
from fyke.matching.compiled.boxes.program import (
    ACCEPT,
    PAUSED,
    REFUSE,
    STEP,
    UNKNOWN,
    opaque_parts,
)
from fyke.matching.compiled.coding.event_coding import Codes
from fyke.matching.compiled.kernels.frames import Frame, PairBases
from fyke.matching.compiled.kernels.lanes import LANES, base
from fyke.matching.compiled.search.gathering import decide
from fyke.matching.compiled.search.traversal import DOUBT, STRETCH
from fyke.matching.compiled.search.workspace import Workspace
from fyke.matching.compiled.segment.memtable import Memtable
from fyke.matching.compiled.segment.segment import Segment
from fyke.matching.engines.contract import Work

Part: TypeAlias = Segment | Memtable
"""Subscriptions that are searched together."""


EventOf: TypeAlias = Callable[[int], Event]

_KEPT_MAX: Final = 8_192
_kept: Final[dict[int, tuple[Filter, list[Test]]]] = {}
"""The tests of opaque parts by the filter's id; an id means a filter as long as it is kept."""


class ExactCheck:
    """The exact answers about events, by the filters themselves; events are known by number."""

    __slots__ = ("_event", "_event_of", "_filter_of", "_row")

    def __init__(self, filter_of: Callable[[int], Filter], event_of: EventOf) -> None:
        self._filter_of = filter_of
        self._event_of = event_of
        self._row = -1
        self._event: Event | None = None

    def filter(self, event: int, slot: int) -> bool:
        """Return True if the filter of a slot accepts an event."""
        return self._filter_of(slot).matches(self._at(event))

    def part(self, event: int, slot: int, number: int) -> bool:
        """Return True if an opaque part of that filter does (`program.opaque_parts`)."""
        seen = self._at(event)
        parts = _parts(self._filter_of(slot))
        return number < len(parts) and parts[number](seen.attributes, seen)

    @classmethod
    def of(cls, filter_of: Callable[[int], Filter], event: Event) -> ExactCheck:
        """Return the exact answers about a single event."""
        check = cls(filter_of, lambda _: event)
        check._row, check._event = 0, event
        return check

    def _at(self, row: int) -> Event:
        """Return the event of a row; questions about one row come together."""
        if row != self._row or self._event is None:
            self._row, self._event = row, self._event_of(row)
        return self._event


def _parts(filter: Filter) -> list[Test]:
    """Return the tests of the opaque parts, kept by the identity of the filter."""
    kept = _kept.get(id(filter))
    if kept is None:
        if len(_kept) >= _KEPT_MAX:
            _kept.clear()
        kept = _kept[id(filter)] = filter, [part.test() for part in opaque_parts(filter)]
    return kept[1]


def decide_all(
    part: Part,
    codes: Codes,
    workspace: Workspace,
    found: int,
    stretches: int,
    doubts: int,
    check: ExactCheck,
    work: Work,
) -> tuple[int, int]:
    """Add the pairs in doubt that are accepted to what was found. Return its new ends."""
    may_repeat = part.has_several or codes.is_wide
    events, owners = _pairs(workspace.doubts[: doubts * DOUBT], may_repeat)
    verdicts = np.zeros(len(events), np.int32)
    undecided = np.arange(len(events))
    while len(undecided):
        found_now = _run(part, codes, events[undecided], owners[undecided], verdicts[undecided])
        work.checks += int((found_now <= UNKNOWN).sum())
        verdicts[undecided] = _answer_all(part, events, owners, undecided, found_now, check)
        undecided = np.flatnonzero(verdicts >= 0)
    accepted = verdicts == ACCEPT
    return _append(
        workspace, found, stretches, events[accepted], owners[accepted], part.has_several
    )


def settle_open(
    part: Part, codes: Codes, workspace: Workspace, count: int, check: ExactCheck, work: Work
) -> list[int]:
    """Return the owners that accept the only event, among those that `decide_event` left open."""
    verdicts, owners = workspace.doubts[: count * DOUBT].reshape(-1, DOUBT).T.tolist()
    left = {
        owner if owner >= 0 else ~owner: verdict
        for owner, verdict in zip(owners, verdicts, strict=True)
    }
    accepted: list[int] = []
    while left:
        work.checks += len(left)
        answers = {owner: _answer(part, owner, verdict, check) for owner, verdict in left.items()}
        accepted += [owner for owner, answer in answers.items() if answer == ACCEPT]
        steps = {owner: answer for owner, answer in answers.items() if answer >= 0}
        left = _go_on(part, codes, workspace, steps) if steps else {}
        accepted += [owner for owner, verdict in left.items() if verdict == ACCEPT]
        left = {owner: verdict for owner, verdict in left.items() if verdict <= UNKNOWN}
    return accepted


def _go_on(part: Part, codes: Codes, workspace: Workspace, steps: dict[int, int]) -> dict[int, int]:
    """Run programs about the only event on, each from its step. Return their verdicts."""
    count = len(steps)
    rows, pairs = workspace.few(count)
    rows[1, :count], rows[2, :count] = list(steps), list(steps.values())
    decide(part.program_frame.handle, codes.frame.handle, pairs.handle, count)
    return dict(zip(steps, rows[3, :count].tolist(), strict=True))


def _answer(part: Part, owner: int, verdict: int, check: ExactCheck) -> int:
    """Return the exact answer about the only event, or the step to go on from."""
    slot = int(part.slots[owner])
    if slot < 0:
        return REFUSE
    if verdict == UNKNOWN:
        return ACCEPT if check.filter(0, slot) else REFUSE
    step = int(part.program_at[owner]) + (PAUSED - verdict) * STEP
    holds = check.part(0, slot, int(part.programs[step + 2]))
    return int(part.programs[step + (4 if holds else 5)])


def _run(part: Part, codes: Codes, events: Words, owners: Words, steps: Words) -> Words:
    """Run the programs of pairs, each from its step on. Return their verdicts."""
    verdicts = np.empty(len(events), np.int32)
    group = PairBases(
        events=base(events), owners=base(owners), steps=base(steps), verdicts=base(verdicts)
    )
    pairs = Frame(group)
    decide(part.program_frame.handle, codes.frame.handle, pairs.handle, len(events))
    return verdicts


def _answer_all(
    part: Part, events: Words, owners: Words, pairs: Places, verdicts: Words, check: ExactCheck
) -> Words:
    """Return the verdicts, those left open answered or replaced by the step to go on from."""
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
    """Return events and owners, each pair once; an owner of several boxes by its number."""
    events, owners = doubts[0::DOUBT], doubts[1::DOUBT]
    if not may_repeat:
        return events.copy(), owners.copy()
    pairs = events.astype(np.int64) << 32 | np.where(owners < 0, ~owners, owners)
    pairs.sort()
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])]
    return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)


def _append(
    workspace: Workspace,
    found: int,
    stretches: int,
    events: Words,
    owners: Words,
    has_several: bool,
) -> tuple[int, int]:
    """Append pairs as stretches of one. An owner may have been found through another box."""
    count = len(events)
    while len(workspace.found) < found + count + LANES or len(workspace.stretches) < STRETCH * (
        stretches + count
    ):
        workspace.grow()
    workspace.found[found : found + count] = ~owners if has_several else owners
    added = workspace.stretches[STRETCH * stretches : STRETCH * (stretches + count)]
    added[0::STRETCH] = events
    added[1::STRETCH] = np.arange(found, found + count)
    return found + count, stretches + count
