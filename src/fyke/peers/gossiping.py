"""Gossiping: one exchange per layer and member in every cycle (S2S-7 to S2S-10, S2S-20).

Who starts an exchange sends profiles, and gets some back; both merge what they got into the view of
that layer. A newcomer knows an introducer only, and begins with random links from there. Who is
gone is found when a send fails, or says so itself; its neighbours then ask others at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from fyke.errors import FykeError, shown
from fyke.nodes.effect import Effect
from fyke.nodes.message import EventId, NodeId
from fyke.peers.member import Member
from fyke.peers.messages import (
    IDS_MAX,
    PROFILES_MAX,
    Announce,
    Gossip,
    Leave,
    Near,
    Profile,
    Ring,
    Shuffle,
)
from fyke.peers.repair import Repair
from fyke.peers.site import Site

_FORGET_EVERY: Final = 8
"""Cycles between two times of forgetting."""
_PENDING_CYCLES: Final = 3
"""An answer that takes longer is not waited for."""


class Gossiping:
    """The exchanges of all members of a peer."""

    def __init__(self, site: Site, introducers: Sequence[NodeId], repair: Repair) -> None:
        self._site = site
        self._introducers = introducers
        self._repair = repair
        self._pending: dict[int, tuple[str, int, list[int], int]] = {}
        """Exchanges without an answer yet: the member, the row asked (-1 an introducer), the random
        links sent, the cycle.
        """
        self._introduced: set[str] = set()
        """Members that an introducer has answered."""
        self._exchanges = 0

    def cycle(self) -> list[Effect]:
        """Start the exchanges of all members; forget what is not needed any more, now and then."""
        contacts = self._site.contacts
        effects = [
            effect for member in self._site.members.values() for effect in self._start(member)
        ]
        if contacts.clock % _FORGET_EVERY == 0 or contacts.is_crowded:
            effects += self._forget()
        return effects

    def close(self, name: str) -> None:
        """Forget a member of this peer."""
        self._introduced.discard(name)

    def _start(self, member: Member) -> list[Effect]:
        """Start one exchange per layer."""
        effects: list[Effect] = []
        near = member.pick_near()  # before a random link is given away
        ring = self._repair.target(member)
        if ring is None:
            ring = member.pick_ring()
        introducers = self._introducers_of(member)
        draw = self._site.draw
        if introducers and self._is_to_be_introduced(member):
            effects += self._introduce(member, draw.choice(introducers))
        elif (started := member.random.start(draw)) is not None:
            effects += self._request(Shuffle, member, *started)
        if near is not None:
            effects += self._request(Near, member, near, member.closest_to(near))
        if ring is not None:
            effects += self._request(Ring, member, ring, member.select_for(ring))
        return effects

    def _is_to_be_introduced(self, member: Member) -> bool:
        """Return True for newcomers, and once in a while: what was parted finds together again."""
        if not member.random.view or member.profile.name not in self._introduced:
            return True
        return self._site.draw.random() * self._site.settings.introduction_cycles < 1

    def _introducers_of(self, member: Member) -> Sequence[NodeId]:
        """Return the addresses that can introduce a member: also one's own, if others are here."""
        is_first = member is next(iter(self._site.members.values()))
        return self._introducers if is_first else [*self._introducers, self._site.address]

    def _introduce(self, member: Member, address: NodeId) -> list[Effect]:
        """Start an exchange of random links with an address of which nothing else is known."""
        number = self._await(member, -1, [])
        return self._site.send(address, self._message(Shuffle, member, "", (), number))

    def _request(
        self, kind: type[Gossip], member: Member, target: int, rows: Sequence[int]
    ) -> list[Effect]:
        profile = self._site.registry.profiles[target]
        number = self._await(member, target, list(rows) if kind is Shuffle else [])
        recent = self._repair.digest(member, target) if kind is Ring else ()
        message = self._message(kind, member, profile.name, rows, number, recent)
        return self._site.send(profile.address, message)

    def _await(self, member: Member, target: int, sent: list[int]) -> int:
        """Remember an exchange until it is answered. Return its number."""
        self._exchanges += 1
        clock = self._site.contacts.clock
        self._pending[self._exchanges] = member.profile.name, target, sent, clock
        return self._exchanges

    def _message(
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
        site = self._site
        profiles, own, clock = site.registry.profiles, member.row, site.contacts.clock
        born = member.random.view if kind is Shuffle else site.contacts.born
        them = [row for row in rows if row != own]
        return kind(
            site.fingerprint,
            number,
            to,
            member.profile,
            tuple([profiles[row] for row in them]),
            tuple([clock - born.get(row, clock) for row in them]),
            is_reply,
            recent,
        )

    # --- what others send -------------------------------------------------------------------------

    def receive(self, sender: NodeId, message: Gossip) -> list[Effect]:
        """Take an exchange: answer a request, then merge what came into a view."""
        site = self._site
        member = site.members.get(message.to)
        if message.to == "" and not message.is_reply:
            member = next(iter(site.members.values()), None)
        problem = self._problem(sender, message)
        if problem:
            return site.ignore(*problem, sender, message)
        if member is None:
            return self._absent(sender, message)
        try:
            row = site.contacts.hear(message.sender)
        except FykeError as refused:
            return site.ignore("unreadable profile", str(refused), sender, message)
        known = site.contacts.read(message.profiles, message.ages)
        site.follow()
        received = [row, *[each for each, _ in known]]
        if message.is_reply:
            _, asked, sent, _ = self._pending.pop(message.number)
            if asked < 0:
                self._introduced.add(message.to)
            effects: list[Effect] = []
        else:
            sent, effects = self._reply(member, row, message, received)
        match message:
            case Shuffle():
                clock = site.contacts.clock
                came = [(each, clock - age) for each, age in known]
                own = [(row, clock)]
                member.random.merge(
                    came + own if message.is_reply else own + came, sent, member.row
                )
            case Near():
                member.keep_closest(received)
            case Ring():
                member.keep_ring(received)
                effects += self._repair.ask_missing(member, sender, message.recent)
        return effects

    def _reply(
        self, member: Member, row: int, message: Gossip, received: list[int]
    ) -> tuple[list[int], list[Effect]]:
        """Answer a request. Return the rows that were sent as well."""
        recent: tuple[EventId, ...] = ()
        match message:
            case Shuffle():
                rows = member.random.sample(self._site.draw)
            case Near():
                rows = member.closest_to(row)
            case _:
                rows = member.select_for(row, received)
                recent = self._repair.digest(member, row)
        to, kind, number = message.sender.name, type(message), message.number
        reply = self._message(kind, member, to, rows, number, recent, is_reply=True)
        return rows, self._site.send(message.sender.address, reply)

    def _problem(self, sender: NodeId, message: Gossip) -> tuple[str, str] | None:
        """Return what is wrong with a message: a reason to count and a sentence."""
        count, ages = len(message.profiles), message.ages
        if message.space != self._site.fingerprint:
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
            if asked[1] >= 0 and self._site.registry.profiles[asked[1]].address != sender:
                return "not asked", "an answer from somebody else than was asked"
        return None

    def _absent(self, sender: NodeId, message: Gossip) -> list[Effect]:
        """Answer for a member that is not here: it is gone, or never was."""
        site = self._site
        site.ignored["not for me"] += 1
        if message.is_reply or not message.to:
            return []
        gone = Profile(site.address, message.to, 0, 0, b"")
        return site.send(sender, Leave(site.fingerprint, gone))

    def _forget(self) -> list[Effect]:
        """Forget what is not needed any more; ask ring links of which nobody has heard lately."""
        site = self._site
        effects = [
            effect
            for member in site.members.values()
            for row in member.expire()
            for effect in self._request(Ring, member, row, member.select_for(row))
        ]
        site.contacts.forget(site.links())
        oldest = site.contacts.clock - _PENDING_CYCLES
        for number in [n for n, (*_, at) in self._pending.items() if at < oldest]:
            del self._pending[number]
        return effects

    # --- peers that change and go -----------------------------------------------------------------

    def take_announce(self, sender: NodeId, message: Announce) -> list[Effect]:
        """Believe a peer that wants something else now."""
        site = self._site
        if message.sender.address != sender or message.space != site.fingerprint:
            return site.ignore("impostor", "only a peer itself announces", sender, message)
        try:
            site.contacts.hear(message.sender)
        except FykeError as refused:
            return site.ignore("unreadable profile", str(refused), sender, message)
        site.follow()
        return []

    def take_leave(self, sender: NodeId, message: Leave) -> list[Effect]:
        """Believe a peer that one of its members is gone."""
        if message.sender.address != sender:
            return self._site.ignore("impostor", "only a peer itself leaves", sender, message)
        name, profiles = message.sender.name, self._site.registry.profiles
        at = self._site.contacts.at(sender)
        return self._bury([row for row in at if profiles[row].name == name])

    def unreachable(self, peer: NodeId) -> list[Effect]:
        """Forget all members of a peer that cannot be reached."""
        return self._bury(self._site.contacts.at(peer))

    def _bury(self, rows: Iterable[int]) -> list[Effect]:
        """Forget who is gone, and ask others for ring links in their place."""
        site = self._site
        effects: list[Effect] = []
        for row in list(rows):
            site.contacts.bury(row)
            for member in site.members.values():
                if member.replace(row, None) and site.settings.asks_at_once:
                    target = member.pick_ring()
                    if target is not None:
                        effects += self._request(Ring, member, target, member.select_for(target))
        return effects
