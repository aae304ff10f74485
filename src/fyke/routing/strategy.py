"""Strategy: decides what leaves on which link. It sees what arrived, and nothing else.

Law. On a tree of brokers whose subscriptions have settled, every event is handed to exactly the
clients that flooding with a scan at every broker would hand it to, once. While subscriptions
travel, fewer may be handed over, never others and never twice.

A strategy never raises for what a neighbour may send; for what a client may send it raises a
FykeError before anything has changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

from fyke.errors import FykeError
from fyke.events.schema import Schema
from fyke.nodes.effect import Send
from fyke.nodes.message import (
    Advertise,
    Control,
    NodeId,
    Publish,
    Subscribe,
    SubscriptionId,
    Unadvertise,
    Unsubscribe,
)
from fyke.nodes.node import Stats


@dataclass(slots=True)
class Surroundings:
    """What a broker knows about where it is; its strategy reads it."""

    me: NodeId
    brokers: dict[NodeId, bool] = field(default_factory=dict)
    """The neighbours, and whether the link to them works."""
    now: float = 0.0
    schema: Schema = field(default_factory=Schema)


class Everyone(Enum):
    """All clients of a broker."""

    EVERYONE = "everyone"


EVERYONE: Final = Everyone.EVERYONE
Audience: TypeAlias = NodeId | Everyone | None
"""Which clients of this broker an event is for: all that want it, one that wants it, none."""


class Routed(Struct, frozen=True):
    """What leaves because of an event, and whether it is held against the broker's own clients."""

    sends: list[Send]
    audience: Audience


class Strategy(ABC):
    """The algorithm of a broker. What a strategy does not care about needs no method."""

    is_direct: bool = False
    """Whether brokers also talk to brokers that are not their neighbours."""
    wake_at: float | None = None
    """When the strategy wants a tick; the broker sees to it after every input."""

    @abstractmethod
    def subscribe(self, message: Subscribe, came_from: NodeId) -> list[Send]: ...

    @abstractmethod
    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> list[Send]: ...

    @abstractmethod
    def publish(self, publish: Publish, came_from: NodeId) -> Routed: ...

    def delivered(self, publish: Publish) -> None:
        """An event has reached a client of this broker."""
        return None

    def advertise(self, message: Advertise | Unadvertise, came_from: NodeId) -> list[Send]:
        """What a publisher will publish."""
        return []

    def control(self, message: Control, came_from: NodeId) -> list[Send]:
        """A message of the strategy's own."""
        raise FykeError(f"{type(self).__name__} does not know {type(message).__name__}")

    def link_up(self, peer: NodeId) -> list[Send]:
        """The link to a broker works, for the first time or again."""
        return []

    def link_down(self, peer: NodeId) -> list[Send]:
        """It does not; what the neighbour wanted may still hold."""
        return []

    def forget(self, peer: NodeId) -> list[Send]:
        """A neighbour or a client has left for good."""
        return []

    def reconsider(self) -> list[Send]:
        """The schema has changed."""
        return []

    def command(self, message: Control, client: NodeId) -> list[Send]:
        """A client tells the strategy itself what to do."""
        raise FykeError(f"{type(self).__name__} takes no {type(message).__name__} from clients")

    def tick(self) -> list[Send]:
        """The time has come that `wake_at` asked for."""
        return []

    def tables(self) -> dict[str, dict[NodeId, dict[SubscriptionId, str]]]:
        """What neighbours want ("heard") and were told to want ("told"), as text."""
        return {"heard": {}, "told": {}}

    def count(self, stats: Stats) -> None:
        """Adds what the strategy holds and has done."""
        return None
