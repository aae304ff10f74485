"""Neighbourhood: which brokers there are, who is linked to whom, and in which order they stand.

Idea. Brokers are ordered by (degree, id) (SUM-Q8, SUM-Q9). A broker sends its summary to one
neighbour that is greater in this order, the smallest of them: so there are no cycles, the greatest
broker never sends, and a phase has fewer messages than there are brokers. With a `fan_out` it sends
to so many of the greater ones, still without cycles. The map comes from
configuration, and from what brokers tell each other when they join or leave (SUM-35).
Virtual degrees (SUM-F1): with `degree_max`, no broker looks greater than that.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from fyke.nodes.message import NodeId

_DIGITS: Final = re.compile(r"(\d+)")


def natural(broker: NodeId) -> tuple[object, ...]:
    """Order names as people do: B8 is before B10."""
    parts = _DIGITS.split(broker)
    return tuple((int(each), "") if at % 2 else (0, each) for at, each in enumerate(parts))


class Neighbourhood:
    """The map of an overlay, as a broker knows it."""

    def __init__(
        self,
        me: NodeId,
        neighbours: Mapping[NodeId, Collection[NodeId]],
        degree_max: int | None = None,
        fan_out: int = 1,
    ) -> None:
        self._me = me
        self._degree_max = degree_max
        self._fan_out = fan_out
        self.adjacent = {broker: frozenset(others) for broker, others in neighbours.items()}
        self.said: dict[NodeId, int] = {}
        """How often brokers have told that their neighbours changed."""
        self._forget()

    def _forget(self) -> None:
        self._distances: dict[NodeId, int] = {}
        self._around: list[NodeId] = [self._me]
        self._distances[self._me] = 0
        for broker in self._around:
            for other in sorted(self.adjacent.get(broker, ()), key=natural):
                if other not in self._distances:
                    self._distances[other] = self._distances[broker] + 1
                    self._around.append(other)
        self._ranks = {broker: (self.degree(broker), natural(broker)) for broker in self._around}

    @property
    def brokers(self) -> list[NodeId]:
        """All that can be reached over links of the map, from here outwards."""
        return self._around

    def __contains__(self, broker: object) -> bool:
        return broker in self._distances

    def distance(self, broker: NodeId) -> int:
        return self._distances[broker]

    def degree(self, broker: NodeId) -> int:
        """Return the degree by which a broker is ordered."""
        degree = len(self.adjacent.get(broker, ()))
        return degree if self._degree_max is None else min(degree, self._degree_max)

    def targets(self, broker: NodeId) -> list[NodeId]:
        """Return the neighbours that a broker sends its summary to; none for a greatest one."""
        own = self._ranks[broker]
        greater = [
            other
            for other in self.adjacent.get(broker, ())
            if other in self._ranks and self._ranks[other] > own
        ]
        return sorted(greater, key=self._ranks.__getitem__)[: self._fan_out]

    def sources(self) -> list[NodeId]:
        """Return the neighbours that send their summaries here."""
        return [
            other
            for other in self.adjacent.get(self._me, ())
            if other in self._ranks and self._me in self.targets(other)
        ]

    def turn(self) -> float:
        """Return when in a phase it is this broker's turn, from 0 to 1."""
        order = sorted(self._around, key=natural)
        greatest = max(self.degree(broker) for broker in order)
        own = self.degree(self._me) + order.index(self._me) / len(order)
        return own / (greatest + 1)

    def search_order(self, brokers: Iterable[NodeId]) -> list[NodeId]:
        """Return brokers as they are searched: highest degree, then nearest, then by id."""
        return sorted(
            (each for each in brokers if each in self._distances),
            key=lambda each: (-self.degree(each), self._distances[each], natural(each)),
        )

    def change(self, broker: NodeId, neighbours: Iterable[NodeId], said: int) -> bool:
        """Take in what a broker says of its neighbours. Return True if it is news."""
        if said <= self.said.get(broker, 0):
            return False
        self.said[broker] = said
        self.adjacent[broker] = frozenset(neighbours)
        self._forget()
        return True
