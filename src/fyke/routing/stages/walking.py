"""Walking: how a broker finds the places of its clients' subscriptions in a tree of stages.

Idea. The broker that a client came to is its *home*. It asks the root where to attach a
subscription, then the child that the answer names, until one keeps it (`joining`): at most as many
steps as there are stages. From then on the home is a subscriber of that broker, its *place*, which
sends it what the filter accepts. A walk has a token, so that answers to an earlier walk are known
as such; one that gets no answer begins anew at the root. After some attempts, or where the root
cannot be reached, the home is the place, for want of a better one.

    c wants Stock DEF:  c asks r, r says m;  c asks m, m says a;  c asks a, a accepts

Invariant. A subscription that has a place keeps it until it has another one.
Cost. Two messages a step.
Source. MSF-22, MSF-23.
"""

from __future__ import annotations

from random import Random
from typing import Final

from msgspec import Struct

from fyke.filters.subscription import Subscription
from fyke.nodes.message import NodeId, SubscriptionId

ATTEMPTS_MAX: Final = 4
"""Walks for one place, before the home keeps a subscription itself."""
PATIENCE_S: Final = 5.0
"""Time that an answer may take."""


class Place(Struct, frozen=True):
    """The broker where a subscription is attached, and the token of its walk."""

    node: NodeId
    token: int


class Walk(Struct):
    """A walk on its way to a place."""

    token: int
    asked: NodeId
    deadline: float
    steps: int = 1
    attempts: int = 1


class Walks:
    """The subscriptions of a broker's own clients, their places, and the walks to places."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.wanted: dict[SubscriptionId, Subscription] = {}
        self.places: dict[SubscriptionId, Place] = {}
        self.walks: dict[SubscriptionId, Walk] = {}
        self.waiting: dict[SubscriptionId, None] = {}
        """Subscriptions that will walk when the root is known."""
        self.makeshift: dict[SubscriptionId, None] = {}
        """Subscriptions whose home is their place for want of a better one."""
        self.unsure: dict[SubscriptionId, None] = {}
        """Subscriptions whose place has not confirmed them since this broker began."""

    def token(self) -> int:
        return self._random.getrandbits(48)

    def walk_of(self, id: SubscriptionId, token: int, node: NodeId) -> Walk | None:
        """Return the walk that an answer belongs to; None for one that is over."""
        walk = self.walks.get(id)
        return walk if walk is not None and (walk.token, walk.asked) == (token, node) else None

    def drop(self, id: SubscriptionId) -> Place | None:
        """Forget a subscription, and return where it was attached."""
        for known in (self.wanted, self.walks, self.waiting, self.makeshift, self.unsure):
            known.pop(id, None)
        return self.places.pop(id, None)

    def at(self, node: NodeId) -> dict[int, SubscriptionId]:
        """Return the subscriptions that are attached at a broker, by token."""
        return {place.token: id for id, place in self.places.items() if place.node == node}

    def claimed(self, node: NodeId) -> set[int]:
        """Return the tokens that a broker may hold for this one: also those on their way."""
        asked = {walk.token for walk in self.walks.values() if walk.asked == node}
        return asked | set(self.at(node))

    def by_node(self) -> dict[NodeId, list[int]]:
        """Return the tokens by place."""
        found: dict[NodeId, list[int]] = {}
        for place in self.places.values():
            found.setdefault(place.node, []).append(place.token)
        return found

    def overdue(self, now: float) -> list[SubscriptionId]:
        return [id for id, walk in self.walks.items() if walk.deadline <= now + 1e-9]
