"""Neighbourhood: the brokers of an overlay, the links between them, and their order.

Idea. Brokers are ordered by (degree, id) (SUM-Q8, SUM-Q9). A broker sends its summary to one
neighbour that is greater in this order, the smallest of them: so there are no cycles, the greatest
broker never sends, and a phase has fewer messages than there are brokers. With a `fan_out` it sends
to that many of the greater ones, still without cycles. The map comes from
configuration, and from what brokers tell each other when they join or leave (SUM-35).
Virtual degrees (SUM-F1): with `degree_max`, no broker looks greater than that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from typing import Final

from fyke.nodes.message import NodeId

_DIGITS: Final = re.compile(r"(\d+)")


@lru_cache(maxsize=65_536)
def natural(broker: NodeId) -> tuple[object, ...]:
    """Order names as people do: B8 is before B10."""
    parts = _DIGITS.split(broker)
    return tuple((int(each), "") if at % 2 else (0, each) for at, each in enumerate(parts))


class Neighbourhood:
    """The map of an overlay, as a broker knows it: as configured, but for what has changed."""

    def __init__(
        self,
        me: NodeId,
        configured: Mapping[NodeId, Collection[NodeId]],
        degree_max: int | None = None,
        fan_out: int = 1,
    ) -> None:
        self._me = me
        self._degree_max = degree_max
        self._fan_out = fan_out
        self._configured = configured
        """Shared by all brokers of an overlay, so it stays as it is."""
        self._changed: dict[NodeId, frozenset[NodeId]] = {}
        self.said: dict[NodeId, int] = {}
        """The number of times that a broker has told a change of its neighbours."""

    def neighbours(self, broker: NodeId) -> Collection[NodeId]:
        """Return the brokers that a broker is linked to."""
        changed = self._changed.get(broker)
        return self._configured.get(broker, ()) if changed is None else changed

    @property
    def brokers(self) -> Collection[NodeId]:
        """The brokers that the links of the map reach; an overlay is configured connected."""
        return self.distances() if self._changed else self._configured

    def distances(self) -> dict[NodeId, int]:
        """Return the distances of all brokers that can be reached, from here outwards."""
        found = {self._me: 0}
        around = [self._me]
        for broker in around:
            for other in self.neighbours(broker):
                if other not in found:
                    found[other] = found[broker] + 1
                    around.append(other)
        return found

    # --- order ------------------------------------------------------------------------------------

    def degree(self, broker: NodeId) -> int:
        """Return the degree by which a broker is ordered."""
        degree = len(self.neighbours(broker))
        return degree if self._degree_max is None else min(degree, self._degree_max)

    def rank(self, broker: NodeId) -> tuple[int, tuple[object, ...]]:
        """Return the key by which brokers are ordered when they send."""
        return self.degree(broker), natural(broker)

    def targets(self, broker: NodeId) -> list[NodeId]:
        """Return the neighbours that a broker sends its summary to; none for a greatest one."""
        own = self.rank(broker)
        greater = [other for other in self.neighbours(broker) if self.rank(other) > own]
        return sorted(greater, key=self.rank)[: self._fan_out]

    def sources(self) -> list[NodeId]:
        """Return the neighbours that send their summaries here."""
        return [other for other in self.neighbours(self._me) if self._me in self.targets(other)]

    def turn(self) -> float:
        """Return when in a phase it is this broker's turn, from 0 to 1."""
        brokers, mine = self.brokers, natural(self._me)
        before = sum(natural(each) < mine for each in brokers)
        greatest = max(map(self.degree, brokers), default=0)
        return (self.degree(self._me) + before / max(len(brokers), 1)) / (greatest + 1)

    def search_rank(self) -> Callable[[NodeId], tuple[int, int, tuple[object, ...]]]:
        """Return the key by which brokers are searched: highest degree, then nearest, then id."""
        far, farthest = self.distances(), len(self._configured)
        return lambda each: (-self.degree(each), far.get(each, farthest), natural(each))

    # --- changes ----------------------------------------------------------------------------------

    def change(self, broker: NodeId, neighbours: Iterable[NodeId], said: int) -> bool:
        """Learn the neighbours that a broker says it has. Return True if it is news."""
        if said <= self.said.get(broker, 0):
            return False
        self.said[broker] = said
        self.link(broker, neighbours)
        return True

    def link(self, broker: NodeId, neighbours: Iterable[NodeId]) -> None:
        """Give a broker other neighbours."""
        self._changed[broker] = frozenset(neighbours)
