"""Flooding: an event goes to every broker behind a neighbour, whatever tables say.

On a tree, flooding away from where an event came from is always a safe answer: nobody is left out,
and nobody gets it twice, as long as nothing else of the event goes that way. So it is what brokers
do that do not know yet who wants what (after a restart, a change of the schema or of strategies):
doubt widens. The route says so, and whoever sees it floods on.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fyke.nodes.effect import Send
from fyke.nodes.message import NodeId, Publish, Route
from fyke.routing.strategy import EVERYONE, Decision, Surroundings


class Flooded(Route, frozen=True):
    """Marks an event that goes to every broker behind the receiver."""


FLOODED: Final = Flooded()


def flooded(publish: Publish) -> Publish:
    """Return the event, marked as flooded."""
    if isinstance(publish.route, Flooded):
        return publish
    return Publish(publish.id, publish.event, publish.epoch, FLOODED)


def flood(publish: Publish, to: Iterable[NodeId]) -> list[Send]:
    message = flooded(publish)
    return [Send(peer, message) for peer in to]


def flood_on(here: Surroundings, publish: Publish, came_from: NodeId | None) -> Decision:
    """Send an event to all neighbours but the one it came from. None sends it to all."""
    return Decision(flood(publish, (peer for peer in here.brokers if peer != came_from)), EVERYONE)
