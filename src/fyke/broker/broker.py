"""Broker: a node made of a strategy and local delivery.

What clients say is checked here, before the strategy hears of it; what the strategy lets through is
held against the clients' own filters, before they hear of it. The clients' subscriptions, what they
advertise and what is declared survive a crash; what neighbours said is told again by them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import TypeAlias

from fyke.broker.declarations import Declarations
from fyke.broker.delivery import LocalDelivery
from fyke.broker.doorway import (
    admitted,
    check_announced,
    check_declared,
    check_filter,
    check_id,
)
from fyke.errors import FykeError, shown
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Accept, Effect, Inform, Reject, Send, Store
from fyke.nodes.inputs import (
    Input,
    Joined,
    Left,
    LinkDown,
    LinkUp,
    Received,
    Recovered,
    Stored,
    Tick,
    Unreachable,
)
from fyke.nodes.message import (
    Advertise,
    Connect,
    Control,
    Declare,
    Disconnect,
    Learn,
    Message,
    NodeId,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from fyke.nodes.node import Stats
from fyke.routing.interests import Interests
from fyke.routing.strategy import Decision, Inspected, Strategy, Surroundings

MakeStrategy: TypeAlias = Callable[[Surroundings, Random], Strategy]

_SUBSCRIPTION = "subscription"
_ADVERTISEMENT = "advertisement"
_DECLARATION = "declaration"
_LEARNER = "learner"


class Broker:
    """A node of a strategy and local delivery. It knows its neighbours before their links are up.

    `engine` is the matcher of all filters that it holds events against.
    """

    def __init__(
        self,
        me: NodeId,
        neighbours: Iterable[NodeId],
        strategy: MakeStrategy,
        random: Random,
        *,
        engine: str = "compiled",
    ) -> None:
        if not me:
            raise FykeError("a broker needs a name")
        known = dict.fromkeys(neighbours, False)
        self._here = Surroundings(me, Interests(engine), known)
        self._life = f"{random.getrandbits(48):012x}"
        self._delivery = LocalDelivery(self._here.local)
        self._declarations = Declarations()
        self._strategy = strategy(self._here, random)
        self._advertised: dict[NodeId, dict[str, Filter]] = {}
        self._clients: set[NodeId] = set()
        self._learners: dict[NodeId, None] = {}
        """The clients that want to know the schema."""
        self._published = 0
        self._rejected = 0

    @property
    def strategy(self) -> Strategy:
        return self._strategy

    @property
    def schema(self) -> Schema:
        """The declared schema, as far as this broker knows it."""
        return self._here.schema

    def handle(self, input: Input, now: float) -> list[Effect]:
        self._here.now = now
        if type(input) is Received:
            return self._receive(input)
        match input:
            case Tick():
                return self._carry_out(self._strategy.tick())
            case Unreachable():
                return self._carry_out(self._strategy.unreachable(input.peer, input.message))
            case LinkUp():
                return self._link_up(input)
            case LinkDown():
                return self._link_down(input.peer)
            case Joined():
                return self._join(input.peer)
            case Left():
                return self._forget(input.peer)
            case Recovered():
                return self._recover(input)
            case Stored() | Received():
                return []

    def stats(self) -> Stats:
        stats = Stats(rejected=self._rejected, subscriptions=len(self._delivery))
        self._here.interests.count(stats)
        if isinstance(self._strategy, Inspected):
            self._strategy.count(stats)
        return stats

    def _receive(self, received: Received) -> list[Effect]:
        message, sender = received.message, received.sender
        try:
            if received.is_straight:
                return self._act(self._strategy.straight(message, sender), message)
            if sender in self._here.brokers:
                if type(message) is Publish:  # nearly always
                    return self._act(self._strategy.publish(message, sender), message)
                return self._from_broker(message, sender)
            if sender in self._clients:
                return self._from_client(message, sender)
            raise FykeError(f"{shown(sender)} is no neighbour of {self._here.me}")
        except FykeError as refused:
            self._rejected += 1
            return [Reject(sender, type(message).__name__, str(refused))]

    # --- brokers ----------------------------------------------------------------------------------

    def _from_broker(self, message: Message, sender: NodeId) -> list[Effect]:
        match message:
            case Subscribe():
                return self._carry_out(self._strategy.subscribe(message, sender))
            case Unsubscribe():
                return self._carry_out(self._strategy.unsubscribe(message, sender))
            case Advertise() | Unadvertise():
                return self._carry_out(self._strategy.advertise(message, sender))
            case Control():
                return self._carry_out(self._strategy.control(message, sender))
            case Declare():
                return self._declare(message, sender)
            case Disconnect():
                return self._forget(sender)
        raise FykeError(f"a broker does not say {type(message).__name__}")

    def _declare(self, message: Declare, sender: NodeId) -> list[Effect]:
        if not self._declarations.hear(message):
            return []
        before = self._here.schema
        self._agree()
        others = [Send(peer, message) for peer in self._here.brokers if peer != sender]
        stored = Store((_DECLARATION, message.what, message.name), message)
        decided = self._carry_out(Decision(others).and_then(self._strategy.reconsider()))
        informed = self._inform(self._learners) if self._here.schema != before else []
        return [stored, *informed, *decided]

    def _agree(self) -> None:
        self._here.schema = self._declarations.schema
        self._here.interests.agree(self._here.schema)
        self._here.declared = self._declarations.digest

    # --- decisions --------------------------------------------------------------------------------

    def _act(self, decision: Decision, message: Message) -> list[Effect]:
        """Carry a decision out, and deliver the event to the clients that it is for."""
        effects = self._carry_out(decision)
        if decision.audience is not None and self._delivery and type(message) is Publish:
            effects += self._delivery.deliver(message, decision.audience)
        return effects

    def _carry_out(self, decision: Decision) -> list[Effect]:
        """Return the effects of a decision, without sends over links that are down.

        Neighbours are told everything again when their links work.
        """
        brokers = self._here.brokers
        effects: list[Effect] = [*decision.records] if decision.records else []
        for send in decision.sends:  # mostly one: a comprehension costs more
            if send.is_straight or brokers.get(send.to):
                effects.append(send)
        if decision.wakes:
            effects += decision.wakes
        if decision.answers:
            effects += decision.answers
        return effects

    # --- clients ----------------------------------------------------------------------------------

    def _from_client(self, message: Message, client: NodeId) -> list[Effect]:
        match message:
            case Publish():
                return self._publish(message, client)
            case Subscribe():
                return self._subscribe(message.subscription, client)
            case Unsubscribe():
                return self._unsubscribe(message.id, client)
            case Advertise() | Unadvertise():
                return self._advertise(message, client)
            case Declare():
                declared = self._declarations.stamped(message, self._here.me)
                check_declared(declared)
                return self._declare(declared, client)
            case Learn():
                return self._learn(client)
            case Control():
                return self._carry_out(self._strategy.control(message, client))
            case Connect():
                return []
            case Disconnect():
                return self._leave(client)
        raise FykeError(f"a client does not say {type(message).__name__}")

    def _publish(self, wanted: Publish, client: NodeId) -> list[Effect]:
        check_id(wanted.id)
        event = admitted(wanted.event, self._here.schema)
        check_announced(event, self._advertised.get(client, {}).values(), self._here.schema)
        id = wanted.id or f"{self._here.me}-{self._life}-{self._published + 1}"
        publish = Publish(id, event)
        effects = self._act(self._strategy.publish(publish, client), publish)
        self._published += 1
        return effects if wanted.id else [Accept(client, "Publish", id), *effects]

    def _subscribe(self, wanted: Subscription, client: NodeId) -> list[Effect]:
        check_id(wanted.id)
        check_filter(wanted.filter, self._here.schema)
        if wanted.id in self._delivery:
            raise FykeError(f"there is a subscription {shown(wanted.id)} already")
        message = Subscribe(Subscription(wanted.id, wanted.filter, client))
        self._delivery.add(message.subscription)
        try:
            decision = self._strategy.subscribe(message, client)
        except FykeError:
            self._delivery.remove(wanted.id)
            raise
        return [Store((_SUBSCRIPTION, wanted.id), message), *self._carry_out(decision)]

    def _unsubscribe(self, id: str, client: NodeId) -> list[Effect]:
        self._delivery.get(id, client)
        decision = self._strategy.unsubscribe(Unsubscribe(id), client)
        self._delivery.remove(id)
        return [Store((_SUBSCRIPTION, id), None), *self._carry_out(decision)]

    def _advertise(self, message: Advertise | Unadvertise, client: NodeId) -> list[Effect]:
        key = (_ADVERTISEMENT, client, message.id)
        known = self._advertised.get(client, {})
        if isinstance(message, Advertise):
            check_id(message.id)
            check_filter(message.filter, self._here.schema)
            decision = self._strategy.advertise(message, client)
            self._advertised[client] = {**known, message.id: message.filter}
            return [Store(key, message), *self._carry_out(decision)]
        if message.id not in known:
            raise FykeError(f"{client} has not advertised {shown(message.id)}")
        decision = self._strategy.advertise(message, client)
        del known[message.id]
        if not known:
            del self._advertised[client]
        return [Store(key, None), *self._carry_out(decision)]

    def _learn(self, client: NodeId) -> list[Effect]:
        self._learners[client] = None
        return [Store((_LEARNER, client), Learn()), *self._inform([client])]

    def _inform(self, clients: Iterable[NodeId]) -> list[Inform]:
        document = self._here.schema.to_document()
        return [Inform(client, document) for client in clients]

    def _leave(self, client: NodeId) -> list[Effect]:
        """End all that a client wanted and said."""
        effects: list[Effect] = []
        if client in self._learners:
            del self._learners[client]
            effects.append(Store((_LEARNER, client), None))
        for each in self._delivery.of(client):
            effects += self._unsubscribe(each.id, client)
        for id in list(self._advertised.get(client, {})):
            effects += self._advertise(Unadvertise(id), client)
        self._clients.discard(client)
        return effects + self._carry_out(self._strategy.forget(client))

    # --- links and lives --------------------------------------------------------------------------

    def _link_up(self, link: LinkUp) -> list[Effect]:
        if link.is_client:
            self._clients.add(link.peer)
            return [*self._inform([link.peer] if link.peer in self._learners else [])]
        effects = [] if link.peer in self._here.brokers else self._join(link.peer)
        self._here.brokers[link.peer] = True
        told = Decision([Send(link.peer, each) for each in self._declarations.all()])
        return [*effects, *self._carry_out(told.and_then(self._strategy.link_up(link.peer)))]

    def _link_down(self, peer: NodeId) -> list[Effect]:
        if peer not in self._here.brokers:
            return []
        self._here.brokers[peer] = False
        return self._carry_out(self._strategy.link_down(peer))

    def _join(self, peer: NodeId) -> list[Effect]:
        if peer in self._here.brokers:
            return []
        self._here.brokers[peer] = False
        return self._carry_out(self._strategy.joined(peer))

    def _forget(self, peer: NodeId) -> list[Effect]:
        if self._here.brokers.pop(peer, None) is None:
            return []
        return self._carry_out(self._strategy.forget(peer))

    def _recover(self, recovered: Recovered) -> list[Effect]:
        """Take up the safe records before any link is up. Neighbours are told when they connect."""
        records = recovered.records
        for record in records.values():
            if isinstance(record, Declare):
                self._declarations.hear(record)
        self._agree()
        self._strategy.reconsider()
        for key, record in records.items():
            if isinstance(record, Subscribe):
                self._delivery.add(record.subscription)
                self._strategy.subscribe(record, record.subscription.subscriber or "")
            elif isinstance(record, Learn):
                self._learners[key[1]] = None
            elif isinstance(record, Advertise):
                client = key[1]
                self._advertised.setdefault(client, {})[record.id] = record.filter
                self._strategy.advertise(record, client)
            elif isinstance(record, Control):
                self._strategy.recover(key, record)
        return []
