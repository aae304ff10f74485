"""Event forwarding: events go everywhere, subscriptions stay at home.

Idea. A broker sends every event to all its neighbours except the one it came from, and holds it
against its own clients. Nothing has to travel before events do: it is the baseline, and the
definition of what other strategies must deliver.
Cost. n - 1 messages an event in a tree of n brokers; a subscription is stored once.
Source. DAS-31 (EF).
"""

from __future__ import annotations

from fyke.nodes.effect import Send
from fyke.nodes.message import NodeId, Publish, Subscribe, Unsubscribe
from fyke.routing.strategy import EVERYONE, NOTHING, Decision, Strategy, Surroundings


class EventForwarding(Strategy):
    """Keeps no tables."""

    def __init__(self, here: Surroundings) -> None:
        self._here = here

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        others = []
        for peer in self._here.brokers:
            if peer != came_from:
                others.append(Send(peer, publish))
        return Decision(others, EVERYONE)

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        return NOTHING

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision:
        return NOTHING
