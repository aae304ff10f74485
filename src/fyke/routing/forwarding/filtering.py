"""Filtering: subscriptions travel to where events are filtered, events from there to subscribers.

Idea. A row (a subscription, and the neighbour or client it came from) is offered to neighbours by
location: to all of them, or to those on the way to its rendezvous. An event is held against the
rows where it is filtered; never against those of the neighbour it came from, who has seen it.
Whom the matching rows name is notified by the variant's way of communication. The seventeen
algorithms of the DAS classification are this file with sixteen choices (`variant`), and flooding.
Invariant. Every live subscription is covered, at every broker where its events are filtered, by a
row whose source lies on the way to its home, or that broker is in doubt about that side (`doubt`)
and floods it. So an event finds its way, and each broker sees it at most once on a tree.
Cost. See `covering_set` per subscription, one search per event and broker that filters it.
Source. DAS-31 to DAS-38, with the corrections DAS-Q1 to DAS-Q4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from typing import Final
from weakref import WeakValueDictionary

from msgspec.structs import replace

from fyke.errors import FykeError
from fyke.filters.covering_index.filter_index import FilterIndex
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Send
from fyke.nodes.message import (
    Control,
    Message,
    NodeId,
    Publish,
    Route,
    Subscribe,
    SubscriptionKey,
    Unsubscribe,
)
from fyke.nodes.node import Stats
from fyke.routing.flooding import Flooded, flood, flood_on
from fyke.routing.forwarding.covering_set import CoveringSet, Everything, Selection
from fyke.routing.forwarding.doubt import Doubt
from fyke.routing.forwarding.merging import Merging
from fyke.routing.forwarding.offer import Offer, Scope
from fyke.routing.forwarding.packed_row import PackedRow, RowPacking
from fyke.routing.forwarding.reach import Reach, Reachable
from fyke.routing.forwarding.relief import ROOM, Relief, Restate
from fyke.routing.forwarding.row import (
    MERGED,
    NOTIFICATION,
    Addressed,
    Notification,
    Offered,
    Resync,
    Row,
    Synced,
    key_of,
    row_of,
)
from fyke.routing.forwarding.table import RowTable
from fyke.routing.forwarding.variant import Communication, Location, Memory, Variant
from fyke.routing.strategy import EVERYONE, NOTHING, Decision, Strategy, Surroundings, Tables

_ROW_BYTES: Final = 620
_FILTER_BYTES: Final = 8
_ENTRY_BYTES: Final = 60
_RELIEF_BYTES: Final = 70
"""Bytes of a row, of a byte of its packed filter (here, where it is searched, where it may cover),
of an entry of an offer, and of what it takes to prune a row of a neighbour.

They are a little more than what is traced of brokers with a thousand rows and more (`bench_rows`).
"""


def _bytes(rows: int, filter_bytes: int, entries: int) -> int:
    """Return about how many bytes rows take, and what offers hold of them."""
    return _ROW_BYTES * rows + _FILTER_BYTES * filter_bytes + _ENTRY_BYTES * entries


KINDS: tuple[type[Message] | type[Route], ...] = (
    Offered,
    Notification,
    Addressed,
    Flooded,
    Resync,
    Synced,
    Reachable,
    Restate,
)
"""The messages and routes of these strategies."""


class Filtering(Strategy):
    """A variant at a broker. `reach` knows who is the rendezvous of what.

    If tables exceed `memory` bytes, what neighbours want is pruned (`relief`).
    """

    def __init__(
        self,
        here: Surroundings,
        variant: Variant,
        reach: Reach | None = None,
        is_merging: bool = False,
        memory: int | None = None,
    ) -> None:
        if is_merging and variant.communication is not Communication.TRANSPARENT:
            raise FykeError("only brokers that act as subscribers can merge subscriptions")
        merged = ((MERGED, f"{here.me}*{number}") for number in count(1))
        self._name_merged = merged.__next__ if is_merging else None
        self._here = here
        self._variant = variant
        self._reach = reach or Reach(here.me, ())
        self._doubt = Doubt(here)
        self._packing = RowPacking()
        self._indices: WeakValueDictionary[Scope, FilterIndex] = WeakValueDictionary()
        """Indices that offers share, by scope."""
        self._relief = None if memory is None else Relief(memory)
        self._table = self._new_table()
        self._offers: dict[NodeId, Offer] = {}
        self._stale: dict[NodeId, dict[SubscriptionKey, None]] = {}
        self._look_around()

    def _new_table(self) -> RowTable:
        is_preventive = self._variant.memory is Memory.PREVENTIVE
        select = self._selects(is_preventive, WeakValueDictionary())
        return RowTable(self._here.interests, self._packing, select)

    def _new_offer(self) -> Offer:
        return Offer(
            self._here.me, self._packing, self._offering_scope, self._select(), self._merging()
        )

    def _select(self) -> Callable[[Scope], Selection]:
        is_optimistic = self._variant.memory is Memory.OPTIMISTIC
        return self._selects(is_optimistic, self._indices)

    def _selects(
        self, is_covering: bool, indices: WeakValueDictionary[Scope, FilterIndex]
    ) -> Callable[[Scope], Selection]:
        """Return a maker of the selection of a scope. Selections of one scope share an index."""
        if not is_covering:
            return lambda scope: Everything()
        schema = self._here.schema

        def select(scope: Scope) -> Selection:
            index = indices.get(scope)
            if index is None:
                index = indices[scope] = FilterIndex(schema, self._packing)
            return CoveringSet(index)

        return select

    def _merging(self) -> Callable[[], Merging] | None:
        if self._name_merged is None:
            return None
        return partial(Merging, self._name_merged, self._here.schema)

    def _look_around(self) -> None:
        """Use the schema and the rendezvous that are known now."""
        view = self._here.declared
        if self._variant.location is Location.FIXED:
            view += self._reach.view()
        self._doubt.look(view)

    # --- subscriptions ----------------------------------------------------------------------------

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        if came_from not in self._here.brokers:
            return Decision([*self._changed([self._local(message)], []), *self._relieve()])
        row = row_of(message, came_from)
        if row.home == self._here.me:
            return NOTHING
        self._stale.get(came_from, {}).pop(row.key, None)
        replaced = message.route.replaces if isinstance(message.route, Offered) else ()
        sends = self._changed([row], self._own_keys(replaced, came_from))
        if self._relief is not None:
            self._relief.add(self._table.packed_key(row.key))
        return Decision([*sends, *self._relieve()])

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision:
        home = came_from if came_from in self._here.brokers else self._here.me
        sends = self._changed([], self._own_keys([key_of(message, home)], came_from))
        return Decision([*sends, *self._relieve()])

    def _local(self, message: Subscribe) -> Row:
        subscription = message.subscription
        towards = self._towards(subscription.filter)
        return Row(subscription, subscription.subscriber or "", self._here.me, towards)

    def _towards(self, filter: Filter) -> tuple[str, ...]:
        """Return the rendezvous to which a row of this broker goes."""
        if self._variant.location is not Location.FIXED:
            return ()
        return self._reach.of_filter(filter, self._here.schema)

    def _own_keys(self, keys: Iterable[SubscriptionKey], source: NodeId) -> list[SubscriptionKey]:
        """Return the keys whose rows came from this neighbour or client."""
        return [key for key in keys if self._table.source(key) == source]

    def _changed(self, added: list[Row], removed: list[SubscriptionKey]) -> list[Send]:
        """Add rows, then remove rows. Return messages for neighbours whose offer changed."""
        if not added and not removed:
            return []
        for row in added:
            self._table.put(row, self._filtering_scope(row))
            for peer, offer in self._offers.items():
                self._offer(offer, peer, row)
        for key in removed:
            self._table.drop(key)
            for offer in self._offers.values():
                offer.drop(key)
            if self._relief is not None:
                self._relief.drop(key)
        self._packing.forget()
        sends = [
            Send(peer, message)
            for peer, offer in self._offers.items()
            for message in offer.messages()
        ]
        if not self._table and not any(offer.entries for offer in self._offers.values()):
            self._packing.clear()
        return sends

    def _offer(self, offer: Offer, peer: NodeId, row: Row) -> None:
        towards = tuple(name for name in row.towards if self._reach.via(name) == peer)
        is_wanted = self._variant.location is Location.PUBLISHERS or towards
        if row.source != peer and is_wanted:
            offer.put(row, towards)
        else:
            offer.drop(row.key)

    def _covering_scope(self, home: NodeId, subscriber: str | None) -> Scope:
        """Return the scope in which filters may cover each other: all, or one subscriber's."""
        is_transparent = self._variant.communication is Communication.TRANSPARENT
        return None if is_transparent else (home, subscriber or "")

    def _offering_scope(self, row: PackedRow) -> Scope:
        terms = row.terms
        return self._covering_scope(terms.home, terms.subscriber), terms.towards

    def _filtering_scope(self, row: Row) -> Scope | None:
        """Return the scope of a row, or None if events are not held against it here."""
        if row.home == self._here.me and row.source not in self._here.brokers:
            return None
        is_meeting = self._variant.location is Location.FIXED and self._variant.is_exclusive
        if is_meeting and not any(self._reach.is_mine(name) for name in row.towards):
            return None
        return row.source, self._covering_scope(*row.subscriber), row.towards

    # --- memory -----------------------------------------------------------------------------------

    @property
    def nbytes(self) -> int:
        """Bytes of tables, offers and filters that are searched, estimated (`bench_rows`)."""
        entries = sum(offer.entries for offer in self._offers.values())
        rows = len(self._table)
        held = _bytes(rows, self._table.filter_bytes, entries)
        if self._relief is None:
            return held
        return held + _RELIEF_BYTES * (rows - self._table.rows_of(self._here.me))

    @property
    def own_bytes(self) -> int:
        """About how many of these bytes the subscriptions of the broker's own clients take."""
        own = [row for row in self._table.packed() if row.terms.source not in self._here.brokers]
        entries = sum(offer.entries_of(row.key) for offer in self._offers.values() for row in own)
        return _bytes(len(own), sum(len(row.filter) for row in own), entries)

    def _relieve(self) -> list[Send]:
        """Prune what neighbours want if there is too little room, else ask for originals."""
        relief = self._relief
        if relief is None:
            return []
        excess = self.nbytes - relief.limit
        if excess > 0:
            found = relief.prune(self._table.filter, self._freed_bytes, excess)
            return self._changed([self._prune(key, each) for key, each in found.items()], [])
        asked: dict[NodeId, list[SubscriptionKey]] = {}
        for key in relief.missing(int(relief.limit * ROOM) - self.nbytes):
            asked.setdefault(self._table.source(key) or "", []).append(key)
        return [Send(peer, Restate(tuple(keys))) for peer, keys in asked.items()]

    def _freed_bytes(self, before: Filter, after: Filter) -> int:
        return _FILTER_BYTES * (len(self._packing.pack(before)) - len(self._packing.pack(after)))

    def _prune(self, key: SubscriptionKey, filter: Filter) -> Row:
        row = self._table.get(key)
        assert row is not None
        known = row.subscription
        return replace(row, subscription=Subscription(known.id, filter, known.subscriber))

    # --- events -----------------------------------------------------------------------------------

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        if self._relief is not None:
            self._relief.see(publish.event)
        if isinstance(publish.route, Flooded):
            return flood_on(self._here, publish, came_from)
        if isinstance(publish.route, Addressed):
            return self._take_addressed(publish, publish.route, came_from)
        if self._variant.location is Location.FIXED and publish.route is None:
            return self._meet(publish, came_from)
        return Decision(self._filtered(publish, came_from), EVERYONE)

    def straight(self, message: Message, sender: NodeId) -> Decision:
        """Deliver an event to one of this broker's clients. The sender has filtered it."""
        if isinstance(message, Publish) and isinstance(message.route, Addressed):
            return self._take_addressed(message, message.route, sender)
        return super().straight(message, sender)

    def _filtered(
        self, publish: Publish, came_from: NodeId, upward: NodeId | None = None
    ) -> list[Send]:
        """Return notifications for all sides but where the event came from and goes anyway.

        Sides in doubt are flooded.
        """
        doubtful = self._doubt.sides(came_from)
        passed = {came_from, upward, *doubtful}
        rows = [row for row in self._table.match(publish.event) if row.terms.source not in passed]
        if self._variant.location is Location.FIXED:
            name = self._reach.of_event(publish.event, self._here.schema)
            rows = [row for row in rows if name in row.terms.towards]
        sends = self._notify(publish, rows)
        return [*sends, *flood(publish, doubtful)] if doubtful else sends

    def _meet(self, publish: Publish, came_from: NodeId) -> Decision:
        """Pass an event on to its rendezvous, which may be this broker."""
        is_exclusive = self._variant.is_exclusive
        name = self._reach.of_event(publish.event, self._here.schema)
        upward = None if name is None else self._reach.via(name)
        is_cut = upward is not None and not self._here.brokers.get(upward)
        if name is None or self._doubt or (is_cut and is_exclusive):
            # Where filtering is exclusive, nobody on the way has handed it to anyone yet.
            return flood_on(self._here, publish, None if is_exclusive else came_from)
        if is_exclusive and upward is None:
            found = self._table.match(publish.event)
            rows = [row for row in found if name in row.terms.towards]
            return Decision(self._notify(publish, rows), EVERYONE)
        onward = [] if upward in (None, came_from) else [Send(upward, publish)]
        if is_exclusive:
            return Decision(onward)
        filtered = self._filtered(publish, came_from, upward)
        return Decision([*filtered, *onward], EVERYONE)

    def _notify(self, publish: Publish, rows: list[PackedRow]) -> list[Send]:
        """Send the event once to every neighbour, or once to every subscriber."""
        id, event, epoch = publish.id, publish.event, publish.epoch
        communication = self._variant.communication
        if communication is Communication.TRANSPARENT:
            notification = Publish(id, event, epoch, NOTIFICATION)
            return [
                Send(to, notification) for to in dict.fromkeys(row.terms.source for row in rows)
            ]
        is_direct = communication is Communication.DIRECT
        sends = []
        for (home, subscriber), row in {row.subscriber: row for row in rows}.items():
            addressed = Publish(id, event, epoch, Addressed(home, subscriber))
            sends.append(Send(home if is_direct else row.terms.source, addressed, is_direct))
        return sends

    def _take_addressed(self, publish: Publish, route: Addressed, came_from: NodeId) -> Decision:
        if route.home == self._here.me:
            return Decision((), route.subscriber)
        way = self._table.way(route.home)
        ways = self._doubt.sides(came_from) if way is None else [way]
        return Decision([Send(peer, publish) for peer in ways if peer != came_from])

    # --- neighbours -------------------------------------------------------------------------------

    def link_up(self, peer: NodeId) -> Decision:
        """Tell a neighbour everything it has to know, whatever it knows already."""
        self._close_offer(peer)
        if self._relief is not None:
            self._relief.lose(self._table.of(peer))
        offer = self._offers[peer] = self._new_offer()
        for row in self._table:
            self._offer(offer, peer, row)
        said = [Resync(), self._reach.told(peer), *offer.messages()]
        self._doubt.start(peer)
        return Decision([*(Send(peer, message) for message in said), *self._say_synced()])

    def _close_offer(self, peer: NodeId) -> None:
        offer = self._offers.pop(peer, None)
        if offer is not None:
            offer.close()

    def link_down(self, peer: NodeId) -> Decision:
        self._close_offer(peer)
        self._doubt.stop(peer)
        return NOTHING

    def joined(self, peer: NodeId) -> Decision:
        self._doubt.join(peer)
        return NOTHING

    def forget(self, peer: NodeId) -> Decision:
        self._close_offer(peer)
        self._stale.pop(peer, None)
        self._doubt.leave(peer)
        return Decision(
            [*self._lost(peer), *self._spread(self._reach.forget(peer), peer), *self._say_synced()]
        )

    def _lost(self, peer: NodeId) -> list[Send]:
        """Remove the rows of a neighbour or client that has left for good."""
        return self._changed([], self._table.of(peer))

    def _is_heard(self, row: Row) -> bool:
        """Return True if a neighbour told the row, False if it began here."""
        return row.source in self._here.brokers

    def control(self, message: Control, came_from: NodeId) -> Decision:
        if came_from not in self._here.brokers:
            return super().control(message, came_from)
        match message:
            case Resync():
                self._stale[came_from] = dict.fromkeys(self._table.of(came_from))
                self._doubt.hear_again(came_from)
                return NOTHING
            case Synced():
                self._doubt.hear(came_from, message.view)
                return Decision([*self._forget_stale(), *self._say_synced()])
            case Restate():
                offer = self._offers.get(came_from)
                again = [] if offer is None else offer.restated(message.keys)
                return Decision([Send(came_from, each) for each in again])
            case Reachable():
                return Decision(self._spread(self._reach.hear(message, came_from), came_from))
        return super().control(message, came_from)

    def _forget_stale(self) -> list[Send]:
        """Remove rows that neighbours have not told again, if they go by the same view.

        A neighbour that does not know the rendezvous yet has not told all that it wants there.
        """
        done = [peer for peer in self._stale if self._doubt.knows(peer)]
        return self._changed(
            [], [key for peer in done for key in self._own_keys(self._stale.pop(peer), peer)]
        )

    def _say_synced(self) -> list[Send]:
        return [Send(peer, Synced(self._doubt.view)) for peer in self._doubt.told()]

    def _spread(self, news: Reachable, came_from: NodeId) -> list[Send]:
        """Tell others where rendezvous are, and move rows there."""
        if not news:
            return []
        return self._reach.spread(news, self._offers, came_from) + self._moved(self._table)

    def reconsider(self) -> Decision:
        """Use another schema: rows may go to other rendezvous, and filters may cover others."""
        rows = list(self._table)
        self._table.close()
        self._table = self._new_table()
        self._indices = WeakValueDictionary()
        self._offers = {
            peer: offer.selecting_anew(self._select(), self._merging())
            for peer, offer in self._offers.items()
        }
        return Decision(self._moved(rows))

    def _moved(self, rows: Iterable[Row]) -> list[Send]:
        """Move rows to the rendezvous that are known now, over the ways that are known now."""
        self._look_around()
        moved = [
            row
            if self._is_heard(row)
            else replace(row, towards=self._towards(row.subscription.filter))
            for row in rows
        ]
        return [*self._changed(moved, []), *self._forget_stale(), *self._say_synced()]

    def close(self) -> None:
        self._table.close()

    # --- telling ----------------------------------------------------------------------------------

    def tables(self) -> Tables:
        """Return what neighbours want, and what they were told, as text."""
        heard: dict[NodeId, dict[SubscriptionKey, str]] = {}
        for row in self._table:
            if row.source in self._here.brokers:
                heard.setdefault(row.source, {})[row.key] = str(row.subscription.filter)
        told = {
            peer: {key: str(each.filter) for key, each in offer.held.items()}
            for peer, offer in self._offers.items()
        }
        return {"heard": heard, "told": told}

    def count(self, stats: Stats) -> None:
        self._table.count(stats, self._here.me)
        stats.bytes += self.nbytes
        stats.own_bytes += self.own_bytes
        if self._relief is not None:
            stats.pruned += len(self._relief)
            stats.saved += self._relief.saved
        for offer in self._offers.values():
            stats.forwarded += len(offer)
            stats.covering_tests += offer.tests
