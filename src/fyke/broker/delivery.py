"""Delivery: the subscriptions of a broker's own clients, and the last, exact look at every event.

Whatever a strategy approximates on the way, here an event is held against the filters as they were
subscribed. Nothing else reaches a client.
"""

from __future__ import annotations

from fyke.errors import FykeError, shown
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Deliver
from fyke.nodes.message import NodeId, Publish, SubscriptionId
from fyke.routing.interests import FilterGroup
from fyke.routing.strategy import EVERYONE, Audience


class LocalDelivery:
    """The subscriptions of a broker's own clients, by id."""

    def __init__(self, searched: FilterGroup[SubscriptionId]) -> None:
        self._searched = searched
        self._subscriptions: dict[SubscriptionId, Subscription] = {}

    def __contains__(self, id: object) -> bool:
        return id in self._subscriptions

    def __len__(self) -> int:
        return len(self._subscriptions)

    def add(self, subscription: Subscription) -> None:
        self._searched.add(subscription.id, subscription.filter)
        self._subscriptions[subscription.id] = subscription

    def get(self, id: SubscriptionId, client: NodeId) -> Subscription:
        """Return a client's subscription. FykeError unless the client has it."""
        known = self._subscriptions.get(id)
        if known is None or known.subscriber != client:
            raise FykeError(f"{client} has no subscription {shown(id)}")
        return known

    def remove(self, id: SubscriptionId) -> None:
        self._searched.remove(id)
        del self._subscriptions[id]

    def of(self, client: NodeId) -> list[Subscription]:
        return [each for each in self._subscriptions.values() if each.subscriber == client]

    def deliver(self, publish: Publish, audience: Audience) -> list[Deliver]:
        """Deliver the event once to each client that wants it, with the ids that accept it."""
        found: dict[NodeId, list[SubscriptionId]] = {}
        for id in self._searched.match(publish.event):
            client = self._subscriptions[id].subscriber or ""
            if audience is EVERYONE or client == audience:
                found.setdefault(client, []).append(id)
        return [Deliver(client, publish, tuple(ids)) for client, ids in found.items()]
