"""Metrics: all numbers of a trace in one pass over it, or while it is made.

    summarize(read("trace.jsonl"), topology).network_load

    meter = Meter(topology)
    Simulation(topology, make, write=meter.add).run()
    meter.summary()

Memory: counters per broker and link, and per event the time of its publication, the links it took
and the brokers that delivered it (a few bytes each).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from fyke.nodes.message import EventId, NodeId
from fyke.nodes.node import Stats
from fyke.overlay.topology import Topology
from fyke.traces.summary import Latency, Load, Summary, Traffic
from fyke.traces.trace import (
    Accepted,
    Delivered,
    Happened,
    Held,
    Lost,
    Record,
    Rejected,
    Sent,
    Told,
)
from fyke.traces.usefulness import Usefulness

EVENT: Final = "Publish"
"""The kind of messages that carry events."""


def summarize(records: Iterable[Record], topology: Topology | None = None) -> Summary:
    """All numbers of a trace. Some need to know the overlay, and are None without it."""
    meter = Meter(topology)
    for record in records:
        meter.add(record)
    return meter.summary()


class _Flow:
    """What went one way, or under one name, so far."""

    __slots__ = ("bytes", "events", "messages")

    def __init__(self) -> None:
        self.messages = self.bytes = self.events = 0

    def add(self, other: _Flow) -> None:
        self.messages += other.messages
        self.bytes += other.bytes
        self.events += other.events

    def traffic(self, useless: int = 0) -> Traffic:
        return Traffic(self.messages, self.bytes, self.events, useless)


class Meter:
    """Takes records; `summary` may be asked at any time."""

    def __init__(self, topology: Topology | None = None) -> None:
        self._topology = topology
        self._kinds: dict[str, _Flow] = {}
        self._links: dict[tuple[NodeId, NodeId], _Flow] = {}
        self._said: Counter[tuple[NodeId, str]] = Counter()
        """What clients said and was accepted, by client and kind."""
        self._counts: Counter[str] = Counter()
        self._clients: set[NodeId] = set()
        self._published: dict[EventId, float] = {}
        self._matched: set[EventId] = set()
        self._latencies = array("d")
        self._notified: Counter[NodeId] = Counter()
        self._lost_to: Counter[NodeId] = Counter()
        self._lost_events: Counter[NodeId] = Counter()
        self._held: dict[NodeId, Stats] = {}
        self._before: dict[NodeId, int] | None = None
        """Steps of matching before the first event, by broker."""
        self._earlier: Counter[NodeId] = Counter()
        """Steps of matching in earlier lives, by broker, since the first event."""
        is_tree = topology is not None and topology.is_tree()
        self._usefulness = Usefulness(topology) if topology is not None and is_tree else None
        self._takes: dict[type[Record], Callable[[Any], None]] = {
            Told: self._told,
            Sent: self._sent,
            Delivered: self._delivered,
            Accepted: self._accepted,
            Lost: self._lost,
            Happened: self._happened,
            Rejected: self._rejected,
            Held: self._holds,
        }

    def add(self, record: Record) -> None:
        take = self._takes.get(type(record))
        if take is not None:
            take(record)

    # --- records ----------------------------------------------------------------------------------

    def _told(self, told: Told) -> None:
        self._clients.add(told.client)
        self._said[told.client, told.kind] += 1
        if told.kind == EVENT:
            if self._before is None:
                self._before = {name: _steps(stats) for name, stats in self._held.items()}
            if told.id:
                self._published[told.id] = told.t

    def _accepted(self, accepted: Accepted) -> None:
        if accepted.about == EVENT:
            self._published[accepted.id] = accepted.t

    def _sent(self, sent: Sent) -> None:
        pair = (sent.at, sent.to)
        flow, kind = self._links.get(pair), self._kinds.get(sent.kind)
        if flow is None:
            flow = self._links[pair] = _Flow()
        if kind is None:
            kind = self._kinds[sent.kind] = _Flow()
        flow.messages += 1
        kind.messages += 1
        flow.bytes += sent.bytes
        kind.bytes += sent.bytes
        if sent.kind == EVENT:
            flow.events += 1
            kind.events += 1
            if self._usefulness is not None:
                self._usefulness.passed(sent.id, pair, sent.straight)
        if sent.resent or sent.copies:
            self._counts["resent"] += sent.resent
            self._counts["copies"] += sent.copies

    def _delivered(self, delivered: Delivered) -> None:
        self._matched.add(delivered.id)
        self._counts["deliveries"] += 1
        self._notified[delivered.at] += len(delivered.subscriptions)
        published = self._published.get(delivered.id)
        if published is not None:
            self._latencies.append(delivered.t - published)
        if self._usefulness is not None:
            self._usefulness.delivered(delivered.id, delivered.at)

    def _lost(self, lost: Lost) -> None:
        if lost.at in self._clients:
            self._take_back(lost.at, lost.kind)
            return
        self._counts["lost"] += 1
        self._lost_to[lost.to] += 1
        self._lost_events[lost.to] += lost.kind == EVENT

    def _rejected(self, rejected: Rejected) -> None:
        self._counts["rejected"] += 1
        self._take_back(rejected.to, rejected.about)

    def _take_back(self, client: NodeId, kind: str) -> None:
        """Count what a client said as not said, if a record of it was seen."""
        if self._said[client, kind]:
            self._said[client, kind] -= 1

    def _holds(self, held: Held) -> None:
        self._held[held.at] = held.stats

    def _happened(self, happened: Happened) -> None:
        """A broker that crashes begins to count anew; what it held last was noted before."""
        if happened.what == "crashed":
            stats = self._held.pop(happened.at, Stats())
            if self._before is not None:
                self._earlier[happened.at] += self._since(happened.at, stats)
                self._before.pop(happened.at, None)

    def _since(self, name: NodeId, held: Stats) -> int:
        """Return the steps of matching of this life since the first event."""
        if self._before is None:
            return 0
        steps, earlier = _steps(held), self._before.get(name, 0)
        return steps - earlier if steps >= earlier else steps

    def _accepted_of(self, kind: str) -> int:
        return sum(count for (_, said), count in self._said.items() if said == kind)

    # --- what it comes to -------------------------------------------------------------------------

    def summary(self) -> Summary:
        counts = self._counts
        useless = Counter[tuple[NodeId, NodeId]]()
        if self._usefulness is not None:
            useless = self._usefulness.useless()
        sent_events = sum(flow.events for flow in self._kinds.values())
        return Summary(
            events=self._accepted_of(EVENT),
            matched=len(self._matched),
            deliveries=counts["deliveries"],
            notified=self._notified.total(),
            subscribed=self._accepted_of("Subscribe"),
            rejected=counts["rejected"],
            lost=counts["lost"],
            resent=counts["resent"],
            copies=counts["copies"],
            event_receptions=sent_events - self._lost_events.total(),
            event_links=self._event_links(),
            useless=None if self._usefulness is None else useless.total(),
            latency=_latency(self._latencies),
            kinds={kind: flow.traffic() for kind, flow in self._kinds.items()},
            links={pair: flow.traffic(useless[pair]) for pair, flow in self._links.items()},
            brokers=self._loads(),
        )

    def _names(self) -> dict[NodeId, None]:
        """All brokers that the topology or the trace knows."""
        known = () if self._topology is None else self._topology.brokers
        ends = (end for pair in self._links for end in pair)
        return dict.fromkeys((*known, *self._held, *ends, *self._notified))

    def _loads(self) -> dict[NodeId, Load]:
        names = self._names()
        out, came = ({name: _Flow() for name in names} for _ in range(2))
        for (a, b), flow in self._links.items():
            out[a].add(flow)
            came[b].add(flow)
        return {name: self._load(name, out[name], came[name]) for name in names}

    def _load(self, name: NodeId, out: _Flow, came: _Flow) -> Load:
        held = self._held.get(name, Stats())
        return Load(
            sent=out.messages,
            received=came.messages - self._lost_to[name],
            bytes=out.bytes + came.bytes,
            event_messages=out.events + came.events - self._lost_events[name],
            notified=self._notified[name],
            matching=self._earlier[name] + self._since(name, held),
            held=held,
        )

    def _event_links(self) -> int | None:
        """A message between neighbours takes a link, a direct one all on the way."""
        if self._topology is None:
            return None
        far: dict[NodeId, dict[NodeId, int]] = {}
        total = 0
        for (a, b), flow in self._links.items():
            if flow.events and b not in self._topology.neighbors(a):
                if a not in far:
                    far[a] = self._topology.distances(a)
                total += flow.events * far[a].get(b, 0)
            else:
                total += flow.events
        return total


def _steps(stats: Stats) -> int:
    """Return the steps of matching."""
    return stats.probes + stats.candidates + stats.checks


def _latency(latencies: array[float]) -> Latency:
    if not latencies:
        return Latency()
    ordered, count = sorted(latencies), len(latencies)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return Latency(sum(ordered) / count, middle, ordered[(99 * count - 1) // 100], ordered[-1])
