"""Effects: what a node wants done."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from fyke.nodes.message import Message, NodeId, Publish, SubscriptionId


class Send(Struct, frozen=True):
    """To a neighbour; or straight to another node, where the algorithm may do that."""

    to: NodeId
    message: Message


class Deliver(Struct, frozen=True):
    """An event to a client, with those of its subscriptions that accept it."""

    client: NodeId
    publish: Publish
    subscriptions: tuple[SubscriptionId, ...]


class Wake(Struct, frozen=True):
    """A tick at a time of the clock that inputs come with."""

    at: float


class Store(Struct, frozen=True):
    """Keep a record through crashes; None forgets it."""

    key: str
    record: Message | None


class Reject(Struct, frozen=True):
    """The sender of something unacceptable is told so; nothing else came of it."""

    to: NodeId
    about: str
    reason: str


Effect: TypeAlias = Send | Deliver | Wake | Store | Reject
