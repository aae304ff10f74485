"""Assembly: from names to objects. The only place that knows which classes make up a system.

system = assemble("subscription_forwarding", topology)
Simulation(topology, system.make, codec=system.codec)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

from fyke.broker.broker import Broker
from fyke.errors import FykeError, shown
from fyke.nodes.codec import Codec
from fyke.nodes.message import NodeId
from fyke.overlay.topology import Topology
from fyke.routing.event_forwarding import EventForwarding
from fyke.routing.filtering import KINDS, Filtering
from fyke.routing.reach import Reach
from fyke.routing.strategy import Strategy, Surroundings
from fyke.routing.variant import VARIANTS, Location
from fyke.simulation.simulation import MakeNode

STRATEGIES: Final = {
    "event_forwarding": "ef",
    "subscription_forwarding": "pf8",
    "rendezvous": "rn8",
    "broadcast": "pf1",
    "centralised": "rn1",
} | {name: name for name in VARIANTS}
"""By name; the values are the names of their variants."""


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
    variant = VARIANTS[STRATEGIES[strategy]]
    owners = {"": topology.brokers[0]} | dict(rendezvous or {})
    for owner in owners.values():
        topology.neighbors(owner)

    def make(name: NodeId, random: Random) -> Broker:
        mine = [type_ for type_, owner in owners.items() if owner == name]

        def decide(here: Surroundings, random: Random) -> Strategy:
            if variant.location is Location.SUBSCRIBERS:
                return EventForwarding(here)
            return Filtering(here, variant, engine, Reach(name, mine))

        return Broker(name, decide, random, engine=engine)

    return System(make, Codec(KINDS))
