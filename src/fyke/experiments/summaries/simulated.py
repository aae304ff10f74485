"""Larger overlays, simulated: real brokers that send real summaries, up to a thousand of them.

Brokers share what they may: the map of the overlay and filters, which are drawn from a pool and
never change. Beside them, on the same graph, real covering of a tenth of the subscriptions on a
spanning tree of each source (computed: every upper subscription goes to everybody), and flooding.
"""

from __future__ import annotations

from random import Random
from typing import Final

from fyke.assembly import assemble
from fyke.broker.broker import Broker
from fyke.events.event import Event
from fyke.experiments.experiment import Parameters
from fyke.experiments.summaries.covering import text_bytes, upper
from fyke.experiments.summaries.model import Forest, Siena
from fyke.experiments.summaries.workload import event, subscriptions
from fyke.experiments.table import Row
from fyke.filters.filter import Filter
from fyke.filters.predicate import equals
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe
from fyke.overlay.named import named
from fyke.overlay.topology import Topology
from fyke.routing.summaries.summaries import Summaries
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Sent

_SUBSUMPTION: Final = 0.5
_EACH: Final = {"tiny": 5, "small": 10, "paper": 100}
_SIZES: Final = {"tiny": (24, 40), "small": (24, 60, 150), "paper": (24, 150, 1_000)}
POPULARITIES: Final = (0.0, 0.01, 0.1)
_EVENTS: Final = 8


def beyond_grid(scale: str) -> list[Parameters]:
    return [{"brokers": brokers, "each": _EACH[scale]} for brokers in _SIZES[scale]]


def beyond(parameters: Parameters, seed: int) -> list[Row]:
    """Return what subscriptions and events cost, by who wants an event."""
    count, each = parameters["brokers"], parameters["each"]
    topology = named("random_graph", count, seed)
    own = {
        broker: subscriptions(each, _SUBSUMPTION, f"{seed} {broker}") for broker in topology.brokers
    }
    common = {"brokers": count, "subscriptions": count * each}
    rows = [{**common, **row} for row in _summaries(topology, own, seed)]
    rows += [{**common, **row} for row in _covering(topology, own, seed)]
    flooded = {"approach": "flooding a tree", "bytes": 0, "storage": 0, "largest": 0}
    wanted = {"messages": count - 1, "event_bytes": (count - 1) * _size(seed), "searches": 0}
    return rows + [{**common, **flooded, **wanted, "popularity": each} for each in POPULARITIES]


def _wanting(topology: Topology, popularity: float, seed: int) -> list[tuple[str, list[str]]]:
    """Return events: where each is published, and which brokers want it."""
    draw = Random(f"wanting {seed} {popularity} {len(topology.brokers)}")
    wanted = round(popularity * len(topology.brokers))
    return [
        (draw.choice(topology.brokers), draw.sample(topology.brokers, wanted))
        for _ in range(_EVENTS)
    ]


def _size(seed: int) -> int:
    """Return the bytes of an event without a route."""
    return len(str(dict(event(Random(seed)).attributes)))


def _summaries(topology: Topology, own: dict[str, list[Filter]], seed: int) -> list[Row]:
    trace: list[Record] = []
    system = assemble("summaries", topology, engine="scan")
    overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
    for broker, filters in own.items():
        overlay.attach(f"c{broker}", broker)
        for at, filter in enumerate(filters):
            overlay.say(f"c{broker}", Subscribe(Subscription(f"s{at}", filter)))
    events: dict[float, list[tuple[str, Event]]] = {}
    for popularity in POPULARITIES:
        for at, (start, wanting) in enumerate(_wanting(topology, popularity, seed)):
            name = f"wanted {popularity} {at}"
            subscribe = Subscribe(Subscription(name, equals("wanted", name)))
            for broker in wanting:
                overlay.say(f"c{broker}", subscribe)
            values = {**event(Random(f"{seed} {name}")).attributes, "wanted": name}
            events.setdefault(popularity, []).append((start, Event(values)))
    overlay.run()
    told = [each for each in trace if isinstance(each, Sent) and each.kind == "Contribution"]
    sizes = []
    for broker in topology.brokers:
        node = overlay.node(broker)
        assert isinstance(node, Broker)
        assert isinstance(node.strategy, Summaries)
        sizes.append(node.strategy.size)
    known = {
        **{"approach": "summary", "hops": len(told), "bytes": sum(each.bytes for each in told)},
        **{"storage": sum(sizes), "largest": max(sizes)},
    }
    forest, rows = Forest(topology), []
    for popularity, some in events.items():
        trace.clear()
        waited = []
        for at, (start, each) in enumerate(some):
            began, before = overlay.now, len(trace)
            overlay.say(f"c{start}", Publish(f"e {popularity} {at}", each))
            overlay.run()
            got = [record.t for record in trace[before:] if isinstance(record, Delivered)]
            waited += [max(got) - began] if got else []
        sent = [record for record in trace if isinstance(record, Sent)]
        walks = [len(forest.walk(start)) - 1 for start, _ in some]
        rows.append(
            {
                **{**known, "popularity": popularity, "messages": len(sent) / len(some)},
                "event_bytes": sum(record.bytes for record in sent) / len(some),
                "searches": sum(walks) / len(walks),
                "latency_s": sum(waited) / len(waited) if waited else None,
            }
        )
    return rows


def _covering(topology: Topology, own: dict[str, list[Filter]], seed: int) -> list[Row]:
    siena = Siena(topology)
    others = len(topology.brokers) - 1
    uppers = [upper(filters[: max(len(filters) // 10, 1)]) for filters in own.values()]
    forwarded = sum(map(text_bytes, uppers)) * others
    known = {
        **{"approach": "covering, a tenth", "hops": others * len(topology.brokers)},
        **{"bytes": forwarded, "storage": forwarded, "largest": sum(map(text_bytes, uppers))},
    }
    rows: list[Row] = []
    for popularity in POPULARITIES:
        edges = [siena.edges(*each) for each in _wanting(topology, popularity, seed)]
        mean = sum(edges) / len(edges)
        wanted = {"messages": mean, "event_bytes": mean * _size(seed), "searches": 0}
        rows.append({**known, "popularity": popularity, **wanted})
    return rows
