"""Weighing: which strategy would cost the fewest messages, from what brokers see.

Idea. Event forwarding sends an event over every link and a subscription over none. Subscription
forwarding sends an event over the links between its publisher and those who want it, and a change
of subscriptions over as many as have to know. A broker that has sent many messages
says so; then the coordinator asks all, and they answer together: how many events entered, how many
subscriptions changed, and, for events whose id falls into a sample, where they entered and where a
client got them. Whatever the strategy, both are known, and so are the links in between.
Example. 8 links, 1,000 events a second that two brokers on average want, 2 links away: 8,000
messages or 2,000. If 900 subscriptions come and go, each over 8 links, it is 8,000 or 9,200.
Invariant. A change has to pay: at least a tenth less, twice in a row, and in `HORIZON` rounds
more than it costs to tell all subscriptions to all brokers.
Cost. Two messages per link, of a few kilobytes, for every `BUSY` messages of the busiest broker.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from fyke.nodes.message import Control, EventId, NodeId

EVENTS: Final = "event_forwarding"
SUBSCRIPTIONS: Final = "subscription_forwarding"
HORIZON: Final = 20
BUSY: Final = 128
"""Messages of a broker between two rounds, at least."""
_BETTER: Final = 0.9
_SAMPLE: Final = 8
"""One event in so many."""
_SAMPLED_MAX: Final = 64
"""Of a broker in a round."""
_CONTROL: Final = 6
"""Messages per link of a change, beside the tables."""


class Report(Struct, frozen=True):
    """What a broker saw since the last round, and the next broker on the way to the coordinator."""

    broker: NodeId
    parent: NodeId
    events: int
    changes: int
    told: int
    subscriptions: int
    entered: tuple[EventId, ...]
    wanted: tuple[EventId, ...]


class Busy(Control, frozen=True):
    """Many messages were sent: on its way to the coordinator."""


class Poll(Control, frozen=True):
    """The coordinator asks all brokers."""

    round: int


class Gathered(Control, frozen=True):
    """What all brokers behind the sender answer."""

    round: int
    reports: tuple[Report, ...]


class Weighing:
    """Of a broker; that of the coordinator adds up."""

    def __init__(self, me: NodeId) -> None:
        self._me = me
        self._sent: int = 0
        self._clear()
        self._per_change: float | None = None
        self._wishes = 0

    # --- seeing -----------------------------------------------------------------------------------

    def published(self, id: EventId) -> None:
        self._events += 1
        if _is_sampled(id) and len(self._entered) < _SAMPLED_MAX:
            self._entered.append(id)

    def delivered(self, id: EventId) -> None:
        if _is_sampled(id) and len(self._wanted) < _SAMPLED_MAX * 4:
            self._wanted.append(id)

    def told(self, messages: int) -> None:
        """So many messages about subscriptions left."""
        self._told += messages

    def changed(self) -> None:
        """A client's subscriptions did."""
        self._changes += 1

    def is_busy(self, messages: int) -> bool:
        """Whether enough has been said; once until the next report."""
        before = self._sent
        self._sent = before + messages
        return before < BUSY <= self._sent

    def report(self, parent: NodeId, subscriptions: int) -> Report:
        """What was seen since the last."""
        made = Report(
            self._me, parent, self._events, self._changes, self._told, subscriptions,
            tuple(self._entered), tuple(self._wanted),
        )  # fmt: skip
        self._clear()
        return made

    def _clear(self) -> None:
        self._sent = 0
        self._events = self._changes = self._told = 0
        self._entered: list[EventId] = []
        self._wanted: list[EventId] = []

    # --- adding up --------------------------------------------------------------------------------

    def better(self, current: str, reports: Sequence[Report]) -> str | None:
        """Another strategy that would cost less, if that has been so for a while."""
        costs = self._costs(current, reports)
        other = SUBSCRIPTIONS if current == EVENTS else EVENTS
        if costs is None or current not in costs or costs[other] >= _BETTER * costs[current]:
            self._wishes = 0
            return None
        self._wishes += 1
        gain = (costs[current] - costs[other]) * HORIZON
        if self._wishes < 2 or gain <= _price(other, reports):
            return None
        self._wishes = 0
        return other

    def _costs(self, current: str, reports: Sequence[Report]) -> dict[str, float] | None:
        """Messages since the last round under either strategy; None if nothing can be said."""
        links = len(reports) - 1
        events = sum(report.events for report in reports)
        changes = sum(report.changes for report in reports)
        between = _between(reports)
        if current == SUBSCRIPTIONS and changes:
            self._per_change = sum(report.told for report in reports) / changes
        per_change = links if self._per_change is None else self._per_change
        if between is None:
            return None
        return {EVENTS: events * links, SUBSCRIPTIONS: events * between + changes * per_change}


def _price(other: str, reports: Sequence[Report]) -> float:
    """Messages of a change to another strategy."""
    links = len(reports) - 1
    subscriptions = sum(report.subscriptions for report in reports)
    return (subscriptions * links if other == SUBSCRIPTIONS else 0) + _CONTROL * links


def _between(reports: Sequence[Report]) -> float | None:
    """Links between publishers and those who want an event, on average of the sample."""
    entered = {id: report.broker for report in reports for id in report.entered}
    if not entered:
        return None
    wanted: dict[EventId, set[NodeId]] = {id: set() for id in entered}
    for report in reports:
        for id in report.wanted:
            if id in wanted:
                wanted[id].add(report.broker)
    parents = {report.broker: report.parent for report in reports if report.parent}
    spans = (_span(parents, {entered[id], *homes}) for id, homes in wanted.items())
    return sum(spans) / len(entered)


def _is_sampled(id: EventId) -> bool:
    return zlib.crc32(id.encode()) % _SAMPLE == 0


def _span(parents: Mapping[NodeId, NodeId], ends: set[NodeId]) -> int:
    """How many links the smallest part of a tree has that joins some of its nodes."""
    passed: dict[NodeId, int] = {}
    for end in ends:
        while end in parents:
            passed[end] = passed.get(end, 0) + 1
            end = parents[end]
    return sum(count < len(ends) for count in passed.values())
