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
from typing import Any, Final, TypeAlias

from fyke.nodes.message import EventId, NodeId
from fyke.nodes.node import Stats
from fyke.overlay.topology import Topology
from fyke.traces.summary import Latency, Load, RunSummary, Traffic
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


def summarize(records: Iterable[Record], topology: Topology | None = None) -> RunSummary:
    """Return all numbers of a trace. Some need a topology, and are None without it."""
    meter = Meter(topology)
    for record in records:
        meter.add(record)
    return meter.summary()


class _Flow:
    """Messages so far: of one kind that went one way, or a sum of such flows."""

    __slots__ = ("bytes", "events", "messages", "way")

    def __init__(self, way: int = 0) -> None:
        self.messages = self.bytes = self.events = 0
        self.way = way
        """Its number in `Usefulness`."""

    def add(self, other: _Flow) -> None:
        self.messages += other.messages
        self.bytes += other.bytes
        self.events += other.events

    def traffic(self, useless: int = 0) -> Traffic:
        return Traffic(self.messages, self.bytes, self.events, useless)


_Links: TypeAlias = dict[tuple[NodeId, NodeId], _Flow]


class Meter:
    """Takes records. `summary` may be asked at any time."""

    def __init__(self, topology: Topology | None = None) -> None:
        self._topology = topology
        self._flows: dict[tuple[NodeId, NodeId, str, bool], _Flow] = {}
        """By sender, receiver, kind, and whether the messages went straight."""
        self._said: Counter[tuple[NodeId, str]] = Counter()
        """Accepted messages of clients, by client and kind."""
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
            Told: self._take_told,
            Sent: self._take_sent,
            Delivered: self._take_delivered,
            Accepted: self._take_accepted,
            Lost: self._take_lost,
            Happened: self._take_happened,
            Rejected: self._take_rejected,
            Held: self._take_held,
        }

    def add(self, record: Record) -> None:
        take = self._takes.get(type(record))
        if take is not None:
            take(record)

    # --- records ----------------------------------------------------------------------------------

    def _take_told(self, told: Told) -> None:
        self._clients.add(told.client)
        self._said[told.client, told.kind] += 1
        if told.kind == EVENT:
            if self._before is None:
                self._before = {name: _steps(stats) for name, stats in self._held.items()}
            if told.id:
                self._published[told.id] = told.t

    def _take_accepted(self, accepted: Accepted) -> None:
        if accepted.about == EVENT:
            self._published[accepted.id] = accepted.t

    def _take_sent(self, sent: Sent) -> None:
        key = (sent.at, sent.to, sent.kind, sent.straight)
        flow = self._flows.get(key)  # one look per message: nearly all records come here
        if flow is None:
            flow = self._flows[key] = _Flow(self._way(sent))
        flow.messages += 1
        flow.bytes += sent.bytes
        if sent.kind == EVENT:
            flow.events += 1
            if self._usefulness is not None:
                self._usefulness.passed(sent.id, flow.way)
        if sent.resent or sent.copies:
            self._counts["resent"] += sent.resent
            self._counts["copies"] += sent.copies

    def _way(self, sent: Sent) -> int:
        if self._usefulness is None:
            return 0
        return self._usefulness.way(sent.at, sent.to, sent.straight)

    def _take_delivered(self, delivered: Delivered) -> None:
        self._matched.add(delivered.id)
        self._counts["deliveries"] += 1
        self._notified[delivered.at] += len(delivered.subscriptions)
        published = self._published.get(delivered.id)
        if published is not None:
            self._latencies.append(delivered.t - published)
        if self._usefulness is not None:
            self._usefulness.delivered(delivered.id, delivered.at)

    def _take_lost(self, lost: Lost) -> None:
        if lost.at in self._clients:
            self._take_back(lost.at, lost.kind)
            return
        self._counts["lost"] += 1
        self._lost_to[lost.to] += 1
        self._lost_events[lost.to] += lost.kind == EVENT

    def _take_rejected(self, rejected: Rejected) -> None:
        self._counts["rejected"] += 1
        self._take_back(rejected.to, rejected.about)

    def _take_back(self, client: NodeId, kind: str) -> None:
        """Count one message less of a client, if it was seen in the trace."""
        if self._said[client, kind]:
            self._said[client, kind] -= 1

    def _take_held(self, held: Held) -> None:
        self._held[held.at] = held.stats

    def _take_happened(self, happened: Happened) -> None:
        """Note that a broker that crashes counts from zero again. Its last `Held` came before."""
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

    def summary(self) -> RunSummary:
        counts = self._counts
        useless = Counter[tuple[NodeId, NodeId]]()
        if self._usefulness is not None:
            useless = self._usefulness.useless()
        links, kinds = self._link_flows(), self._kind_flows()
        sent_events = sum(flow.events for flow in kinds.values())
        return RunSummary(
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
            event_links=self._event_links(links),
            useless=None if self._usefulness is None else useless.total(),
            latency=_latency(self._latencies),
            kinds={kind: flow.traffic() for kind, flow in kinds.items()},
            links={pair: flow.traffic(useless[pair]) for pair, flow in links.items()},
            brokers=self._loads(links),
        )

    def _link_flows(self) -> _Links:
        """Return the sum of all flows for each sender and receiver."""
        found: _Links = {}
        for (at, to, _, _), flow in self._flows.items():
            found.setdefault((at, to), _Flow()).add(flow)
        return found

    def _kind_flows(self) -> dict[str, _Flow]:
        found: dict[str, _Flow] = {}
        for (_, _, kind, _), flow in self._flows.items():
            found.setdefault(kind, _Flow()).add(flow)
        return found

    def _names(self, links: _Links) -> dict[NodeId, None]:
        """Return all brokers that the topology or the trace knows."""
        known = () if self._topology is None else self._topology.brokers
        ends = (end for pair in links for end in pair)
        return dict.fromkeys((*known, *self._held, *ends, *self._notified))

    def _loads(self, links: _Links) -> dict[NodeId, Load]:
        names = self._names(links)
        out, came = ({name: _Flow() for name in names} for _ in range(2))
        for (a, b), flow in links.items():
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

    def _event_links(self, links: _Links) -> int | None:
        """Return the links that events took: one between neighbours, else all on the way."""
        if self._topology is None:
            return None
        far: dict[NodeId, dict[NodeId, int]] = {}
        total = 0
        for (a, b), flow in links.items():
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
