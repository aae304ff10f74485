"""Adaptive: the overlay changes its strategy while it runs, and no event is lost or doubled.

Idea. An event is stamped with the epoch of the broker where it enters and routed by the tables of
that epoch to the end. The coordinator announces a new epoch; brokers build its tables beside those
in use, and stamp it when the coordinator says so, which holds all of its own by then. Old tables
are kept until no event needs them (`epoch`). Subscriptions that change meanwhile change in all
epochs. An event of an epoch that a broker does not know (it was restarted) is flooded from there.
Example. Few events match: subscription forwarding. Nearly all do and subscriptions come and go:
event forwarding costs less, and `weighing` says so.
Invariant. No event of an epoch comes to a broker that has not completed it: what completes it was
sent before, over the same links. No broker drops an epoch of which an event can still arrive. What
comes straight for a client finds it without tables. A link that breaks only delays: when it
is up, both ends tell each other what they know.
Source. DAS-F1, which only asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from msgspec.structs import replace

from fyke.errors import FykeError, shown
from fyke.nodes.effect import Send
from fyke.nodes.message import (
    Advertise,
    Control,
    Message,
    NodeId,
    Publish,
    Route,
    Subscribe,
    SubscriptionId,
    Unadvertise,
    Unsubscribe,
)
from fyke.nodes.node import Stats
from fyke.routing.adaptive.epoch import Closed, Complete, Epoch, Status, Stopped, Switch, Within
from fyke.routing.adaptive.weighing import BrokerReport, Busy, Gathered, Poll, Weighing, is_sampled
from fyke.routing.flooding import Flooded, flood_on
from fyke.routing.forwarding.reach import COORDINATOR, Reach, Reachable
from fyke.routing.forwarding.row import Addressed
from fyke.routing.strategy import (
    EVERYONE,
    NOTHING,
    Decision,
    Inspected,
    Strategy,
    Surroundings,
    Tables,
)

KINDS: Final[tuple[type[Message] | type[Route], ...]] = (
    Status,
    Within,
    Complete,
    Stopped,
    Closed,
    Switch,
    Busy,
    Poll,
    Gathered,
)
"""The messages of this strategy, beside those of the ones it changes between."""

_NUMBERS: Final = 1 << 20
"""Epochs are numbered with gaps: a coordinator that crashed does not know those it has announced,
and two epochs of one number would be taken for one."""


class Adaptive(Strategy):
    """Changes between strategies. `make` makes one by its name, `name_of` returns its usual name.

    All strategies share one `reach`.
    """

    def __init__(
        self,
        here: Surroundings,
        reach: Reach,
        make: Callable[[str], Strategy],
        name_of: Callable[[str], str],
        first: str,
        weighing: Weighing,
        random: Random,
    ) -> None:
        self._here = here
        self._random = random
        self._reach = reach
        self._make = make
        self._name_of = name_of
        self._weighing = weighing
        self._epochs = {0: Epoch(name_of(first), make(first))}
        self._current = 0
        self._local: dict[SubscriptionId, tuple[Subscribe, NodeId]] = {}
        self._advertised: dict[tuple[NodeId, str], Advertise] = {}
        self._wanted: str | None = None
        """The strategy that the coordinator was last asked for, until the change has ended."""
        self._round = 0
        self._answers: dict[NodeId, tuple[BrokerReport, ...]] = {}

    @property
    def _leads(self) -> bool:
        return self._reach.is_mine(COORDINATOR)

    @property
    def current(self) -> str:
        """The strategy of new events."""
        return self._epochs[self._current].name

    @property
    def epochs(self) -> int:
        """The number of epochs; one, if no change is under way."""
        return len(self._epochs)

    def _in_all(self, decide: Callable[[Strategy], Decision]) -> Decision:
        """Ask the strategies of all epochs."""
        decisions = [
            _within(number, decide(epoch.strategy)) for number, epoch in self._epochs.items()
        ]
        return NOTHING.and_then(*decisions)

    # --- subscriptions and events -----------------------------------------------------------------

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        self._check_client(came_from, message)
        decision = self._in_all(lambda strategy: strategy.subscribe(message, came_from))
        self._local[message.subscription.id] = message, came_from
        return self._count_change(decision)

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision:
        self._check_client(came_from, message)
        self._local.pop(message.id, None)
        return self._count_change(
            self._in_all(lambda strategy: strategy.unsubscribe(message, came_from))
        )

    def advertise(self, message: Advertise | Unadvertise, came_from: NodeId) -> Decision:
        self._check_client(came_from, message)
        if isinstance(message, Advertise):
            self._advertised[came_from, message.id] = message
        else:
            self._advertised.pop((came_from, message.id), None)
        return self._in_all(lambda strategy: strategy.advertise(message, came_from))

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        if came_from not in self._here.brokers:
            return self._enter(publish, came_from)
        epoch = self._epochs.get(publish.epoch)
        if epoch is None or isinstance(publish.route, Flooded):
            return self._weigh(publish, flood_on(self._here, publish, came_from))
        return self._weigh(publish, epoch.strategy.publish(publish, came_from))

    def _enter(self, publish: Publish, client: NodeId) -> Decision:
        stamped = Publish(publish.id, publish.event, self._current)
        decision = self._epochs[self._current].strategy.publish(stamped, client)
        self._weighing.published(publish.id)
        return self._weigh(stamped, decision)

    def straight(self, message: Message, sender: NodeId) -> Decision:
        if isinstance(message, Within):
            return self._inside(message, lambda strategy, inner: strategy.straight(inner, sender))
        if not isinstance(message, Publish):
            return super().straight(message, sender)
        epoch = self._epochs.get(message.epoch)
        if epoch is not None:
            return self._weigh(message, epoch.strategy.straight(message, sender))
        route = message.route
        if isinstance(route, Addressed) and route.home == self._here.me:
            return Decision((), route.subscriber)
        return NOTHING

    def unreachable(self, peer: NodeId, message: Message) -> Decision:
        if isinstance(message, Within):
            return self._inside(message, lambda strategy, inner: strategy.unreachable(peer, inner))
        epoch = self._epochs.get(message.epoch) if isinstance(message, Publish) else None
        return NOTHING if epoch is None else epoch.strategy.unreachable(peer, message)

    def _check_client(self, came_from: NodeId, message: Message) -> None:
        if came_from in self._here.brokers:
            raise FykeError(f"a {type(message).__name__} from broker to broker names its epoch")

    # --- neighbours -------------------------------------------------------------------------------

    def link_up(self, peer: NodeId) -> Decision:
        said = [Send(peer, self._status()), Send(peer, self._reach.told(peer))]
        self._reset(peer)
        told = self._in_all(lambda strategy: strategy.link_up(peer))
        return Decision(said).and_then(told, self._advance())

    def link_down(self, peer: NodeId) -> Decision:
        self._reset(peer)
        told = self._in_all(lambda strategy: strategy.link_down(peer))
        return told.and_then(self._silent(peer))

    def joined(self, peer: NodeId) -> Decision:
        told = self._in_all(lambda strategy: strategy.joined(peer))
        return told.and_then(self._silent(peer))

    def forget(self, peer: NodeId) -> Decision:
        for id in [id for id, (_, client) in self._local.items() if client == peer]:
            del self._local[id]
        for key in [key for key in self._advertised if key[0] == peer]:
            del self._advertised[key]
        self._reset(peer)
        self._answers.pop(peer, None)
        news = self._reach.forget(peer)
        told = self._in_all(lambda strategy: strategy.forget(peer))
        return told.and_then(self._spread(news, peer), self._advance(), self._answer())

    def _reset(self, peer: NodeId) -> None:
        for epoch in self._epochs.values():
            epoch.reset(peer)

    def reconsider(self) -> Decision:
        return self._in_all(lambda strategy: strategy.reconsider())

    def tick(self) -> Decision:
        return self._in_all(lambda strategy: strategy.tick())

    def close(self) -> None:
        for epoch in self._epochs.values():
            epoch.strategy.close()

    def control(self, message: Control, came_from: NodeId) -> Decision:
        if came_from not in self._here.brokers:
            return self._hear_client(message, came_from)
        match message:
            case Within():
                return self._hear_within(message, came_from)
            case Status():
                return self._learn(message, came_from)
            case Complete() | Stopped() | Closed():
                epoch = self._epochs.get(message.epoch)
                if epoch is not None:
                    epoch.hear(type(message), came_from)
                return self._advance()
            case Reachable():
                return self._hear_reachable(message, came_from)
            case Busy():
                return self._poll() if self._leads else self._upward(message)
            case Poll():
                return self._ask(message.round)
            case Gathered():
                return self._gather(message, came_from)
        return super().control(message, came_from)

    def _hear_within(self, within: Within, came_from: NodeId) -> Decision:
        def decide(strategy: Strategy, message: Message) -> Decision:
            match message:
                case Subscribe():
                    return self._count_told(within.epoch, strategy.subscribe(message, came_from))
                case Unsubscribe():
                    return self._count_told(within.epoch, strategy.unsubscribe(message, came_from))
                case Advertise() | Unadvertise():
                    return strategy.advertise(message, came_from)
                case Reachable():
                    return NOTHING  # all epochs share one
                case Control():
                    return strategy.control(message, came_from)
            raise FykeError(f"{type(message).__name__} is of no epoch")

        decision = self._inside(within, decide)
        is_change = isinstance(within.message, Subscribe | Unsubscribe)
        return self._say_busy(decision, heard=1) if is_change else decision

    def _inside(self, within: Within, decide: Callable[[Strategy, Message], Decision]) -> Decision:
        """Ask the strategy of an epoch. Decide nothing if the epoch is unknown here."""
        epoch, message = self._epochs.get(within.epoch), within.message
        if epoch is None or message is None:
            return NOTHING
        return _within(within.epoch, decide(epoch.strategy, message))

    def _hear_reachable(self, message: Reachable, came_from: NodeId) -> Decision:
        news = self._reach.hear(message, came_from)
        return self._spread(news, came_from).and_then(self._advance()) if news else NOTHING

    def _spread(self, news: Reachable, came_from: NodeId) -> Decision:
        """Tell others where rendezvous are, and move rows there in all epochs."""
        if not news:
            return NOTHING
        others = self._reach.spread(news, self._here.brokers, came_from)
        return Decision(others).and_then(self.reconsider())

    # --- changing the strategy --------------------------------------------------------------------

    def _hear_client(self, message: Control, client: NodeId) -> Decision:
        if not isinstance(message, Switch):
            return super().control(message, client)
        return self.switch(message.strategy)

    def switch(self, name: str) -> Decision:
        """Announce a new epoch. Only the coordinator may do so."""
        if not self._leads:
            raise FykeError(f"{self._here.me} is not the coordinator, who changes strategies")
        if len(self._epochs) > 1:
            raise FykeError("the last change of the strategy has not ended yet")
        usual = self._name_of(name)
        if usual == self.current:
            raise FykeError(f"the strategy is {shown(name)} already")
        number = self._current + 1 + self._random.randrange(_NUMBERS)
        self._epochs[number] = Epoch(usual, self._make(usual))
        self._wanted = usual
        return self._tell_all().and_then(self._open(number), self._advance())

    def _learn(self, status: Status, came_from: NodeId) -> Decision:
        """Learn what a neighbour knows about epochs, and pass on what is news."""
        newest = max(self._current, status.current)
        opened = [
            (number, name)
            for number, name in status.live
            if number >= newest and number not in self._epochs
        ]
        for number, name in opened:
            self._epochs[number] = Epoch(name, self._make(name))
        is_news = bool(opened) or status.current > self._current
        self._current = newest
        over = [
            Send(came_from, what(number))
            for number, _ in status.live
            if number < newest and number not in self._epochs
            for what in (Stopped, Closed)
        ]
        told = self._tell_all(came_from) if is_news else NOTHING
        tables = [self._open(number) for number, _ in opened]
        return Decision(over).and_then(told, *tables, self._advance())

    def _open(self, number: int) -> Decision:
        """Fill the tables of a new epoch, and tell neighbours what they need for theirs."""
        strategy = self._epochs[number].strategy
        for message, client in self._local.values():
            strategy.subscribe(message, client)
        for (client, _), advertised in self._advertised.items():
            strategy.advertise(advertised, client)
        up = [peer for peer, is_up in self._here.brokers.items() if is_up]
        return NOTHING.and_then(*(_within(number, strategy.link_up(peer)) for peer in up))

    def _advance(self) -> Decision:
        """Send what epochs are ready to tell neighbours, and end those that are closed."""
        sends: list[Send] = []
        brokers = self._here.brokers
        for number, epoch in list(self._epochs.items()):
            if number > self._current:
                sends += self._say(Complete, number, epoch)
                sends += self._begin(number, epoch)
        for number in [number for number in self._epochs if number < self._current]:
            epoch = self._epochs[number]
            sends += self._say(Stopped, number, epoch)
            if epoch.has_heard(Stopped, brokers):
                sends += self._say(Closed, number, epoch)
                if epoch.has_heard(Closed, brokers):
                    epoch.strategy.close()
                    del self._epochs[number]
        return Decision(sends).and_then(self._again())

    def _again(self) -> Decision:
        """Announce a change again if a change that the coordinator had forgotten overtook it.

        After a crash, the coordinator does not know the numbers of earlier epochs.
        """
        if not self._leads or self._wanted is None or len(self._epochs) > 1:
            return NOTHING
        wanted, self._wanted = self._wanted, None
        return NOTHING if wanted == self.current else self.switch(wanted)

    def _say(
        self, what: type[Complete | Stopped | Closed], number: int, epoch: Epoch
    ) -> list[Send]:
        """Send it to a neighbour once all other neighbours have sent it."""
        due = [peer for peer in epoch.due(what, self._here.brokers) if self._here.brokers[peer]]
        return [Send(peer, what(number)) for peer in due if epoch.tell(what, peer)]

    def _begin(self, number: int, epoch: Epoch) -> list[Send]:
        """Give a new epoch to new events if this broker leads and all have completed it."""
        if not self._leads or not epoch.has_heard(Complete, self._here.brokers):
            return []
        self._current = number
        return list(self._tell_all().sends)

    def _status(self) -> Status:
        live = tuple((number, epoch.name) for number, epoch in self._epochs.items())
        return Status(live, self._current)

    def _tell_all(self, but: NodeId | None = None) -> Decision:
        status = self._status()
        return Decision([Send(peer, status) for peer in self._here.brokers if peer != but])

    # --- weighing ---------------------------------------------------------------------------------

    def _weigh(self, publish: Publish, decision: Decision) -> Decision:
        """Note the cost of an event, and whether clients of this broker want it."""
        self._weighing.sent(len(decision.sends))
        if decision.audience is not None and is_sampled(publish.id):
            clients = {self._local[id][1] for id in self._here.local.match(publish.event)}
            if clients and (decision.audience is EVERYONE or decision.audience in clients):
                self._weighing.delivered(publish.id)
        return self._say_busy(decision)

    def _count_change(self, decision: Decision) -> Decision:
        self._weighing.changed()
        self._weighing.told(_count_of(self._current, decision))
        return self._say_busy(decision)

    def _count_told(self, number: int, decision: Decision) -> Decision:
        if number == self._current:
            self._weighing.told(len(decision.sends))
        return decision

    def _say_busy(self, decision: Decision, heard: int = 0) -> Decision:
        """Report that many messages were sent and heard, if that is so."""
        if not self._weighing.is_busy(len(decision.sends) + heard, len(self._here.brokers)):
            return decision
        return decision.and_then(self._poll() if self._leads else self._upward(Busy()))

    def _upward(self, message: Control) -> Decision:
        parent = self._reach.via(COORDINATOR)
        return NOTHING if parent is None else Decision([Send(parent, message)])

    def _poll(self) -> Decision:
        """Ask all brokers for reports, unless a round is under way."""
        return NOTHING if self._answers else self._ask(self._round + 1)

    def _ask(self, round: int) -> Decision:
        """Ask the neighbours behind this broker. It answers when they have answered."""
        parent = self._reach.via(COORDINATOR)
        stats = Stats()
        self.count(stats)
        report = self._weighing.report(parent or "", len(self._local), stats.rows)
        self._round, self._answers = round, {self._here.me: (report,)}
        children = [peer for peer in self._here.brokers if peer != parent]
        for peer in children:
            if not self._here.brokers[peer]:
                self._answers[peer] = ()
        asked = Decision([Send(peer, Poll(round)) for peer in children])
        return asked.and_then(self._answer())

    def _gather(self, message: Gathered, came_from: NodeId) -> Decision:
        if message.round != self._round or not self._answers:
            return NOTHING
        self._answers[came_from] = message.reports
        return self._answer()

    def _silent(self, peer: NodeId) -> Decision:
        """Wait no longer for an answer of a neighbour, so that a round ends whatever breaks."""
        if not self._answers or peer == self._reach.via(COORDINATOR):
            return NOTHING
        self._answers.setdefault(peer, ())
        return self._answer()

    def _answer(self) -> Decision:
        """Pass the answers on when all have come. Pass on nothing if a broker could not answer."""
        brokers, answers = self._here.brokers, self._answers
        expected = len(brokers) + (self._reach.via(COORDINATOR) not in brokers)
        if not answers or len(answers) < expected:
            return NOTHING
        self._answers = {}
        reports = tuple(report for each in answers.values() for report in each)
        if not all(answers.values()):
            reports = ()
        if not self._leads:
            return self._upward(Gathered(self._round, reports))
        better = self._weighing.better(self.current, reports) if reports else None
        return NOTHING if better is None or len(self._epochs) > 1 else self.switch(better)

    # --- telling ----------------------------------------------------------------------------------

    def tables(self) -> Tables:
        strategy = self._epochs[self._current].strategy
        return strategy.tables() if isinstance(strategy, Inspected) else {"heard": {}, "told": {}}

    def count(self, stats: Stats) -> None:
        for epoch in self._epochs.values():
            if isinstance(epoch.strategy, Inspected):
                epoch.strategy.count(stats)


def _within(number: int, decision: Decision) -> Decision:
    """Return the decision with its messages inside their epoch. Events name theirs themselves."""
    sends = [
        send
        if isinstance(send.message, Publish)
        else Send(send.to, Within(number, send.message), send.is_straight)
        for send in decision.sends
    ]
    return replace(decision, sends=sends)


def _count_of(number: int, decision: Decision) -> int:
    """Count the messages of an epoch."""
    messages = (send.message for send in decision.sends)
    return sum(isinstance(each, Within) and each.epoch == number for each in messages)
