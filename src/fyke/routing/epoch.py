"""Epochs: what brokers say to each other about strategies that come and go, and how far one is.

Idea. An epoch is a strategy with tables of its own. A new one is built beside the old one, and used
when every broker has it; the old one goes when no event of it is on its way any more. All of that
is decided by what neighbours on a tree have said, each on a link that keeps the order:

    Complete   all that is wanted behind me, you hold: said when all others have said it to me
    Ready      behind me, every broker holds all of it: said towards the coordinator
    Closed     no event of it will come from me: said when I stopped, and all others have said it

Invariant. A broker holds all tables of an epoch when every neighbour has said Complete; no event of
an epoch reaches it when every neighbour has said Closed.
Cost. Three messages per link and epoch, beside the tables.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fyke.nodes.message import Control, Message, NodeId
from fyke.routing.strategy import Strategy


class Status(Control, frozen=True):
    """The epochs that the sender has, with their strategies, and the one it gives new events."""

    live: tuple[tuple[int, str], ...]
    current: int


class Within(Control, frozen=True):
    """A message of the strategy of an epoch."""

    epoch: int
    message: Message | None = None


class Complete(Control, frozen=True):
    epoch: int


class Ready(Control, frozen=True):
    epoch: int


class Closed(Control, frozen=True):
    epoch: int


class Switch(Control, frozen=True):
    """A client wants another strategy."""

    strategy: str


@dataclass(slots=True)
class Epoch:
    """A strategy, and which neighbours have said what about it, or been told."""

    name: str
    strategy: Strategy
    heard: dict[type[Control], set[NodeId]] = field(default_factory=dict)
    told: dict[type[Control], set[NodeId]] = field(default_factory=dict)

    def hear(self, what: type[Control], peer: NodeId) -> None:
        self.heard.setdefault(what, set()).add(peer)

    def has_heard(self, what: type[Control], peers: Iterable[NodeId]) -> bool:
        return self.heard.get(what, set()).issuperset(peers)

    def tell(self, what: type[Control], peer: NodeId) -> bool:
        """Whether this is the first time."""
        told = self.told.setdefault(what, set())
        if peer in told:
            return False
        told.add(peer)
        return True

    def reset(self, peer: NodeId) -> None:
        """The link is new: what was said over the old one is void."""
        for said in (*self.heard.values(), *self.told.values()):
            said.discard(peer)
