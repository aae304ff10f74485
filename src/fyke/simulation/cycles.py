"""Cycles: peers that gossip in rounds, as the paper's simulator has it (S2S-20).

    crowd = Crowd(make, codec, seed=7, write=meter.add)
    crowd.join(workload.subscriptions(1_000))      each subscription at a peer of its own
    crowd.run(40)                                  each cycle, every peer starts its exchanges
    crowd.publish("e1", event)

In a cycle every node is woken once, in random order; what it starts is finished before the next one
is woken. Nodes may come, go, crash and be parted between two cycles. The same nodes run under a
clock of their own where they ask to be woken (`Crowd.run_for`): then messages take time.

A node is introduced to one that is there already, chosen at random: all together are connected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Final, Protocol

from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.matching.matcher import Matcher
from fyke.nodes.codec import Codec
from fyke.nodes.message import EventId, NodeId, Publish, Subscribe, SubscriptionId, Unsubscribe
from fyke.nodes.node import Node
from fyke.overlay.topology import Topology
from fyke.simulation.network import Network
from fyke.simulation.simulation import MakeNode, Simulation
from fyke.traces.trace import Linked, Record
from fyke.workloads.workload import Workload

_DRAWS_MAX: Final = 1_000
"""Events that are drawn for one that is wanted."""
_SCANNED_MAX: Final = 1_000_000
"""Filters to ask for which no index pays."""


class RingNode(Node, Protocol):
    """A node that knows its ring links."""

    def links(self) -> dict[SubscriptionId, tuple[int, tuple[SubscriptionId, ...]]]: ...


class Crowd:
    """Peers under a virtual clock. A cycle is a second.

    With `in_cycles=False`, peers ask to be woken themselves.
    """

    def __init__(
        self,
        make: MakeNode,
        codec: Codec,
        *,
        seed: int = 0,
        network: Network | None = None,
        write: Callable[[Record], object] | None = None,
        in_bytes: bool = False,
        in_cycles: bool = True,
    ) -> None:
        self._in_cycles = in_cycles
        self._draw = Random(f"{seed} crowd")
        self._introduced: dict[NodeId, tuple[NodeId, ...]] = {}
        self._make = make
        self.peers: list[NodeId] = []
        self.filters: dict[SubscriptionId, Filter] = {}
        """The live subscriptions. A peer that has crashed or left has none."""
        self._at: dict[NodeId, list[SubscriptionId]] = {}
        first = "introducer"
        self.simulation = Simulation(
            Topology((first,), ()),
            self._make_node,
            seed=seed,
            network=network or Network(latency_s=0.0),
            write=write,
            codec=codec,
            in_bytes=in_bytes,
        )
        self.simulation.remove(first)

    def _make_node(self, name: NodeId, neighbours: Iterable[NodeId], random: Random) -> Node:
        return self._make(name, self._introduced.get(name, ()), random)

    # --- coming and going -------------------------------------------------------------------------

    def join(self, subscriptions: Iterable[Subscription]) -> list[NodeId]:
        """Let peers join, each with a subscription. Return their names."""
        joined = []
        for subscription in subscriptions:
            name = self.add(f"peer-{subscription.id}")
            self.subscribe(name, subscription)
            joined.append(name)
        return joined

    def add(self, name: NodeId) -> NodeId:
        """Add a peer without subscriptions."""
        self._introduced[name] = (self._draw.choice(self.peers),) if self.peers else ()
        self.simulation.add(name, ())
        self.simulation.attach(_client(name), name)
        self.peers.append(name)
        self._at[name] = []
        return name

    def subscribe(self, peer: NodeId, subscription: Subscription) -> None:
        """Let a peer subscribe. A subscription of the same id is replaced."""
        if subscription.id not in self.filters:
            self._at[peer].append(subscription.id)
        self.filters[subscription.id] = subscription.filter
        self.simulation.say(_client(peer), Subscribe(subscription))
        self._see_through()

    def unsubscribe(self, peer: NodeId) -> None:
        """End all subscriptions of a peer."""
        for id in self._at[peer]:
            del self.filters[id]
            self.simulation.say(_client(peer), Unsubscribe(id))
        self._at[peer] = []
        self._see_through()

    def crash(self, peers: Iterable[NodeId]) -> None:
        """Stop peers at once, for good. Nobody is told."""
        gone = set(peers)
        for name in self.peers:
            if name in gone:
                self.simulation.crash(name)
                for id in self._at.pop(name):
                    del self.filters[id]
        self.peers = [name for name in self.peers if name not in gone]

    def _see_through(self) -> None:
        """Finish what has begun, unless peers have clocks of their own: those never end."""
        if self._in_cycles:
            self.simulation.run()
        else:
            self.simulation.run(until=self.simulation.now)

    # --- time -------------------------------------------------------------------------------------

    def run(self, cycles: int = 1) -> None:
        """Run some cycles: in each, every peer starts its exchanges, in random order."""
        for _ in range(cycles):
            start = self.simulation.now
            order = list(self.peers)
            self._draw.shuffle(order)
            for name in order:
                self.simulation.tick(name)
                self.simulation.run()
            self.simulation.run(until=start + 1)

    def run_for(self, seconds: float) -> None:
        """Run for some time. Peers wake by their own clocks."""
        self.simulation.run(until=self.simulation.now + seconds)

    def publish(self, id: str, event: Event, peer: NodeId | None = None) -> None:
        """Let a peer, by default a random one, publish an event. Run until it has arrived."""
        publisher = peer or self._draw.choice(self.peers)
        self.simulation.say(_client(publisher), Publish(id, event))
        self._see_through()

    def wanted(self, events: Mapping[EventId, Event]) -> dict[EventId, list[SubscriptionId]]:
        """Return the subscriptions that accept each event, found by asking every filter."""
        matcher = Matcher("scan" if len(self.filters) * len(events) < _SCANNED_MAX else "compiled")
        matcher.add_many(self.filters.items())
        return {id: matcher.match(event) for id, event in events.items()}

    def judging_events(
        self, workload: Workload, count: int, least: int = 2
    ) -> dict[EventId, Event]:
        """Return new events that at least two peers want (S2S-Q9), drawn from a workload.

        They are fewer than `count` if few events are wanted that often.
        """
        matcher = Matcher()
        matcher.add_many(self.filters.items())
        found: dict[EventId, Event] = {}
        for number in range(_DRAWS_MAX * count):
            event = workload.event(number)
            if len(matcher.match(event)) >= least:
                found[f"e{number}"] = event
                if len(found) == count:
                    break
        if not found:
            raise FykeError(f"none of {_DRAWS_MAX * count:,} events is wanted by {least} peers")
        return found

    def note_links(self) -> list[Linked]:
        """Write the ring links of all peers to the trace. Return the records."""
        found = []
        for name in self.peers:
            node: RingNode = self.simulation.node(name)  # type: ignore[assignment]
            for id, (sequence, to) in node.links().items():
                found.append(Linked(self.simulation.now, name, id, sequence, to))
                self.simulation.note(found[-1])
        return found


def _client(peer: NodeId) -> NodeId:
    return f"client-{peer}"
