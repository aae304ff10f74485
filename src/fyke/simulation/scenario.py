"""Scenario: a workload played to an overlay.

First the clients subscribe, one after the other; then events are published, so many a second, while
faults happen. What every node holds is noted before and after, so that the
trace says what the events alone have cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TypeAlias

from fyke.errors import FykeError, shown
from fyke.nodes.codec import Codec
from fyke.nodes.message import NodeId, Publish, Subscribe
from fyke.overlay.topology import Topology
from fyke.simulation.faults import Fault, check, schedule
from fyke.simulation.network import Network
from fyke.simulation.simulation import MakeNode, Simulation
from fyke.traces.trace import Record
from fyke.workloads.workload import Workload

Watch: TypeAlias = Callable[[range, str], Iterable[int]]
"""Numbers and what they are of; gives the same numbers, while someone is shown how far they are."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A workload, an overlay and faults, for any strategy of the brokers."""

    topology: Topology
    workload: Workload
    subscriptions: int
    events: int
    seed: int = 0
    rate: float = 1_000.0
    """Events a second, of the overlay's own time."""
    network: Network = field(default_factory=Network)
    clients: Mapping[NodeId, NodeId] = field(default_factory=dict)
    """The broker of each client. By default every broker has one client."""
    faults: tuple[Fault, ...] = ()
    """Times count from the first event."""

    def __post_init__(self) -> None:
        if not self.rate > 0:
            raise FykeError(f"rate is {shown(self.rate)}; expected more than 0 events a second")
        check(self.faults, self.topology)

    def places(self) -> dict[NodeId, NodeId]:
        """Return the broker of each client."""
        return dict(self.clients) or {f"client-{name}": name for name in self.topology.brokers}

    def play(
        self,
        make: MakeNode,
        codec: Codec,
        write: Callable[[Record], object],
        watch: Watch = lambda numbers, what: numbers,
    ) -> Simulation:
        """Run the scenario to its end. The seed decides who subscribes and who publishes."""
        overlay = Simulation(
            self.topology, make, seed=self.seed, network=self.network, write=write, codec=codec
        )
        places = self.places()
        for client, broker in places.items():
            overlay.attach(client, broker)
        self._subscribe(overlay, list(places), watch)
        overlay.hold()
        schedule(overlay, self.faults)
        self._publish(overlay, list(places), watch)
        overlay.hold()
        return overlay

    def _subscribe(self, overlay: Simulation, clients: list[NodeId], watch: Watch) -> None:
        draw = Random(f"{self.seed} subscribers")
        for number in watch(range(self.subscriptions), "subscriptions"):
            overlay.say(draw.choice(clients), Subscribe(self.workload.subscription(number)))
            overlay.run()

    def _publish(self, overlay: Simulation, clients: list[NodeId], watch: Watch) -> None:
        draw = Random(f"{self.seed} publishers")
        start = overlay.now
        for number in watch(range(self.events), "events"):
            overlay.run(until=start + number / self.rate)
            event = self.workload.event(number)
            overlay.say(draw.choice(clients), Publish(f"e{number}", event))
        overlay.run()
