"""A model of Siena: how far subscriptions spread if each is subsumed with some probability.

It counts messages where the subscriptions themselves are not given: a broker B does not forward a
subscription to a neighbour with probability p_max * degree(B) / largest degree, each decided by
itself. What was not forwarded is taken to be covered by something that was; so there is nothing to
route events by, and the model refuses them. The strategy itself is `subscription_forwarding`.
Source. SUM-28.
"""

from __future__ import annotations

from random import Random

from fyke.errors import FykeError, shown
from fyke.nodes.effect import Send
from fyke.nodes.message import NodeId, Publish, Subscribe, SubscriptionId, Unsubscribe
from fyke.nodes.node import Stats
from fyke.routing.strategy import Routed, Strategy, Surroundings


class SienaModel(Strategy):
    """`subsumption` is p_max; `degree_max` the largest number of neighbours of a broker."""

    def __init__(
        self, here: Surroundings, random: Random, subsumption: float, degree_max: int
    ) -> None:
        if not 0 <= subsumption <= 1:
            raise FykeError(f"subsumption is {shown(subsumption)}; expected 0 to 1")
        self._here = here
        self._random = random
        self._subsumption = subsumption
        self._degree_max = max(degree_max, 1)
        self._told: dict[SubscriptionId, list[NodeId]] = {}
        self._remote = 0

    def subscribe(self, message: Subscribe, came_from: NodeId) -> list[Send]:
        probability = self._subsumption * len(self._here.brokers) / self._degree_max
        others = [peer for peer in self._here.brokers if peer != came_from]
        told = [peer for peer in others if self._random.random() >= probability]
        self._told[message.subscription.id] = told
        self._remote += came_from in self._here.brokers
        return [Send(peer, message) for peer in told]

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> list[Send]:
        told = self._told.pop(message.id, None)
        if told is None:
            return []
        self._remote -= came_from in self._here.brokers
        return [Send(peer, message) for peer in told]

    def publish(self, publish: Publish, came_from: NodeId) -> Routed:
        raise FykeError("a model of how subscriptions spread cannot route events")

    def count(self, stats: Stats) -> None:
        stats.rows += self._remote
        stats.forwarded += sum(map(len, self._told.values()))
