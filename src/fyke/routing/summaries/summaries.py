"""Summaries: brokers send short descriptions of subscriptions to one neighbour, and events search.

Idea. In a period, each broker sends what has changed in the summaries that it holds, its own and
those it was sent, to one neighbour of greater (degree, id) (Algorithm 2, SUM-18 to SUM-21). An
event goes to the broker of highest degree that has not been examined yet, which examines all whose
summaries it holds (Merged_Brokers) and sends the event straight to those that may want it; and so
on, until all have been examined (BROCLI, Algorithm 3, SUM-22 to SUM-25).
Example. SUM-X8 and SUM-X9: thirteen brokers are merged in ten messages, and an event that three of
them want takes five.
Versions. A contribution is its owner's as of a version, which grows with every change and begins
anew, higher, with every life of a broker; only what changed travels (`contributions`).
Options. `neighbours`: to how many greater neighbours a broker sends ("neighbor(s)", section 4.1);
more of them merge more at more brokers, so that searches are shorter. `subsumes` (SUM-F3): a
broker's own subscription that another one of its own covers is left out of its summary; the event
comes for the other one, and the owner checks all exactly.
Doubt widens. Merged_Brokers are those whose contributions this broker is sure of: it holds them as
the source told them, the link to the source works, and they go by its own schema. Who is taken out
is visited by the search, and decides for itself. A broker that started anew has nobody but itself
in; one that cannot be reached is put aside, and the search goes on.
Law. Each broker is examined once, by one that is sure of it or by itself, so an event is delivered
to all that settled, and once. Owners check events exactly (SUM-15).
Cost. At most n - 1 messages a period (and neighbour), none if nothing changed. An event: one
message for each broker that examines it and each that may want it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from random import Random
from typing import ClassVar, Final

from fyke.errors import FykeError, shown
from fyke.filters.covering_index.filter_index import FilterIndex
from fyke.filters.filter import Filter
from fyke.filters.packed.packing import Packing
from fyke.filters.resolution import resolve
from fyke.nodes.alarm import Alarm
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
from fyke.routing.forwarding.covering_set import CoveringSet, Everything, Selection
from fyke.routing.strategy import EVERYONE, NOTHING, Decision, Strategy, Surroundings, Tables
from fyke.routing.summaries import name_set
from fyke.routing.summaries.contributions import (
    LIFE_BITS,
    NO_NUMBERS,
    UNKNOWN,
    Contribution,
    Held,
    Others,
    Told,
    are_of_one_life,
)
from fyke.routing.summaries.name_set import Bitmap
from fyke.routing.summaries.neighbourhood import Neighbourhood
from fyke.routing.summaries.parameters import (
    HIGHEST_DEGREE,
    LEAST_LOADED,
    NEAREST,
    SummaryParameters,
)
from fyke.summaries.changes import check_numbers
from fyke.summaries.encoding import SummaryError
from fyke.summaries.summary import Summary


class Adjacent(Control, frozen=True):
    """The neighbours of a broker, and how often they have changed."""

    broker: str
    neighbours: tuple[str, ...]
    said: int


class Search(Route, frozen=True):
    """With an event that looks for brokers: those that have been examined (BROCLI), in short."""

    numbered: dict[str, Bitmap]
    plain: tuple[str, ...]

    @classmethod
    def after(cls, examined: Collection[NodeId]) -> Search:
        """Return a search that names the brokers that have been examined."""
        return cls(*name_set.write(examined))

    @property
    def examined(self) -> set[NodeId]:
        return name_set.read(self.numbered, self.plain)


class Matched(Route, frozen=True):
    """With an event for a broker that may want it; it does not search on."""


KINDS: tuple[type[Message] | type[Route], ...] = (Contribution, Held, Adjacent, Search, Matched)
_MATCHED: Final = Matched()


class Summaries(Strategy):
    """The strategy of one broker."""

    needs_tree: ClassVar[bool] = False

    def __init__(
        self,
        here: Surroundings,
        random: Random,
        overlay: Mapping[NodeId, Collection[NodeId]],
        parameters: SummaryParameters | None = None,
    ) -> None:
        self._here = here
        self._me = here.me
        self._parameters = parameters or SummaryParameters()
        self._map = Neighbourhood(
            self._me, overlay, self._parameters.degree_max, self._parameters.neighbours
        )
        if not overlay or (here.brokers and {*here.brokers} != {*overlay.get(self._me, ())}):
            self._map.link(self._me, here.brokers)
        if not overlay:  # nobody has configured it: brokers tell each other
            self._map.said[self._me] = 1
        self._life = random.getrandbits(8) or 1
        self._version = 0
        self._view_here = ""
        self._held = Summary(self._parameters.mode, budget=self._parameters.budget, must_fit=False)
        self._held.claim(self._me, 0)
        self._others = Others()
        self._told: dict[NodeId, Told] = {}
        """By neighbour that summaries are sent to."""
        self.refused = ""
        """The neighbour that sent the last contribution that did not fit, and the reason."""
        self._alarm = Alarm()
        self._filters: dict[str, Subscribe] = {}
        self._packing = Packing()
        self._upper = self._selection()
        """The selection of its own subscriptions that a broker tells."""
        is_counted = self._parameters.choice == LEAST_LOADED
        self._sent = dict.fromkeys(self._map.brokers if is_counted else (), 0)
        """Searches sent to each broker."""

    # --- subscriptions ----------------------------------------------------------------------------

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        if came_from in self._here.brokers:
            raise FykeError("a broker does not subscribe where summaries are sent")
        self._enter(message)
        return self._changed_here()

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision:
        if message.id not in self._filters:
            raise FykeError(f"there is no subscription {shown(message.id)}")
        packed = self._packing.pack(self._resolved(self._filters.pop(message.id)))
        self._tell(*self._upper.remove((self._me, message.id), packed))
        if not self._filters:
            self._packing.clear()
        return self._changed_here()

    def _enter(self, message: Subscribe) -> None:
        id = message.subscription.id
        self._filters[id] = message
        packed = self._packing.pack(self._resolved(message))
        self._tell(*self._upper.add((self._me, id), packed))

    def _resolved(self, message: Subscribe) -> Filter:
        return resolve(message.subscription.filter, self._here.schema)

    def _selection(self) -> Selection:
        if not self._parameters.subsumes:
            return Everything()
        return CoveringSet(FilterIndex(packing=self._packing))

    def _tell(self, entered: Iterable[SubscriptionKey], left: Iterable[SubscriptionKey]) -> None:
        """Bring the subscriptions that the broker tells of its own into the summary."""
        for _, id in left:
            if id in self._held:
                self._held.remove(id, self._me)
        for _, id in entered:
            self._held.add(id, self._resolved(self._filters[id]), self._me)

    def _changed_here(self) -> Decision:
        if not self._version:
            self._version = (int(self._here.now * 1_000) << 8 | self._life) << LIFE_BITS
        self._version += 1
        self._held.set_version(self._me, self._version)
        return self._schedule()

    def reconsider(self) -> Decision:
        """Say all of one's own again, in the words of another schema."""
        view = self._view()
        if self._view_here == view:
            return NOTHING
        self._view_here = view
        self._tell((), [(self._me, id) for id in self._filters])
        self._upper = self._selection()
        for message in self._filters.values():
            self._enter(message)
        return self._changed_here()

    def _view(self) -> str:
        """Return the declared schema, if it changes what is read; one view means equal rows."""
        schema = self._here.schema
        return self._here.declared if schema.orders or schema.timestamps else ""

    # --- events -----------------------------------------------------------------------------------

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        if came_from in self._here.brokers:
            raise FykeError("events come straight where summaries are sent")
        return self._examine(publish, ())

    def straight(self, message: Message, sender: NodeId) -> Decision:
        if not isinstance(message, Publish):
            raise FykeError(f"{shown(sender)} sends a {type(message).__name__} straight")
        if isinstance(message.route, Search):
            return self._examine(message, message.route.examined)
        return Decision(audience=EVERYONE)

    def unreachable(self, peer: NodeId, message: Message) -> Decision:
        """Put a broker aside that cannot be reached, and search on."""
        if isinstance(message, Publish) and isinstance(message.route, Search):
            return Decision(self._search_on(message, message.route.examined | {peer}))
        return NOTHING

    def _examine(self, publish: Publish, examined: Collection[NodeId]) -> Decision:
        """Send an event to the brokers held here that may want it, and on to search for others."""
        sure = self.merged_brokers().difference(examined)
        wanting = [owner for owner in self._held.owners(publish.event) if owner in sure]
        matched = Publish(publish.id, publish.event, publish.epoch, _MATCHED)
        sends = [Send(owner, matched, is_straight=True) for owner in wanting if owner != self._me]
        sends += self._search_on(publish, sure.union(examined))
        return Decision(sends, EVERYONE if self._me in sure else None)

    def _search_on(self, publish: Publish, examined: set[NodeId]) -> list[Send]:
        following = self._next([each for each in self._map.brokers if each not in examined])
        if following is None:
            return []
        if self._parameters.choice == LEAST_LOADED:
            self._sent[following] = self._sent.get(following, 0) + 1
        route = Search.after(examined)
        onward = Publish(publish.id, publish.event, publish.epoch, route)
        return [Send(following, onward, is_straight=True)]

    def _next(self, brokers: list[NodeId]) -> NodeId | None:
        """Return the broker that is searched next; ties go to the highest degree (SUM-24)."""
        rank, choice = self._map.search_rank(), self._parameters.choice
        if choice == HIGHEST_DEGREE:
            return min(brokers, key=rank, default=None)
        weight = self._map.distances() if choice == NEAREST else self._sent
        return min(brokers, key=lambda each: (weight.get(each, 0), rank(each)), default=None)

    def merged_brokers(self) -> set[NodeId]:
        """Return the brokers whose subscriptions this broker is sure to hold (SUM-18)."""
        view, up, others = self._view(), self._here.brokers, self._others
        known = self._map.brokers
        return {self._me} | {
            owner
            for owner, sources in others.sources.items()
            if others.views[owner] == view and any(map(up.get, sources)) and owner in known
        }

    # --- propagation ------------------------------------------------------------------------------

    def _schedule(self) -> Decision:
        """Wake up when it is this broker's turn, if its neighbour lacks something."""
        if self._alarm.is_set or not self._lacks():
            return NOTHING
        period, offset = self._parameters.period_s, self._map.turn() * self._parameters.period_s
        start = self._here.now // period * period + offset
        due = start if start > self._here.now else start + period
        return Decision(wakes=self._alarm.set(due))

    def tick(self) -> Decision:
        if not self._alarm.is_over(self._here.now):
            return NOTHING
        held = {
            owner: (version, self._numbers_of(owner))
            for owner, version in self._held.versions.items()
        }
        views = {**self._others.views, self._me: self._view_here}
        sends = []
        for to, told in self._targets().items():
            lacked = told.catch_up(held, views) if self._here.brokers.get(to) else None
            if lacked is not None:
                added = self._held.selected(lacked.added).to_bytes()
                sends.append(Send(to, Contribution(*lacked[:3], added)))
        return Decision(sends)

    def _targets(self) -> dict[NodeId, Told]:
        """Return the neighbours that summaries are sent to; a new one was told nothing."""
        targets = self._map.targets(self._me)
        if targets != [*self._told]:
            self._told = {each: self._told.get(each) or Told() for each in targets}
        return self._told

    def _lacks(self) -> bool:
        """Return True if a neighbour is not up to date."""
        versions = self._held.versions
        return any(not told.is_up_to_date(versions) for told in self._targets().values())

    def _numbers_of(self, owner: NodeId) -> frozenset[int]:
        if owner == self._me:
            return frozenset(self._held.known_numbers(owner))
        return self._others.numbers[owner]

    def control(self, message: Control, came_from: NodeId) -> Decision:
        match message:
            case Contribution():
                return self._take_in(message, came_from)
            case Held():
                return self._compare(message, came_from)
            case Adjacent():
                return self._learn(message, came_from)
        return super().control(message, came_from)

    def _take_in(self, message: Contribution, source: NodeId) -> Decision:
        """Take in a contribution; if it does not fit, keep the last good state and ask."""
        try:
            part = self._checked(message, source)
        except SummaryError as refused:
            self.refused = f"{shown(source)}: {refused}"
            return Decision([self._say_held(source)])
        others, held = self._others, self._held.versions
        new = {
            owner: (before, view)
            for owner, before, version, view in message.owners
            if version != held.get(owner) and not self._is_late(owner, version, source)
        }
        removed: dict[NodeId, Collection[int]] = {}
        for owner, (before, view) in new.items():
            known = others.numbers.get(owner, NO_NUMBERS)
            gone = known if before == UNKNOWN else frozenset(message.removed.get(owner, ()))
            removed[owner] = gone
            others.take(owner, source, view, known - gone | frozenset(part.numbers(owner)))
        for owner, _, version, _ in message.owners:
            if owner not in new:
                others.confirm(owner, source, version == held[owner])
        if new:
            known_already = [owner for owner, _, _, _ in message.owners if owner not in new]
            self._held.update(part.without(known_already) if known_already else part, removed)
        self._drop(others.leave([source], message.forgotten))
        return self._schedule()

    def _is_late(self, owner: NodeId, version: int, source: NodeId) -> bool:
        """Return True for a version older than one for which another neighbour stands."""
        held = self._held.versions.get(owner, UNKNOWN)
        return version < held and source != owner and self._others.are_others(owner, source)

    def _checked(self, message: Contribution, source: NodeId) -> Summary:
        """Return what is added; SummaryError if it cannot be what follows what is held."""
        part = Summary.from_bytes(message.added)
        if {owner: version for owner, _, version, _ in message.owners} != dict(part.versions):
            raise SummaryError("a contribution of other owners or versions than it says")
        if part.mode != self._held.mode:
            raise SummaryError(f"a summary of mode {part.mode}; expected {self._held.mode}")
        known = self._map.brokers
        for owner, before, version, _ in message.owners:
            if owner == self._me:
                raise SummaryError(f"two brokers call themselves {shown(owner)}")
            if owner not in known:
                raise SummaryError(f"unknown broker {shown(owner)}")
            held = self._held.versions.get(owner, UNKNOWN)
            if version == held or self._is_late(owner, version, source):
                continue
            if before not in (UNKNOWN, held):
                raise SummaryError(f"{shown(owner)} is held as of another version")
            if version < held and are_of_one_life(version, held):
                raise SummaryError(f"the version of {shown(owner)} goes back")
            check_numbers(message.removed.get(owner, ()))
        return part

    def _compare(self, message: Held, came_from: NodeId) -> Decision:
        """Learn what the neighbour holds of what it was told; what else was told is forgotten."""
        told = self._targets().get(came_from)
        if told is None:
            return NOTHING
        told.correct(message.versions)
        mine = message.versions.get(self._me, 0)
        if mine > self._version:  # from an earlier life, by a clock that went back
            self._version = (mine >> LIFE_BITS) + 1 << LIFE_BITS
            return self._changed_here()
        return self._schedule()

    def _say_held(self, source: NodeId) -> Send:
        versions = self._held.versions
        return Send(
            source, Held({owner: versions[owner] for owner in self._others.told_by(source)})
        )

    def _drop(self, owners: Collection[NodeId]) -> None:
        if owners:
            self._held.forget(owners)
            self._others.drop(owners)

    # --- links and the map ------------------------------------------------------------------------

    def link_up(self, peer: NodeId) -> Decision:
        sends = [Send(peer, each) for each in self._map_messages()]
        if peer in self._map.sources():
            sends.append(self._say_held(peer))
        self._alarm.forget()  # what was to happen before a broker had links was not heard
        return Decision(sends).and_then(self._schedule())

    def joined(self, peer: NodeId) -> Decision:
        return self._neighbours_changed()

    def forget(self, peer: NodeId) -> Decision:
        self._sent.pop(peer, None)
        if peer not in self._map.neighbours(self._me):
            return NOTHING
        return self._neighbours_changed()

    def _neighbours_changed(self) -> Decision:
        said = self._map.said.get(self._me, 0) + 1
        news = Adjacent(self._me, tuple(self._here.brokers), said)
        return self._learn(news, self._me)

    def _learn(self, message: Adjacent, came_from: NodeId) -> Decision:
        """Take in another map, tell it on, and drop what came from those who no longer send."""
        if not self._map.change(message.broker, message.neighbours, message.said):
            return NOTHING
        sources, others = self._map.sources(), self._others
        known = {each for some in others.sources.values() for each in some}
        self._drop(others.leave(known.difference(sources), list(others.sources)))
        there = self._map.brokers
        self._drop([owner for owner in others.sources if owner not in there])
        onward = [Send(peer, message) for peer in self._here.brokers if peer != came_from]
        asked = [self._say_held(peer) for peer in sources]
        return Decision([*onward, *asked]).and_then(self._schedule())

    def _map_messages(self) -> list[Adjacent]:
        """Return what has changed since brokers were configured."""
        return [
            Adjacent(broker, tuple(sorted(self._map.neighbours(broker))), said)
            for broker, said in self._map.said.items()
        ]

    # --- looking ----------------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """The bytes of what is held."""
        return self._held.size

    def tables(self) -> Tables:
        held = {
            owner: {(owner, str(number)): "" for number in numbers}
            for owner, numbers in self._others.numbers.items()
        }
        heard: dict[NodeId, dict[SubscriptionKey, str]] = {**held}
        return {"heard": heard, "told": {}}

    def count(self, stats: Stats) -> None:
        stats.rows += sum(map(len, self._others.numbers.values()))
