"""The worked examples DAS-X6 to DAS-X8."""

from __future__ import annotations

import itertools

import fyke
from fyke.assembly import assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe, Unsubscribe
from fyke.overlay.topology import Topology
from fyke.routing.forwarding.row import Notification
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Sent


class Overlay:
    """A line of brokers 1 - 2 - ..., with a client c1, c2, ... at each."""

    def __init__(self, strategy: str, size: int, rendezvous: str = "1") -> None:
        names = [str(number) for number in range(1, size + 1)]
        topology = Topology.of(list(itertools.pairwise(names)))
        system = assemble(strategy, topology, rendezvous={"": rendezvous}, engine="scan")
        self.trace: list[Record] = []
        self.simulation = Simulation(
            topology, system.make, codec=system.codec, write=self.trace.append
        )
        for name in names:
            self.simulation.attach(f"c{name}", name)
        self.simulation.run()

    def subscribe(self, client: str, id: str, filter: str) -> list[tuple[str, str]]:
        """The links over which this was told."""
        return self._said(client, Subscribe(Subscription(id, fyke.parse(filter))), "Subscribe")

    def unsubscribe(self, client: str, id: str) -> list[tuple[str, str]]:
        return self._said(client, Unsubscribe(id), "Unsubscribe")

    def publish(self, client: str, **attributes: object) -> tuple[list[tuple[str, str]], list[str]]:
        """The links the event passed, and who got it."""
        passed = self._said(client, Publish("e", fyke.Event(attributes)), "Publish")
        got = [record.client for record in self.trace if isinstance(record, Delivered)]
        return passed, got

    def heard(self, broker: str, neighbour: str) -> set[str]:
        tables = self.simulation.node(broker).strategy.tables()  # type: ignore[attr-defined]
        return {id for _, id in tables["heard"].get(neighbour, {})}

    def _said(self, client, message, kind) -> list[tuple[str, str]]:
        self.trace.clear()
        self.simulation.say(client, message)
        self.simulation.run()
        sent = [record for record in self.trace if isinstance(record, Sent)]
        return [(record.at, record.to) for record in sent if record.kind == kind]


def test_x6_a_covered_profile_goes_only_where_its_coverer_came_from():
    overlay = Overlay("subscription_forwarding", 3)
    assert overlay.subscribe("c3", "p50", "a < 50") == [("3", "2"), ("2", "1")]
    assert overlay.subscribe("c2", "p20", "a < 20") == [("2", "3")]
    assert overlay.subscribe("c1", "p10", "a < 10") == [("1", "2")]
    assert overlay.heard("1", "2") == {"p50"}
    assert overlay.heard("3", "2") == {"p20"}
    overlay.unsubscribe("c3", "p50")
    assert overlay.heard("1", "2") == {"p20"}
    assert overlay.heard("2", "3") == set()
    assert overlay.publish("c1", a=15) == ([("1", "2")], ["c2"])


def test_x7_a_twin_stays_when_the_other_leaves():
    overlay = Overlay("subscription_forwarding", 2)
    overlay.simulation.attach("twin", "2")
    overlay.subscribe("c2", "first", "a = 1")
    assert overlay.subscribe("twin", "second", "a = 1") == []
    overlay.unsubscribe("c2", "first")
    assert overlay.publish("c1", a=1) == ([("1", "2")], ["twin"])


def test_x8_events_go_on_to_the_rendezvous_and_notifications_back():
    overlay = Overlay("rendezvous", 4, rendezvous="2")
    overlay.subscribe("c4", "p", "a = 1")
    assert overlay.publish("c1", a=1) == ([("1", "2"), ("2", "3"), ("3", "4")], ["c4"])
    assert overlay.publish("c4", a=1) == ([("4", "3"), ("3", "2")], ["c4"])


def test_what_comes_back_from_a_rendezvous_is_a_notification():
    kinds = []
    overlay = Overlay("rendezvous", 3, rendezvous="1")
    node = overlay.simulation.node("2")
    handle = node.handle

    def watched(input, now):
        message = getattr(input, "message", None)
        if isinstance(message, Publish):
            kinds.append((input.sender, type(message.route)))
        return handle(input, now)

    node.handle = watched  # type: ignore[method-assign]
    overlay.subscribe("c3", "p", "a = 1")
    overlay.publish("c1", a=1)
    overlay.publish("c2", a=1)
    assert kinds == [("1", Notification), ("c2", type(None))]
