"""A model of Siena: how far subscriptions spread if each is subsumed with some probability.

It counts messages where the subscriptions themselves are not given: a broker B does not forward a
subscription to a neighbour with probability p_max * degree(B) / largest degree, each decided by
itself. What was not forwarded is taken to be covered by something that was; so there is nothing to
route events by, and the model refuses them. The strategy itself is `subscription_forwarding`.
A broker forwards a subscription once, so the model works on graphs with cycles too.
Source. SUM-28.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from fyke.errors import FykeError, shown
from fyke.nodes.effect import Send
from fyke.nodes.message import NodeId, Publish, Subscribe, SubscriptionKey, Unsubscribe
from fyke.nodes.node import Stats
from fyke.routing.forwarding.row import Offered, key_of
from fyke.routing.strategy import NOTHING, Decision, Strategy, Surroundings, Tables


class SienaModel(Strategy):
    """Spreads subscriptions at random.

    `subsumption` is p_max; `degree_max` is the largest number of neighbours of a broker.
    """

    needs_tree: ClassVar[bool] = False

    def __init__(
        self, here: Surroundings, random: Random, subsumption: float, degree_max: int
    ) -> None:
        if not 0 <= subsumption <= 1:
            raise FykeError(f"subsumption is {shown(subsumption)}; expected 0 to 1")
        self._here = here
        self._random = random
        self._subsumption = subsumption
        self._degree_max = max(degree_max, 1)
        self._told: dict[SubscriptionKey, list[NodeId]] = {}

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        route = message.route if isinstance(message.route, Offered) else Offered(self._here.me)
        key = route.home, message.subscription.id
        if key in self._told:
            return NOTHING
        probability = self._subsumption * len(self._here.brokers) / self._degree_max
        others = [peer for peer in self._here.brokers if peer != came_from]
        told = [peer for peer in others if self._random.random() >= probability]
        self._told[key] = told
        onward = Subscribe(message.subscription, route)
        return Decision([Send(peer, onward) for peer in told])

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision:
        key = key_of(message, self._here.me)
        onward = Unsubscribe(message.id, Offered(key[0]))
        return Decision([Send(peer, onward) for peer in self._told.pop(key, ())])

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        raise FykeError("a model of how subscriptions spread cannot route events")

    def tables(self) -> Tables:
        told: dict[NodeId, dict[SubscriptionKey, str]] = {}
        for key, peers in self._told.items():
            for peer in peers:
                told.setdefault(peer, {})[key] = ""
        return {"heard": {}, "told": told}

    def count(self, stats: Stats) -> None:
        stats.rows += sum(home != self._here.me for home, _ in self._told)
        stats.forwarded += sum(map(len, self._told.values()))
