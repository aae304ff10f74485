"""Multi-stage filtering: filters get weaker towards the root of a tree, events travel down from it.

Idea. The tree has stages: subscribers are stage 0, a broker at the edge is stage 1, any other is
one more than the highest of its children. A subscription travels from its home up to the root, and
each broker tells its parent less of it (`stages`): equal weakened filters are told once, covered
ones not at all. An event goes up to the root as it is, and then down along matching filters. The
broker of the subscriber holds it against the filter itself, so nothing unwanted is delivered.

    root        type is Stock                                  decides by the type, for all
    stage 2     type is Stock and symbol = 'DEF'               one row for all prices
    stage 1     type is Stock and symbol = 'DEF' and price < 11
    clients     ... and price < 10, ... and price < 11

Invariant. Each broker holds, for each child, filters that cover all that is wanted behind it, or is
in doubt about that child and passes everything on. An event that cannot get to the root is flooded
from where it is stuck: nobody on the way up has handed it to anyone.
Cost. The way to the root, and from there a message for each link towards someone who wants the
event, or something that looks like it to the stages above.
Leases. With a period, a child renews all that it has told its parent in one message (`leases`). One
that is cut off keeps its rows until the grace ends; who holds something else than the child says
asks to be told all again.
Source. MSF-12 to MSF-21, MSF-28 to MSF-33, with MSF-Q3, MSF-Q5 and MSF-Q7; `joining` and `placing`
for MSF-22 to MSF-27.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Final

from msgspec.structs import replace

from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Accept, Send
from fyke.nodes.message import Advertise, Control, Message, NodeId, Publish, Route, Unadvertise
from fyke.nodes.node import Stats
from fyke.routing.flooding import flood_on
from fyke.routing.forwarding.filtering import Filtering
from fyke.routing.forwarding.offer import Offer
from fyke.routing.forwarding.reach import Reach, Reachable
from fyke.routing.forwarding.row import Row
from fyke.routing.forwarding.variant import VARIANTS
from fyke.routing.stages.attributes import (
    Classes,
    Stages,
    are_alike,
    check_stages,
    classes_of,
    common,
    weaken_for,
)
from fyke.routing.stages.joining import next_child
from fyke.routing.stages.leases import Leases, digest
from fyke.routing.stages.tallies import Tally
from fyke.routing.strategy import EVERYONE, NOTHING, Decision, Surroundings

ROOT: Final = ""
"""The rendezvous of all events."""


class Staged(Control, frozen=True):
    """The sender's stage, seen from the root: one more than that of its highest child."""

    stage: int


class Renew(Control, frozen=True):
    """The sender still wants all that it has told: so many rows, of this digest.

    Where subscriptions are attached elsewhere than at home, the attachments behind it (`tallies`).
    """

    rows: int
    digest: int
    tally: Tally | None = None


class Ask(Control, frozen=True):
    """The sender holds something else than was renewed, and wants to be told all again."""


class Associated(Control, frozen=True):
    """The stages of all classes that are advertised behind the sender."""

    classes: dict[str, Stages]


KINDS: Final[tuple[type[Message] | type[Route], ...]] = (Staged, Associated, Renew, Ask)


class Root(Reach):
    """All events go to one broker, whatever their type."""

    def __init__(self, me: NodeId, is_root: bool) -> None:
        super().__init__(me, [ROOT] if is_root else [])

    def of_event(self, event: Event, schema: Schema) -> str | None:
        return ROOT if ROOT in self.names() else None

    def of_filter(self, filter: Filter, schema: Schema) -> tuple[str, ...]:
        return self.names()


class Multistage(Filtering):
    """A broker of the tree. `classes` are stages by configuration, beside those advertised."""

    def __init__(
        self,
        here: Surroundings,
        *,
        is_root: bool,
        classes: Classes | None = None,
        is_merging: bool = False,
        leases: Leases | None = None,
    ) -> None:
        super().__init__(here, VARIANTS["rn8"], Root(here.me, is_root), is_merging)
        self._leases = leases or Leases(None)
        self._lapsed: dict[NodeId, None] = {}
        """Neighbours that are cut off, and whose rows have ended."""
        self._stages: dict[NodeId, int] = {}
        """The stages of neighbours."""
        self._configured = dict(classes or {})
        self._advertised: dict[tuple[NodeId, str], Classes] = {}
        """The stages of advertised classes, by client and id."""
        self._agreed: dict[tuple[NodeId, str], Stages] = {}
        """The stages of those classes, as their publishers know them."""
        self._heard: dict[NodeId, Classes] = {}
        self._told: dict[NodeId, Control] = {}
        """The last word to neighbours about classes."""
        self._classes = common(self._sources())
        self._stage = 1

    @property
    def stage(self) -> int:
        """Return one more than the stage of the highest child."""
        return self._stage

    @property
    def parent(self) -> NodeId | None:
        """Return the neighbour on the way to the root; None at the root."""
        return self._reach.via(ROOT)

    # --- filters and events -----------------------------------------------------------------------

    def _offer(self, offer: Offer, peer: NodeId, row: Row) -> None:
        """Tell the parent what a row is at its stage."""
        stage = self._stages.get(peer, self._stage + 1)
        known = row.subscription
        weak = weaken_for(known.filter, stage, self._classes, self._here.schema)
        if weak is not known.filter:
            row = replace(row, subscription=Subscription(known.id, weak, known.subscriber))
        super()._offer(offer, peer, row)

    def _meet(self, publish: Publish, came_from: NodeId) -> Decision:
        """Take an event on its way up; the root sends it down, also to where it came from."""
        above = self.parent
        is_cut = above is not None and not self._here.brokers.get(above)
        if self._doubt or is_cut or not self._reach.names():
            return flood_on(self._here, publish, None)
        if above is None:
            return Decision(self._filtered(publish, ""), EVERYONE)
        return Decision([Send(above, publish)])

    def join(
        self, filter: Filter, random: Random, *, looks_at_wildcards: bool = True
    ) -> NodeId | None:
        """Return the child that a subscriber is to ask; None to attach it here (`joining`)."""
        rows: dict[NodeId, list[Filter]] = {
            peer: [] for peer, is_up in self._here.brokers.items() if is_up and peer != self.parent
        }
        for row in self._table:
            if row.source in rows:
                rows[row.source].append(row.subscription.filter)
        names = (classes_of(filter) or ()) if looks_at_wildcards else ()
        stages: Stages = next((self._classes[name] for name in names if name in self._classes), ())
        return next_child(filter, self._stage, rows, stages, self._here.schema, random)

    # --- stages and classes -----------------------------------------------------------------------

    def advertise(self, message: Advertise | Unadvertise, came_from: NodeId) -> Decision:
        key = (came_from, message.id)
        if isinstance(message, Unadvertise):
            if self._advertised.pop(key, None) is None:
                return NOTHING
            del self._agreed[key]
        elif not message.stages:
            return NOTHING
        else:
            name = _class_of(message.filter)
            stages = check_stages(message.stages, self._here.schema, name)
            self._advertised[key] = {name: stages}
            self._agreed[key] = stages
        return self._associate()

    def control(self, message: Control, came_from: NodeId) -> Decision:
        if came_from in self._here.brokers:
            match message:
                case Staged():
                    self._stages[came_from] = message.stage
                    return Decision(self._restage())
                case Renew():
                    return self._take_renew(message, came_from)
                case Ask():
                    return super().link_up(came_from)
                case Associated():
                    self._heard[came_from] = message.classes
                    return self._associate()
        return super().control(message, came_from)

    def _sources(self, but: NodeId | None = None) -> Iterable[Classes]:
        yield self._configured
        yield from self._advertised.values()
        yield from (classes for peer, classes in self._heard.items() if peer != but)

    def _associate(self) -> Decision:
        """Go by the classes that are known now; tell neighbours and publishers what is news."""
        sends = []
        for peer in self._told:
            news = Associated(common(self._sources(but=peer)))
            if self._told[peer] != news:
                self._told[peer] = news
                sends.append(Send(peer, news))
        classes = common(self._sources())
        if classes != self._classes:
            self._classes = classes
            sends += self._moved(self._table)
        return Decision(sends, answers=self._answers())

    def _answers(self) -> list[Accept]:
        """Tell publishers whose class keeps something else than they know."""
        answers = []
        for (client, id), classes in self._advertised.items():
            ((name, _),) = classes.items()
            agreed = self._classes[name]
            if not are_alike(agreed, self._agreed[client, id]):
                kept = " / ".join(", ".join(names) or "nothing" for names in agreed)
                note = f"{id}: the stages of {name} are now {kept}, as all its publishers keep them"
                answers.append(Accept(client, "Advertise", note))
            self._agreed[client, id] = agreed
        return answers

    def _restage(self) -> list[Send]:
        """Go by the stages of neighbours that are known now.

        Without a root nobody is a child: neighbours would count each other up for ever.
        """
        above = self.parent
        children = [] if not self._reach.names() else [*self._stages.keys() - {above}]
        stage = 1 + max((self._stages[peer] for peer in children), default=0)
        news = [Send(peer, Staged(stage)) for peer in self._told] if stage != self._stage else []
        self._stage = stage
        return [*news, *self._moved(self._table)]

    def link_up(self, peer: NodeId) -> Decision:
        told = self._told[peer] = Associated(common(self._sources(but=peer)))
        said = Decision([Send(peer, Staged(self._stage)), Send(peer, told)])
        if peer in self._lapsed:
            del self._lapsed[peer]
            self._doubt.hear_again(peer)
        self._leases.renew(peer, self._here.now)
        begun = Decision(wakes=self._leases.begin(self._here.now))
        return said.and_then(super().link_up(peer), begun)

    def link_down(self, peer: NodeId) -> Decision:
        self._told.pop(peer, None)
        return super().link_down(peer)

    def forget(self, peer: NodeId) -> Decision:
        for known in (self._told, self._heard, self._stages, self._lapsed):
            known.pop(peer, None)
        self._leases.end(peer)
        left = super().forget(peer)
        return left.and_then(Decision(self._restage()), self._associate())

    def _spread(self, news: Reachable, came_from: NodeId) -> list[Send]:
        """Learn where the root is, and with it who is a child."""
        sends = super()._spread(news, came_from)
        return [*sends, *self._restage()] if news else sends

    # --- leases -----------------------------------------------------------------------------------

    def tick(self) -> Decision:
        now = self._here.now
        if not self._leases.is_over(now):
            return NOTHING
        sends = [send for name in self._leases.end_lapsed(now) for send in self._lapse(name)]
        return Decision([*self._renew(), *sends], wakes=self._leases.begin(now))

    def _renew(self) -> list[Send]:
        """Tell the parent that all it was told still holds."""
        above = self.parent
        offer = self._offers.get(above) if above is not None else None
        if above is None or offer is None:
            return []
        held = {key: each.filter for key, each in offer.held.items()}
        return [Send(above, Renew(len(held), digest(held), self._tally()))]

    def _tally(self) -> Tally | None:
        """Return the attachments behind this broker, where there are any to be renewed."""
        return None

    def _take_renew(self, message: Renew, peer: NodeId) -> Decision:
        """Keep what a child still wants. One that tells all again just now is heard out first."""
        self._leases.renew(peer, self._here.now)
        if peer in self._stale:
            return NOTHING
        rows = filter(None, map(self._table.get, self._table.of(peer)))
        held = {row.key: row.subscription.filter for row in rows}
        if (len(held), digest(held)) == (message.rows, message.digest):
            return NOTHING
        return Decision([Send(peer, Ask())])

    def _lapse(self, name: NodeId) -> list[Send]:
        """Let go of what a child wanted that has not renewed it.

        One whose link works is asked first. What it has told holds until it has answered: this
        broker's parent would hear of the end before it hears the answer. If the grace passes once
        more without one, the child gets everything, as far as events still come here.
        """
        if name == self.parent:
            return []
        is_up = self._here.brokers.get(name)
        if is_up:
            has_answered = self._doubt.knows(name)
            self._leases.renew(name, self._here.now)
            self._doubt.hear_again(name)
            if has_answered:
                return [Send(name, Ask())]
            self._doubt.join(name)
        elif name in self._here.brokers:
            self._lapsed[name] = None
        asked = [Send(name, Ask())] if is_up else []
        return [*asked, *self._changed([], self._table.of(name))]

    def count(self, stats: Stats) -> None:
        super().count(stats)
        stats.stage = self._stage


def _class_of(filter: Filter) -> str:
    """Return the class that an advertisement is about; FykeError unless there is exactly one."""
    names = classes_of(filter) or ()
    if len(names) != 1:
        named = ", ".join(sorted(names)) or "none"
        raise FykeError(f"stages belong to one class of events; the filter names {named}")
    return next(iter(names))
