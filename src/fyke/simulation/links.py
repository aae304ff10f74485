"""Links: the channels of an overlay, and who has cut which of them.

A link is up if nobody has cut it, no partition separates its ends, and both its ends run. Nodes
that are no neighbours reach each other straight, unless a partition separates them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from fyke.errors import FykeError, shown
from fyke.nodes.message import NodeId
from fyke.overlay.topology import Topology
from fyke.simulation.network import Channel, Network


class Links:
    """The links of an overlay. `draw` gives each channel its random numbers."""

    def __init__(
        self, topology: Topology, network: Network, draw: Callable[[str, NodeId, NodeId], Random]
    ) -> None:
        self._network = network
        self._draw = draw
        self._cut: set[frozenset[NodeId]] = set()
        self._parted: list[frozenset[NodeId]] = []
        self._near: dict[NodeId, dict[NodeId, None]] = {}
        self._pairs: dict[tuple[NodeId, NodeId], None] = {}
        """Every link once, as it was laid."""
        self.channels: dict[tuple[NodeId, NodeId], Channel] = {}
        for a, b in topology.links:
            self.add(a, b)
        for pair in network.links:
            self.check(*pair)

    def add(self, a: NodeId, b: NodeId, is_up: bool = True) -> None:
        """Add a link, with nothing on its way."""
        for pair in ((a, b), (b, a)):
            channel = Channel(self._network.of(*pair), self._draw("link", *pair))
            channel.is_up = is_up
            self.channels[pair] = channel
            self._near.setdefault(pair[0], {})[pair[1]] = None
        self._pairs[a, b] = None

    def remove(self, a: NodeId, b: NodeId) -> None:
        """Remove a link. Messages on their way are lost."""
        self.take_down(a, b)
        self._cut.discard(frozenset((a, b)))
        for pair in ((a, b), (b, a)):
            del self.channels[pair], self._near[pair[0]][pair[1]]
            self._pairs.pop(pair, None)

    def check(self, a: NodeId, b: NodeId) -> None:
        """Raise FykeError unless the two brokers are neighbours."""
        if (a, b) not in self.channels:
            raise FykeError(f"there is no link between {shown(a)} and {shown(b)}")

    def cut(self, a: NodeId, b: NodeId) -> bool:
        """Cut the link until it is healed. Return True if it was up."""
        self.check(a, b)
        self._cut.add(frozenset((a, b)))
        return self.take_down(a, b)

    def heal(self, a: NodeId, b: NodeId) -> None:
        """End a cut. `bring_up` may bring the link up then."""
        self.check(a, b)
        self._cut.discard(frozenset((a, b)))

    def take_down(self, a: NodeId, b: NodeId) -> bool:
        """Take the link down, and lose messages on their way. Return True if it was up."""
        if not self.channels[a, b].is_up:
            return False
        for pair in ((a, b), (b, a)):
            self.channels[pair].break_()
        return True

    def bring_up(self, a: NodeId, b: NodeId) -> bool:
        """Bring the link up if it is not cut or parted. Return True if it was down."""
        is_kept_down = frozenset((a, b)) in self._cut or self.are_parted(a, b)
        if is_kept_down or self.channels[a, b].is_up:
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
        """Return the links between some brokers and the others."""
        return [(a, b) for a, b in self._pairs if (a in side) != (b in side)]

    def neighbours(self, broker: NodeId) -> tuple[NodeId, ...]:
        return tuple(self._near.get(broker, ()))
