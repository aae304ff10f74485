"""Broker: a node made of a strategy and local delivery.

What clients say is checked here, before the strategy hears of it; what the strategy lets through is
held against the clients' own filters, before they hear of it. The clients' subscriptions, what they
advertise and what is declared survive a crash; what neighbours said is told again by them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TypeAlias

from fyke.broker.declarations import Declarations
from fyke.broker.delivery import Delivery
from fyke.broker.doorway import admitted, check_announced, check_filter
from fyke.errors import FykeError, shown
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Effect, Reject, Send, Store, Wake
from fyke.nodes.inputs import Input, LinkDown, LinkUp, Received, Recovered, Stored, Tick
from fyke.nodes.message import (
    Advertise,
    Connect,
    Control,
    Declare,
    Disconnect,
    Message,
    NodeId,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from fyke.nodes.node import Stats
from fyke.routing.strategy import Strategy, Surroundings

MakeStrategy: TypeAlias = Callable[[Surroundings, Random], Strategy]


class Broker:
    """The node. `engine` is the matcher of its clients' subscriptions."""

    def __init__(
        self, me: NodeId, strategy: MakeStrategy, random: Random, *, engine: str = "compiled"
    ) -> None:
        self._here = Surroundings(me)
        self._life = f"{random.getrandbits(48):012x}"
        self._strategy = strategy(self._here, random)
        self._delivery = Delivery(engine)
        self._declarations = Declarations()
        self._advertised: dict[NodeId, dict[str, Filter]] = {}
        self._clients: set[NodeId] = set()
        self._published = 0
        self._rejected = 0

    @property
    def strategy(self) -> Strategy:
        return self._strategy

    def handle(self, input: Input, now: float) -> list[Effect]:
        self._here.now = now
        effects = self._handled(input)
        if self._strategy.wake_at is not None:
            effects.append(Wake(self._strategy.wake_at))
            self._strategy.wake_at = None
        return effects

    def _handled(self, input: Input) -> list[Effect]:
        match input:
            case Received():
                return self._received(input.message, input.sender)
            case Tick():
                return self._sent(self._strategy.tick())
            case LinkUp():
                return self._link_up(input)
            case LinkDown():
                return self._link_down(input.peer)
            case Recovered():
                return self._recovered(input)
            case Stored():
                return []

    def stats(self) -> Stats:
        stats = Stats(rejected=self._rejected)
        self._delivery.count(stats)
        self._strategy.count(stats)
        return stats

    def _received(self, message: Message, sender: NodeId) -> list[Effect]:
        try:
            if sender in self._here.brokers:
                return self._from_broker(message, sender)
            if sender in self._clients:
                return self._from_client(message, sender)
            if self._strategy.is_direct and isinstance(message, Publish):
                return self._from_broker(message, sender)
            raise FykeError(f"{shown(sender)} is no neighbour of {self._here.me}")
        except FykeError as refused:
            self._rejected += 1
            return [Reject(sender, type(message).__name__, str(refused))]

    # --- brokers ----------------------------------------------------------------------------------

    def _from_broker(self, message: Message, sender: NodeId) -> list[Effect]:
        match message:
            case Publish():
                return self._routed(message, sender)
            case Subscribe():
                return self._sent(self._strategy.subscribe(message, sender))
            case Unsubscribe():
                return self._sent(self._strategy.unsubscribe(message, sender))
            case Advertise() | Unadvertise():
                return self._sent(self._strategy.advertise(message, sender))
            case Control():
                return self._sent(self._strategy.control(message, sender))
            case Declare():
                return self._declared(message, sender)
            case Disconnect():
                del self._here.brokers[sender]
                return self._sent(self._strategy.forget(sender))
        raise FykeError(f"a broker does not say {type(message).__name__}")

    def _routed(self, publish: Publish, sender: NodeId) -> list[Effect]:
        routed = self._strategy.publish(publish, sender)
        delivered = self._delivery.deliver(publish, routed.audience)
        if delivered:
            self._strategy.delivered(publish)
        return [*self._sent(routed.sends), *delivered]

    def _declared(self, message: Declare, sender: NodeId) -> list[Effect]:
        if not self._declarations.hear(message):
            return []
        self._here.schema = self._declarations.schema
        others = [Send(peer, message) for peer in self._here.brokers if peer != sender]
        stored = Store(f"declaration/{message.what}/{message.name}", message)
        return [stored, *self._sent([*others, *self._strategy.reconsider()])]

    def _sent(self, sends: list[Send]) -> list[Effect]:
        """Without those over links that do not work: their neighbours are told all again later."""
        brokers = self._here.brokers
        return [send for send in sends if brokers.get(send.to, self._strategy.is_direct)]

    # --- clients ----------------------------------------------------------------------------------

    def _from_client(self, message: Message, client: NodeId) -> list[Effect]:
        match message:
            case Publish():
                return self._publish(message, client)
            case Subscribe():
                return self._subscribe(message.subscription, client)
            case Unsubscribe():
                return self._unsubscribe(message, client)
            case Advertise() | Unadvertise():
                return self._advertise(message, client)
            case Declare():
                return self._declared(self._declarations.stamped(message, self._here.me), client)
            case Control():
                return self._sent(self._strategy.command(message, client))
            case Connect():
                return []
            case Disconnect():
                return self._left(client)
        raise FykeError(f"a client does not say {type(message).__name__}")

    def _publish(self, publish: Publish, client: NodeId) -> list[Effect]:
        event = admitted(publish.event, self._here.schema)
        check_announced(event, self._advertised.get(client, {}).values())
        self._published += 1
        id = publish.id or f"{self._here.me}-{self._life}-{self._published}"
        return self._routed(Publish(id, event), client)

    def _subscribe(self, wanted: Subscription, client: NodeId) -> list[Effect]:
        check_filter(wanted.filter, self._here.schema)
        if wanted.id in self._delivery:
            raise FykeError(f"there is a subscription {shown(wanted.id)} already")
        message = Subscribe(Subscription(wanted.id, wanted.filter, client))
        sends = self._strategy.subscribe(message, client)
        self._delivery.add(message.subscription)
        return [Store(f"subscription/{wanted.id}", message), *self._sent(sends)]

    def _unsubscribe(self, message: Unsubscribe, client: NodeId) -> list[Effect]:
        self._delivery.remove(message.id, client)
        sends = self._strategy.unsubscribe(message, client)
        return [Store(f"subscription/{message.id}", None), *self._sent(sends)]

    def _advertise(self, message: Advertise | Unadvertise, client: NodeId) -> list[Effect]:
        known = self._advertised.setdefault(client, {})
        key = f"advertisement/{client}/{message.id}"
        if isinstance(message, Advertise):
            check_filter(message.filter, self._here.schema)
            known[message.id] = message.filter
            stored = Store(key, message)
        elif known.pop(message.id, None) is None:
            raise FykeError(f"{client} has not advertised {shown(message.id)}")
        else:
            stored = Store(key, None)
        return [stored, *self._sent(self._strategy.advertise(message, client))]

    def _left(self, client: NodeId) -> list[Effect]:
        effects: list[Effect] = []
        for each in self._delivery.of(client):
            effects += self._unsubscribe(Unsubscribe(each.id), client)
        for id in list(self._advertised.get(client, {})):
            effects += self._advertise(Unadvertise(id), client)
        self._clients.discard(client)
        return effects + self._sent(self._strategy.forget(client))

    # --- links and lives --------------------------------------------------------------------------

    def _link_up(self, link: LinkUp) -> list[Effect]:
        if link.is_client:
            self._clients.add(link.peer)
            return []
        self._here.brokers[link.peer] = True
        told = [Send(link.peer, each) for each in self._declarations.all()]
        return self._sent([*told, *self._strategy.link_up(link.peer)])

    def _link_down(self, peer: NodeId) -> list[Effect]:
        if peer not in self._here.brokers:
            return []
        self._here.brokers[peer] = False
        return self._sent(self._strategy.link_down(peer))

    def _recovered(self, recovered: Recovered) -> list[Effect]:
        """Before any link is up: what leaves is told to neighbours when they come."""
        for record in recovered.records.values():
            if isinstance(record, Declare):
                self._declarations.hear(record)
                self._here.schema = self._declarations.schema
        for key, record in recovered.records.items():
            if isinstance(record, Subscribe):
                self._clients.add(record.subscription.subscriber or "")
                self._strategy.subscribe(record, record.subscription.subscriber or "")
                self._delivery.add(record.subscription)
            elif isinstance(record, Advertise):
                client = key.removeprefix("advertisement/").removesuffix(f"/{record.id}")
                self._advertised.setdefault(client, {})[record.id] = record.filter
                self._strategy.advertise(record, client)
        return []
