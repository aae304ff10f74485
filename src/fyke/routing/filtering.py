"""Filtering: subscriptions travel to where events are filtered, events from there to subscribers.

Idea. A row (a subscription, and the neighbour or client it came from) is offered to neighbours by
location: to all of them, or to those on the way to its rendezvous. An event is held against the
rows where it is filtered; never against those of the neighbour it came from, who has seen it.
Whom the matching rows name is notified by the variant's way of communication. The seventeen
algorithms of the DAS classification are this file with sixteen choices (`variant`), and flooding.
Invariant. Every live subscription is covered, at every broker where its events are filtered, by a
row whose source lies on the way to its home. So an event finds its way, and each broker sees it at
most once on a tree.
Cost. See `covering_set` per subscription, one search per event and broker that filters it.
Source. DAS-31 to DAS-38, with the corrections DAS-Q1 to DAS-Q4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count

from fyke.errors import FykeError, shown
from fyke.events.event import Event
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
from fyke.routing.covering_set import CoveringSet, Everything, Selection
from fyke.routing.merging import Merging
from fyke.routing.offer import Offer, Scope
from fyke.routing.reach import Reach, Reachable
from fyke.routing.row import (
    NOTIFICATION,
    Addressed,
    Notification,
    Offered,
    Resync,
    Row,
    Synced,
    row_of,
)
from fyke.routing.strategy import EVERYONE, Routed, Strategy, Surroundings
from fyke.routing.table import Table
from fyke.routing.variant import Communication, Location, Memory, Variant

KINDS: tuple[type[Message] | type[Route], ...] = (
    Offered,
    Notification,
    Addressed,
    Resync,
    Synced,
    Reachable,
)
"""The messages and routes of these strategies."""


class Filtering(Strategy):
    """A variant at a broker; `reach` says what it is the rendezvous of."""

    def __init__(
        self,
        here: Surroundings,
        variant: Variant,
        engine: str,
        reach: Reach | None = None,
        is_merging: bool = False,
    ) -> None:
        if is_merging and variant.communication is not Communication.TRANSPARENT:
            raise FykeError("only brokers that act as subscribers can merge subscriptions")
        merged = (f"{here.me}*{number}" for number in count(1))  # as nobody else calls them
        self._merge = partial(Merging, merged.__next__) if is_merging else None
        self.is_direct = variant.communication is Communication.DIRECT
        self._here = here
        self._variant = variant
        self._reach = reach or Reach(here.me, ())
        is_preventive = variant.memory is Memory.PREVENTIVE
        self._table = Table(engine, CoveringSet if is_preventive else Everything)
        is_optimistic = variant.memory is Memory.OPTIMISTIC
        self._select: Callable[[], Selection] = CoveringSet if is_optimistic else Everything
        self._offers: dict[NodeId, Offer] = {}
        self._stale: dict[NodeId, dict[SubscriptionId, None]] = {}

    # --- subscriptions ----------------------------------------------------------------------------

    def subscribe(self, message: Subscribe, came_from: NodeId) -> list[Send]:
        id = message.subscription.id
        known = self._table.get(id)
        if known is not None and known.source != came_from:
            raise FykeError(f"the subscription {shown(id)} came from {known.source} already")
        if came_from not in self._here.brokers:
            return self._changed([self._local(message)], [])
        self._stale.get(came_from, {}).pop(id, None)
        replaced = message.route.replaces if isinstance(message.route, Offered) else ()
        return self._changed([row_of(message, came_from)], self._owned(replaced, came_from))

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> list[Send]:
        return self._changed([], self._owned([message.id], came_from))

    def forget(self, peer: NodeId) -> list[Send]:
        self._offers.pop(peer, None)
        self._stale.pop(peer, None)
        return self._changed([], self._table.of(peer))

    def _local(self, message: Subscribe) -> Row:
        subscription = message.subscription
        towards: tuple[str, ...] = ()
        if self._variant.location is Location.FIXED:
            towards = self._reach.of_filter(subscription.filter, self._here.schema)
        return Row(subscription, subscription.subscriber or "", self._here.me, towards)

    def _owned(self, ids: Iterable[SubscriptionId], source: NodeId) -> list[SubscriptionId]:
        """Those that this neighbour or client may take back."""
        rows = ((id, self._table.get(id)) for id in ids)
        return [id for id, row in rows if row is not None and row.source == source]

    def _changed(self, added: list[Row], removed: list[SubscriptionId]) -> list[Send]:
        """Takes rows in, then out, and tells the neighbours whose business it is."""
        for row in added:
            self._table.put(row, self._filtering_scope(row))
        for id in removed:
            self._table.drop(id)
        sends: list[Send] = []
        for peer, offer in self._offers.items():
            for row in added:
                self._offer(offer, peer, row)
            for id in removed:
                offer.drop(id)
            sends += [Send(peer, message) for message in offer.messages()]
        return sends

    def _offer(self, offer: Offer, peer: NodeId, row: Row) -> None:
        if row.source == peer:
            return
        towards = tuple(name for name in row.towards if self._reach.via(name) == peer)
        if self._variant.location is Location.PUBLISHERS or towards:
            offer.put(row, (self._covering_scope(row), towards), towards)
        else:
            offer.drop(row.subscription.id)

    def _covering_scope(self, row: Row) -> Scope:
        """Whose filters may cover each other: everybody's, or those of one subscriber."""
        is_transparent = self._variant.communication is Communication.TRANSPARENT
        return None if is_transparent else row.subscriber

    def _filtering_scope(self, row: Row) -> Scope | None:
        """None for rows that events are not held against here."""
        if row.home == self._here.me and row.source not in self._here.brokers:
            return None
        is_meeting = self._variant.location is Location.FIXED and self._variant.is_exclusive
        if is_meeting and not any(self._reach.is_mine(name) for name in row.towards):
            return None
        return row.source, self._covering_scope(row), row.towards

    # --- events -----------------------------------------------------------------------------------

    def publish(self, publish: Publish, came_from: NodeId) -> Routed:
        if isinstance(publish.route, Addressed):
            return self._addressed(publish, publish.route, came_from)
        if self._variant.location is Location.PUBLISHERS:
            return Routed(self._notify(publish, self._rows(publish.event, came_from)), EVERYONE)
        return self._meet(publish, came_from)

    def _rows(self, event: Event, came_from: NodeId) -> list[Row]:
        return [row for row in self._table.match(event) if row.source != came_from]

    def _meet(self, publish: Publish, came_from: NodeId) -> Routed:
        """An event on its way to the rendezvous, or back from it."""
        name = self._reach.of_event(publish.event, self._here.schema)
        upward = self._reach.via(name) if publish.route is None else None
        onward = [] if upward in (None, came_from) else [Send(upward, publish)]
        if self._variant.is_exclusive:
            if upward is not None:
                return Routed(onward, None)
            rows = self._table.match(publish.event)
        else:
            rows = self._rows(publish.event, came_from)
        wanted = [row for row in rows if name in row.towards and row.source != upward]
        return Routed([*self._notify(publish, wanted), *onward], EVERYONE)

    def _notify(self, publish: Publish, rows: list[Row]) -> list[Send]:
        """Every neighbour, or every subscriber, once."""
        id, event, epoch = publish.id, publish.event, publish.epoch
        communication = self._variant.communication
        if communication is Communication.TRANSPARENT:
            notification = Publish(id, event, epoch, NOTIFICATION)
            return [Send(to, notification) for to in dict.fromkeys(row.source for row in rows)]
        is_direct = communication is Communication.DIRECT
        sends = []
        for (home, subscriber), row in {row.subscriber: row for row in rows}.items():
            addressed = Publish(id, event, epoch, Addressed(home, subscriber))
            sends.append(Send(home if is_direct else row.source, addressed))
        return sends

    def _addressed(self, publish: Publish, route: Addressed, came_from: NodeId) -> Routed:
        if route.home == self._here.me:
            return Routed([], route.subscriber)
        way = self._table.way(route.home)
        return Routed([] if way in (None, came_from) else [Send(way, publish)], None)

    # --- neighbours -------------------------------------------------------------------------------

    def link_up(self, peer: NodeId) -> list[Send]:
        """All that the neighbour is to know, whatever it knows."""
        offer = self._offers[peer] = Offer(self._here.me, self._select, self._merge)
        for row in self._table:
            self._offer(offer, peer, row)
        said = [Resync(), self._reach.told(peer), *offer.messages(), Synced()]
        return [Send(peer, message) for message in said]

    def link_down(self, peer: NodeId) -> list[Send]:
        self._offers.pop(peer, None)
        return []

    def control(self, message: Control, came_from: NodeId) -> list[Send]:
        match message:
            case Resync():
                self._stale[came_from] = dict.fromkeys(self._table.of(came_from))
                return []
            case Synced():
                return self._changed([], list(self._stale.pop(came_from, {})))
            case Reachable():
                return self._heard(message, came_from)
        return super().control(message, came_from)

    def _heard(self, message: Reachable, came_from: NodeId) -> list[Send]:
        news = self._reach.hear(message, came_from)
        if not news.owners:
            return []
        others = [Send(peer, news) for peer in self._offers if peer != came_from]
        return others + self.reconsider()

    def reconsider(self) -> list[Send]:
        """Where rows are for has changed, or which way they go."""
        rows = []
        for row in self._table:
            is_local = row.source not in self._here.brokers
            rows.append(self._local(Subscribe(row.subscription)) if is_local else row)
        return self._changed(rows, [])

    # --- telling ----------------------------------------------------------------------------------

    def tables(self) -> dict[str, dict[NodeId, dict[SubscriptionId, str]]]:
        """What neighbours want, and what they were told to want, as text."""
        heard: dict[NodeId, dict[SubscriptionId, str]] = {}
        for row in self._table:
            if row.source in self._here.brokers:
                subscription = row.subscription
                heard.setdefault(row.source, {})[subscription.id] = str(subscription.filter)
        told = {
            peer: {id: str(each.filter) for id, each in offer.held.items()}
            for peer, offer in self._offers.items()
        }
        return {"heard": heard, "told": told}

    def count(self, stats: Stats) -> None:
        self._table.count(stats, self._here.me)
        for offer in self._offers.values():
            stats.forwarded += len(offer)
            stats.covering_tests += offer.tests
