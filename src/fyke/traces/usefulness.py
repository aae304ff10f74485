"""Usefulness: which event messages had a client behind them.

Idea. In a tree, behind a link lie certain brokers, and behind a message that goes straight its
receiver alone, be it a neighbour or not.
A message was of use if one of them delivered its event. Sets of brokers are integers with a bit
each, so the question is one `and`.
Invariant. Summed over a run: useful + useless = event messages.
Cost. Four bytes per message, an integer of n bits per event that was delivered and per link.
"""

from __future__ import annotations

from array import array
from collections import Counter

from fyke.nodes.message import EventId, NodeId
from fyke.overlay.topology import Topology


class Usefulness:
    """Of the messages of one run, over a tree."""

    def __init__(self, topology: Topology) -> None:
        self._bits = {broker: 1 << at for at, broker in enumerate(topology.brokers)}
        self._numbers: dict[tuple[NodeId, NodeId, bool], int] = {}
        self._behind: list[int] = []
        self._known = _behind(topology, self._bits)
        self._passed: dict[EventId, array[int]] = {}
        self._reached: dict[EventId, int] = {}

    def passed(self, event: EventId, pair: tuple[NodeId, NodeId], straight: bool = False) -> None:
        """Note a message with the event from one broker to another."""
        number = self._numbers.get((*pair, straight))
        if number is None:
            number = self._numbers[*pair, straight] = len(self._behind)
            receiver = self._bits.get(pair[1], 0)
            self._behind.append(receiver if straight else self._known.get(pair, receiver))
        links = self._passed.get(event)
        if links is None:
            links = self._passed[event] = array("I")
        links.append(number)

    def delivered(self, event: EventId, broker: NodeId) -> None:
        """A client of the broker got the event."""
        self._reached[event] = self._reached.get(event, 0) | self._bits.get(broker, 0)

    def useless(self) -> Counter[tuple[NodeId, NodeId]]:
        """Messages that were of no use, by sender and receiver."""
        found: Counter[int] = Counter()
        for event, links in self._passed.items():
            reached = self._reached.get(event, 0)
            found.update(at for at in links if not self._behind[at] & reached)
        pairs = [(a, b) for a, b, _ in self._numbers]
        useless: Counter[tuple[NodeId, NodeId]] = Counter()
        for at, count in found.items():
            useless[pairs[at]] += count
        return useless


def _behind(topology: Topology, bits: dict[NodeId, int]) -> dict[tuple[NodeId, NodeId], int]:
    """For each direction of each link, the brokers on its far side."""
    parents = topology.parents(topology.brokers[0])
    below = dict(bits)
    for broker in reversed(parents):
        if parents[broker] != broker:
            below[parents[broker]] |= below[broker]
    everyone = below[topology.brokers[0]]
    found = {}
    for broker, parent in parents.items():
        if broker != parent:
            found[parent, broker] = below[broker]
            found[broker, parent] = everyone & ~below[broker]
    return found
