"""Numbers of traces: by hand on small ones, by their laws on simulated ones."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.assembly import assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe
from fyke.nodes.node import Stats
from fyke.overlay.generators import random_tree
from fyke.overlay.papers import cwix
from fyke.overlay.topology import Topology
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.traces.metrics import Meter, summarize
from fyke.traces.summary import Latency, Load, RunSummary, Traffic
from fyke.traces.trace import Delivered, Happened, Held, Lost, Record, Rejected, Sent, Told

LINE = Topology.of([("a", "b"), ("b", "c"), ("c", "d")])

BY_HAND: list[Record] = [
    Told(0.0, "a", "alice", "Subscribe", "s1"),
    Told(0.0, "a", "alice", "Subscribe", "s2"),
    Told(0.0, "c", "carl", "Subscribe", "bad"),
    Rejected(0.0, "c", "carl", "Subscribe", "no such type"),
    Sent(0.0, "a", "b", "Subscribe", "s1", 40),
    Held(0.5, "a", Stats(subscriptions=2, probes=5)),
    Held(0.5, "b", Stats(rows=1, checks=7)),
    Told(1.0, "b", "bob", "Publish", "e1"),
    Sent(1.0, "b", "a", "Publish", "e1", 10),
    Sent(1.0, "b", "c", "Publish", "e1", 10, 2, 1),
    Delivered(1.5, "a", "alice", "e1", ("s1", "s2")),
    Sent(1.5, "c", "d", "Publish", "e1", 10),
    Lost(1.6, "c", "d", "Publish", "e1"),
    Happened(1.6, "cut", "c", "d"),
    Told(2.0, "d", "dora", "Publish", "e2"),
    Sent(2.0, "d", "a", "Publish", "e2", 30),
    Delivered(2.1, "a", "alice", "e2", ("s2",)),
    Told(3.0, "d", "dora", "Publish", "e3"),
    Told(4.0, "d", "dora", "Publish", "e4"),
    Lost(4.0, "dora", "d", "Publish", "e4"),
    Held(5.0, "a", Stats(subscriptions=2, probes=6, candidates=3)),
    Held(5.0, "b", Stats(rows=2, checks=1)),
]


def test_a_trace_by_hand():
    found = summarize(BY_HAND, LINE)
    assert (found.events, found.matched, found.deliveries, found.notified) == (3, 2, 2, 3)
    assert (found.p_e, found.p_p, found.sigma) == (2 / 3, 1, 1.5)
    assert (found.subscribed, found.rejected, found.lost) == (2, 1, 1)
    assert (found.resent, found.copies) == (2, 1)
    assert (found.messages, found.event_messages, found.control_messages) == (5, 4, 1)
    assert found.bytes == 100
    assert found.network_load == found.messages_per_event == 4 / 3
    assert found.receptions_per_event == 3 / 3
    assert found.links_per_event == (3 + 3) / 3
    assert found.useless == 2  # to c and on to d; the direct one was of use
    assert found.useless_share == 0.5
    assert found.links["b", "c"] == Traffic(1, 10, 1, 1)
    assert found.links["d", "a"] == Traffic(1, 30, 1, 0)
    assert found.kinds == {"Subscribe": Traffic(1, 40, 0, 0), "Publish": Traffic(4, 60, 4, 0)}
    assert found.latency == Latency(pytest.approx(0.3), pytest.approx(0.3), 0.5, 0.5)
    assert found.duplication == 2.0
    assert found.largest_table == 2
    assert found.brokers["d"] == Load(sent=1, received=0, bytes=40, event_messages=1)
    assert found.brokers["a"].work == 2 + 3 + 4
    assert found.brokers["b"].matching == 1, "it was restarted, and counts from there"
    assert found.bottleneck == "a"
    assert found.throughput == 3 / 9


def test_nothing_is_zero():
    assert summarize([]) == RunSummary()
    assert summarize([], LINE).useless == 0
    assert (RunSummary().network_load, RunSummary().sigma, RunSummary().duplication) == (0, 0, 0)
    assert RunSummary().bottleneck is None
    msgspec.json.encode(RunSummary().document())


def test_without_the_overlay_some_numbers_are_unknown():
    found = summarize(BY_HAND)
    assert found.useless is found.useless_share is found.links_per_event is None
    assert found.network_load == 4 / 3
    cyclic = summarize([Sent(0.0, "B1", "B2", "Publish", "e", 1)], cwix())
    assert cyclic.useless is None
    assert cyclic.event_links == 1


def test_a_summary_is_plain_data():
    document = msgspec.json.decode(msgspec.json.encode(summarize(BY_HAND, LINE).document()))
    assert document["network_load"] == 4 / 3
    assert document["brokers"]["a"]["held"]["subscriptions"] == 2
    assert {"from": "b", "to": "c", "messages": 1, "bytes": 10, "events": 1, "useless": 1} in (
        document["links"]
    )


@given(st.integers(1, 12), st.integers(0, 50), st.sampled_from([0.0, 0.3]))
def test_flooding_has_the_numbers_of_its_closed_form(brokers: int, seed: int, loss: float):
    topology = random_tree(brokers, seed)
    meter, events = Meter(topology), 5
    system = assemble("event_forwarding", topology, engine="scan")
    network = Network(loss=loss, duplication=loss)
    overlay = Simulation(
        topology, system.make, seed=seed, network=network, write=meter.add, codec=system.codec
    )
    for broker in topology.brokers:
        overlay.attach(f"client of {broker}", broker)
    wants = f"client of {topology.brokers[seed % brokers]}"
    overlay.say(wants, Subscribe(Subscription("s", fyke.parse("price < 2"))))
    overlay.hold()
    for number in range(events):
        publish = Publish(f"e{number}", fyke.Event({"price": number}))
        overlay.say(f"client of {topology.brokers[number % brokers]}", publish)
    assert overlay.run()
    overlay.hold()
    found = meter.summary()
    assert found.event_messages == overlay.messages == events * (brokers - 1)
    assert found.network_load == found.receptions_per_event == found.links_per_event == brokers - 1
    assert found.duplication == 1
    assert (found.matched, found.deliveries, found.subscribed) == (2, 2, 1)
    assert (found.resent > 0) == (found.copies > 0) or not loss or brokers < 6
    assert bool(found.resent) <= bool(loss)
    home = topology.brokers[seed % brokers]
    useful = sum(topology.distances(home)[topology.brokers[at % brokers]] for at in range(2))
    assert found.useless == found.event_messages - useful
    assert sum(each.useless for each in found.links.values()) == found.useless
    assert sum(load.received for load in found.brokers.values()) == found.messages


# --- whoever gave the id, whatever broke ----------------------------------------------------------


def overlay_of(strategy: str, meter: Meter) -> Simulation:
    """Return a row of four with a client at each, of which all but the first want price < 5."""
    system = assemble(strategy, LINE, engine="scan")
    overlay = Simulation(LINE, system.make, write=meter.add, codec=system.codec)
    for broker in LINE.brokers:
        overlay.attach(f"c{broker}", broker)
    for broker in "bcd":
        subscription = Subscription(f"s{broker}", fyke.parse("price < 5"))
        overlay.say(f"c{broker}", Subscribe(subscription))
    overlay.run()
    overlay.hold()
    return overlay


@pytest.mark.parametrize("strategy", ["event_forwarding", "subscription_forwarding", "pf1"])
def test_latency_is_known_whoever_gave_the_event_its_id(strategy: str):
    found = []
    for name in ("e", ""):
        meter = Meter(LINE)
        overlay = overlay_of(strategy, meter)
        for number in range(8):
            overlay.say(
                "ca", Publish(f"{name}{number}" if name else "", fyke.Event({"price": number}))
            )
        overlay.run()
        found.append(meter.summary())
    assert found[0].latency == found[1].latency != Latency()
    assert [(each.events, each.matched, each.deliveries) for each in found] == [(8, 5, 15)] * 2
    assert found[0].useless == found[1].useless


@given(st.data())
def test_no_number_is_negative_wherever_a_trace_begins(data: st.DataObject):
    records: list[Record] = [
        *BY_HAND,
        Rejected(5.0, "a", "b", "Publish", "said by a broker"),
        Rejected(5.0, "a", "nobody", "Subscribe", "never heard of"),
        Rejected(5.0, "a", "alice", "Publish", "refused"),
        Happened(5.0, "crashed", "b"),
        Held(6.0, "b", Stats(checks=1)),
    ]
    kept = data.draw(st.lists(st.sampled_from(records), max_size=30))
    found = summarize(kept, LINE)
    numbers = [found.events, found.subscribed, found.matched, found.deliveries, found.messages]
    numbers += [load.matching for load in found.brokers.values()]
    assert min(numbers) >= 0
    published = sum(isinstance(each, Told) and each.kind == "Publish" for each in kept)
    assert found.events <= published


def test_what_a_broker_refuses_of_another_is_no_event_less():
    said = [Told(0.0, "a", "alice", "Publish", f"e{number}") for number in range(3)]
    refused = [Rejected(0.0, "b", "a", "Publish", "no neighbour")] * 5
    assert summarize([*said, *refused], LINE).events == 3
    taken_back = [Rejected(0.0, "a", "alice", "Publish", "does not fit")] * 2
    assert summarize([*said, *taken_back, *refused], LINE).events == 1


@pytest.mark.parametrize("strategy", ["event_forwarding", "subscription_forwarding"])
@pytest.mark.parametrize("crashes", [(), (3,), (0, 1), (2, 5, 7)])
def test_work_in_earlier_lives_counts(strategy: str, crashes: tuple[int, ...]):
    """With a scan, an event costs a broker as many steps whichever life it is in."""

    def matching(crashes: tuple[int, ...]) -> dict[str, int]:
        meter = Meter(LINE)
        overlay = overlay_of(strategy, meter)
        for number in range(9):
            if number in crashes:
                overlay.crash("c")
                overlay.restart("c")
                overlay.run()
            overlay.say("ca", Publish(f"e{number}", fyke.Event({"price": 1})))
            overlay.run()
        overlay.hold()
        return {name: load.matching for name, load in meter.summary().brokers.items()}

    assert matching(crashes) == matching(())
    assert matching(())["c"] > 0


def test_a_straight_message_is_of_use_to_its_receiver_alone():
    def trace(straight: bool) -> list[Record]:
        return [
            Told(0.0, "a", "alice", "Publish", "e1"),
            Sent(0.0, "a", "b", "Publish", "e1", 10, straight=straight),
            Sent(0.0, "a", "c", "Publish", "e1", 10, straight=True),
            Delivered(1.0, "c", "carl", "e1", ("s",)),
        ]

    assert summarize(trace(straight=False), LINE).useless == 0, "it may have gone on to c"
    found = summarize(trace(straight=True), LINE)
    assert found.useless == 1
    assert (found.links["a", "b"].useless, found.links["a", "c"].useless) == (1, 0)


def test_two_ways_between_the_same_brokers_are_judged_apart_and_summed():
    over_link = Sent(0.0, "a", "b", "Publish", "e1", 10)
    straight = Sent(0.0, "a", "b", "Publish", "e1", 10, straight=True)
    further = Delivered(1.0, "c", "carl", "e1", ("s",))
    found = summarize([over_link, straight, further], LINE)
    assert found.links["a", "b"] == Traffic(messages=2, bytes=20, events=2, useless=1)
    assert summarize([over_link, straight], LINE).links["a", "b"].useless == 2
