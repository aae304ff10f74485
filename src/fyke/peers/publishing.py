"""Publishing: an event finds any one peer that wants it, and is handed over (S2S-17, S2S-18).

A publisher is no subscriber: it enters no view. With repair, who gets an event from a publisher
says so (`Taken`); what nobody has taken is handed over again. A newcomer may know nobody to pass it
on to: if it went, the event would be lost. So the publisher looks for somebody else as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fyke.errors import FykeError
from fyke.nodes.effect import Effect
from fyke.nodes.message import EventId, NodeId, Publish
from fyke.peers.messages import PROFILES_MAX, Found, Passage, Seek, Taken
from fyke.peers.search import Search, closest_to_point, wanting
from fyke.peers.site import Site

SEARCHES_MAX: Final = 1_000
HANDED_MAX: Final = 5
"""Times that a publisher hands an event over before it gives up."""


class Publishing:
    """Searches of events. `introducers` are asked where nobody else is known."""

    def __init__(self, site: Site, introducers: Sequence[NodeId]) -> None:
        self._site = site
        self._introducers = introducers
        self._searches: dict[EventId, Search] = {}
        self._handed: dict[EventId, Search] = {}
        """Events of late that were handed over, in case they are refused."""

    def publish(self, publish: Publish) -> list[Effect]:
        """Take an event of a client; FykeError if it is outside of the schema, or one too many."""
        space = self._site.registry.space
        event = space.schema.validate(publish.event)
        point = space.point(event)
        if len(self._searches) >= SEARCHES_MAX:
            raise FykeError(f"{SEARCHES_MAX} events are looking for somebody already")
        search = Search(Publish(publish.id, event, publish.epoch), point, self._site.registry)
        self._searches[publish.id] = search
        search.learn(member.row for member in self._site.members.values())
        search.learn(self._site.links())
        return self._go_on(search)

    def cycle(self) -> list[Effect]:
        """Go on where answers got lost, and with events that nobody says to have."""
        effects: list[Effect] = []
        for search in list(self._searches.values()):
            if search.waiting:
                search.waiting.clear()
                effects += self._go_on(search)
        clock = self._site.contacts.clock
        for search in [each for each in self._handed.values() if each.handed_at < clock - 1]:
            del self._handed[search.publish.id]
            if self._site.settings.repairs and search.handed < HANDED_MAX:
                effects += self._again(search)
        return effects

    def _again(self, search: Search) -> list[Effect]:
        """Look for another one that wants an event."""
        self._searches[search.publish.id] = search
        search.waiting.clear()
        current = self._site.contacts.born
        search.known = {row: None for row in search.known if row in current}
        search.learn(self._site.links())
        return self._go_on(search)

    def _go_on(self, search: Search) -> list[Effect]:
        """Hand an event over if somebody wants it, or ask on."""
        site, publish = self._site, search.publish
        profiles = site.registry.profiles
        found = [row for row in search.wanting() if profiles[row].address not in search.have]
        if found:
            del self._searches[publish.id]
            return self._hand_over(search, site.draw_event.choice(found))
        if search.waiting:
            return []
        addresses = search.ask(site.draw_event) or search.ask_first(self._introducers)
        if not addresses or search.rounds > site.settings.rounds_max:
            del self._searches[publish.id]
            site.counts["alone" if search.have else "unclaimed"] += 1
            return []
        asking = Seek(site.fingerprint, publish.id, publish.event)
        return [effect for address in addresses for effect in site.send(address, asking)]

    def _hand_over(self, search: Search, row: int) -> list[Effect]:
        publish = search.publish
        self._handed[publish.id] = search
        search.handed += 1
        search.handed_at = self._site.contacts.clock
        if len(self._handed) > SEARCHES_MAX:
            del self._handed[next(iter(self._handed))]
        profile = self._site.registry.profiles[row]
        handed = Publish(publish.id, publish.event, publish.epoch, Passage(profile.name))
        return self._site.send(profile.address, handed)

    # --- what others answer -----------------------------------------------------------------------

    def take_found(self, sender: NodeId, message: Found) -> list[Effect]:
        search = self._searches.get(message.id)
        if search is None or sender not in search.waiting or len(message.profiles) > PROFILES_MAX:
            self._site.counts["late answers"] += 1
            return []
        search.waiting.discard(sender)
        if len(message.ages) == len(message.profiles):
            read = self._site.contacts.read(message.profiles, message.ages)
            search.learn(row for row, _ in read)
            self._site.follow()
        return self._go_on(search)

    def take_taken(self, sender: NodeId, message: Taken) -> list[Effect]:
        """Believe that an event is there; look on if it comes to nobody else from there."""
        search = self._handed.pop(message.id, None)
        if search is None or not message.is_alone or search.handed >= HANDED_MAX:
            return []
        search.have.add(sender)
        return self._again(search)

    def take_refusal(self, id: EventId) -> list[Effect]:
        """Hand an event to somebody else."""
        search = self._handed.pop(id, None)
        return [] if search is None else self._again(search)

    def unreachable(self, peer: NodeId, message: object) -> list[Effect]:
        """Ask others where a question or an event did not arrive."""
        for search in (*self._searches.values(), *self._handed.values()):
            search.waiting.discard(peer)
            search.drop(peer)
        match message:
            case Publish(id, _, _, Passage(_, "")):
                return self.take_refusal(id)
            case Seek(_, id) if id in self._searches and not self._searches[id].waiting:
                return self._go_on(self._searches[id])
        return []

    # --- what others ask --------------------------------------------------------------------------

    def answer(self, sender: NodeId, message: Seek) -> list[Effect]:
        """Tell a publisher who is closest to its event."""
        site = self._site
        if message.space != site.fingerprint:
            return site.ignore("another space", "the sender has another schema", sender, message)
        try:
            point = site.registry.space.point(message.event)
        except FykeError as refused:
            return site.ignore("malformed", str(refused), sender, message)
        rows: dict[int, None] = {}
        for member in site.members.values():
            rows[member.row] = None
            rows.update(dict.fromkeys((*member.near.view, *member.random.view)))
            if site.settings.answers_from_rings:
                rows.update(dict.fromkeys(member.ring.view))
        chosen: list[int] = []
        if rows:
            array = np.array(list(rows), np.int64)
            found = wanting(message.event, point, array, site.registry)[:1]
            count = site.settings.near_exchange
            near = closest_to_point(site.registry.table, rows, point, count, site.draw_event)
            chosen = list(dict.fromkeys((*found, *near)))[:count]
        born, clock = site.contacts.born, site.contacts.clock
        profiles = tuple(site.registry.profiles[row] for row in chosen)
        ages = tuple(clock - born.get(row, clock) for row in chosen)
        return site.send(sender, Found(site.fingerprint, message.id, profiles, ages))
