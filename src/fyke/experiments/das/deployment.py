"""Deployment: an overlay in which all profiles are registered, and what events do in it.

Registering 200,000 profiles at nine brokers takes over a million messages, an event takes a few. So
profiles are registered once, and all points of a curve are measured in the same overlay: events
change nothing there. Nothing in it refers back to what holds it, so that its gigabytes are freed at
once when it is dropped, not by a search for cycles among millions of objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import islice
from random import Random
from statistics import median
from time import perf_counter
from typing import Final

from fyke.assembly import assemble
from fyke.errors import FykeError
from fyke.experiments.das.metering import EventsWeighed, Tally, Timed
from fyke.experiments.das.workload import Profiles
from fyke.experiments.table import Row
from fyke.nodes.message import NodeId, Publish, Subscribe
from fyke.nodes.node import Node
from fyke.overlay.topology import Topology
from fyke.simulation.simulation import Simulation

STRATEGIES: Final = {
    "PF": "subscription_forwarding",
    "EF": "event_forwarding",
    "RN": "rendezvous",
}
"""By the names that the paper gives them, in its order."""

BUS: Final = Topology.of([("B1", "B2"), ("B2", "B3"), ("B3", "B4")])
BUS_RENDEZVOUS: Final = "B2"

_NINE: Final = ((1, 2), (2, 3), (2, 4), (2, 5), (1, 6), (1, 7), (3, 8), (3, 9))

_CHUNK: Final = 500
"""Profiles that are on their way at a time."""


def network(brokers: int) -> Topology:
    """The first brokers of figure 11, as it can be reconstructed."""
    names = [f"B{number}" for number in range(1, brokers + 1)]
    links = [(f"B{a}", f"B{b}") for a, b in _NINE if max(a, b) <= brokers]
    return Topology.of(links, names)


class Deployment:
    """Brokers, a subscriber and a publisher at each of them."""

    def __init__(
        self,
        strategy: str,
        topology: Topology,
        profiles: Profiles,
        rendezvous: Mapping[str, NodeId],
        engine: str = "compiled",
    ) -> None:
        self._profiles = profiles
        self._tally = tally = Tally(topology.brokers)
        self._published = 0
        self._held: Row = {}
        system = assemble(
            STRATEGIES[strategy], topology, rendezvous=dict(rendezvous), engine=engine
        )

        def make(name: NodeId, random: Random) -> Node:
            return Timed(system.make(name, random), lambda: tally.meters[name])

        codec = EventsWeighed(system.codec)
        self._overlay = Simulation(topology, make, codec=codec, write=self._tally)
        for broker in topology.brokers:
            self._overlay.attach(f"subscriber of {broker}", broker)
            self._overlay.attach(f"publisher of {broker}", broker)
        self._register()
        self.measure(Fraction(1, 2))  # what is done for the first time takes longer
        stats = [self._overlay.node(broker).stats() for broker in topology.brokers]
        tables = [each.subscriptions + each.rows for each in stats]
        self._held |= {
            "profiles": profiles.total,
            "duplication": sum(tables) / profiles.total,
            "largest_table": max(tables),
        }

    def _register(self) -> None:
        """Once brokers know their neighbours, and all types."""
        self._overlay.run()
        for declaration in self._profiles.declarations():
            self._overlay.say(f"publisher of {self._profiles.brokers[0]}", declaration)
        self._overlay.run()
        waiting = self._profiles.subscriptions()
        while chunk := list(islice(waiting, _CHUNK)):
            for broker, subscription in chunk:
                self._overlay.say(f"subscriber of {broker}", Subscribe(subscription))
            self._overlay.run()

    def measure(
        self,
        p_e: Fraction,
        *,
        locality: Fraction | None = None,
        at_least: int = 1,
        repeats: int = 1,
        seed: int = 0,
    ) -> Row:
        """What a set of events takes. All wait at their brokers before the first goes on."""
        sigma = self._profiles.sigma
        events = self._profiles.events(p_e, locality=locality, at_least=at_least, seed=seed)
        seconds: list[float] = []
        began = perf_counter()
        for _ in range(repeats):
            self._tally.clear()
            for each in events:
                self._published += 1
                said = Publish(f"e{self._published}", each.event)
                self._overlay.say(f"publisher of {each.broker}", said)
            self._overlay.run()
            seconds.append(max(meter.seconds for meter in self._tally.meters.values()))
        count, tally = len(events), self._tally
        if tally.matched != p_e * count or tally.notified != p_e * count * sigma:
            raise FykeError(
                f"{tally.matched} of {count} events matched, {tally.notified} profiles were "
                f"notified; expected {p_e * count} and {p_e * count * sigma}"
            )
        steps = tally.meters[tally.busiest].steps
        return {
            "p_e": float(p_e),
            "p_p": float(p_e * sigma),
            "sigma": sigma,
            **self._held,
            "events": count,
            "load": tally.messages / count,
            "load_bytes": tally.bytes / count,
            "busiest": tally.busiest,
            "steps": steps / count,
            "efficiency": 1_000 * count / steps,
            "events_per_s": count / median(seconds),
            "wall_s": (perf_counter() - began) / repeats,
        }
