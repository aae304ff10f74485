"""Adaptive: the overlay changes its strategy while it runs, and no event is lost or doubled.

Idea. An event is stamped with the epoch of the broker where it enters and routed by the tables of
that epoch to the end. The coordinator announces a new epoch; brokers build its tables beside those
in use, and stamp it only when the coordinator knows that all have done so. Old tables are kept
until no event needs them (`epoch`). Subscriptions that change meanwhile change in all epochs.
Example. Few events match: subscription forwarding. Nearly all do and subscriptions come and go:
event forwarding costs less, and `weighing` says so.
Invariant. No broker stamps an epoch that another broker has not completed; no broker drops an epoch
of which an event can still arrive. A link that breaks only delays: when it is up, both ends tell
each other what they know.
Source. DAS-F1, which only asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Final

from fyke.errors import FykeError, shown
from fyke.nodes.effect import Send
from fyke.nodes.message import (
    Control,
    Message,
    NodeId,
    Publish,
    Route,
    Subscribe,
    SubscriptionId,
    Unsubscribe,
)
from fyke.nodes.node import Stats
from fyke.routing.epoch import Closed, Complete, Epoch, Ready, Status, Switch, Within
from fyke.routing.reach import COORDINATOR, Reach, Reachable
from fyke.routing.strategy import EVERYONE, Routed, Strategy, Surroundings
from fyke.routing.weighing import Busy, Gathered, Poll, Report, Weighing

KINDS: Final[tuple[type[Message] | type[Route], ...]] = (
    Status,
    Within,
    Complete,
    Ready,
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
    """`make` makes a strategy by its name; all of them share what `reach` knows."""

    def __init__(
        self,
        here: Surroundings,
        reach: Reach,
        make: Callable[[str], Strategy],
        first: str,
        weighing: Weighing,
        random: Random,
    ) -> None:
        self._here = here
        self._random = random
        self._reach = reach
        self._make = make
        self._weighing = weighing
        self._epochs = {0: Epoch(first, make(first))}
        self._current = 0
        self._local: dict[SubscriptionId, tuple[Subscribe, NodeId]] = {}
        self._round = 0
        self._answers: dict[NodeId, tuple[Report, ...]] = {}

    @property
    def _leads(self) -> bool:
        return self._reach.is_mine(COORDINATOR)

    @property
    def current(self) -> str:
        """The strategy of new events."""
        return self._epochs[self._current].name

    # --- subscriptions and events -----------------------------------------------------------------

    def subscribe(self, message: Subscribe, came_from: NodeId) -> list[Send]:
        self._check_client(came_from, message)
        sends: list[Send] = []
        for number, epoch in self._epochs.items():
            sends += self._counted(number, epoch.strategy.subscribe(message, came_from))
        self._local[message.subscription.id] = message, came_from
        return sends + self._changed(len(sends))

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> list[Send]:
        self._check_client(came_from, message)
        self._local.pop(message.id, None)
        sends: list[Send] = []
        for number, epoch in self._epochs.items():
            sends += self._counted(number, epoch.strategy.unsubscribe(message, came_from))
        return sends + self._changed(len(sends))

    def publish(self, publish: Publish, came_from: NodeId) -> Routed:
        if came_from not in self._here.brokers:
            publish = Publish(publish.id, publish.event, self._current)
            self._weighing.published(publish.id)
        epoch = self._epochs.get(publish.epoch)
        if epoch is None:
            return Routed([], EVERYONE)
        routed = epoch.strategy.publish(publish, came_from)
        said = self._said(len(routed.sends))
        return Routed([*routed.sends, *said], routed.audience) if said else routed

    def delivered(self, publish: Publish) -> None:
        self._weighing.delivered(publish.id)

    def _check_client(self, came_from: NodeId, message: Message) -> None:
        if came_from in self._here.brokers:
            raise FykeError(f"a {type(message).__name__} from broker to broker names its epoch")

    # --- neighbours -------------------------------------------------------------------------------

    def link_up(self, peer: NodeId) -> list[Send]:
        sends = [Send(peer, self._status()), Send(peer, self._reach.told(peer))]
        for number, epoch in self._epochs.items():
            epoch.reset(peer)
            sends += _within(number, epoch.strategy.link_up(peer))
        return sends + self._advance()

    def link_down(self, peer: NodeId) -> list[Send]:
        sends: list[Send] = []
        for number, epoch in self._epochs.items():
            epoch.reset(peer)
            sends += _within(number, epoch.strategy.link_down(peer))
        return sends

    def forget(self, peer: NodeId) -> list[Send]:
        for id in [id for id, (_, client) in self._local.items() if client == peer]:
            del self._local[id]
        sends: list[Send] = []
        for number, epoch in self._epochs.items():
            epoch.reset(peer)
            sends += _within(number, epoch.strategy.forget(peer))
        return sends + self._advance()

    def reconsider(self) -> list[Send]:
        sends: list[Send] = []
        for number, epoch in self._epochs.items():
            sends += _within(number, epoch.strategy.reconsider())
        return sends

    def control(self, message: Control, came_from: NodeId) -> list[Send]:
        match message:
            case Within():
                return self._inside(message, came_from)
            case Status():
                return self._learn(message, came_from)
            case Complete() | Ready() | Closed():
                epoch = self._epochs.get(message.epoch)
                if epoch is not None:
                    epoch.hear(type(message), came_from)
                return self._advance()
            case Reachable():
                return self._reached(message, came_from)
            case Busy():
                return self._poll() if self._leads else self._upward(message)
            case Poll():
                return self._asked(message.round)
            case Gathered():
                return self._gathered(message, came_from)
        return super().control(message, came_from)

    def _inside(self, within: Within, came_from: NodeId) -> list[Send]:
        epoch, message = self._epochs.get(within.epoch), within.message
        if epoch is None or message is None:
            return []
        match message:
            case Subscribe():
                return self._counted(within.epoch, epoch.strategy.subscribe(message, came_from))
            case Unsubscribe():
                return self._counted(within.epoch, epoch.strategy.unsubscribe(message, came_from))
            case Reachable():
                return []
            case Control():
                return _within(within.epoch, epoch.strategy.control(message, came_from))
        raise FykeError(f"{type(message).__name__} is of no epoch")

    def _counted(self, number: int, sends: list[Send]) -> list[Send]:
        if number == self._current:
            self._weighing.told(len(sends))
        return _within(number, sends)

    def _reached(self, message: Reachable, came_from: NodeId) -> list[Send]:
        news = self._reach.hear(message, came_from)
        if not news.owners:
            return []
        others = [Send(peer, news) for peer in self._here.brokers if peer != came_from]
        return others + self.reconsider() + self._advance()

    # --- changing the strategy --------------------------------------------------------------------

    def command(self, message: Control, client: NodeId) -> list[Send]:
        if not isinstance(message, Switch):
            return super().command(message, client)
        return self.switch(message.strategy)

    def switch(self, name: str) -> list[Send]:
        """Announces a new epoch; only the coordinator may."""
        if not self._leads:
            raise FykeError(f"{self._here.me} is not the coordinator, who changes strategies")
        if len(self._epochs) > 1:
            raise FykeError("the last change of the strategy has not ended yet")
        if name == self.current:
            raise FykeError(f"the strategy is {shown(name)} already")
        strategy = self._make(name)
        number = self._current + 1 + self._random.randrange(_NUMBERS)
        self._epochs[number] = Epoch(name, strategy)
        return self._told_all() + self._opened(number) + self._advance()

    def _learn(self, status: Status, came_from: NodeId) -> list[Send]:
        """What a neighbour knows about epochs; what is news goes on."""
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
        sends = [
            Send(came_from, Closed(number))
            for number, _ in status.live
            if number < newest and number not in self._epochs
        ]
        if is_news:
            sends += self._told_all(came_from)
        for number, _ in opened:
            sends += self._opened(number)
        return sends + self._advance()

    def _opened(self, number: int) -> list[Send]:
        """The tables of a new epoch: own subscriptions, and what neighbours have to know."""
        strategy = self._epochs[number].strategy
        for message, client in self._local.values():
            strategy.subscribe(message, client)
        sends: list[Send] = []
        for peer, is_up in self._here.brokers.items():
            if is_up:
                sends += _within(number, strategy.link_up(peer))
        return sends

    def _advance(self) -> list[Send]:
        """Says what can be said by now."""
        sends: list[Send] = []
        for number in list(self._epochs):
            epoch = self._epochs[number]
            if number > self._current:
                sends += self._say(Complete, number, epoch)
                sends += self._ready(number, epoch)
        for number in [number for number in self._epochs if number < self._current]:
            epoch = self._epochs[number]
            sends += self._say(Closed, number, epoch)
            if epoch.has_heard(Closed, self._here.brokers):
                del self._epochs[number]
        return sends

    def _say(self, what: type[Complete] | type[Closed], number: int, epoch: Epoch) -> list[Send]:
        """To every neighbour of whom all others have said it."""
        sends = []
        for peer, is_up in self._here.brokers.items():
            others = (other for other in self._here.brokers if other != peer)
            if is_up and epoch.has_heard(what, others) and epoch.tell(what, peer):
                sends.append(Send(peer, what(number)))
        return sends

    def _ready(self, number: int, epoch: Epoch) -> list[Send]:
        parent = self._reach.via(COORDINATOR)
        children = [peer for peer in self._here.brokers if peer != parent]
        if not epoch.has_heard(Complete, self._here.brokers):
            return []
        if not epoch.has_heard(Ready, children):
            return []
        if self._leads:
            self._current = number
            return self._told_all()
        if parent is not None and epoch.tell(Ready, parent):
            return [Send(parent, Ready(number))]
        return []

    def _status(self) -> Status:
        live = tuple((number, epoch.name) for number, epoch in self._epochs.items())
        return Status(live, self._current)

    def _told_all(self, but: NodeId | None = None) -> list[Send]:
        status = self._status()
        return [Send(peer, status) for peer in self._here.brokers if peer != but]

    # --- weighing ---------------------------------------------------------------------------------

    def _changed(self, messages: int) -> list[Send]:
        self._weighing.changed()
        return self._said(messages)

    def _said(self, messages: int) -> list[Send]:
        if not self._weighing.is_busy(messages):
            return []
        return self._poll() if self._leads else self._upward(Busy())

    def _upward(self, message: Control) -> list[Send]:
        parent = self._reach.via(COORDINATOR)
        return [] if parent is None else [Send(parent, message)]

    def _poll(self) -> list[Send]:
        return self._asked(self._round + 1)

    def _asked(self, round: int) -> list[Send]:
        """Asks those behind this broker, and answers when they have."""
        parent = self._reach.via(COORDINATOR) or ""
        report = self._weighing.report(parent, len(self._local))
        self._round, self._answers = round, {self._here.me: (report,)}
        children = [peer for peer in self._here.brokers if peer != parent]
        return [Send(peer, Poll(round)) for peer in children] or self._answered()

    def _gathered(self, message: Gathered, came_from: NodeId) -> list[Send]:
        if message.round != self._round:
            return []
        self._answers[came_from] = message.reports
        parent = self._reach.via(COORDINATOR)
        is_whole = all(peer in self._answers for peer in self._here.brokers if peer != parent)
        return self._answered() if is_whole else []

    def _answered(self) -> list[Send]:
        reports = tuple(report for each in self._answers.values() for report in each)
        self._answers = {}
        if not self._leads:
            return self._upward(Gathered(self._round, reports))
        better = self._weighing.better(self.current, reports)
        return [] if better is None or len(self._epochs) > 1 else self.switch(better)

    # --- telling ----------------------------------------------------------------------------------

    def tables(self) -> dict[str, dict[NodeId, dict[SubscriptionId, str]]]:
        return self._epochs[self._current].strategy.tables()

    def count(self, stats: Stats) -> None:
        for epoch in self._epochs.values():
            epoch.strategy.count(stats)


def _within(epoch: int, sends: Iterable[Send]) -> list[Send]:
    return [Send(send.to, Within(epoch, send.message)) for send in sends]
