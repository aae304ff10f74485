"""Summary: what a trace comes to. Every number is a formula over its records.

Three things are called hops in the literature, and have a name each (`messages_per_event`,
`receptions_per_event`, `links_per_event`). Each formula stands with its property. An average over
nothing is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import asdict

from fyke.nodes.message import NodeId
from fyke.nodes.node import Stats


@dataclass(frozen=True, slots=True)
class Traffic:
    """Messages of one kind, or in one direction of a link."""

    messages: int = 0
    bytes: int = 0
    events: int = 0
    """Messages that carried an event."""
    useless: int = 0
    """Of these, those behind whose receiver no client got the event."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from a client's publication to another one's delivery."""

    mean_s: float = 0.0
    median_s: float = 0.0
    p99_s: float = 0.0
    max_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Load:
    """The work of one broker, and what it holds in the end."""

    sent: int = 0
    received: int = 0
    bytes: int = 0
    """Of both."""
    event_messages: int = 0
    """Of both, with an event."""
    notified: int = 0
    """Subscriptions of its clients that got an event."""
    matching: int = 0
    """Probes, candidates and checks of its matchers since the first event was published."""
    held: Stats = field(default_factory=Stats)

    @property
    def messages(self) -> int:
        return self.sent + self.received

    @property
    def work(self) -> int:
        """event messages sent and received + subscriptions notified + steps of matching."""
        return self.event_messages + self.notified + self.matching

    @property
    def table(self) -> int:
        """subscriptions of its clients + those heard from neighbours."""
        return self.held.subscriptions + self.held.rows


@dataclass(frozen=True, slots=True)
class RunSummary:
    """Numbers of one run. Link traffic is by direction; sizes come from the last `Held` records."""

    events: int = 0
    """Published by clients, and accepted."""
    matched: int = 0
    """Of these, those that some client got."""
    deliveries: int = 0
    """Pairs of an event and a client that got it."""
    notified: int = 0
    """Pairs of an event and a subscription for which it was delivered."""
    subscribed: int = 0
    rejected: int = 0
    lost: int = 0
    """Messages that were on their way over a link that broke, or to a node that stopped."""
    resent: int = 0
    """Frames that got lost below the links, and were sent again."""
    copies: int = 0
    """Frames that came twice, and were thrown away."""
    event_receptions: int = 0
    event_links: int | None = None
    useless: int | None = None
    latency: Latency = field(default_factory=Latency)
    kinds: Mapping[str, Traffic] = field(default_factory=dict)
    links: Mapping[tuple[NodeId, NodeId], Traffic] = field(default_factory=dict)
    brokers: Mapping[NodeId, Load] = field(default_factory=dict)

    # --- traffic ----------------------------------------------------------------------------------

    @property
    def messages(self) -> int:
        """Between brokers, of all kinds."""
        return sum(each.messages for each in self.kinds.values())

    @property
    def bytes(self) -> int:
        return sum(each.bytes for each in self.kinds.values())

    @property
    def event_messages(self) -> int:
        """Between brokers, with an event."""
        return sum(each.events for each in self.kinds.values())

    @property
    def control_messages(self) -> int:
        """messages - event messages: what it takes to know where events go."""
        return self.messages - self.event_messages

    @property
    def network_load(self) -> float:
        """event messages / events (DAS-39)."""
        return _ratio(self.event_messages, self.events)

    @property
    def messages_per_event(self) -> float:
        """Hops as SUM counts them: event messages / events, however far a message goes."""
        return self.network_load

    @property
    def receptions_per_event(self) -> float:
        """Hops as DAS counts them: event messages that arrived / events."""
        return _ratio(self.event_receptions, self.events)

    @property
    def links_per_event(self) -> float | None:
        """Links of the overlay under the event messages / events; direct ones take many."""
        return None if self.event_links is None else _ratio(self.event_links, self.events)

    @property
    def useless_share(self) -> float | None:
        """False positives: event messages with no client behind them / event messages."""
        return None if self.useless is None else _ratio(self.useless, self.event_messages)

    # --- matches ----------------------------------------------------------------------------------

    @property
    def p_e(self) -> float:
        """events with a match / events (DAS-40)."""
        return _ratio(self.matched, self.events)

    @property
    def p_p(self) -> float:
        """notified subscriptions / events (DAS-40)."""
        return _ratio(self.notified, self.events)

    @property
    def sigma(self) -> float:
        """p_p / p_e: subscriptions that an event matches if it matches any (DAS-40)."""
        return _ratio(self.notified, self.matched)

    # --- memory and work --------------------------------------------------------------------------

    @property
    def duplication(self) -> float:
        """subscriptions held over all brokers / subscriptions held by clients (DAS-39)."""
        held = [load.held for load in self.brokers.values()]
        by_clients = sum(each.subscriptions for each in held)
        return _ratio(by_clients + sum(each.rows for each in held), by_clients)

    @property
    def largest_table(self) -> int:
        """The most subscriptions that one broker holds."""
        return max((load.table for load in self.brokers.values()), default=0)

    @property
    def bottleneck(self) -> NodeId | None:
        """The broker with most work; of several, the first."""
        return max(self.brokers, key=lambda name: self.brokers[name].work, default=None)

    @property
    def throughput(self) -> float:
        """events / work of the bottleneck: what the overlay manages per step of one broker."""
        return _ratio(self.events, max((load.work for load in self.brokers.values()), default=0))

    def document(self) -> dict[str, object]:
        """Return all numbers as plain data."""
        return {
            **{name: getattr(self, name) for name in _COUNTS},
            **{name: getattr(self, name) for name in _RATIOS},
            "bottleneck": self.bottleneck,
            "latency": {name: getattr(self.latency, name) for name in Latency.__slots__},
            "kinds": {kind: _plain(each) for kind, each in self.kinds.items()},
            "links": [{"from": a, "to": b, **_plain(each)} for (a, b), each in self.links.items()],
            "brokers": {
                name: {**_plain(load), "work": load.work, "held": asdict(load.held)}
                for name, load in self.brokers.items()
            },
        }


_COUNTS = (
    *("events", "matched", "deliveries", "notified", "subscribed", "rejected", "lost", "resent"),
    *("copies", "messages", "bytes", "event_messages", "control_messages", "event_receptions"),
    *("event_links", "useless", "largest_table"),
)
_RATIOS = (
    *("network_load", "receptions_per_event", "links_per_event", "useless_share", "p_e", "p_p"),
    *("sigma", "duplication", "throughput"),
)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _plain(value: Traffic | Load) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__slots__}
