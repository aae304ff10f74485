"""Weighing: which strategy would cost the fewest messages, from what brokers see.

Idea. Event forwarding sends an event over every link and a subscription over none. Subscription
forwarding sends an event over the links between its publisher and those who want it, and a change
of subscriptions over as many as have to know. Brokers report, once a period in which something
happened, how many events entered, how many subscriptions changed, and, for events whose id falls
into a sample, where they entered and where a client got them: whatever the strategy, both are
known. The coordinator learns the tree from the ways that reports took, and adds up.
Example. 8 links, 1,000 events a second that two brokers on average want, 2 links away: 8,000
messages or 2,000. If 900 subscriptions come and go, each over 8 links, it is 8,000 or 9,200.
Invariant. A change has to pay: at least a tenth less, twice in a row, and within `HORIZON` periods
more than it costs to tell all subscriptions to all brokers.
Cost. A report per broker and period, on its way to the coordinator; a few kilobytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from itertools import pairwise
from math import floor
from typing import Final

from fyke.nodes.message import Control, EventId, NodeId

EVENTS: Final = "event_forwarding"
SUBSCRIPTIONS: Final = "subscription_forwarding"
HORIZON: Final = 20
_BETTER: Final = 0.9
_SAMPLE: Final = 8
"""One event in so many."""
_SAMPLED_MAX: Final = 64
"""Of a broker in a period."""
_CONTROL: Final = 6
"""Messages per link of a change, beside the tables."""


class Report(Control, frozen=True):
    """What a broker saw in a period; `path` are the brokers that the report has passed."""

    path: tuple[NodeId, ...]
    events: int
    changes: int
    told: int
    subscriptions: int
    entered: tuple[EventId, ...]
    wanted: tuple[EventId, ...]


class Weighing:
    """Of a broker; that of the coordinator adds up."""

    def __init__(self, me: NodeId, period_s: float = 1.0) -> None:
        self._me = me
        self._period_s = period_s
        self._is_awake = False
        self._clear()
        self._parents: dict[NodeId, NodeId] = {}
        self._reports: list[Report] = []
        self._subscriptions: dict[NodeId, int] = {}
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

    def noticed(self, now: float, changes: int = 0) -> float | None:
        """Something happened: when to report, unless that is settled."""
        self._changes += changes
        if self._is_awake:
            return None
        self._is_awake = True
        return (floor(now / self._period_s) + 1) * self._period_s

    def report(self, subscriptions: int = 0) -> Report:
        """What was seen since the last."""
        made = Report(
            (self._me,), self._events, self._changes, self._told, subscriptions,
            tuple(self._entered), tuple(self._wanted),
        )  # fmt: skip
        self._clear()
        self._is_awake = False
        return made

    def _clear(self) -> None:
        self._events = self._changes = self._told = 0
        self._entered: list[EventId] = []
        self._wanted: list[EventId] = []

    # --- adding up --------------------------------------------------------------------------------

    def collect(self, report: Report) -> None:
        way = report.path if report.path[-1] == self._me else (*report.path, self._me)
        self._parents.update(pairwise(way))
        self._subscriptions[report.path[0]] = report.subscriptions
        self._reports.append(report)

    def changed(self) -> None:
        self._wishes = 0

    def better(self, current: str) -> str | None:
        """Another strategy that would cost less, if that has been so for a while."""
        costs = self._costs(current)
        self._reports.clear()
        other = SUBSCRIPTIONS if current == EVENTS else EVENTS
        if not costs or costs[other] >= _BETTER * costs[current]:
            self._wishes = 0
            return None
        self._wishes += 1
        gain = (costs[current] - costs[other]) * HORIZON
        return other if self._wishes >= 2 and gain > self._price(other) else None

    def _costs(self, current: str) -> dict[str, float] | None:
        """Messages of the last period under either strategy; None if nothing can be said."""
        links = len(self._parents)
        events = sum(report.events for report in self._reports)
        changes = sum(report.changes for report in self._reports)
        between = self._between()
        if current == SUBSCRIPTIONS and changes:
            told = sum(report.told for report in self._reports)
            self._per_change = told / changes
        per_change = links if self._per_change is None else self._per_change
        if between is None or not events:
            return None
        return {EVENTS: events * links, SUBSCRIPTIONS: events * between + changes * per_change}

    def _price(self, other: str) -> float:
        links = len(self._parents)
        tables = sum(self._subscriptions.values()) * links if other == SUBSCRIPTIONS else 0
        return tables + _CONTROL * links

    def _between(self) -> float | None:
        """Links between publishers and those who want an event, on average of the sample."""
        entered = {id: report.path[0] for report in self._reports for id in report.entered}
        if not entered:
            return None
        wanted: dict[EventId, set[NodeId]] = {id: set() for id in entered}
        for report in self._reports:
            for id in report.wanted:
                if id in wanted:
                    wanted[id].add(report.path[0])
        spans = (_span(self._parents, {entered[id], *homes}) for id, homes in wanted.items())
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
