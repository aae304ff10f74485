"""Readers at the edge of a tree of real brokers: everything that is said there is counted.

A reader comes to a broker of the edge, its home, drawn evenly, and subscribes; what happens then is
up to the strategy: joins, leases and attachments are messages like any others. Events come in at
the root. What a broker holds is asked from the broker, what it gets and sends is read from the
trace.

    load        events that come to a broker times the filters that it holds them against
    messages    between brokers, over links or straight
    hops        messages from the root to the home of a reader, for each delivery
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from math import log10
from random import Random
from statistics import fmean
from typing import Any, Final

from fyke.assembly import assemble
from fyke.broker.broker import Broker
from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.experiments.experiment import Parameters
from fyke.experiments.table import Row
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.matching.matcher import Matcher
from fyke.nodes.message import NodeId, Publish, Subscribe, Unsubscribe
from fyke.overlay.topology import Topology
from fyke.routing.stages.hosting import LOCALITY
from fyke.routing.stages.multistage import Multistage
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Sent

PUBLISHER: Final = "publisher"
_HOP_S: Final = 0.001
_JOIN_S: Final = 0.1
"""A join has ended by then; whoever runs until all is quiet waits for its patience to end."""
SIZES: Final = {"tiny": (100, 40), "small": (1_000, 1_000), "paper": (1_000, 20_000)}
"""Readers and events of a study on the paper's tree."""
_BLOCKS: Final = "▁▂▃▄▅▆▇█"


class Readers:
    """An overlay and its readers; `options` are those of `assemble`."""

    def __init__(self, topology: Topology, seed: int, strategy: str, **options: Any) -> None:
        self.root = topology.brokers[0]
        depths = topology.distances(self.root)
        height = max(depths.values())
        self.stages = {name: 1 + height - depth for name, depth in depths.items()}
        self.edge = [name for name, stage in self.stages.items() if stage == 1]
        self._walks = options.get("placement", LOCALITY) != LOCALITY
        self._draw = Random(f"readers {seed}")
        self._exact = Matcher()
        self._homes: dict[str, NodeId] = {}
        self.sent: Counter[str] = Counter()
        """Messages between brokers, by kind."""
        self.bytes: Counter[str] = Counter()
        self.received: Counter[NodeId] = Counter()
        """Events that came to brokers over links, or from the publisher."""
        self._served: Counter[NodeId] = Counter()
        """Events that came to homes straight from places."""
        self._hops: list[float] = []
        self._began = 0.0
        self._events = 0
        self._ids = map("e{}".format, count())
        self._last_id = ""
        system = assemble(strategy, topology, rendezvous={"": self.root}, **options)
        self.overlay = Simulation(
            topology, system.make, codec=system.codec, write=self._note, seed=seed,
            network=Network(latency_s=_HOP_S),
        )  # fmt: skip
        for name in (self.root, *self.edge):
            self.overlay.attach(self._client(name), name)
        self.overlay.run()

    def _client(self, broker: NodeId) -> NodeId:
        return f"client-{broker}"

    def _note(self, record: Record) -> None:
        if isinstance(record, Sent):
            self.sent[record.kind] += 1
            self.bytes[record.kind] += record.bytes
            if record.kind == "Publish":
                (self._served if record.straight else self.received)[record.to] += 1
        elif isinstance(record, Delivered):
            hops = round((record.t - self._began) / _HOP_S)
            self._hops += [hops] * len(record.subscriptions)

    # --- what happens -----------------------------------------------------------------------------

    def subscribe(self, filters: Mapping[str, Filter]) -> None:
        """Let readers come, one after the other, each at a home of its own choice."""
        for id, filter in filters.items():
            home = self._homes[id] = self._draw.choice(self.edge)
            self._exact.add(id, filter)
            self.overlay.say(self._client(home), Subscribe(Subscription(id, filter)))
            self.overlay.run(until=self.overlay.now + _JOIN_S if self._walks else None)
        self.overlay.run()

    def unsubscribe(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._exact.remove(id)
            self._say(self._client(self._homes.pop(id)), Unsubscribe(id))

    def publish(self, events: Iterable[Event]) -> None:
        """Publish events at the root; FykeError if one of them comes to others than want it."""
        wanted = 0
        before = len(self._hops)
        for event in events:
            self._began = self.overlay.now
            self._last_id = next(self._ids)
            self._say(self._client(self.root), Publish(self._last_id, event))
            wanted += len(self._exact.match(event))
            self._events += 1
            self.received[self.root] += 1
        if len(self._hops) - before != wanted:
            raise FykeError(f"{len(self._hops) - before} deliveries; expected {wanted}")

    def _say(self, client: NodeId, message: Publish | Subscribe | Unsubscribe) -> None:
        self.overlay.say(client, message)
        self.overlay.run()

    def forget(self) -> None:
        """Count anew from now on."""
        for counts in (self.sent, self.bytes, self.received, self._served):
            counts.clear()
        self._hops, self._events = [], 0

    # --- what is seen -----------------------------------------------------------------------------

    def control(self, counts: Mapping[str, int]) -> int:
        """Return the sum over all kinds but events."""
        return sum(count for kind, count in counts.items() if kind != "Publish")

    def broker(self, name: NodeId) -> Broker:
        broker = self.overlay.node(name)
        assert isinstance(broker, Broker)
        return broker

    def strategy(self, name: NodeId) -> Multistage:
        strategy = self.broker(name).strategy
        assert isinstance(strategy, Multistage)
        return strategy

    def brokers(self) -> Iterator[Row]:
        """Return a row for each broker: its filters, and what came and was to do for an event."""
        for name in self.overlay.running:
            filters = self.broker(name).stats().filtered
            received = (self.received[name] + self._served[name]) / max(1, self._events)
            yield {
                "broker": name,
                "stage": self.stages[name],
                "filters": filters,
                "received": received,
                "load": filters * received,
            }

    def whole(self) -> Row:
        """Return what all brokers together do for an event."""
        rows, events = list(self.brokers()), max(1, self._events)
        return {
            "largest_load": max(row["load"] for row in rows),
            "all_loads": sum(row["load"] for row in rows),
            "largest_table": max(row["filters"] for row in rows),
            "messages": self.sent["Publish"] / events,
            "straight": self._served.total() / events,
            "event_bytes": self.bytes["Publish"] / events,
            "hops": fmean(self._hops) if self._hops else 0.0,
            "hops_max": max(self._hops, default=0),
        }

    def picture(self) -> str:
        """Return the tree as text: a line for each stage, a block for the load of each broker.

        A full block is the load of a central server, and two blocks lower is a tenth of it.
        """
        rows = {row["broker"]: row["load"] / len(self._homes) for row in self.brokers()}
        levels: dict[int, list[str]] = {}
        for name, load in rows.items():
            levels.setdefault(self.stages[name], []).append(_block(load))
        wide = len(levels[1]) // max(1, len(levels.get(2, [])))
        lines = []
        for stage, blocks in sorted(levels.items(), reverse=True):
            groups = ["".join(blocks)]
            if stage <= 2:
                each = len(blocks) // len(levels[2])
                groups = ["".join(blocks[at : at + each]) for at in range(0, len(blocks), each)]
            line = " ".join(group.center(wide) for group in groups)
            lines.append(f"stage {stage}  {line.center((wide + 1) * len(levels[2]) - 1)}".rstrip())
        return "\n".join(lines)


def _block(relative_load: float) -> str:
    if not relative_load:
        return "·"
    return _BLOCKS[max(0, min(7, round(7 + 2 * log10(relative_load))))]


def by_stage(
    rows: Iterable[Row], value: str, of: Callable[[list[float]], float]
) -> dict[int, float]:
    """Return a sum, a mean or the like of a column, for each stage."""
    found: dict[int, list[float]] = {}
    for row in rows:
        found.setdefault(row["stage"], []).append(row[value])
    return {stage: of(values) for stage, values in sorted(found.items())}


def cost(parameters: Parameters) -> float:
    """Return the time of a study's run, compared with others."""
    return float(parameters["readers"]) / 500 + float(parameters.get("events", 0)) / 1_000
