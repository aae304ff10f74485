"""Effects: what a node wants done.

Law. A list of effects is one transaction, in order: what follows a `Store` leaves only when that is
safe, and nothing of it leaves if the node stops before.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from fyke.nodes.message import Message, NodeId, Publish, SubscriptionId

Key: TypeAlias = tuple[str, ...]
"""The name of a record: texts that are never joined, so that no two names look alike."""


class Send(Struct, frozen=True, gc=False):
    """Send a message over the link to a neighbour, or straight to any node by its name."""

    to: NodeId
    message: Message
    is_straight: bool = False


class Deliver(Struct, frozen=True, gc=False):
    """Hand an event to a client, with those of its subscriptions that accept it."""

    client: NodeId
    publish: Publish
    subscriptions: tuple[SubscriptionId, ...]


class Wake(Struct, frozen=True):
    """Send a tick at a time of the clock that inputs come with.

    A background tick (a lease, gossip, weighing) keeps nobody waiting: an overlay in which nothing
    else is left to happen is quiet.
    """

    at: float
    is_background: bool = False


class Store(Struct, frozen=True):
    """Keep a record through crashes; None forgets it."""

    key: Key
    record: Message | None


class Inform(Struct, frozen=True):
    """Tell a client which schema is in force, as a document."""

    client: NodeId
    schema: dict[str, object]


class Accept(Struct, frozen=True):
    """Tell the sender of something under which id it was accepted, where it gave none."""

    to: NodeId
    about: str
    id: str


class Reject(Struct, frozen=True):
    """Tell the sender that something was not accepted, and changed nothing."""

    to: NodeId
    about: str
    reason: str


Effect: TypeAlias = Send | Deliver | Wake | Store | Inform | Accept | Reject
