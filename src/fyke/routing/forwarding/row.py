"""Row: a subscription as a broker knows it, and how brokers tell it to each other."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from fyke.filters.subscription import Subscription
from fyke.nodes.message import (
    Control,
    NodeId,
    Route,
    Subscribe,
    SubscriptionKey,
    Unsubscribe,
)

MERGED: Final = ""
"""The home of subscriptions that brokers make of several: no broker has this name, so no client's
subscription has their key."""


class Row(Struct, frozen=True):
    """A subscription, its `source` (neighbour or client), and its `home` (the subscriber's broker).

    `towards` names the rendezvous to which it goes; empty if there are none.
    """

    subscription: Subscription
    source: NodeId
    home: NodeId
    towards: tuple[str, ...] = ()

    @property
    def key(self) -> SubscriptionKey:
        return self.home, self.subscription.id

    @property
    def subscriber(self) -> tuple[NodeId, str]:
        return self.home, self.subscription.subscriber or ""


class Offered(Route, frozen=True):
    """Travels with a subscription from broker to broker. It takes the place of `replaces`."""

    home: NodeId
    towards: tuple[str, ...] = ()
    replaces: tuple[SubscriptionKey, ...] = ()


class Resync(Control, frozen=True):
    """The sender will tell again all that it wants."""


class Synced(Control, frozen=True):
    """The sender has told all that is wanted behind it. What it did not tell again is void.

    `view` is a digest of the schema and the rendezvous that the sender knows.
    """

    view: str = ""


class Notification(Route, frozen=True):
    """Marks an event that has been filtered. The receiver filters it again, for those behind it."""


class Addressed(Route, frozen=True):
    """Marks an event that has been filtered for one subscriber. Its broker filters exactly."""

    home: NodeId
    subscriber: str


NOTIFICATION: Final = Notification()


def row_of(message: Subscribe, came_from: NodeId) -> Row:
    """Return the row of a neighbour's message."""
    route = message.route
    offered = route if isinstance(route, Offered) else Offered(came_from)
    return Row(message.subscription, came_from, offered.home, offered.towards)


def key_of(message: Unsubscribe, home: NodeId) -> SubscriptionKey:
    """Return the key of the subscription; `home` is the default if the message names none."""
    route = message.route
    return route.home if isinstance(route, Offered) else home, message.id


def withdrawal(key: SubscriptionKey) -> Unsubscribe:
    """Return the message that withdraws a row."""
    home, id = key
    return Unsubscribe(id, Offered(home))
