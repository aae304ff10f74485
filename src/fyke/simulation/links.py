"""Links: the channels of an overlay, and who has cut which of them.

A link is up if nobody has cut it and both its ends run. Nodes that are no neighbours reach each
other directly, unless a partition separates them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fyke.errors import FykeError, shown
from fyke.nodes.message import NodeId
from fyke.overlay.topology import Topology
from fyke.simulation.network import Channel, Network


class Links:
    """All of them; `draw` gives a channel its random numbers."""

    def __init__(
        self, topology: Topology, network: Network, draw: Callable[[str, NodeId, NodeId], Random]
    ) -> None:
        self._topology = topology
        self._cut: set[frozenset[NodeId]] = set()
        self._parted: list[frozenset[NodeId]] = []
        self.channels: dict[tuple[NodeId, NodeId], Channel] = {}
        for a, b in topology.links:
            for pair in ((a, b), (b, a)):
                self.channels[pair] = Channel(network.of(*pair), draw("link", *pair))
        for pair in network.links:
            self.check(*pair)

    def check(self, a: NodeId, b: NodeId) -> None:
        """FykeError unless they are neighbours."""
        if (a, b) not in self.channels:
            raise FykeError(f"there is no link between {shown(a)} and {shown(b)}")

    def cut(self, a: NodeId, b: NodeId) -> bool:
        """Keeps the link down until it is healed; whether it was up."""
        self.check(a, b)
        self._cut.add(frozenset((a, b)))
        return self.take_down(a, b)

    def heal(self, a: NodeId, b: NodeId) -> None:
        """Nobody keeps the link down any more."""
        self.check(a, b)
        self._cut.discard(frozenset((a, b)))

    def take_down(self, a: NodeId, b: NodeId) -> bool:
        """What is on its way is lost; whether the link was up."""
        if not self.channels[a, b].is_up:
            return False
        for pair in ((a, b), (b, a)):
            self.channels[pair].break_()
        return True

    def bring_up(self, a: NodeId, b: NodeId) -> bool:
        """Unless it is cut, or up already; whether it came up."""
        if frozenset((a, b)) in self._cut or self.channels[a, b].is_up:
            return False
        for pair in ((a, b), (b, a)):
            self.channels[pair].is_up = True
        return True

    def part(self, side: frozenset[NodeId]) -> None:
        self._parted.append(side)

    def join(self, side: frozenset[NodeId]) -> None:
        self._parted = [each for each in self._parted if each != side]

    def are_parted(self, a: NodeId, b: NodeId) -> bool:
        return any((a in side) != (b in side) for side in self._parted)

    def border(self, side: frozenset[NodeId]) -> list[tuple[NodeId, NodeId]]:
        """The links between some brokers and the others."""
        for broker in sorted(side):
            self._topology.neighbors(broker)
        return [(a, b) for a, b in self._topology.links if (a in side) != (b in side)]
