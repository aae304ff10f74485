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
    """Judges the event messages of one run, over a tree."""

    def __init__(self, topology: Topology) -> None:
        self._bits = {broker: 1 << at for at, broker in enumerate(topology.brokers)}
        self._known = _behind(topology, self._bits)
        self._ways: list[tuple[NodeId, NodeId]] = []
        self._behind: list[int] = []
        """The brokers behind each way."""
        self._passed: dict[EventId, array[int]] = {}
        self._reached: dict[EventId, int] = {}

    def way(self, sender: NodeId, receiver: NodeId, is_straight: bool = False) -> int:
        """Add a way of messages from one broker to another. Return its number."""
        pair, alone = (sender, receiver), self._bits.get(receiver, 0)
        self._ways.append(pair)
        self._behind.append(alone if is_straight else self._known.get(pair, alone))
        return len(self._ways) - 1

    def passed(self, event: EventId, way: int) -> None:
        """Note a message with the event that went this way."""
        ways = self._passed.get(event)
        if ways is None:
            ways = self._passed[event] = array("I")
        ways.append(way)

    def delivered(self, event: EventId, broker: NodeId) -> None:
        """Note that a client of the broker got the event."""
        self._reached[event] = self._reached.get(event, 0) | self._bits.get(broker, 0)

    def useless(self) -> Counter[tuple[NodeId, NodeId]]:
        """Count the messages that were of no use, by sender and receiver."""
        found: Counter[int] = Counter()
        for event, ways in self._passed.items():
            reached = self._reached.get(event, 0)
            found.update(way for way in ways if not self._behind[way] & reached)
        useless: Counter[tuple[NodeId, NodeId]] = Counter()
        for way, count in found.items():
            useless[self._ways[way]] += count
        return useless


def _behind(topology: Topology, bits: dict[NodeId, int]) -> dict[tuple[NodeId, NodeId], int]:
    """Return the brokers on the far side of each link, in each direction."""
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
