"""Assembly: from names to objects. The only place that knows which classes make up a system.

system = assemble("subscription_forwarding", topology)
Simulation(topology, system.make, codec=system.codec)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from fyke.broker.broker import Broker, MakeStrategy
from fyke.errors import FykeError, shown
from fyke.nodes.codec import Codec
from fyke.nodes.message import NodeId
from fyke.overlay.topology import Topology
from fyke.routing.event_forwarding import EventForwarding
from fyke.simulation.simulation import MakeNode

STRATEGIES: Final = ("event_forwarding",)
"""By name."""


@dataclass(frozen=True, slots=True)
class System:
    """How its nodes are made, and how they write their messages."""

    make: MakeNode
    codec: Codec


def assemble(
    strategy: str,
    topology: Topology,
    *,
    rendezvous: Mapping[str, NodeId] | None = None,
    engine: str = "compiled",
) -> System:
    """Brokers with a strategy. `rendezvous` names the broker of each event type, "" all others'."""
    if strategy not in STRATEGIES:
        raise FykeError(f"unknown strategy {shown(strategy)}; expected {', '.join(STRATEGIES)}")
    topology.check_tree()
    made: MakeStrategy = lambda here, random: EventForwarding(here)  # noqa: E731

    def make(name: NodeId, random: Random) -> Broker:
        return Broker(name, made, random, engine=engine)

    return System(make, Codec())
