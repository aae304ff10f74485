"""A strategy that wants to be woken is, and then may speak."""

from __future__ import annotations

from random import Random

from fyke.broker.broker import Broker
from fyke.nodes.codec import Codec
from fyke.nodes.effect import Send, Wake
from fyke.nodes.message import Control, NodeId
from fyke.overlay.topology import Topology
from fyke.routing.event_forwarding import EventForwarding
from fyke.routing.strategy import Decision
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Record, Rejected, Sent


class Beat(Control, frozen=True):
    """A sign of life."""


class Beating(EventForwarding):
    """Tells its neighbours twice a second that it is there, three times."""

    def __init__(self, here) -> None:
        super().__init__(here)
        self._here = here
        self._left = 3

    def link_up(self, peer: NodeId):
        return Decision(wakes=[Wake(self._here.now + 0.5)])

    def tick(self):
        self._left -= 1
        wakes = [Wake(self._here.now + 0.5)] if self._left else []
        return Decision([Send(peer, Beat()) for peer in self._here.brokers], wakes=wakes)


def test_ticks_come_when_they_were_asked_for():

    def make(name: NodeId, neighbours, random: Random) -> Broker:
        return Broker(name, neighbours, lambda here, random: Beating(here), random, engine="scan")

    trace: list[Record] = []
    topology = Topology.of([("a", "b")])
    overlay = Simulation(topology, make, codec=Codec([Beat]), write=trace.append)
    assert overlay.run()
    beats = [(record.t, record.at) for record in trace if isinstance(record, Sent)]
    assert beats == [(at, broker) for at in (0.5, 1.0, 1.5) for broker in ("a", "b")]
    refused = {record.reason for record in trace if isinstance(record, Rejected)}
    assert refused == {"Beating takes no Beat"}
