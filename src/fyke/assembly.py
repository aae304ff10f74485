"""Assembly: from names to objects.

    system = assemble("subscription_forwarding", topology)
    Simulation(topology, system.make, codec=system.codec)

The only place that knows which classes make up a system.
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
from fyke.routing import adaptive, filtering
from fyke.routing.adaptive import Adaptive
from fyke.routing.event_forwarding import EventForwarding
from fyke.routing.filtering import Filtering
from fyke.routing.reach import COORDINATOR, Reach
from fyke.routing.siena_model import SienaModel
from fyke.routing.strategy import Strategy, Surroundings
from fyke.routing.variant import VARIANTS, Location
from fyke.routing.weighing import Weighing
from fyke.simulation.simulation import MakeNode

ADAPTIVE: Final = "adaptive"
ALIASES: Final = {
    "event_forwarding": "ef",
    "subscription_forwarding": "pf8",
    "rendezvous": "rn8",
    "siena": "pf8",
    "broadcast": "pf1",
    "centralised": "rn1",
}
"""Other names of variants."""
_NAMES: Final = ALIASES | {name: name for name in VARIANTS}
STRATEGIES: Final = (*_NAMES, ADAPTIVE)
MODELS: Final = ("siena_model",)
"""What only counts messages, and routes no events."""


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
    first: str = "event_forwarding",
    merging: bool = False,
    subsumption: float = 0.0,
    engine: str = "compiled",
) -> System:
    """Brokers with a strategy.

    `rendezvous` names the broker of each event type, "" that of all others. An adaptive overlay
    starts with `first`; its first broker leads. With `merging`, brokers tell each other one
    subscription for several where that accepts the same. `subsumption` is for the model of Siena.
    """
    if strategy not in (*STRATEGIES, *MODELS):
        raise FykeError(f"unknown strategy {shown(strategy)}; expected {', '.join(STRATEGIES)}")
    topology.check_tree()
    degree_max = max(map(topology.degree, topology.brokers))
    owners = {"": topology.brokers[0], **(rendezvous or {}), COORDINATOR: topology.brokers[0]}
    for owner in owners.values():
        topology.neighbors(owner)

    def make(name: NodeId, random: Random) -> Broker:
        mine = [type_ for type_, owner in owners.items() if owner == name]

        def decide(here: Surroundings, random: Random) -> Strategy:
            reach = Reach(name, mine)
            if strategy in MODELS:
                return SienaModel(here, random, subsumption, degree_max)
            if strategy != ADAPTIVE:
                return _made(strategy, here, reach, engine, merging)
            return Adaptive(
                here,
                reach,
                lambda wanted: _made(wanted, here, reach, engine, merging),
                first,
                Weighing(name),
                random,
            )

        return Broker(name, decide, random, engine=engine)

    make(topology.brokers[0], Random(0))  # what cannot be made is refused here
    return System(make, Codec((*filtering.KINDS, *adaptive.KINDS)))


def _made(strategy: str, here: Surroundings, reach: Reach, engine: str, merging: bool) -> Strategy:
    if strategy not in _NAMES:
        raise FykeError(f"unknown strategy {shown(strategy)}; expected {', '.join(_NAMES)}")
    variant = VARIANTS[_NAMES[strategy]]
    if variant.location is Location.SUBSCRIBERS:
        return EventForwarding(here)
    return Filtering(here, variant, engine, reach, merging)
