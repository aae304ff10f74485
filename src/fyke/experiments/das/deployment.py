"""Deployment: an overlay in which all profiles are registered, and what events do in it.

Registering 200,000 profiles at nine brokers takes over a million messages, an event takes a few. So
profiles are registered once, and all points of a curve are measured in the same overlay: events
change nothing there. Nothing in it refers back to what holds it, so that its gigabytes are freed at
once when it is dropped, not by a search for cycles among millions of objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from random import Random
from statistics import median
from time import perf_counter
from typing import Final, NamedTuple

from fyke.assembly import assemble
from fyke.errors import FykeError
from fyke.experiments.das.metering import COUNTERS, EventsWeighed, Tally, Timed
from fyke.experiments.das.workload import Profiles
from fyke.experiments.table import Row
from fyke.nodes.message import NodeId, Publish, Subscribe
from fyke.nodes.node import Node, Stats
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
    """Return the first brokers of figure 11, as it can be reconstructed."""
    names = [f"B{number}" for number in range(1, brokers + 1)]
    links = [(f"B{a}", f"B{b}") for a, b in _NINE if max(a, b) <= brokers]
    return Topology.of(links, names)


class Point(NamedTuple):
    """The portion of events that match, and of those that match at home; None: by chance."""

    p_e: Fraction
    locality: Fraction | None = None


def client(broker: NodeId, number: int = 0) -> NodeId:
    """Name a subscriber of a broker."""
    return f"subscriber {number} of {broker}"


class Deployment:
    """Brokers, a publisher and one or more subscribers at each of them.

    Equal profiles are dealt out to the subscribers of their broker. `strategy` is one of PF, EF, RN
    or the name of any variant.
    """

    def __init__(
        self,
        strategy: str,
        topology: Topology,
        profiles: Profiles,
        rendezvous: Mapping[str, NodeId],
        engine: str = "compiled",
        *,
        subscribers: int = 1,
    ) -> None:
        self._profiles = profiles
        self._subscribers = subscribers
        self._tally = tally = Tally(topology.brokers)
        self._published = 0
        self._held: Row = {}
        system = assemble(
            STRATEGIES.get(strategy, strategy),
            topology,
            rendezvous=dict(rendezvous),
            engine=engine,
        )

        def make(name: NodeId, neighbours: Iterable[NodeId], random: Random) -> Node:
            return Timed(system.make(name, neighbours, random), lambda: tally.meters[name])

        codec = EventsWeighed(system.codec)
        self._overlay = Simulation(topology, make, codec=codec, write=self._tally)
        for broker in topology.brokers:
            for number in range(subscribers):
                self._overlay.attach(client(broker, number), broker)
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
        """Register once brokers know their neighbours, and all types."""
        self._overlay.run()
        for declaration in self._profiles.declarations():
            self._overlay.say(f"publisher of {self._profiles.brokers[0]}", declaration)
        self._overlay.run()
        waiting = enumerate(self._profiles.subscriptions())
        while chunk := list(islice(waiting, _CHUNK)):
            for number, (broker, subscription) in chunk:
                holder = client(broker, number % self._subscribers)
                self._overlay.say(holder, Subscribe(subscription))
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
        """Return what a set of events takes."""
        point = Point(p_e, locality)
        return self.curve([point], at_least=at_least, repeats=repeats, seed=seed)[0]

    def curve(
        self, points: Sequence[Point], *, at_least: int = 1, repeats: int = 1, seed: int = 0
    ) -> list[Row]:
        """Return what the events of some points take, a row each.

        Counts are per event; those of the busiest broker make its steps. The rate is the median of
        the repeats, with the slowest and the fastest of them. All points are measured before the
        first is repeated, so that a range shows how the machine changes meanwhile.
        """
        rows: list[Row] = []
        seconds = [list[float]() for _ in points]
        for _ in range(repeats):
            rows = []
            for taken, point in zip(seconds, points, strict=True):
                rows.append(self._sent(point, at_least, seed))
                taken.append(max(meter.seconds for meter in self._tally.meters.values()))
        return [
            row
            | {
                "events_per_s": row["events"] / median(taken),
                "events_per_s_low": row["events"] / max(taken),
                "events_per_s_high": row["events"] / min(taken),
                "repeats": repeats,
            }
            for row, taken in zip(rows, seconds, strict=True)
        ]

    def _sent(self, point: Point, at_least: int, seed: int) -> Row:
        """Send the events of a point, and count. All wait before the first goes on.

        They are new every time: brokers keep what they know of an event that they have just seen.
        """
        p_e, sigma, tally = point.p_e, self._profiles.sigma, self._tally
        events = self._profiles.events(p_e, locality=point.locality, at_least=at_least, seed=seed)
        tally.clear()
        before, began = self._stats(), perf_counter()
        for each in events:
            self._published += 1
            said = Publish(f"e{self._published}", each.event)
            self._overlay.say(f"publisher of {each.broker}", said)
        self._overlay.run()
        wall = perf_counter() - began
        tally.add(before, self._stats())
        count, matched = len(events), len(tally.matched)
        if matched != p_e * count or tally.notified != p_e * count * sigma:
            raise FykeError(
                f"{matched} of {count} events matched, {tally.notified} profiles were "
                f"notified; expected {p_e * count} and {p_e * count * sigma}"
            )
        busiest = tally.meters[tally.busiest]
        return {
            "p_e": float(p_e),
            "p_p": float(p_e * sigma),
            "sigma": sigma,
            **self._held,
            "events": count,
            "load": tally.messages / count,
            "load_bytes": tally.bytes / count,
            "busiest": tally.busiest,
            "steps": busiest.steps / count,
            **{name: getattr(busiest, name) / count for name in COUNTERS},
            "efficiency": 1_000 * count / busiest.steps,
            "wall_s": wall,
        }

    def _stats(self) -> dict[NodeId, Stats]:
        return {broker: self._overlay.node(broker).stats() for broker in self._tally.meters}

    def work(self) -> list[Row]:
        """Return what each broker holds, and what it did for the events measured last."""
        held = {name: each.subscriptions + each.rows for name, each in self._stats().items()}
        return [
            {
                "broker": broker,
                "held": held[broker],
                **{
                    name: getattr(meter, name) for name in (*COUNTERS, "probes", "steps", "seconds")
                },
            }
            for broker, meter in self._tally.meters.items()
        ]
