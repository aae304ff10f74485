"""Epochs: what brokers say to each other about strategies that come and go, and how far one is.

Idea. An epoch is a strategy with tables of its own. A new one is built beside the old one, and used
when every broker has it; the old one goes when no event of it is on its way any more. All of that
is decided by what neighbours on a tree have said, each on a link that keeps the order:

    Complete   all that is wanted behind me, you hold: said when all others have said it to me
    Stopped    no event of it will enter behind me: said when I stopped, and all others have said it
    Closed     nothing of it will come from me: said when all have said Stopped, and all others this

Two words end an epoch because an event may turn round, at its rendezvous: whoever has heard Stopped
from all sides has sent back what had to be, so what it says then comes last on each link.
Invariant. A broker holds all tables of an epoch when every neighbour has said Complete, and has
then said it to all of them; so what it says afterwards finds them complete. Nothing of an epoch
comes over a link to a broker to which every neighbour has said Closed.
Cost. Three messages per link and epoch, beside the tables.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from fyke.nodes.message import Control, Message, NodeId
from fyke.routing.strategy import Strategy


class Status(Control, frozen=True):
    """The epochs of the sender with their strategies, and the epoch that it gives new events."""

    live: tuple[tuple[int, str], ...]
    current: int


class Within(Control, frozen=True):
    """A message of the strategy of an epoch."""

    epoch: int
    message: Message | None = None


class Complete(Control, frozen=True):
    epoch: int


class Stopped(Control, frozen=True):
    epoch: int


class Closed(Control, frozen=True):
    epoch: int


class Switch(Control, frozen=True):
    """A client wants another strategy."""

    strategy: str


@dataclass(slots=True)
class Epoch:
    """A strategy, and which neighbours have heard and said what about it."""

    name: str
    strategy: Strategy
    heard: dict[type[Control], set[NodeId]] = field(default_factory=dict)
    told: dict[type[Control], set[NodeId]] = field(default_factory=dict)

    def hear(self, what: type[Control], peer: NodeId) -> None:
        self.heard.setdefault(what, set()).add(peer)

    def has_heard(self, what: type[Control], peers: Collection[NodeId]) -> bool:
        """Return True if all neighbours have said it."""
        return len(self.heard.get(what, ())) == len(peers)

    def due(self, what: type[Control], peers: Collection[NodeId]) -> list[NodeId]:
        """Return the neighbours to tell: all others have said it, and they have not been told.

        While two have not said it, there are none. So all calls together look at each neighbour
        only a few times.
        """
        heard = self.heard.get(what, set())
        silent = len(peers) - len(heard)
        told = self.told.setdefault(what, set())
        if silent > 1 or len(told) == len(peers):
            return []
        return [peer for peer in peers if peer not in told and not (silent and peer in heard)]

    def tell(self, what: type[Control], peer: NodeId) -> bool:
        """Note that a neighbour is told. Return True if it is the first time."""
        told = self.told.setdefault(what, set())
        if peer in told:
            return False
        told.add(peer)
        return True

    def reset(self, peer: NodeId) -> None:
        """Forget what was said over a link that is new or gone."""
        for said in (*self.heard.values(), *self.told.values()):
            said.discard(peer)
