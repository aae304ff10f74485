"""Row: a subscription as a broker knows it, and how brokers tell it to each other."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from fyke.filters.subscription import Subscription
from fyke.nodes.message import Control, NodeId, Route, Subscribe, SubscriptionId


class Row(Struct, frozen=True):
    """`source` is the neighbour or client it was heard from, `home` the subscriber's broker.

    `towards` names the rendezvous that it is for; empty where there are none.
    """

    subscription: Subscription
    source: NodeId
    home: NodeId
    towards: tuple[str, ...] = ()

    @property
    def subscriber(self) -> tuple[NodeId, str]:
        return self.home, self.subscription.subscriber or ""


class Offered(Route, frozen=True):
    """With a subscription from broker to broker; it takes the place of others that it replaces."""

    home: NodeId
    towards: tuple[str, ...] = ()
    replaces: tuple[SubscriptionId, ...] = ()


class Resync(Control, frozen=True):
    """All that the sender wants follows, whatever it said before."""


class Synced(Control, frozen=True):
    """That was all; what was not said again is void."""


class Notification(Route, frozen=True):
    """With an event that has been filtered: the receiver filters again, for those behind it."""


class Addressed(Route, frozen=True):
    """With an event that has been filtered for one subscriber, whose broker has the last word."""

    home: NodeId
    subscriber: str


NOTIFICATION: Final = Notification()


def row_of(message: Subscribe, came_from: NodeId) -> Row:
    """What a neighbour said."""
    route = message.route
    offered = route if isinstance(route, Offered) else Offered(came_from)
    return Row(message.subscription, came_from, offered.home, offered.towards)
