"""An overlay of brokers that forward every event, under a virtual clock."""

from __future__ import annotations

import fyke
from fyke.assembly import assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe
from fyke.overlay.topology import Topology
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Sent


def test_an_event_reaches_every_broker_once_and_those_who_want_it():
    topology = Topology.of([("a", "b"), ("b", "c"), ("b", "d")])
    trace: list[Record] = []
    system = assemble("event_forwarding", topology)
    overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
    overlay.attach("alice", "a")
    overlay.attach("dora", "d")
    overlay.say("dora", Subscribe(Subscription("cheap", fyke.parse("price < 10"))))
    overlay.say("alice", Publish("e1", fyke.Event({"price": 8})), at=1.0)
    overlay.say("alice", Publish("e2", fyke.Event({"price": 12})), at=2.0)
    assert overlay.run()
    sent = [record.to for record in trace if isinstance(record, Sent) and record.id == "e1"]
    assert sorted(sent) == ["b", "c", "d"]
    got = [record for record in trace if isinstance(record, Delivered)]
    assert [(each.client, each.id, each.subscriptions) for each in got] == [
        ("dora", "e1", ("cheap",))
    ]
