"""Repair: ring neighbours tell each other of recent events, and send what the other missed.

A ring exchange carries a *digest*: the ids of events of late that the receiver wants too. Who has
not seen one asks for it. For some cycles after an event, exchanges go to the ring neighbours for
that event first, so that a gap is found soon. Not in the paper; `settings.repairs` switches it off.
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from fyke.errors import FykeError
from fyke.nodes.effect import Effect
from fyke.nodes.message import EventId, NodeId
from fyke.peers.dissemination import Dissemination
from fyke.peers.member import Member
from fyke.peers.messages import IDS_MAX, Want
from fyke.peers.site import Site

_DIGEST: Final = 64
"""Events that a digest names, at most."""
_TARGET_CYCLES: Final = 5
"""Cycles for which exchanges go to the ring neighbours for an event."""
_DIGEST_CYCLES: Final = 15
"""Age in cycles, above which an event is in no digest."""


class Repair:
    """Digests, and answers to them."""

    def __init__(self, site: Site, dissemination: Dissemination) -> None:
        self._site = site
        self._dissemination = dissemination

    def target(self, member: Member) -> int | None:
        """Return a ring neighbour for an event of the last cycles: it may have missed it."""
        site = self._site
        if not site.settings.repairs:
            return None
        since = site.contacts.clock - _TARGET_CYCLES
        recent = list(islice(member.history.since(since), _DIGEST))
        if not recent:
            return None
        event = site.draw_event.choice(recent).event
        rows = member.next_for(event, site.registry.space.point(event))
        return site.draw_event.choice(rows) if rows else None

    def digest(self, member: Member, target: int) -> tuple[EventId, ...]:
        """Return the events of late that a target wants too."""
        if not self._site.settings.repairs:
            return ()
        wants = self._site.registry.filters[target].matches
        recent = member.history.since(self._site.contacts.clock - _DIGEST_CYCLES)
        return tuple(islice((each.id for each in recent if wants(each.event)), _DIGEST))

    def ask_missing(
        self, member: Member, sender: NodeId, recent: tuple[EventId, ...]
    ) -> list[Effect]:
        """Ask for the events of a digest that a member has not seen."""
        missing = tuple(id for id in recent if id not in member.history)
        if not missing or not self._site.settings.repairs:
            return []
        return self._site.send(sender, Want(self._site.fingerprint, member.profile, missing))

    def send_missing(self, sender: NodeId, message: Want) -> list[Effect]:
        """Send events that a member of the sender did not get, if it wants them."""
        site = self._site
        if message.sender.address != sender or len(message.ids) > IDS_MAX:
            return site.ignore("malformed", "expected a few events of one's own", sender, message)
        try:
            row = site.contacts.hear(message.sender)
        except FykeError as refused:
            return site.ignore("unreadable profile", str(refused), sender, message)
        site.follow()
        effects: list[Effect] = []
        for id in message.ids:
            for member in site.members.values():
                known = member.history.get(id)
                if known is not None and site.registry.filters[row].matches(known[0].event):
                    site.counts["repairs"] += 1
                    send = self._dissemination.send
                    effects += send(member, known[0], [row], known[1], is_repair=True)
                    break
        return effects
