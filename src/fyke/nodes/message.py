"""Messages: what travels over links, as immutable values.

Clients and brokers speak the same language: a broker that hands a subscription on acts as the
subscriber. Two bases are left to algorithms, which define their kinds beside themselves:

    Control    a message of an algorithm's own
    Route      what an event or a subscription carries on its way; the event stays untouched

Links keep the order of messages per direction (DAS-25, DAS-29).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription

NodeId: TypeAlias = str
"""The name of a broker, a peer or a client."""
EventId: TypeAlias = str
SubscriptionId: TypeAlias = str
SubscriptionKey: TypeAlias = tuple[NodeId, SubscriptionId]
"""A subscription in the whole overlay: its home broker and its id there."""


class Message(Struct, frozen=True):
    """A message from one node to another."""


class Control(Message, frozen=True):
    """A message that an algorithm defines for itself."""


class Route(Struct, frozen=True):
    """Data that travels along with an event or a subscription."""


class Connect(Message, frozen=True):
    """A client connects."""


class Disconnect(Message, frozen=True):
    """The sender leaves for good. All its subscriptions end."""


class Subscribe(Message, frozen=True):
    """The sender wants the events that a filter accepts."""

    subscription: Subscription
    route: Route | None = None


class Unsubscribe(Message, frozen=True):
    """A subscription of the sender ends."""

    id: SubscriptionId
    route: Route | None = None


class Advertise(Message, frozen=True):
    """The sender will publish only events that one of its advertised filters accepts.

    `stages` are the attributes on which brokers may filter such events, from the subscriber (stage
    0) to the root of a tree. Each is part of the one before; empty if the publisher does not care.
    """

    id: str
    filter: Filter
    stages: tuple[tuple[str, ...], ...] = ()


class Unadvertise(Message, frozen=True):
    """An advertisement of the sender ends."""

    id: str


class Publish(Message, frozen=True):
    """An event on its way. `id` is unique in the system; `epoch` is that of its first broker."""

    id: EventId
    event: Event
    epoch: int = 0
    route: Route | None = None


class Declare(Message, frozen=True):
    """A type of events, an attribute that all may have, or a named domain, as documents (DAS-7).

    Of several declarations of one name, the one with the highest (version, author) holds.
    `document` is None if the name is no longer declared.
    """

    what: str
    name: str
    document: dict[str, object] | None
    version: int = 0
    author: NodeId = ""


class Learn(Message, frozen=True):
    """The sender wants to know the schema, now and whenever it changes."""


MESSAGES: tuple[type[Message], ...] = (
    Connect,
    Disconnect,
    Subscribe,
    Unsubscribe,
    Advertise,
    Unadvertise,
    Publish,
    Declare,
    Learn,
)
"""The kinds that every node knows."""

if TYPE_CHECKING:
    Kind: TypeAlias = type[Message] | type[Route]
