"""What DAS says about its seventeen algorithms, seen in traces (DAS-24, Table 1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest

import fyke
from fyke.assembly import assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe, Unsubscribe
from fyke.overlay.topology import Topology
from fyke.routing.forwarding.variant import VARIANTS, Communication, Location, Memory, Variant
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Sent

TOPOLOGY = Topology.of(
    [
        (f"b{a}", f"b{b}")
        for a, b in ((1, 2), (2, 3), (2, 4), (2, 5), (1, 6), (1, 7), (3, 8), (3, 9))
    ]
)
CLIENTS = [(f"c{broker}-{each}", f"b{broker}") for broker in range(1, 10) for each in range(3)]
NESTED = 4
EVENTS = 200
ALL = len(CLIENTS) * NESTED
GRADES = ("--", "-", "+-", "+", "++")
TABLE_1 = {
    "ef": ("--", "++"), "pf1": ("+", "--"), "pf2": ("+-", "--"), "pf3": ("+", "-"),
    "pf4": ("+-", "-"), "pf5": ("+", "+-"), "pf6": ("+", "+-"), "pf7": ("+-", "+-"),
    "pf8": ("+", "+"), "rn1": ("-", "--"), "rn2": ("-", "--"), "rn3": ("+-", "--"),
    "rn4": ("-", "--"), "rn5": ("+-", "-"), "rn6": ("+-", "-"), "rn7": ("-", "-"),
    "rn8": ("+-", "+"),
}  # fmt: skip
"""Traffic and memory."""


@dataclass(frozen=True)
class Seen:
    """Of one run: messages with events, per event and link; what brokers hold; who got what."""

    traffic: int
    doubled: int
    rows: int
    filtered: int
    unsubscribing: Counter[str]
    delivered: frozenset[tuple[str, str, tuple[str, ...]]]


@cache
def seen(name: str) -> Seen:
    """Every client wants four intervals inside each other, and 200 events pass."""
    draw = Random(7)
    system = assemble(name, TOPOLOGY, rendezvous={"": "b2"}, engine="scan")
    trace: list[Record] = []
    overlay = Simulation(TOPOLOGY, system.make, codec=system.codec, write=trace.append)
    for client, home in CLIENTS:
        overlay.attach(client, home)
        base = draw.randrange(40)
        for depth in range(NESTED):
            filter = fyke.parse(f"a between {base} and {base + 12 - 3 * depth}")
            subscription = Subscription(f"{client}/{depth}", filter)
            overlay.say(client, Subscribe(subscription))
    overlay.run()
    trace.clear()
    for number in range(EVENTS):
        event = fyke.Event({"a": draw.randrange(300)})
        overlay.say(draw.choice(CLIENTS)[0], Publish(f"e{number}", event))
    overlay.run()
    sent = [record for record in trace if isinstance(record, Sent) and record.kind == "Publish"]
    links = Counter((record.id, record.at, record.to) for record in sent)
    stats = [overlay.node(broker).stats() for broker in TOPOLOGY.brokers]
    delivered = [record for record in trace if isinstance(record, Delivered)]
    trace.clear()
    for client, _ in CLIENTS:
        overlay.say(client, Unsubscribe(f"{client}/0"))
    overlay.run()
    assert len({(each.client, each.id) for each in delivered}) == len(delivered)
    return Seen(
        traffic=len(sent),
        doubled=sum(count > 1 for count in links.values()),
        rows=sum(each.rows + each.subscriptions for each in stats),
        filtered=sum(each.filtered for each in stats),
        unsubscribing=Counter(record.kind for record in trace if isinstance(record, Sent)),
        delivered=frozenset(
            (each.client, each.id, tuple(sorted(each.subscriptions))) for each in delivered
        ),
    )


def test_there_are_seventeen_and_transparent_filtering_is_not_exclusive():
    assert len(VARIANTS) == 17 == len(set(VARIANTS.values()))
    with pytest.raises(fyke.FykeError, match="not exclusive"):
        Variant(Location.FIXED, Memory.EXCLUSIVE, Communication.TRANSPARENT)


@pytest.mark.parametrize("name", VARIANTS)
def test_all_deliver_the_same(name):
    assert seen(name).delivered == seen("ef").delivered
    assert len(seen("ef").delivered) > EVENTS // 4


@pytest.mark.parametrize("family", ["pf", "rn"])
@pytest.mark.parametrize("grade", [0, 1], ids=["traffic", "memory"])
def test_a_better_grade_in_table_1_is_a_smaller_figure(family, grade):
    def figure(name: str) -> int:
        return seen(name).traffic if grade == 0 else seen(name).rows + seen(name).filtered

    family_of = {name: grades for name, grades in TABLE_1.items() if name.startswith(family)}
    compared = 0
    for better, grades in family_of.items():
        for worse, others in family_of.items():
            if GRADES.index(grades[grade]) > GRADES.index(others[grade]):
                assert figure(better) < figure(worse), (better, worse)
                compared += 1
    assert compared >= 10


def test_event_forwarding_sends_most_and_stores_least():
    ef = seen("ef")
    assert ef.traffic == EVENTS * (len(TOPOLOGY.brokers) - 1)
    assert (ef.rows, ef.filtered) == (ALL, ALL)
    for name in VARIANTS.keys() - {"ef"}:
        assert seen(name).traffic < ef.traffic
        assert seen(name).rows > ef.rows


@pytest.mark.parametrize("name", ["pf1", "pf2"])
def test_near_publishers_exclusively_every_broker_filters_all(name):
    assert seen(name).filtered == ALL * len(TOPOLOGY.brokers)


@pytest.mark.parametrize("name", ["pf3", "pf4", "pf6", "pf7"])
def test_covering_works_within_the_subscriptions_of_one_subscriber(name):
    remote = len(CLIENTS) * (len(TOPOLOGY.brokers) - 1)
    assert seen(name).filtered == ALL + remote


@pytest.mark.parametrize(("across", "within"), [("pf5", "pf3"), ("pf8", "pf6"), ("rn8", "rn6")])
def test_brokers_that_act_as_subscribers_cover_across_subscribers(across, within):
    assert seen(across).filtered < seen(within).filtered


@pytest.mark.parametrize("name", [n for n in VARIANTS if n[2:] in ("2", "4", "5", "7", "8")])
def test_only_notifications_that_are_forwarded_by_address_use_a_link_twice(name):
    is_forwarding = VARIANTS[name].communication is Communication.FORWARDING
    assert (seen(name).doubled > 0) == is_forwarding


@pytest.mark.parametrize("name", VARIANTS)
def test_only_optimistic_brokers_have_to_hear_again_what_was_covered(name):
    is_optimistic = VARIANTS[name].memory is Memory.OPTIMISTIC
    assert (seen(name).unsubscribing["Subscribe"] > 0) == is_optimistic
