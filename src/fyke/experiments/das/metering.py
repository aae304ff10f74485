"""Metering: what an overlay did while events went through, broker by broker.

A broker's *steps* are the events it holds against its filters, the messages with events that it
receives from and sends to other brokers, and the notifications of its clients, one per profile.
They stand for the work of DAS 5: filtering and post-filtering, communication, notification. The
same events take the same steps, whatever machine runs them. Messages and notifications are counted
in the trace; filtering and the questions to the index (`probes`) by the brokers themselves. Seconds
are those of the processor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import thread_time
from typing import Final

from fyke.errors import FykeError
from fyke.nodes.codec import Codec
from fyke.nodes.effect import Effect
from fyke.nodes.inputs import Input, Received
from fyke.nodes.message import EventId, Message, NodeId, Publish
from fyke.nodes.node import Node, Stats
from fyke.traces.trace import Delivered, Record, Rejected, Sent


@dataclass(slots=True)
class BrokerMeter:
    """One broker's."""

    filtered: int = 0
    received: int = 0
    sent: int = 0
    notified: int = 0
    probes: int = 0
    """Values looked up in the index: part of filtering, and no step of its own."""
    seconds: float = 0.0

    @property
    def steps(self) -> int:
        return self.filtered + self.received + self.sent + self.notified


COUNTERS: Final = ("filtered", "received", "sent", "notified")
"""The counters that make up steps."""


class Tally:
    """Takes a trace and only counts."""

    def __init__(self, brokers: tuple[NodeId, ...]) -> None:
        self._brokers = brokers
        self.meters: dict[NodeId, BrokerMeter] = {}
        self.clear()

    def clear(self) -> None:
        self.messages = self.bytes = self.notified = 0
        self.matched: set[EventId] = set()
        self.meters.clear()
        self.meters.update((broker, BrokerMeter()) for broker in self._brokers)

    def __call__(self, record: Record) -> None:
        if isinstance(record, Sent):
            if record.kind == "Publish":
                self._sent(record)
        elif isinstance(record, Delivered):
            self.matched.add(record.id)
            self.notified += len(record.subscriptions)
            self.meters[record.at].notified += len(record.subscriptions)
        elif isinstance(record, Rejected):
            raise FykeError(f"{record.at} refused {record.about} of {record.to}: {record.reason}")

    def _sent(self, record: Sent) -> None:
        self.messages += 1
        self.bytes += record.bytes
        self.meters[record.at].sent += 1
        self.meters[record.to].received += 1

    def add(self, before: Mapping[NodeId, Stats], after: Mapping[NodeId, Stats]) -> None:
        """Take what brokers have counted between two moments."""
        for broker, meter in self.meters.items():
            meter.filtered += after[broker].matched - before[broker].matched
            meter.probes += after[broker].probes - before[broker].probes

    @property
    def busiest(self) -> NodeId:
        """The broker with most steps; of several, the first."""
        return max(self.meters, key=lambda broker: self.meters[broker].steps)


class Timed:
    """A node whose time with events is taken; that with profiles would cost more than it tells."""

    __slots__ = ("_meter", "_node")

    def __init__(self, node: Node, meter: Callable[[], BrokerMeter]) -> None:
        self._node = node
        self._meter = meter

    def handle(self, input: Input, now: float) -> list[Effect]:
        if not isinstance(input, Received) or not isinstance(input.message, Publish):
            return self._node.handle(input, now)
        begin = thread_time()
        effects = self._node.handle(input, now)
        self._meter().seconds += thread_time() - begin
        return effects

    def stats(self) -> Stats:
        return self._node.stats()


class EventsWeighed(Codec):
    """Messages with events have a size; of others, of which there are millions, it is not asked."""

    __slots__ = ("_codec",)

    _codec: Codec

    def __init__(self, codec: Codec) -> None:
        object.__setattr__(self, "_codec", codec)

    def size(self, message: Message) -> int:
        return self._codec.size(message) if isinstance(message, Publish) else 0
