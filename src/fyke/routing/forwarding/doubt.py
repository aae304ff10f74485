"""Doubt: of which neighbours a broker does not know yet what is wanted behind them.

Idea. A broker that starts knows nothing of what is wanted behind its neighbours, and one that hears
of another schema does not know whether theirs is the same. Each neighbour says `Synced`, with a
digest of what it goes by (its view), once it has told all that is wanted behind it; it can only say
that when all its *other* neighbours have said so to it. Until a neighbour has said this broker's
own view, that side is in doubt, and events are flooded there (`flooding`): doubt widens.
Example. a - b - c - d, and d wants something. c restarts while its link to d is cut. It cannot say
Synced to b, since it has not heard from d; so b keeps what it knew of d's wishes. An event that
reaches c meanwhile would be flooded to d if d could be reached, and everything else goes on.
Invariant. If no side is in doubt, all brokers go by one view, and their rows are complete. An event
that comes from a side in doubt may have been admitted under another view, so it is flooded as well.
Cost. A message per link and direction whenever a link comes up or the view changes.
"""

from __future__ import annotations

from fyke.nodes.message import NodeId
from fyke.routing.strategy import Surroundings


class Doubt:
    """Doubts of a broker about its neighbours."""

    def __init__(self, here: Surroundings) -> None:
        self._here = here
        self.view = ""
        """The view of this broker."""
        self._heard: dict[NodeId, str] = {}
        self._told: dict[NodeId, str | None] = {}
        """The view that each neighbour was told, if its link is up."""
        self._doubted = dict.fromkeys(here.brokers)

    def __bool__(self) -> bool:
        return bool(self._doubted)

    def sides(self, came_from: NodeId) -> list[NodeId]:
        """Return the neighbours to which an event has to be flooded."""
        if not self._doubted:
            return []
        doubted = self._here.brokers if came_from in self._doubted else self._doubted
        return [peer for peer in doubted if peer != came_from]

    def look(self, view: str) -> None:
        """Use another view from now on."""
        self.view = view
        self._doubted = {peer: None for peer in self._here.brokers if self._heard.get(peer) != view}

    def hear(self, peer: NodeId, view: str) -> None:
        """Learn that a neighbour has told all that is wanted behind it, by a view."""
        self._heard[peer] = view
        if view == self.view:
            self._doubted.pop(peer, None)
        else:
            self._doubted[peer] = None

    def hear_again(self, peer: NodeId) -> None:
        """Learn that a neighbour tells all again. Until it has, its earlier word holds."""
        self._heard.pop(peer, None)

    def knows(self, peer: NodeId) -> bool:
        """Return True if a neighbour has told all behind it, by this broker's view."""
        return self._heard.get(peer) == self.view

    def start(self, peer: NodeId) -> None:
        """Learn that a link is up. What was said over it before may be lost."""
        if peer not in self._heard:
            self._doubted[peer] = None
        self._told[peer] = None

    def stop(self, peer: NodeId) -> None:
        self._told.pop(peer, None)

    def join(self, peer: NodeId) -> None:
        self._doubted[peer] = None

    def leave(self, peer: NodeId) -> None:
        for known in (self._told, self._heard, self._doubted):
            known.pop(peer, None)

    def told(self) -> list[NodeId]:
        """Return the neighbours to tell now that all is known, and count them as told."""
        if len(self._doubted) > 1:
            return []
        peers = [
            peer
            for peer in (self._doubted or self._told)
            if peer in self._told and self._told[peer] != self.view
        ]
        self._told.update(dict.fromkeys(peers, self.view))
        return peers
