"""Weighing: which strategy would cost the fewest messages, from what brokers see.

Idea. Event forwarding sends an event over every link and a subscription over none. Subscription
forwarding sends an event over the links between its publisher and those who want it, and a change
of subscriptions over as many as have to know; and its tables must fit. A broker that has had many
messages to do with says so; then the coordinator asks all, and they answer together: how many
events entered, how many subscriptions changed, how large tables are, and, for events whose id falls
into a sample, where they entered and where a client got them. Whatever the strategy, both are
known, and so are the links in between. What a third strategy costs is what it sent.
Example. 8 links, 1,000 events a second that two brokers on average want, 2 links away: 8,000
messages or 2,000. If 900 subscriptions come and go, each over 8 links, it is 8,000 or 9,200.
Invariant. A change has to pay: at least a tenth less, twice in a row, and in `HORIZON` rounds
more than it costs to tell all subscriptions to all brokers. Tables that do not fit cost too much.
Cost. Two messages per link, of a few kilobytes, each time that a broker has sent `BUSY` messages to
each of its neighbours, or heard as many about subscriptions; one round after the other.
Source. DAS-F1.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

from msgspec import Struct

from fyke.nodes.message import Control, EventId, NodeId

EVENTS: Final = "event_forwarding"
SUBSCRIPTIONS: Final = "subscription_forwarding"
HORIZON: Final = 20
BUSY: Final = 64
"""Messages of a broker to each neighbour between two rounds, on average."""
_BETTER: Final = 0.9
_SAMPLE: Final = 8
"""One event in this number."""
_SAMPLED_MAX: Final = 64
"""Of a broker in a round."""
_CONTROL: Final = 8
"""Messages per link of a change, beside the tables."""


class BrokerReport(Struct, frozen=True):
    """Counts of a broker since the last round, and its neighbour towards the coordinator."""

    broker: NodeId
    parent: NodeId
    events: int
    """That entered here."""
    sent: int
    """Messages with events."""
    changes: int
    told: int
    """Messages about subscriptions."""
    subscriptions: int
    rows: int
    entered: tuple[EventId, ...]
    wanted: tuple[EventId, ...]


class Busy(Control, frozen=True):
    """Many messages were sent. It is on its way to the coordinator."""


class Poll(Control, frozen=True):
    """The coordinator asks all brokers."""

    round: int


class Gathered(Control, frozen=True):
    """The reports of all brokers behind the sender; empty if one of them could not be asked."""

    round: int
    reports: tuple[BrokerReport, ...]


class Weighing:
    """Counts of a broker. The coordinator adds them up.

    A table of more than `rows_max` rows is too large. With None, every table fits.
    """

    def __init__(self, me: NodeId, rows_max: int | None = None) -> None:
        self._me = me
        self._rows_max = inf if rows_max is None else rows_max
        self._messages = 0
        self._clear()
        self._per_change: float | None = None
        self._per_table = 1.0
        """Rows of the largest table under subscription forwarding, per subscription."""
        self._wish: tuple[str, int] = "", 0
        """Another strategy, and in how many rounds it has been better."""

    # --- seeing -----------------------------------------------------------------------------------

    def published(self, id: EventId) -> None:
        """Count an event of a client."""
        self._events += 1
        if is_sampled(id) and len(self._entered) < _SAMPLED_MAX:
            self._entered.append(id)

    def sent(self, messages: int) -> None:
        """Count messages with an event."""
        self._sent += messages

    def delivered(self, id: EventId) -> None:
        """Note that a client wants an event of the sample."""
        if len(self._wanted) < _SAMPLED_MAX * 4:
            self._wanted.append(id)

    def told(self, messages: int) -> None:
        """Count messages about subscriptions."""
        self._told += messages

    def changed(self) -> None:
        """Count a change of a client's subscriptions."""
        self._changes += 1

    def is_busy(self, messages: int, degree: int) -> bool:
        """Count messages. Return True whenever they pass another limit for this degree."""
        enough = BUSY * max(degree, 1)
        before = self._messages // enough
        self._messages += messages
        return self._messages // enough > before

    def report(self, parent: NodeId, subscriptions: int, rows: int) -> BrokerReport:
        """Return the counts since the last report, and begin anew."""
        made = BrokerReport(
            self._me, parent, self._events, self._sent, self._changes, self._told, subscriptions,
            rows, tuple(self._entered), tuple(self._wanted),
        )  # fmt: skip
        self._clear()
        return made

    def _clear(self) -> None:
        self._messages = 0
        self._events = self._sent = self._changes = self._told = 0
        self._entered: list[EventId] = []
        self._wanted: list[EventId] = []

    # --- adding up --------------------------------------------------------------------------------

    def better(self, current: str, reports: Sequence[BrokerReport]) -> str | None:
        """Return a strategy that would have cost less for several rounds, or None.

        A round without a sample is passed over.
        """
        costs = self._costs(current, reports)
        if current not in costs:
            return None
        other = min((EVENTS, SUBSCRIPTIONS), key=lambda name: (costs[name], name == current))
        if other == current or costs[other] >= _BETTER * costs[current]:
            self._wish = "", 0
            return None
        known, rounds = self._wish
        self._wish = other, rounds + 1 if known == other else 1
        gain = (costs[current] - costs[other]) * HORIZON
        if self._wish[1] < 2 or gain <= _price(other, reports):
            return None
        self._wish = "", 0
        return other

    def _costs(self, current: str, reports: Sequence[BrokerReport]) -> dict[str, float]:
        """Return messages since the last round by strategy, as far as they can be told."""
        links = len(reports) - 1
        events = sum(report.events for report in reports)
        changes = sum(report.changes for report in reports)
        told = sum(report.told for report in reports)
        self._learn(current, reports, changes, told)
        per_change = links if self._per_change is None else self._per_change
        between = _between(reports)
        costs: dict[str, float] = {}
        if between is not None:
            costs = {EVENTS: events * links, SUBSCRIPTIONS: events * between + changes * per_change}
            costs.setdefault(current, sum(report.sent for report in reports) + told)
        for name in self._too_large(current, reports):
            costs = {EVENTS: 0.0, SUBSCRIPTIONS: inf, **costs, name: inf}
        return costs

    def _too_large(self, current: str, reports: Sequence[BrokerReport]) -> set[str]:
        """Return the strategies whose tables are too large."""
        subscriptions = sum(report.subscriptions for report in reports)
        found = {current} if current != EVENTS and _largest(reports) > self._rows_max else set()
        if self._per_table * subscriptions > self._rows_max:
            found.add(SUBSCRIPTIONS)
        return found

    def _learn(
        self, current: str, reports: Sequence[BrokerReport], changes: int, told: int
    ) -> None:
        """Remember costs that only subscription forwarding shows."""
        if current != SUBSCRIPTIONS:
            return
        if changes:
            self._per_change = told / changes
        subscriptions = sum(report.subscriptions for report in reports)
        if subscriptions:
            self._per_table = _largest(reports) / subscriptions


def _largest(reports: Sequence[BrokerReport]) -> int:
    """Return the number of rows of the largest table."""
    return max(report.subscriptions + report.rows for report in reports)


def _price(other: str, reports: Sequence[BrokerReport]) -> float:
    """Return the number of messages that a change to another strategy takes."""
    links = len(reports) - 1
    subscriptions = sum(report.subscriptions for report in reports)
    return (subscriptions * links if other == SUBSCRIPTIONS else 0) + _CONTROL * links


def _between(reports: Sequence[BrokerReport]) -> float | None:
    """Return the mean number of links between a publisher and the clients that want its event."""
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


def is_sampled(id: EventId) -> bool:
    return zlib.crc32(id.encode()) % _SAMPLE == 0


def _span(parents: Mapping[NodeId, NodeId], ends: set[NodeId]) -> int:
    """Return the number of links of the smallest subtree that joins these nodes."""
    passed: dict[NodeId, int] = {}
    for end in ends:
        while end in parents:
            passed[end] = passed.get(end, 0) + 1
            end = parents[end]
    return sum(count < len(ends) for count in passed.values())
