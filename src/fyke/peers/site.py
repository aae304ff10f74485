"""Site: what the parts of a peer share: its members, whom they know, and the way out.

A peer is an address with members behind it. `gossiping`, `dissemination`, `repair` and `publishing`
each do one thing for these members, and answer with effects.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from random import Random

from fyke.nodes.effect import Effect, Reject, Send
from fyke.nodes.message import Message, NodeId
from fyke.peers.contacts import Contacts
from fyke.peers.member import Member
from fyke.peers.messages import Profile
from fyke.peers.registry import Registry
from fyke.peers.settings import Settings


class Site:
    """Members by the ids of their subscriptions, behind one address."""

    def __init__(
        self, address: NodeId, registry: Registry, settings: Settings, random: Random
    ) -> None:
        self.address = address
        self.registry = registry
        self.settings = settings
        self.fingerprint = registry.space.fingerprint
        self.draw = random
        self.draw_event = Random(random.getrandbits(64))
        self.members: dict[str, Member] = {}
        self.ignored: Counter[str] = Counter()
        """The number of messages that were not accepted, by reason."""
        self.counts: Counter[str] = Counter()
        self.contacts = Contacts(registry, settings, self.ignored)
        self.local: deque[tuple[NodeId, Message]] = deque()
        """Messages from one member to another."""

    def open(self, profile: Profile) -> Member:
        """Let a member begin."""
        draws = (Random(self.draw.getrandbits(64)), Random(self.draw.getrandbits(64)))
        member = Member(profile, self.registry, self.contacts, self.settings, *draws)
        self.members[profile.name] = member
        return member

    def links(self) -> Iterator[int]:
        """Return the rows of all views of all members."""
        return (row for member in self.members.values() for row in member.links())

    def follow(self) -> None:
        """Let the views follow members to their new rows."""
        for old, new in self.contacts.replaced:
            for member in self.members.values():
                member.replace(old, new)
        self.contacts.replaced.clear()

    def send(self, address: NodeId, message: Message) -> list[Effect]:
        if address != self.address:
            return [Send(address, message, is_straight=True)]
        self.local.append((address, message))
        return []

    def tell(self, member: Member, message: Message) -> list[Effect]:
        """Tell something to all peers in a member's views, each address once."""
        addresses = dict.fromkeys(self.registry.profiles[row].address for row in member.links())
        return [effect for address in addresses for effect in self.send(address, message)]

    def ignore(self, reason: str, why: str, sender: NodeId, message: Message) -> list[Effect]:
        """Count what is not accepted, and say why."""
        self.ignored[reason] += 1
        return [Reject(sender, type(message).__name__, why)]
