"""Search: a publisher looks for any one peer that wants its event (S2S-17, S2S-18).

It asks the closest peer that it knows and has not asked, and one by chance, for those closest to
the event; so it comes nearer from round to round. A round is over when both have answered.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Final

import numpy as np

from fyke.events.event import Event
from fyke.nodes.message import NodeId, Publish
from fyke.peers.geometry.shape import Shape, box_of_point
from fyke.peers.geometry.space import Point
from fyke.peers.geometry.table import Rows, Table
from fyke.peers.registry import Registry

KNOWN_MAX: Final = 1_000


class Search:
    """One event's search. `waiting` has the addresses that have not answered yet."""

    def __init__(self, publish: Publish, point: Point, registry: Registry) -> None:
        self.publish = publish
        self.point = point
        self.rounds = 0
        self.handed = 0
        """Times that the event was handed over."""
        self.handed_at = 0
        self.have: set[NodeId] = set()
        """Addresses that have the event, and know nobody else for it."""
        self.waiting: set[NodeId] = set()
        self.asked: set[NodeId] = set()
        self._registry = registry
        self.known: dict[int, None] = {}

    def learn(self, rows: Iterable[int]) -> None:
        for row in rows:
            if len(self.known) < KNOWN_MAX:
                self.known[row] = None

    def wanting(self) -> list[int]:
        """Return the known peers that want the event."""
        rows = np.array(list(self.known), np.int64)
        return wanting(self.publish.event, self.point, rows, self._registry)

    def drop(self, address: NodeId) -> None:
        """Forget an address that cannot be reached."""
        profiles = self._registry.profiles
        self.known = {row: None for row in self.known if profiles[row].address != address}

    def ask_first(self, addresses: Iterable[NodeId]) -> list[NodeId]:
        """Begin the first round, where nobody is known but by address."""
        chosen = [each for each in addresses if each not in self.asked][:2]
        self.rounds += bool(chosen)
        self.asked.update(chosen)
        self.waiting.update(chosen)
        return chosen

    def ask(self, draw: Random) -> list[NodeId]:
        """Begin a round. Return the addresses to ask; none if all known ones were asked."""
        profiles = self._registry.profiles
        left = [row for row in self.known if profiles[row].address not in self.asked]
        if not left:
            return []
        self.rounds += 1
        [first] = closest_to_point(self._registry.table, left, self.point, 1, draw)
        chosen = dict.fromkeys(profiles[row].address for row in (first, draw.choice(left)))
        self.asked.update(chosen)
        self.waiting.update(chosen)
        return list(chosen)


def wanting(event: Event, point: Point, rows: Rows, registry: Registry) -> list[int]:
    """Return the rows, of some, whose filters accept an event."""
    found = registry.table.holding(rows, point).tolist()
    return [row for row in found if registry.filters[row].matches(event)]


def closest_to_point(
    table: Table, rows: Iterable[int], point: Point, count: int, draw: Random
) -> list[int]:
    """Return the rows closest to a point; equally close ones by chance."""
    found: list[int] = table.closest_to(
        np.array(list(rows), np.int64),
        Shape((box_of_point(point),), ()),
        count,
        draw.getrandbits(62),
    ).tolist()
    return found
