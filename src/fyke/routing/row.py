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
    """`source` is the neighbour or client it was heard from, `home` the subscriber's broker.

    `towards` names the rendezvous that it is for; empty where there are none.
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
    """With a subscription from broker to broker; it takes the place of others that it replaces."""

    home: NodeId
    towards: tuple[str, ...] = ()
    replaces: tuple[SubscriptionKey, ...] = ()


class Resync(Control, frozen=True):
    """All that the sender wants follows, whatever it said before."""


class Synced(Control, frozen=True):
    """All that is wanted behind the sender has been said; what was not said again is void.

    `view` is a digest of what the sender goes by: the schema, and who is the rendezvous of what.
    """

    view: str = ""


class Notification(Route, frozen=True):
    """With an event that has been filtered: the receiver filters again, for those behind it."""


class Addressed(Route, frozen=True):
    """With an event that has been filtered for one subscriber, whose broker has the last word."""

    home: NodeId
    subscriber: str


NOTIFICATION: Final = Notification()


def row_of(message: Subscribe, came_from: NodeId) -> Row:
    """Return what a neighbour said as a row."""
    route = message.route
    offered = route if isinstance(route, Offered) else Offered(came_from)
    return Row(message.subscription, came_from, offered.home, offered.towards)


def key_of(message: Unsubscribe, home: NodeId) -> SubscriptionKey:
    """Return whom it is about; `home` is that of subscriptions whose sender names none."""
    route = message.route
    return route.home if isinstance(route, Offered) else home, message.id


def withdrawal(key: SubscriptionKey) -> Unsubscribe:
    """Return what takes a row back."""
    home, id = key
    return Unsubscribe(id, Offered(home))
