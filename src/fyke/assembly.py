"""Assembly: from names to objects.

    system = assemble("subscription_forwarding", topology)
    Simulation(topology, system.make, codec=system.codec)

    make_broker("b1", ["b2", "b3"], Options("rendezvous"), Random(), owns=["Stock"])

A broker is made from its own configuration: its name, its neighbours, what it is the rendezvous of.
Only a simulation knows a whole topology. The only place that knows which classes make up a system.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from fyke.broker.broker import Broker
from fyke.errors import FykeError, shown
from fyke.events.schema import Schema
from fyke.nodes.codec import Codec
from fyke.nodes.message import NodeId
from fyke.overlay.topology import Topology
from fyke.peers.geometry.space import Space
from fyke.peers.messages import PeerCodec
from fyke.peers.peer import Peer
from fyke.peers.registry import Registry
from fyke.peers.settings import Settings
from fyke.routing.adaptive import adaptive
from fyke.routing.adaptive.adaptive import Adaptive
from fyke.routing.adaptive.weighing import Weighing
from fyke.routing.event_forwarding import EventForwarding
from fyke.routing.forwarding import filtering
from fyke.routing.forwarding.filtering import Filtering
from fyke.routing.forwarding.reach import COORDINATOR, Reach
from fyke.routing.forwarding.variant import VARIANTS, Location, Variant
from fyke.routing.siena_model import SienaModel
from fyke.routing.stages import messages, multistage
from fyke.routing.stages.attributes import Classes, check_stages
from fyke.routing.stages.hosting import LOCALITY, PLACEMENTS
from fyke.routing.stages.leases import Leases
from fyke.routing.stages.multistage import ROOT, Multistage
from fyke.routing.stages.placing import LEASE_S, Placing
from fyke.routing.strategy import Strategy, Surroundings
from fyke.routing.summaries import summaries as summary_strategy
from fyke.routing.summaries.parameters import SummaryParameters
from fyke.routing.summaries.summaries import Summaries
from fyke.simulation.simulation import MakeNode

ADAPTIVE: Final = "adaptive"
MULTISTAGE: Final = "multistage"
SUMMARIES: Final = "summaries"
ALIASES: Final = {
    "event_forwarding": "ef",
    "subscription_forwarding": "pf8",
    "rendezvous": "rn8",
    "siena": "pf8",
    "broadcast": "pf1",
    "centralised": "rn1",
}
"""Other names of variants."""
_VARIANTS: Final = ALIASES | {name: name for name in VARIANTS}
_USUAL: Final = {
    ALIASES[name]: name for name in ("event_forwarding", "subscription_forwarding", "rendezvous")
}
STRATEGIES: Final = (*_VARIANTS, ADAPTIVE, MULTISTAGE, SUMMARIES)
PEERS: Final = "sub2sub"
"""Subscribers that serve each other: no strategy of brokers, but a system of its own."""
MODELS: Final = ("siena_model",)
"""Names of models that only count messages and route no events."""
CODEC: Final = Codec(
    (
        *filtering.KINDS,
        *adaptive.KINDS,
        *multistage.KINDS,
        *messages.KINDS,
        *summary_strategy.KINDS,
    )
)
"""For the messages of all strategies."""


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of brokers, the same for all brokers of an overlay.

    An adaptive overlay starts with `first`. It takes tables of more than `rows_max` rows for too
    large. With `merging`, brokers tell each other one subscription for several if it accepts the
    same events. `stages` are those of classes of events in a multistage overlay, beside the stages
    that publishers advertise. There, `placement` says where subscriptions are attached: at the
    broker of their client (locality), near similar ones (similarity; edge: never above it), or
    anywhere at the edge (random). A subscription that is not renewed every `lease_s` ends. A broker
    whose tables exceed `memory` bytes prunes what it filters for neighbours. `subsumption` and
    `degree_max` are for the model of Siena.
    """

    strategy: str
    first: str = "event_forwarding"
    rows_max: int | None = None
    merging: bool = False
    subsumption: float = 0.0
    degree_max: int = 1
    engine: str = "compiled"
    stages: Classes = field(default_factory=dict)
    placement: str = LOCALITY
    lease_s: float | None = None
    summaries: SummaryParameters = field(default_factory=SummaryParameters)
    memory: int | None = None

    def __post_init__(self) -> None:
        known = (*STRATEGIES, *MODELS)
        if self.strategy not in known:
            raise _unknown(self.strategy, STRATEGIES)
        if self.rows_max is not None and self.rows_max < 1:
            raise FykeError(f"rows_max is {shown(self.rows_max)}; expected 1 or more")
        if self.placement not in PLACEMENTS:
            known_placements = ", ".join(PLACEMENTS)
            raise FykeError(
                f"unknown placement {shown(self.placement)}; expected {known_placements}"
            )
        Leases(self.lease_s)
        if self.memory is not None and self.memory < 1:
            raise FykeError(
                f"memory is {shown(self.memory)}; expected a number of bytes, 1 or more"
            )
        if self.memory is not None and self.strategy in (MULTISTAGE, SUMMARIES, *MODELS):
            raise FykeError(f"{self.strategy} does not prune; memory has no meaning there")
        for name, stages in self.stages.items():
            check_stages(stages, Schema(), name)

    @property
    def needs_tree(self) -> bool:
        if self.strategy == SUMMARIES:
            return Summaries.needs_tree
        return SienaModel.needs_tree if self.strategy in MODELS else Strategy.needs_tree


def make_broker(
    name: NodeId,
    neighbours: Iterable[NodeId],
    options: Options,
    random: Random,
    *,
    owns: Iterable[str] = (),
    overlay: Mapping[NodeId, Collection[NodeId]] | None = None,
) -> Broker:
    """Return a broker. `owns` names the event types that it is the rendezvous of, "" all others.

    The broker that owns `COORDINATOR` leads an adaptive overlay. `overlay` says who is linked to
    whom, as far as that is known; where summaries are sent, brokers tell each other what changes.
    """

    def decide(here: Surroundings, random: Random) -> Strategy:
        reach = Reach(name, owns)
        if options.strategy == SUMMARIES:
            return Summaries(here, random, overlay or {}, options.summaries)
        if options.strategy in MODELS:
            return SienaModel(here, random, options.subsumption, options.degree_max)
        if options.strategy == MULTISTAGE:
            is_root = ROOT in reach.names()
            if options.placement == LOCALITY:
                leases = Leases(options.lease_s)
                return Multistage(
                    here,
                    is_root=is_root,
                    classes=options.stages,
                    is_merging=options.merging,
                    leases=leases,
                )
            return Placing(
                here,
                random,
                is_root=is_root,
                placement=options.placement,
                classes=options.stages,
                is_merging=options.merging,
                leases=Leases(options.lease_s or LEASE_S),
            )
        if options.strategy != ADAPTIVE:
            return _made(options.strategy, here, reach, options)
        return Adaptive(
            here,
            reach,
            lambda wanted: _made(wanted, here, reach, options),
            _usual,
            options.first,
            Weighing(name, options.rows_max),
            random,
        )

    return Broker(name, neighbours, decide, random, engine=options.engine)


@dataclass(frozen=True, slots=True)
class System:
    """The makers of its nodes, and the codec of their messages."""

    make: MakeNode
    codec: Codec


def assemble(
    strategy: str,
    topology: Topology,
    *,
    rendezvous: Mapping[str, NodeId] | None = None,
    first: str = "event_forwarding",
    rows_max: int | None = None,
    merging: bool = False,
    subsumption: float = 0.0,
    engine: str = "compiled",
    stages: Classes | None = None,
    placement: str = LOCALITY,
    lease_s: float | None = None,
    summaries: SummaryParameters | None = None,
    memory: int | None = None,
) -> System:
    """Return a maker of the brokers of an overlay, and their codec.

    `rendezvous` names the broker of each event type, and "" the broker of all others. By default
    that is the first broker. It also leads an adaptive overlay and is the root of a multistage one.
    `Options` explains the other arguments.
    """
    degree_max = max(map(topology.degree, topology.brokers))
    options = Options(
        strategy,
        first,
        rows_max,
        merging,
        subsumption,
        degree_max,
        engine,
        stages or {},
        placement,
        lease_s,
    )
    options = replace(options, memory=memory)
    if summaries is not None:
        options = replace(options, summaries=summaries)
    overlay = {broker: topology.neighbors(broker) for broker in topology.brokers}
    if options.needs_tree:
        topology.check_tree()
    else:
        topology.check_connected()
    owners = {"": topology.brokers[0], **(rendezvous or {}), COORDINATOR: topology.brokers[0]}
    for owner in owners.values():
        topology.neighbors(owner)

    def make(name: NodeId, neighbours: Iterable[NodeId], random: Random) -> Broker:
        owns = [type_ for type_, owner in owners.items() if owner == name]
        known = overlay if name in overlay else None
        return make_broker(name, neighbours, options, random, owns=owns, overlay=known)

    make(topology.brokers[0], (), Random(0))  # what cannot be made is refused here
    return System(make, CODEC)


def assemble_peers(space: Space, settings: Settings | None = None) -> System:
    """Return a maker of the peers of an overlay without brokers. All share one registry."""
    registry, chosen = Registry(space), settings or Settings()

    def make(name: NodeId, introducers: Iterable[NodeId], random: Random) -> Peer:
        return Peer(name, introducers, registry, chosen, random)

    return System(make, PeerCodec())


def _made(strategy: str, here: Surroundings, reach: Reach, options: Options) -> Strategy:
    variant = variant_of(strategy)
    if variant.location is Location.SUBSCRIBERS:
        return EventForwarding(here)
    return Filtering(here, variant, reach, options.merging, options.memory)


def variant_of(strategy: str) -> Variant:
    """Return the choices that make up a strategy."""
    return VARIANTS[_number(strategy)]


def _number(strategy: str) -> str:
    """Return the name of a strategy in the classification: rendezvous is rn8."""
    if strategy not in _VARIANTS:
        raise _unknown(strategy, _VARIANTS)
    return _VARIANTS[strategy]


def _usual(strategy: str) -> str:
    """Return the usual name of a strategy: pf8 is subscription_forwarding."""
    number = _number(strategy)
    return _USUAL.get(number, number)


def _unknown(strategy: str, known: Iterable[str]) -> FykeError:
    return FykeError(f"unknown strategy {shown(strategy)}; expected {', '.join(known)}")
