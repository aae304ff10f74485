"""Peer: a node that serves its own subscriptions and those of others that want the same (S2S-4).

A peer has an address and any number of members: each subscription is a ring member of its own
behind that address. A client of the peer subscribes, changes a subscription (by subscribing again
under its id), unsubscribes and publishes.

A tick is a cycle: each member starts one exchange per layer (S2S-20). Where `settings.period_s` is
given, the peer asks to be woken itself.

Dissemination (S2S-15). A member that gets an event for the first time delivers it and sends it to
succ(e), pred(e) and r shortcuts, the sender excepted. It sends to nobody whose filter refuses the
event, so nobody gets what it does not want (S2S-22); the receiver checks again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from random import Random
from typing import Any, Final

import numpy as np

from fyke.errors import FykeError, shown
from fyke.filters import codec
from fyke.nodes.effect import Accept, Deliver, Effect, Reject, Send, Wake
from fyke.nodes.inputs import Input, Joined, Left, LinkUp, Received, Tick, Unreachable
from fyke.nodes.message import (
    Connect,
    Disconnect,
    EventId,
    Message,
    NodeId,
    Publish,
    Subscribe,
    Unsubscribe,
)
from fyke.nodes.node import Stats
from fyke.peers.contacts import Contacts
from fyke.peers.geometry.space import Point
from fyke.peers.history import History
from fyke.peers.member import Member
from fyke.peers.messages import (
    IDS_MAX,
    PROFILES_MAX,
    Announce,
    Found,
    Gossip,
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
from fyke.peers.publishing import Search, closest_to_point, wanting
from fyke.peers.registry import SEQUENCES, Registry
from fyke.peers.settings import Settings

SEARCHES_MAX: Final = 1_000
MEMBERS_MAX: Final = 1_000
HANDED_MAX: Final = 5
"""Times that a publisher hands an event over before it gives up."""
_FORGET_EVERY: Final = 8
"""Cycles between two times of forgetting."""
_PENDING_CYCLES: Final = 3
"""An answer that takes longer is not waited for."""
_DIGEST: Final = 64
"""Events that a digest names, at most."""
_REPAIR_CYCLES: Final = 5
"""For so long, exchanges go to the ring neighbours for an event."""
_DIGEST_CYCLES: Final = 15
"""Events older than that are in no digest."""


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
        self.ignored: Counter[str] = Counter()
        """What came and was not accepted, by reason."""
        self.members: dict[str, Member] = {}
        self._introducers = list(dict.fromkeys(introducers))
        self._registry = registry
        self._fingerprint = registry.space.fingerprint
        self._settings = settings
        self._draw = random
        self._draw_event = Random(random.getrandbits(64))
        self._contacts = Contacts(registry, settings.age_max, self.ignored)
        self._clients: dict[str, NodeId] = {}
        """Who made a subscription, by its id."""
        self._histories: dict[str, History] = {}
        self._searches: dict[EventId, Search] = {}
        self._handed: dict[EventId, Search] = {}
        """Events of late that were handed over, in case they are refused."""
        self._pending: dict[int, tuple[str, int, list[int], int]] = {}
        """Exchanges without an answer yet: the member, the row asked (-1 an introducer), the random
        links sent, the cycle.
        """
        self._introduced: set[str] = set()
        """Members that an introducer has answered."""
        self._exchanges = 0
        self._local: deque[tuple[NodeId, Message]] = deque()
        self._is_awake = False
        self._counts: Counter[str] = Counter()
        self._on: dict[type[Message], Callable[[NodeId, Any], list[Effect]]] = {
            Shuffle: self._gossip,
            Near: self._gossip,
            Ring: self._gossip,
            Publish: self._event,
            Seek: self._seek,
            Found: self._found,
            Announce: self._announced,
            Leave: self._left,
            Want: self._wanted,
            Refuse: self._refused,
            Taken: self._taken,
        }

    # --- the contract -----------------------------------------------------------------------------

    def handle(self, input: Input, now: float) -> list[Effect]:
        effects = self._handle(input, now)
        while self._local:  # what one member says to another
            effects += self._received(*self._local.popleft())
        return effects

    def _handle(self, input: Input, now: float) -> list[Effect]:
        match input:
            case Received(sender, message, True):
                return self._received(sender, message)
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

    def stats(self) -> Stats:
        links = sum(len(member.links()) for member in self.members.values())
        return Stats(
            subscriptions=len(self.members),
            rows=links,
            filtered=links,
            matched=self._counts["events"],
            checks=self._counts["events"],
            rejected=self.ignored.total(),
        )

    def links(self) -> dict[str, tuple[int, tuple[str, ...]]]:
        """Return the sequence id of each member and the names of its ring links."""
        profiles = self._registry.profiles
        return {
            name: (member.profile.sequence, tuple(profiles[row].name for row in member.ring))
            for name, member in self.members.items()
        }

    def _wake(self, now: float) -> list[Effect]:
        """Ask for the first tick, at a time of one's own."""
        if self._is_awake or self._settings.period_s is None:
            return []
        self._is_awake = True
        return [Wake(now + self._draw.random() * self._settings.period_s, is_background=True)]

    def _ignore(self, reason: str, why: str, sender: NodeId, message: Message) -> list[Effect]:
        self.ignored[reason] += 1
        return [Reject(sender, type(message).__name__, why)]

    # --- clients ----------------------------------------------------------------------------------

    def _told(self, client: NodeId, message: Message) -> list[Effect]:
        try:
            match message:
                case Subscribe():
                    return self._subscribe(client, message)
                case Unsubscribe(id) if id in self.members:
                    return self._unsubscribe(id)
                case Publish():
                    return self._publish(client, message)
                case Disconnect():
                    ids = [id for id, owner in self._clients.items() if owner == client]
                    return [effect for id in ids for effect in self._unsubscribe(id)]
                case Connect():
                    return []
        except FykeError as refused:
            return self._ignore("refused", str(refused), client, message)
        what = type(message).__name__
        return self._ignore("unknown", f"a peer does not know {what} from clients", client, message)

    def _subscribe(self, client: NodeId, message: Subscribe) -> list[Effect]:
        id = message.subscription.id
        data = codec.encode(message.subscription.filter)
        member = self.members.get(id)
        if member is None and len(self.members) >= MEMBERS_MAX:
            raise FykeError(f"a peer has at most {MEMBERS_MAX} subscriptions")
        if member is None:
            profile = Profile(self.name, id, self._draw.randrange(SEQUENCES), 0, data)
            self.members[id] = self._new_member(profile)
            self._histories[id] = History(self._settings.history)
            told: list[Effect] = []
        else:
            known = member.profile
            member.become(Profile(self.name, id, known.sequence, known.version + 1, data))
            told = self._tell(member, Announce(self._fingerprint, member.profile))
        self._clients[id] = client
        note = self._registry.notes.get(self.members[id].row)
        if note:
            self.ignored["too many boxes"] += 1
            told.append(
                Accept(client, "Subscribe", f"{id}: {note}; some peers will be asked twice")
            )
        return told

    def _new_member(self, profile: Profile) -> Member:
        draws = (Random(self._draw.getrandbits(64)), Random(self._draw.getrandbits(64)))
        return Member(profile, self._registry, self._contacts, self._settings, *draws)

    def _unsubscribe(self, id: str) -> list[Effect]:
        member = self.members.pop(id)
        del self._histories[id], self._clients[id]
        self._introduced.discard(id)
        return self._tell(member, Leave(self._fingerprint, member.profile))

    def _tell(self, member: Member, message: Message) -> list[Effect]:
        """Tell something to all peers in a member's views, each address once."""
        addresses = dict.fromkeys(self._registry.profiles[row].address for row in member.links())
        return [effect for address in addresses for effect in self._send(address, message)]

    def _send(self, address: NodeId, message: Message) -> list[Effect]:
        if address != self.name:
            return [Send(address, message, is_straight=True)]
        self._local.append((self.name, message))
        return []

    # --- gossip -----------------------------------------------------------------------------------

    def _cycle(self, now: float) -> list[Effect]:
        self._contacts.clock += 1
        effects: list[Effect] = []
        for member in self.members.values():
            effects += self._exchange(member)
        if self._contacts.clock % _FORGET_EVERY == 0:
            self._forget()
        for search in list(self._searches.values()):
            if search.waiting:  # an answer got lost
                search.waiting.clear()
                effects += self._search_on(search)
        effects += self._hand_over_again()
        if self._settings.period_s is not None:
            effects.append(Wake(now + self._settings.period_s, is_background=True))
        return effects

    def _exchange(self, member: Member) -> list[Effect]:
        """Start one exchange per layer."""
        effects: list[Effect] = []
        near = member.pick_near()  # before a random link is given away
        ring = self._repair_target(member) or member.pick_ring()
        introducers = self._introducers_of(member)
        if introducers and self._is_to_be_introduced(member):
            effects += self._introduce(member, self._draw.choice(introducers))
        elif (started := member.cyclon.start(self._draw)) is not None:
            effects += self._request(Shuffle, member, *started)
        if near is not None:
            effects += self._request(Near, member, near, member.closest_to(near))
        if ring is not None:
            effects += self._request(Ring, member, ring, member.select_for(ring))
        return effects

    def _is_to_be_introduced(self, member: Member) -> bool:
        """Return True for newcomers, and once in a while: what was parted finds together again."""
        if not member.cyclon.view or member.profile.name not in self._introduced:
            return True
        return self._draw.random() * self._settings.introduction_cycles < 1

    def _introducers_of(self, member: Member) -> list[NodeId]:
        """Return the addresses that can introduce a member: also one's own, if others are here."""
        is_first = member is next(iter(self.members.values()))
        return self._introducers if is_first else [*self._introducers, self.name]

    def _introduce(self, member: Member, address: NodeId) -> list[Effect]:
        """Start an exchange of random links with an address of which nothing else is known."""
        self._exchanges += 1
        self._pending[self._exchanges] = member.profile.name, -1, [], self._contacts.clock
        return self._send(address, self._gossip_of(Shuffle, member, "", (), self._exchanges))

    def _request(
        self, kind: type[Gossip], member: Member, target: int, rows: Sequence[int]
    ) -> list[Effect]:
        profile = self._registry.profiles[target]
        self._exchanges += 1
        sent = list(rows) if kind is Shuffle else []
        self._pending[self._exchanges] = member.profile.name, target, sent, self._contacts.clock
        recent = self._digest(member, target) if kind is Ring else ()
        message = self._gossip_of(kind, member, profile.name, rows, self._exchanges, recent)
        return self._send(profile.address, message)

    def _gossip_of(
        self,
        kind: type[Gossip],
        member: Member,
        to: str,
        rows: Iterable[int],
        number: int,
        recent: tuple[EventId, ...] = (),
        is_reply: bool = False,
    ) -> Gossip:
        """Return a message with some rows; one's own is in it anyway."""
        profiles, own, clock = self._registry.profiles, member.row, self._contacts.clock
        born = member.cyclon.view if kind is Shuffle else self._contacts.born
        them = [row for row in rows if row != own]
        return kind(
            self._fingerprint,
            number,
            to,
            member.profile,
            tuple([profiles[row] for row in them]),
            tuple([clock - born.get(row, clock) for row in them]),
            is_reply,
            recent,
        )

    def _gossip(self, sender: NodeId, message: Gossip) -> list[Effect]:
        """Take an exchange: answer a request, then merge what came into a view."""
        member = self.members.get(message.to)
        if message.to == "" and not message.is_reply:
            member = next(iter(self.members.values()), None)
        problem = self._problem(sender, message)
        if problem:
            return self._ignore(*problem, sender, message)
        if member is None:
            return self._absent(sender, message)
        try:
            row = self._contacts.hear(message.sender)
        except FykeError as refused:
            return self._ignore("unreadable profile", str(refused), sender, message)
        known = self._contacts.read(message.profiles, message.ages)
        self._follow()
        received = [row, *(each for each, _ in known)]
        if message.is_reply:
            _, asked, sent, _ = self._pending.pop(message.number)
            if asked < 0:
                self._introduced.add(message.to)
            effects: list[Effect] = []
        else:
            sent, effects = self._reply(member, row, message, received)
        match message:
            case Shuffle():
                clock = self._contacts.clock
                came = [(each, clock - age) for each, age in known]
                own = [(row, clock)]
                member.cyclon.merge(
                    came + own if message.is_reply else own + came, sent, member.row
                )
            case Near():
                member.keep_closest(received)
            case Ring():
                member.keep_ring(received)
                effects += self._ask_missing(member, sender, message.recent)
        return effects

    def _reply(
        self, member: Member, row: int, message: Gossip, received: list[int]
    ) -> tuple[list[int], list[Effect]]:
        """Answer a request. Return the rows that were sent as well."""
        recent: tuple[EventId, ...] = ()
        match message:
            case Shuffle():
                rows = member.cyclon.sample(self._draw)
            case Near():
                rows = member.closest_to(row)
            case _:
                rows = member.select_for(row, received)
                recent = self._digest(member, row)
        to, kind, number = message.sender.name, type(message), message.number
        reply = self._gossip_of(kind, member, to, rows, number, recent, is_reply=True)
        return rows, self._send(message.sender.address, reply)

    def _problem(self, sender: NodeId, message: Gossip) -> tuple[str, str] | None:
        """Return what is wrong with a message: a reason to count and a sentence."""
        count, ages = len(message.profiles), message.ages
        if message.space != self._fingerprint:
            return "another space", "the sender has another schema, other axes or another version"
        if message.sender.address != sender:
            return "impostor", f"{shown(sender)} speaks for {shown(message.sender.address)}"
        if count > PROFILES_MAX or len(message.recent) > IDS_MAX:
            return "oversized", f"{count} profiles; expected at most {PROFILES_MAX}"
        if len(ages) != count or (ages and min(ages) < 0):
            return "malformed", f"{len(ages)} ages of {count} profiles; expected one each, from 0"
        if message.is_reply:
            asked = self._pending.get(message.number)
            if asked is None or asked[0] != message.to:
                return "not asked", "an answer that was not asked for, or came before"
            if asked[1] >= 0 and self._registry.profiles[asked[1]].address != sender:
                return "not asked", "an answer from somebody else than was asked"
        return None

    def _absent(self, sender: NodeId, message: Gossip) -> list[Effect]:
        """Answer for a member that is not here: it is gone, or never was."""
        self.ignored["not for me"] += 1
        if message.is_reply or not message.to:
            return []
        gone = Profile(self.name, message.to, 0, 0, b"")
        return self._send(sender, Leave(self._fingerprint, gone))

    def _follow(self) -> None:
        """Let the views follow members to their new rows."""
        for old, new in self._contacts.replaced:
            for member in self.members.values():
                member.replace(old, new)
        self._contacts.replaced.clear()

    def _forget(self) -> None:
        for member in self.members.values():
            member.expire()
        kept = {row for member in self.members.values() for row in member.links()}
        self._contacts.forget(kept)
        oldest = self._contacts.clock - _PENDING_CYCLES
        for number in [n for n, (*_, at) in self._pending.items() if at < oldest]:
            del self._pending[number]

    # --- peers that change and go -----------------------------------------------------------------

    def _announced(self, sender: NodeId, message: Announce) -> list[Effect]:
        if message.sender.address != sender or message.space != self._fingerprint:
            return self._ignore("impostor", "only a peer itself announces", sender, message)
        try:
            self._contacts.hear(message.sender)
        except FykeError as refused:
            return self._ignore("unreadable profile", str(refused), sender, message)
        self._follow()
        return []

    def _left(self, sender: NodeId, message: Leave) -> list[Effect]:
        if message.sender.address != sender:
            return self._ignore("impostor", "only a peer itself leaves", sender, message)
        name = message.sender.name
        profiles = self._registry.profiles
        rows = [row for row in self._contacts.at(sender) if profiles[row].name == name]
        return self._bury(rows)

    def _bury(self, rows: Iterable[int]) -> list[Effect]:
        """Forget who is gone, and ask others for ring links in their place."""
        effects: list[Effect] = []
        for row in list(rows):
            self._contacts.bury(row)
            for member in self.members.values():
                if member.remove(row) and self._settings.asks_at_once:
                    target = member.pick_ring()
                    if target is not None:
                        effects += self._request(Ring, member, target, member.select_for(target))
        return effects

    def _unreachable(self, peer: NodeId, message: Message) -> list[Effect]:
        for search in list(self._searches.values()):
            search.waiting.discard(peer)
            search.drop(peer)
        effects = self._bury(self._contacts.at(peer))
        match message:
            case Publish(id, _, _, Passage(_, by)) if self._settings.repairs and by in self.members:
                known = self._histories[by].get(id)
                if known is not None:
                    effects += self._pass_on(self.members[by], *known)
            case Publish(id, _, _, Passage(_, "")) if id in self._handed:
                search = self._handed.pop(id)
                search.drop(peer)
                effects += self._search_again(search)
            case Seek(_, id) if id in self._searches and not self._searches[id].waiting:
                effects += self._search_on(self._searches[id])
        return effects

    # --- events -----------------------------------------------------------------------------------

    def _event(self, sender: NodeId, publish: Publish) -> list[Effect]:
        """Take an event for a member: deliver it and pass it on, once."""
        passage = publish.route
        member = self.members.get(passage.to) if isinstance(passage, Passage) else None
        if not isinstance(passage, Passage):
            return self._ignore("malformed", "an event without a passage", sender, publish)
        if member is None:
            gone = Profile(self.name, passage.to, 0, 0, b"")
            return self._refuse(sender, publish, passage, Leave(self._fingerprint, gone))
        history = self._histories[member.profile.name]
        thanks: list[Effect] = []
        if not passage.by and self._settings.repairs:
            thanks = self._send(sender, Taken(self._fingerprint, publish.id))
        if publish.id in history:
            self._counts["duplicates"] += 1
            return thanks
        try:
            point = self._registry.space.point(publish.event)
        except FykeError as refused:
            return self._ignore("malformed", str(refused), sender, publish)
        if not member.filter.matches(publish.event):
            told = Announce(self._fingerprint, member.profile)
            return self._refuse(sender, publish, passage, told)
        return [*thanks, *self._take(member, publish, point, (sender, passage.by))]

    def _refuse(
        self, sender: NodeId, publish: Publish, passage: Passage, word: Announce | Leave
    ) -> list[Effect]:
        """Count an event that is not wanted here; tell the sender the truth, so that it goes on."""
        effects = self._ignore("unwanted", "nobody here wants the event", sender, publish)
        effects += self._send(sender, word)
        return effects + self._send(sender, Refuse(self._fingerprint, publish.id, passage.by))

    def _taken(self, sender: NodeId, message: Taken) -> list[Effect]:
        self._handed.pop(message.id, None)
        return []

    def _hand_over_again(self) -> list[Effect]:
        """Look again for whoever wants events of which nobody has said that it has them."""
        clock = self._contacts.clock
        late = [search for search in self._handed.values() if search.handed_at < clock - 1]
        effects: list[Effect] = []
        for search in late:
            del self._handed[search.publish.id]
            if self._settings.repairs and search.handed < HANDED_MAX:
                effects += self._search_again(search)
        return effects

    def _refused(self, sender: NodeId, message: Refuse) -> list[Effect]:
        """Send an event to somebody else."""
        if message.by not in self.members:
            search = self._handed.pop(message.id, None)
            return [] if search is None else self._search_again(search)
        known = self._histories[message.by].get(message.id)
        if known is None or not self._settings.repairs:
            return []
        return self._pass_on(self.members[message.by], *known)

    def _take(
        self, member: Member, publish: Publish, point: Point, source: tuple[NodeId, str]
    ) -> list[Effect]:
        name = member.profile.name
        self._counts["events"] += 1
        sent = self._histories[name].add(publish, self._contacts.clock)
        profiles = self._registry.profiles
        sent.update(
            row for row in member.links()
            if (profiles[row].address, profiles[row].name) == source
        )  # fmt: skip
        next_ones = member.next_for(publish.event, point)
        extra = member.shortcuts_for(publish.event, point, (*sent, *next_ones))
        delivery: list[Effect] = [Deliver(self._clients[name], publish, (name,))]
        targets = [row for row in next_ones if row not in sent]
        return delivery + self._pass(member, publish, (*targets, *extra), sent)

    def _pass(
        self, member: Member, publish: Publish, rows: Iterable[int], sent: set[int], *,
        is_repair: bool = False,
    ) -> list[Effect]:  # fmt: skip
        """Send an event to some rows."""
        effects: list[Effect] = []
        hops = publish.route.hops + 1 if isinstance(publish.route, Passage) else 0
        for row in rows:
            sent.add(row)
            profile = self._registry.profiles[row]
            passage = Passage(profile.name, member.profile.name, hops, is_repair)
            message = Publish(publish.id, publish.event, publish.epoch, passage)
            effects += self._send(profile.address, message)
        return effects

    def _pass_on(self, member: Member, publish: Publish, sent: set[int]) -> list[Effect]:
        """Send an event to those that are next now, if they were not before."""
        point = self._registry.space.point(publish.event)
        rows = [row for row in member.next_for(publish.event, point) if row not in sent]
        return self._pass(member, publish, rows, sent, is_repair=True)

    # --- repair -----------------------------------------------------------------------------------

    def _repair_target(self, member: Member) -> int | None:
        """Return a ring neighbour for an event of the last cycles: it may have missed it."""
        if not self._settings.repairs:
            return None
        since = self._contacts.clock - _REPAIR_CYCLES
        recent = list(islice(self._histories[member.profile.name].since(since), _DIGEST))
        if not recent:
            return None
        event = self._draw_event.choice(recent).event
        rows = member.next_for(event, self._registry.space.point(event))
        return self._draw_event.choice(rows) if rows else None

    def _digest(self, member: Member, target: int) -> tuple[EventId, ...]:
        """Return the events of late that a target wants too."""
        if not self._settings.repairs:
            return ()
        wants = self._registry.filters[target].matches
        since = self._contacts.clock - _DIGEST_CYCLES
        recent = self._histories[member.profile.name].since(since)
        found = []
        for publish in recent:
            if wants(publish.event):
                found.append(publish.id)
                if len(found) == _DIGEST:
                    break
        return tuple(found)

    def _ask_missing(
        self, member: Member, sender: NodeId, recent: tuple[EventId, ...]
    ) -> list[Effect]:
        history = self._histories[member.profile.name]
        missing = tuple(id for id in recent if id not in history)
        if not missing or not self._settings.repairs:
            return []
        fingerprint = self._fingerprint
        return self._send(sender, Want(fingerprint, member.profile, missing))

    def _wanted(self, sender: NodeId, message: Want) -> list[Effect]:
        """Send events that a member of the sender did not get, if it wants them."""
        if message.sender.address != sender or len(message.ids) > IDS_MAX:
            return self._ignore("malformed", "expected a few events of one's own", sender, message)
        try:
            row = self._contacts.hear(message.sender)
        except FykeError as refused:
            return self._ignore("unreadable profile", str(refused), sender, message)
        self._follow()
        effects: list[Effect] = []
        for id in message.ids:
            for name, history in self._histories.items():
                known = history.get(id)
                if known is not None and self._registry.filters[row].matches(known[0].event):
                    self._counts["repairs"] += 1
                    member = self.members[name]
                    effects += self._pass(member, known[0], [row], known[1], is_repair=True)
                    break
        return effects

    # --- publishers -------------------------------------------------------------------------------

    def _publish(self, client: NodeId, publish: Publish) -> list[Effect]:
        """Take an event of a client: hand it to any peer that wants it (S2S-17)."""
        event = self._registry.space.schema.validate(publish.event)
        point = self._registry.space.point(event)
        if len(self._searches) >= SEARCHES_MAX:
            raise FykeError(f"{SEARCHES_MAX} events are looking for somebody already")
        search = Search(Publish(publish.id, event, publish.epoch), point, self._registry)
        self._searches[publish.id] = search
        search.learn(member.row for member in self.members.values())
        search.learn(row for member in self.members.values() for row in member.links())
        return self._search_on(search)

    def _search_again(self, search: Search) -> list[Effect]:
        """Look for another one that wants an event."""
        self._searches[search.publish.id] = search
        search.waiting.clear()
        current = self._contacts.born
        search.known = {row: None for row in search.known if row in current}
        search.learn(row for member in self.members.values() for row in member.links())
        return self._search_on(search)

    def _search_on(self, search: Search) -> list[Effect]:
        """Hand an event over if somebody wants it, or ask on."""
        publish = search.publish
        wanting = search.wanting()
        if wanting:
            del self._searches[publish.id]
            self._handed[publish.id] = search
            search.handed += 1
            search.handed_at = self._contacts.clock
            if len(self._handed) > SEARCHES_MAX:
                del self._handed[next(iter(self._handed))]
            row = self._draw_event.choice(wanting)
            profile = self._registry.profiles[row]
            handed = Publish(publish.id, publish.event, publish.epoch, Passage(profile.name))
            return self._send(profile.address, handed)
        if search.waiting:
            return []
        addresses = search.ask(self._draw_event)
        if not addresses:
            addresses = search.ask_first(self._introducers)
        if not addresses or search.rounds > self._settings.rounds_max:
            del self._searches[publish.id]
            self._counts["unclaimed"] += 1
            return []
        asking = Seek(self._fingerprint, publish.id, publish.event)
        return [effect for address in addresses for effect in self._send(address, asking)]

    def _seek(self, sender: NodeId, message: Seek) -> list[Effect]:
        """Tell a publisher who is closest to its event."""
        if message.space != self._fingerprint:
            return self._ignore("another space", "the sender has another schema", sender, message)
        try:
            point = self._registry.space.point(message.event)
        except FykeError as refused:
            return self._ignore("malformed", str(refused), sender, message)
        rows: dict[int, None] = {}
        for member in self.members.values():
            rows[member.row] = None
            rows.update(dict.fromkeys(member.near) | dict.fromkeys(member.cyclon.view))
            if self._settings.answers_from_rings:
                rows.update(dict.fromkeys(member.ring))
        chosen: list[int] = []
        if rows:
            array = np.array(list(rows), np.int64)
            found = wanting(message.event, point, array, self._registry)[:1]
            count = self._settings.near_exchange
            near = closest_to_point(self._registry.table, rows, point, count, self._draw_event)
            chosen = list(dict.fromkeys((*found, *near)))[:count]
        born, clock = self._contacts.born, self._contacts.clock
        profiles = tuple(self._registry.profiles[row] for row in chosen)
        ages = tuple(clock - born.get(row, clock) for row in chosen)
        answer = Found(self._fingerprint, message.id, profiles, ages)
        return self._send(sender, answer)

    def _found(self, sender: NodeId, message: Found) -> list[Effect]:
        search = self._searches.get(message.id)
        if search is None or sender not in search.waiting or len(message.profiles) > PROFILES_MAX:
            self._counts["late answers"] += 1
            return []
        search.waiting.discard(sender)
        if len(message.ages) == len(message.profiles):
            search.learn(row for row, _ in self._contacts.read(message.profiles, message.ages))
            self._follow()
        return self._search_on(search)

    def _received(self, sender: NodeId, message: Message) -> list[Effect]:
        take = self._on.get(type(message))
        if take is None:
            what = type(message).__name__
            return self._ignore("unknown", f"a peer does not know {what}", sender, message)
        return take(sender, message)
