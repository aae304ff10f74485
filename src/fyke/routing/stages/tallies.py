"""Tallies: two numbers of the whole tree tell whether homes and places agree.

Idea. A home that renewed at each of its places would send 100 messages a period in a tree of 100
brokers at the edge, and all homes together 10,000, to say that nothing has changed. Instead, what a
broker renews at its parent carries a tally of all behind it: the attachments that homes have and
those that places hold, each as a number and the xor of their tokens. At the root the two sides are
even unless something is wrong somewhere. Then the root says so, and homes renew one by one.

    homes have 3, xor 5a        places hold 3, xor 5a       even: nobody renews at places
    a home stops: 2, xor 17     places hold 3, xor 5a       uneven: all homes renew one by one,
                                                            and what nobody renews ends

Faults. Who is cut off from the root, or does not know, renews one by one. A broker that loses a
child says so at once; what it has attached or let go, it says soon after, once for all.
Invariant. A place ends nothing while it takes the tree for even. Whatever makes a home and a place
disagree is known at the root long before a period has passed, and at the home before the next.
Cost. Some 50 bytes of a renewal, and a message for each link where attachments have changed.
Source. MSF-28, with messages that do not grow with the number of places.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from fyke.nodes.alarm import Alarm
from fyke.nodes.effect import Wake
from fyke.nodes.message import NodeId

SOON: Final = 128
"""A change is told after this part of a period: 64 stages take half of it."""


class Tally(Struct, frozen=True):
    """Attachments behind a broker: as homes have them, and as places hold them."""

    wanted: int = 0
    wanted_tokens: int = 0
    held: int = 0
    held_tokens: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.wanted + other.wanted,
            self.wanted_tokens ^ other.wanted_tokens,
            self.held + other.held,
            self.held_tokens ^ other.held_tokens,
        )

    @property
    def is_even(self) -> bool:
        return (self.wanted, self.wanted_tokens) == (self.held, self.held_tokens)


NO_ATTACHMENTS: Final = Tally()


class Tallies:
    """The tallies of a broker and its neighbours, and who has said that the tree is even."""

    def __init__(self, period_s: float) -> None:
        self._soon_s = period_s / SOON
        self._alarm = Alarm()
        self._own = NO_ATTACHMENTS
        self._of: dict[NodeId, Tally] = {}
        self._even: set[NodeId] = set()
        self.is_even = False
        """The verdict of this broker, if it is the root."""

    def want(self, token: int, change: int = 1) -> None:
        """Note that a client of this broker has something elsewhere; with -1, no longer."""
        self._own += Tally(wanted=change, wanted_tokens=token)

    def hold(self, token: int, change: int = 1) -> None:
        """Note that a home has something here; with -1, no longer."""
        self._own += Tally(held=change, held_tokens=token)

    def begin(self, now: float) -> list[Wake]:
        """Return the time to tell of a change, unless that is agreed."""
        return self._alarm.set(now + self._soon_s, is_background=True)

    def is_over(self, now: float) -> bool:
        """Return True once when it is time to tell of changes."""
        return self._alarm.is_over(now)

    def hear(self, peer: NodeId, tally: Tally) -> None:
        self._of[peer] = tally
        if tally == NO_ATTACHMENTS:
            del self._of[peer]

    def hear_verdict(self, peer: NodeId, is_even: bool) -> None:
        (self._even.add if is_even else self._even.discard)(peer)

    def says_even(self, peer: NodeId) -> bool:
        return peer in self._even

    def forget(self, peer: NodeId) -> None:
        """Forget a neighbour whose link is down, or up anew."""
        self._of.pop(peer, None)
        self._even.discard(peer)

    def sum(self, parent: NodeId | None) -> Tally:
        """Return the tally of this broker and all behind it."""
        return sum((each for peer, each in self._of.items() if peer != parent), self._own)
