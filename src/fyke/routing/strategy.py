"""Strategy: decides what leaves on which link. It sees what arrived, and nothing else.

Law. On a tree of brokers whose subscriptions have settled, every event is handed to exactly the
clients that flooding with a scan at every broker would hand it to, once. While subscriptions
travel, fewer may be handed over, never others and never twice. While something is broken, an event
still reaches every broker that runs, can be reached, and whose subscriptions had settled before.

A strategy answers with a value, `Decision`; there is nothing beside it that a strategy around
another one could forget. It never raises for what a neighbour may send; for what a client may send
it raises a FykeError before anything has changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Final, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from fyke.errors import FykeError
from fyke.events.schema import Schema
from fyke.nodes.effect import Accept, Key, Send, Store, Wake
from fyke.nodes.message import (
    Advertise,
    Control,
    Message,
    NodeId,
    Publish,
    Subscribe,
    SubscriptionId,
    SubscriptionKey,
    Unadvertise,
    Unsubscribe,
)
from fyke.nodes.node import Stats
from fyke.routing.interests import FilterGroup, Interests


@dataclass(slots=True)
class Surroundings:
    """The knowledge of a broker about its place. Its strategy reads it."""

    me: NodeId
    interests: Interests = field(default_factory=Interests)
    """The matcher of strategies and local delivery. It searches once for an event."""
    brokers: dict[NodeId, bool] = field(default_factory=dict)
    """The neighbours, and whether the link to them works."""
    now: float = 0.0
    schema: Schema = field(default_factory=Schema)
    declared: str = ""
    """A digest of what the schema was made of: brokers of one digest have one schema."""
    local: FilterGroup[SubscriptionId] = field(init=False)
    """The filters of the broker's own clients."""

    def __post_init__(self) -> None:
        self.local = FilterGroup(self.interests)


class Everyone(Enum):
    """All clients of a broker."""

    EVERYONE = "everyone"


EVERYONE: Final = Everyone.EVERYONE
Audience: TypeAlias = NodeId | Everyone | None
"""Which clients of this broker an event is for: all that want it, one that wants it, none."""


class Decision(Struct, frozen=True, gc=False):
    """Messages that leave, clients that an event is for, and when to be woken.

    `records` are safe before anything leaves; `answers` tell clients what became of their wishes.
    """

    sends: Sequence[Send] = ()
    audience: Audience = None
    wakes: Sequence[Wake] = ()
    records: Sequence[Store] = ()
    answers: Sequence[Accept] = ()

    def and_then(self, *others: Decision) -> Decision:
        """Return this decision and others as one. The audience is that of this one."""
        if not others:
            return self
        every = (self, *others)
        return Decision(
            [send for each in every for send in each.sends],
            self.audience,
            [wake for each in every for wake in each.wakes],
            tuple(record for each in every for record in each.records),
            tuple(answer for each in every for answer in each.answers),
        )


NOTHING: Final = Decision()


class Strategy(ABC):
    """The algorithm of a broker. A method that a strategy does not need does nothing."""

    needs_tree: ClassVar[bool] = True
    """True if there has to be exactly one way between any two brokers."""

    @abstractmethod
    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision: ...

    @abstractmethod
    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision: ...

    @abstractmethod
    def publish(self, publish: Publish, came_from: NodeId) -> Decision: ...

    def advertise(self, message: Advertise | Unadvertise, came_from: NodeId) -> Decision:
        """Take in the events that a publisher will publish."""
        return NOTHING

    def control(self, message: Control, came_from: NodeId) -> Decision:
        """Take in a message of this strategy, from a neighbour or a client."""
        raise FykeError(f"{type(self).__name__} takes no {type(message).__name__}")

    def straight(self, message: Message, sender: NodeId) -> Decision:
        """Take in a message that came straight from a broker."""
        kind = type(message).__name__
        raise FykeError(f"{type(self).__name__} takes no {kind} from {sender}, no neighbour")

    def unreachable(self, peer: NodeId, message: Message) -> Decision:
        """Learn that a message did not reach a node."""
        return NOTHING

    def link_up(self, peer: NodeId) -> Decision:
        """Learn that the link to a neighbour works, for the first time or again."""
        return NOTHING

    def link_down(self, peer: NodeId) -> Decision:
        """Learn that a link is down. What the neighbour wanted may still hold."""
        return NOTHING

    def joined(self, peer: NodeId) -> Decision:
        """Learn of a new neighbour. Its link is not up yet."""
        return NOTHING

    def forget(self, peer: NodeId) -> Decision:
        """Forget a neighbour or a client that has left for good."""
        return NOTHING

    def reconsider(self) -> Decision:
        """Use another schema."""
        return NOTHING

    def tick(self) -> Decision:
        """Do what is due. A tick may come for something else."""
        return NOTHING

    def recover(self, key: Key, record: Control) -> Decision:
        """Take up a record that this strategy has stored, before any link is up."""
        return NOTHING

    def close(self) -> None:
        """Release what is shared with others at this broker. Nobody asks any more."""
        return None


Tables: TypeAlias = dict[str, dict[NodeId, dict[SubscriptionKey, str]]]
"""Filters that neighbours want ("heard") and were told ("told"), as text."""


@runtime_checkable
class Inspected(Protocol):
    """A strategy that reports what it holds, for metrics, tests and pictures."""

    def tables(self) -> Tables: ...

    def count(self, stats: Stats) -> None:
        """Add what the strategy holds and has done."""
        ...
