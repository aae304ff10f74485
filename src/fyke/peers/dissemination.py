"""Dissemination: events along the rings (S2S-14 to S2S-16).

A member that gets an event for the first time delivers it and sends it to succ(e), pred(e) and r
shortcuts, the sender excepted. It sends to nobody whose filter refuses the event, so nobody gets
what it does not want (S2S-22); the receiver checks again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fyke.errors import FykeError
from fyke.nodes.effect import Deliver, Effect
from fyke.nodes.message import EventId, NodeId, Publish
from fyke.peers.geometry.space import Point
from fyke.peers.member import Member
from fyke.peers.messages import Announce, Leave, Passage, Profile, Refuse, Taken
from fyke.peers.site import Site


class Dissemination:
    """Takes events for members. `client` says who made a subscription."""

    def __init__(self, site: Site, client: Callable[[str], NodeId]) -> None:
        self._site = site
        self._client = client

    def receive(self, sender: NodeId, publish: Publish) -> list[Effect]:
        """Take an event for a member: deliver it and pass it on, once."""
        site, passage = self._site, publish.route
        if not isinstance(passage, Passage):
            return site.ignore("malformed", "an event without a passage", sender, publish)
        member = site.members.get(passage.to)
        if member is None:
            gone = Profile(site.address, passage.to, 0, 0, b"")
            return self._refuse(sender, publish, passage, Leave(site.fingerprint, gone))
        if publish.id in member.history:
            site.counts["duplicates"] += 1
            return self._thank(sender, member, publish.id, passage)
        try:
            point = site.registry.space.point(publish.event)
        except FykeError as refused:
            return site.ignore("malformed", str(refused), sender, publish)
        if not member.filter.matches(publish.event):
            told = Announce(site.fingerprint, member.profile)
            return self._refuse(sender, publish, passage, told)
        effects = self._take(member, publish, point, (sender, passage.by))
        return self._thank(sender, member, publish.id, passage) + effects

    def _thank(self, sender: NodeId, member: Member, id: EventId, passage: Passage) -> list[Effect]:
        """Tell a publisher that its event is here, and whether it comes to others from here."""
        site, known = self._site, member.history.get(id)
        if passage.by or known is None or not site.settings.repairs:
            return []
        event = known[0].event
        is_alone = member.is_new and not member.next_for(event, site.registry.space.point(event))
        return site.send(sender, Taken(site.fingerprint, id, is_alone))

    def _refuse(
        self, sender: NodeId, publish: Publish, passage: Passage, word: Announce | Leave
    ) -> list[Effect]:
        """Count an event that is not wanted here; tell the sender the truth, so that it goes on."""
        site = self._site
        effects = site.ignore("unwanted", "nobody here wants the event", sender, publish)
        effects += site.send(sender, word)
        return effects + site.send(sender, Refuse(site.fingerprint, publish.id, passage.by))

    def _take(
        self, member: Member, publish: Publish, point: Point, source: tuple[NodeId, str]
    ) -> list[Effect]:
        site, name = self._site, member.profile.name
        site.counts["events"] += 1
        sent = member.history.add(publish, site.contacts.clock)
        profiles = site.registry.profiles
        sent.update(
            row for row in member.links()
            if (profiles[row].address, profiles[row].name) == source
        )  # fmt: skip
        next_ones = member.next_for(publish.event, point)
        extra = member.shortcuts_for(
            publish.event, point, site.settings.shortcuts, (*sent, *next_ones)
        )
        delivery: list[Effect] = [Deliver(self._client(name), publish, (name,))]
        targets = [row for row in next_ones if row not in sent]
        return delivery + self.send(member, publish, (*targets, *extra), sent)

    def send(
        self, member: Member, publish: Publish, rows: Iterable[int], sent: set[int], *,
        is_repair: bool = False,
    ) -> list[Effect]:  # fmt: skip
        """Send an event to some rows."""
        effects: list[Effect] = []
        hops = publish.route.hops + 1 if isinstance(publish.route, Passage) else 0
        for row in rows:
            sent.add(row)
            profile = self._site.registry.profiles[row]
            passage = Passage(profile.name, member.profile.name, hops, is_repair)
            message = Publish(publish.id, publish.event, publish.epoch, passage)
            effects += self._site.send(profile.address, message)
        return effects

    def send_on(self, by: str, id: EventId) -> list[Effect]:
        """Send an event of a member to those that are next now, if they were not before."""
        member = self._site.members.get(by)
        known = None if member is None else member.history.get(id)
        if member is None or known is None or not self._site.settings.repairs:
            return []
        publish, sent = known
        point = self._site.registry.space.point(publish.event)
        rows = [row for row in member.next_for(publish.event, point) if row not in sent]
        return self.send(member, publish, rows, sent, is_repair=True)
