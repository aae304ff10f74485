"""Peer: a node that serves its own subscriptions and those of others that want the same (S2S-4).

A peer has an address and any number of members: each subscription is a ring member of its own
behind that address. A client of the peer subscribes, changes a subscription (by subscribing again
under its id), unsubscribes and publishes.

A tick is a cycle: each member starts one exchange per layer (S2S-20). Where `settings.period_s` is
given, the peer asks to be woken itself.

    gossiping        whom members know
    dissemination    what members get, and pass on
    repair           what ring neighbours missed
    publishing       who wants the events of clients
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any, Final

from fyke.errors import FykeError, shown
from fyke.filters import codec
from fyke.filters.filter import Filter, walk
from fyke.filters.resolution import check_order
from fyke.nodes.effect import Accept, Effect, Wake
from fyke.nodes.inputs import Input, Joined, Left, LinkUp, Received, Tick, Unreachable
from fyke.nodes.message import (
    Connect,
    Disconnect,
    Message,
    NodeId,
    Publish,
    Subscribe,
    Unsubscribe,
)
from fyke.nodes.node import Stats
from fyke.peers.dissemination import Dissemination
from fyke.peers.gossiping import Gossiping
from fyke.peers.messages import (
    Announce,
    Found,
    Leave,
    Near,
    Passage,
    Profile,
    Refuse,
    Ring,
    Seek,
    Shuffle,
    Taken,
    Want,
)
from fyke.peers.publishing import Publishing
from fyke.peers.registry import SEQUENCES, Registry
from fyke.peers.repair import Repair
from fyke.peers.settings import Settings
from fyke.peers.site import Site

MEMBERS_MAX: Final = 1_000


class Peer:
    """A node. `introducers` are addresses of others, of which one answers is enough."""

    def __init__(
        self,
        name: NodeId,
        introducers: Iterable[NodeId],
        registry: Registry,
        settings: Settings,
        random: Random,
    ) -> None:
        self.name = name
        self._introducers = list(dict.fromkeys(introducers))
        self._site = site = Site(name, registry, settings, random)
        self.members = site.members
        self.ignored = site.ignored
        self._clients: dict[str, NodeId] = {}
        """The client that made a subscription, by its id."""
        self._is_awake = False
        self._dissemination = Dissemination(site, self._clients.__getitem__)
        repair = Repair(site, self._dissemination)
        self._gossiping = gossiping = Gossiping(site, self._introducers, repair)
        self._publishing = publishing = Publishing(site, self._introducers)
        self._on: dict[type[Message], Callable[[NodeId, Any], list[Effect]]] = {
            Shuffle: gossiping.receive,
            Near: gossiping.receive,
            Ring: gossiping.receive,
            Announce: gossiping.take_announce,
            Leave: gossiping.take_leave,
            Publish: self._dissemination.receive,
            Refuse: self._take_refusal,
            Want: repair.send_missing,
            Seek: publishing.answer,
            Found: publishing.take_found,
            Taken: publishing.take_taken,
        }

    # --- the contract -----------------------------------------------------------------------------

    def handle(self, input: Input, now: float) -> list[Effect]:
        effects = self._handle(input, now)
        local = self._site.local
        while local:
            effects += self._receive(*local.popleft())
        return effects

    def _handle(self, input: Input, now: float) -> list[Effect]:
        match input:
            case Received(sender, message, True):
                return self._receive(sender, message)
            case Received(sender, message):
                return self._told(sender, message)
            case Tick():
                return self._cycle(now)
            case Unreachable(peer, message):
                return self._unreachable(peer, message)
            case Joined(peer) | LinkUp(peer, False):
                self._introducers.append(peer)
            case Left(peer) if peer in self._introducers:
                self._introducers.remove(peer)
        return self._wake(now)

    def _receive(self, sender: NodeId, message: Message) -> list[Effect]:
        take = self._on.get(type(message))
        if take is None:
            what = type(message).__name__
            return self._site.ignore("unknown", f"a peer does not know {what}", sender, message)
        return take(sender, message)

    def go_by(self, settings: Settings) -> None:
        """Send, find and repair events by other settings from now on; views keep their sizes."""
        self._site.settings = settings

    def stats(self) -> Stats:
        links = sum(len(member.links()) for member in self.members.values())
        return Stats(
            subscriptions=len(self.members),
            rows=links,
            filtered=links,
            matched=self._site.counts["events"],
            checks=self._site.counts["events"],
            rejected=self.ignored.total(),
        )

    def links(self) -> dict[str, tuple[int, tuple[str, ...]]]:
        """Return the sequence id of each member and the names of its ring links."""
        profiles = self._site.registry.profiles
        return {
            name: (member.profile.sequence, tuple(profiles[row].name for row in member.ring.view))
            for name, member in self.members.items()
        }

    # --- time -------------------------------------------------------------------------------------

    def _wake(self, now: float) -> list[Effect]:
        """Ask for the first tick, at a time of one's own."""
        period_s = self._site.settings.period_s
        if self._is_awake or period_s is None:
            return []
        self._is_awake = True
        return [Wake(now + self._site.draw.random() * period_s, is_background=True)]

    def _cycle(self, now: float) -> list[Effect]:
        self._site.contacts.clock += 1
        effects = self._gossiping.cycle() + self._publishing.cycle()
        if self._site.settings.period_s is not None:
            effects.append(Wake(now + self._site.settings.period_s, is_background=True))
        return effects

    # --- clients ----------------------------------------------------------------------------------

    def _told(self, client: NodeId, message: Message) -> list[Effect]:
        try:
            match message:
                case Subscribe():
                    return self._subscribe(client, message)
                case Unsubscribe(id) if id in self.members:
                    return self._unsubscribe(id)
                case Publish():
                    return self._publishing.publish(message)
                case Disconnect():
                    ids = [id for id, owner in self._clients.items() if owner == client]
                    return [effect for id in ids for effect in self._unsubscribe(id)]
                case Connect():
                    return []
        except FykeError as refused:
            return self._site.ignore("refused", str(refused), client, message)
        why = f"a peer does not know {type(message).__name__} from clients"
        return self._site.ignore("unknown", why, client, message)

    def _subscribe(self, client: NodeId, message: Subscribe) -> list[Effect]:
        id, site = message.subscription.id, self._site
        filter = message.subscription.filter
        check_order(filter, site.registry.space.schema)
        data = codec.encode(filter)
        member = self.members.get(id)
        told: list[Effect] = []
        if member is None:
            if len(self.members) >= MEMBERS_MAX:
                raise FykeError(f"a peer has at most {MEMBERS_MAX} subscriptions")
            member = site.open(Profile(self.name, id, site.draw.randrange(SEQUENCES), 0, data))
        else:
            known = member.profile
            member.become(Profile(self.name, id, known.sequence, known.version + 1, data))
            told = site.tell(member, Announce(site.fingerprint, member.profile))
        self._clients[id] = client
        for reason, note in self._remarks(filter, member.row):
            self.ignored[reason] += 1
            told.append(Accept(client, "Subscribe", f"{id}: {note}"))
        return told

    def _remarks(self, filter: Filter, row: int) -> Iterator[tuple[str, str]]:
        """Yield remarks on a subscription that costs more than needed: a reason and a sentence."""
        note = self._site.registry.notes.get(row)
        if note:
            yield "too many boxes", f"{note}; some peers will be asked twice"
        schema = self._site.registry.space.schema
        names = (getattr(part, "attribute", "type") for part in walk(filter))
        for name in dict.fromkeys(names):
            if name != "type" and schema.attribute(name) is None:
                meant = schema.nearest_attribute(name)
                hint = f"; did you mean {shown(meant)}?" if meant else ""
                yield (
                    "outside the schema",
                    f"the attribute {shown(name)} is not in the schema{hint}",
                )

    def _unsubscribe(self, id: str) -> list[Effect]:
        member = self.members.pop(id)
        del self._clients[id]
        self._gossiping.close(id)
        return self._site.tell(member, Leave(self._site.fingerprint, member.profile))

    # --- what did not arrive ----------------------------------------------------------------------

    def _unreachable(self, peer: NodeId, message: Message) -> list[Effect]:
        effects = self._gossiping.unreachable(peer)
        match message:
            case Publish(id, _, _, Passage(_, by)) if by:
                effects += self._dissemination.send_on(by, id)
        return effects + self._publishing.unreachable(peer, message)

    def _take_refusal(self, sender: NodeId, message: Refuse) -> list[Effect]:
        """Send an event to somebody else."""
        if message.by in self.members:
            return self._dissemination.send_on(message.by, message.id)
        return self._publishing.take_refusal(message.id)
