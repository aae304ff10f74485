"""Summaries: brokers send short descriptions of subscriptions to one neighbour, and events search.

Idea. In a period, each broker sends what has changed in the summaries that it holds, its own and
those it was sent, to one neighbour of greater (degree, id) (Algorithm 2, SUM-18 to SUM-21). An
event goes to the broker of highest degree that has not been examined yet, which examines all whose
summaries it holds (Merged_Brokers) and sends the event straight to those that may want it; and so
on, until all have been examined (BROCLI, Algorithm 3, SUM-22 to SUM-25).
Example. SUM-X8 and SUM-X9: thirteen brokers are merged in ten messages, and an event that three of
them want takes five.
Versions. A contribution is its owner's as of a version, which grows with every change and begins
anew, higher, with every life of a broker. What travels is the difference to what the neighbour was
told: added subscriptions as rows, removed ones as numbers. A neighbour whose version is another
says so (`Held`), and is told what it lacks.
Doubt widens. Merged_Brokers are those whose contributions this broker is sure of: it holds them as
the source told them, the link to the source works, and they go by its own schema. Who is taken out
is visited by the search, and decides for itself. A broker that started anew has nobody but itself
in; one that cannot be reached is put aside, and the search goes on.
Law. Each broker is examined once, by one that is sure of it or by itself, so an event is delivered
to all that settled, and once. Owners check events exactly (SUM-15).
Cost. At most n - 1 messages a period, none if nothing changed. An event: one message for each
broker that examines it and each that may want it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from random import Random
from typing import ClassVar, Final

from fyke.errors import FykeError, shown
from fyke.filters.resolution import resolve
from fyke.nodes.effect import Send, Wake
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
from fyke.routing.neighbourhood import Neighbourhood
from fyke.routing.strategy import EVERYONE, NOTHING, Decision, Strategy, Surroundings, Tables
from fyke.summaries.encoding import SummaryError
from fyke.summaries.summary import Summary

_LIFE_BITS: Final = 14
"""Changes within one number of a life."""
HIGHEST_DEGREE: Final = "highest_degree"
NEAREST: Final = "nearest"
LEAST_LOADED: Final = "least_loaded"
CHOICES: Final = (HIGHEST_DEGREE, NEAREST, LEAST_LOADED)


@dataclass(frozen=True, slots=True)
class SummaryParameters:
    """How an overlay of summaries works, all brokers alike."""

    mode: str | None = None
    """Of summaries: coarse or exact; coarse, or exact if there is a budget."""
    budget: int | str | None = None
    """Bytes of what a broker holds."""
    period_s: float = 1.0
    """A phase of propagation begins so often, if anything changed."""
    choice: str = HIGHEST_DEGREE
    """Which broker is searched next (SUM-24)."""
    degree_max: int | None = None
    """No broker looks greater than that: virtual degrees (SUM-F1)."""

    def __post_init__(self) -> None:
        if not self.period_s > 0:
            raise FykeError(f"period_s is {shown(self.period_s)}; expected more than 0")
        if self.choice not in CHOICES:
            raise FykeError(f"unknown choice {shown(self.choice)}; expected {', '.join(CHOICES)}")
        if self.degree_max is not None and self.degree_max < 1:
            raise FykeError(f"degree_max is {shown(self.degree_max)}; expected 1 or more")


class Contribution(Control, frozen=True):
    """What has changed in the summaries that the sender holds.

    `owners` are (name, version before or -1, version, view); `removed` the numbers of subscriptions
    that are gone, by owner; `forgotten` owners are no longer held. `added` is a summary.
    """

    owners: tuple[tuple[str, int, int, str], ...]
    removed: dict[str, tuple[int, ...]]
    forgotten: tuple[str, ...]
    added: bytes


class Held(Control, frozen=True):
    """What the sender holds of what the receiver told: owners and versions."""

    versions: dict[str, int]


class Adjacent(Control, frozen=True):
    """The neighbours of a broker, and how often they have changed."""

    broker: str
    neighbours: tuple[str, ...]
    said: int


class Search(Route, frozen=True):
    """With an event that looks for brokers: those that have been examined (BROCLI)."""

    examined: tuple[str, ...]


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
        known = {**overlay, self._me: tuple(here.brokers) or overlay.get(self._me, ())}
        self._map = Neighbourhood(self._me, known, self._parameters.degree_max)
        if not overlay:  # nobody has configured it: brokers tell each other
            self._map.said[self._me] = 1
        self._life = random.getrandbits(8) or 1
        self._version = 0
        self._held = Summary(self._parameters.mode, budget=self._parameters.budget)
        self._held.claim(self._me, 0)
        self._source: dict[NodeId, NodeId] = {}
        """Who told the contribution of each owner."""
        self._views: dict[NodeId, str] = {}
        self._numbers: dict[NodeId, frozenset[int]] = {}
        """The subscriptions of each other owner."""
        self._told: dict[NodeId, tuple[int, frozenset[int]]] = {}
        """What the neighbour that summaries are sent to was told: versions and numbers."""
        self._told_to: NodeId | None = None
        self._due: float | None = None
        self._filters: dict[str, Subscribe] = {}
        self._sent: dict[NodeId, int] = dict.fromkeys(self._map.brokers, 0)
        """Searches sent to each broker."""

    # --- subscriptions ----------------------------------------------------------------------------

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        subscription = message.subscription
        if came_from in self._here.brokers:
            raise FykeError("a broker does not subscribe where summaries are sent")
        resolved = resolve(subscription.filter, self._here.schema)
        self._held.add(subscription.id, resolved, self._me)
        self._filters[subscription.id] = message
        return self._changed_here()

    def unsubscribe(self, message: Unsubscribe, came_from: NodeId) -> Decision:
        if message.id not in self._filters:
            raise FykeError(f"there is no subscription {shown(message.id)}")
        self._held.remove(message.id, self._me)
        del self._filters[message.id]
        return self._changed_here()

    def _changed_here(self) -> Decision:
        if not self._version:
            self._version = (int(self._here.now * 1_000) << 8 | self._life) << _LIFE_BITS
        self._version += 1
        self._held.set_version(self._me, self._version)
        return self._schedule()

    def reconsider(self) -> Decision:
        """Say all of one's own again, in the words of another schema."""
        view = self._view()
        if self._views.get(self._me, "") == view:
            return NOTHING
        self._views[self._me] = view
        for id, message in self._filters.items():
            resolved = resolve(message.subscription.filter, self._here.schema)
            self._held.remove(id, self._me)
            self._held.add(id, resolved, self._me)
        return self._changed_here()

    def _view(self) -> str:
        """Return what filters and events are read by; brokers of one view agree on rows."""
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
            return Decision(self._search_on(message, {*message.route.examined, peer}))
        return NOTHING

    def _examine(self, publish: Publish, examined: Collection[NodeId]) -> Decision:
        """Send an event to those held here that may want it, and on to who holds others."""
        known = set(examined)
        sure = self.merged_brokers() - known
        wanting = [owner for owner in self._held.owners(publish.event) if owner in sure]
        matched = Publish(publish.id, publish.event, publish.epoch, _MATCHED)
        sends = [Send(owner, matched, is_straight=True) for owner in wanting if owner != self._me]
        sends += self._search_on(publish, known | sure)
        return Decision(sends, EVERYONE if self._me in sure else None)

    def _search_on(self, publish: Publish, examined: set[NodeId]) -> list[Send]:
        following = self._next([each for each in self._map.brokers if each not in examined])
        if following is None:
            return []
        if self._parameters.choice == LEAST_LOADED:
            self._sent[following] = self._sent.get(following, 0) + 1
        route = Search(tuple(sorted(examined)))
        onward = Publish(publish.id, publish.event, publish.epoch, route)
        return [Send(following, onward, is_straight=True)]

    def _next(self, brokers: list[NodeId]) -> NodeId | None:
        ordered = self._map.search_order(brokers)
        if not ordered:
            return None
        if self._parameters.choice == NEAREST:
            return min(ordered, key=self._map.distance)
        if self._parameters.choice == LEAST_LOADED:
            return min(ordered, key=lambda each: self._sent.get(each, 0))
        return ordered[0]

    def merged_brokers(self) -> set[NodeId]:
        """Return those whose subscriptions this broker is sure to hold (SUM-18)."""
        view = self._view()
        up = self._here.brokers
        return {self._me} | {
            owner
            for owner, source in self._source.items()
            if self._views.get(owner, "") == view and up.get(source) and owner in self._map
        }

    # --- propagation ------------------------------------------------------------------------------

    def _schedule(self) -> Decision:
        """Wake up when it is this broker's turn, if its neighbour lacks something."""
        if self._due is not None or not self._lacks():
            return NOTHING
        period, offset = self._parameters.period_s, self._map.turn() * self._parameters.period_s
        start = self._here.now // period * period + offset
        self._due = start if start > self._here.now else start + period
        return Decision(wakes=[Wake(self._due)])

    def tick(self) -> Decision:
        if self._due is None or self._here.now < self._due - 1e-9:
            return NOTHING
        self._due = None
        to = self._target()
        if to is None or not self._here.brokers.get(to):
            return NOTHING
        return Decision(self._contribute(to))

    def _target(self) -> NodeId | None:
        """Return the neighbour that summaries are sent to; a new one was told nothing."""
        to = self._map.target(self._me)
        if to != self._told_to:
            self._told_to, self._told = to, {}
        return to

    def _lacks(self) -> bool:
        """Return True if the neighbour is not up to date."""
        to = self._target()
        if to is None:
            return False
        told = {owner: version for owner, (version, _) in self._told.items()}
        return told != self._held.versions

    def _contribute(self, to: NodeId) -> list[Send]:
        """Return what the neighbour lacks, and count it as told."""
        owners, removed, added = [], {}, {}
        for owner, version in self._held.versions.items():
            numbers = self._numbers_of(owner)
            before, known = self._told.get(owner, (-1, frozenset()))
            if before == version:
                continue
            if before >> _LIFE_BITS != version >> _LIFE_BITS:
                before, known = -1, frozenset()
            owners.append((owner, before, version, self._views.get(owner, "")))
            added[owner] = numbers - known
            if known - numbers:
                removed[owner] = tuple(sorted(known - numbers))
            self._told[owner] = version, numbers
        forgotten = tuple(owner for owner in self._told if owner not in self._held.versions)
        for owner in forgotten:
            del self._told[owner]
        if not owners and not forgotten:
            return []
        part = self._held.selected(added)
        return [Send(to, Contribution(tuple(owners), removed, forgotten, part.to_bytes()))]

    def _numbers_of(self, owner: NodeId) -> frozenset[int]:
        if owner == self._me:
            return frozenset(self._held.known_numbers(owner))
        return self._numbers[owner]

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
        """Take in what a neighbour told; if it does not fit, keep the last good state and ask."""
        try:
            part = self._checked(message)
        except SummaryError:
            return Decision([self._say_held(source)])
        removed: dict[NodeId, Collection[int]] = dict(message.removed)
        for owner, before, _, view in message.owners:
            if before == -1:
                removed[owner] = self._numbers.get(owner, frozenset())
            self._source[owner] = source
            self._views[owner] = view
        self._held.update(part, removed)
        for owner, _, _, _ in message.owners:
            known = self._numbers.get(owner, frozenset()) - frozenset(removed.get(owner, ()))
            self._numbers[owner] = known | frozenset(part.numbers(owner))
        self._drop([each for each in message.forgotten if self._source.get(each) == source])
        return self._schedule()

    def _checked(self, message: Contribution) -> Summary:
        """Return what is added; SummaryError if it cannot be what follows what is held."""
        part = Summary.from_bytes(message.added)
        if {owner: version for owner, _, version, _ in message.owners} != dict(part.versions):
            raise SummaryError("a contribution of other owners or versions than it says")
        if part.mode != self._held.mode:
            raise SummaryError(f"a summary of mode {part.mode}; expected {self._held.mode}")
        for owner, before, version, _ in message.owners:
            if owner == self._me:
                raise SummaryError(f"two brokers call themselves {shown(owner)}")
            if owner not in self._map:
                raise SummaryError(f"unknown broker {shown(owner)}")
            held = self._held.versions.get(owner, -1)
            if before != -1 and before != held:
                raise SummaryError(f"{shown(owner)} is held as of another version")
            if version < held and version >> _LIFE_BITS == held >> _LIFE_BITS:
                raise SummaryError(f"the version of {shown(owner)} goes back")
        return part

    def _compare(self, message: Held, came_from: NodeId) -> Decision:
        """Learn what the neighbour holds of what it was told; what else was told is forgotten."""
        if came_from != self._target():
            return NOTHING
        self._told = {
            owner: self._told[owner]
            if self._told.get(owner, (-1, ()))[0] == version
            else (-1, frozenset())
            for owner, version in message.versions.items()
        }
        mine = message.versions.get(self._me, 0)
        if mine > self._version:  # from an earlier life, by a clock that went back
            self._version = (mine >> _LIFE_BITS) + 1 << _LIFE_BITS
            return self._changed_here()
        return self._schedule()

    def _say_held(self, source: NodeId) -> Send:
        versions = self._held.versions
        return Send(
            source,
            Held({owner: versions[owner] for owner, by in self._source.items() if by == source}),
        )

    def _drop(self, owners: Collection[NodeId]) -> None:
        if not owners:
            return
        self._held.forget(owners)
        for owner in owners:
            for known in (self._source, self._views, self._numbers):
                known.pop(owner, None)

    # --- links and the map ------------------------------------------------------------------------

    def link_up(self, peer: NodeId) -> Decision:
        sends = [Send(peer, each) for each in self._map_messages()]
        if peer in self._map.sources():
            sends.append(self._say_held(peer))
        self._due = None  # what was to happen before a broker had links was not heard
        return Decision(sends).and_then(self._schedule())

    def joined(self, peer: NodeId) -> Decision:
        return self._neighbours_changed()

    def forget(self, peer: NodeId) -> Decision:
        self._sent.pop(peer, None)
        if peer not in self._map.adjacent.get(self._me, ()):
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
        sources = self._map.sources()
        self._drop([owner for owner, by in self._source.items() if by not in sources])
        self._drop([owner for owner in self._source if owner not in self._map])
        onward = [Send(peer, message) for peer in self._here.brokers if peer != came_from]
        asked = [self._say_held(peer) for peer in sources]
        return Decision([*onward, *asked]).and_then(self._schedule())

    def _map_messages(self) -> list[Adjacent]:
        """Return what has changed since brokers were configured."""
        return [
            Adjacent(broker, tuple(sorted(self._map.adjacent[broker])), said)
            for broker, said in self._map.said.items()
        ]

    # --- looking ----------------------------------------------------------------------------------

    def tables(self) -> Tables:
        held = {
            owner: {(owner, str(number)): "" for number in numbers}
            for owner, numbers in self._numbers.items()
        }
        heard: dict[NodeId, dict[SubscriptionKey, str]] = {**held}
        return {"heard": heard, "told": {}}

    def count(self, stats: Stats) -> None:
        stats.rows += sum(map(len, self._numbers.values()))
