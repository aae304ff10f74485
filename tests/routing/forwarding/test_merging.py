"""Subscriptions told as one, and a model of how they spread."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.assembly import assemble
from fyke.filters.algebra.covering import covers, equivalent
from fyke.filters.filter import disjunction
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe, Unsubscribe
from fyke.overlay.generators import line
from fyke.overlay.topology import Topology
from fyke.routing.forwarding.merging import GROUP, Merging
from fyke.simulation.simulation import Simulation
from fyke.testing import ordered
from fyke.testing.generators import randoms
from fyke.testing.ordering import accepts
from fyke.testing.stories.reaching import reached, reaches
from fyke.traces.trace import Delivered, Record, Rejected, Sent

TEXTS = [
    *(f"a = {value}" for value in range(4)),
    *(f"a = {value} and b < {bound}" for value in range(3) for bound in range(2)),
    "a between 1 and 2", "a < 3", "type is T and a = 1", "type is T and a = 2",
    "not a = 1", "a = 1 or b = 2", "exists a", "s starts with 'x' and a = 1",
]  # fmt: skip


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(TEXTS)), max_size=60))
def test_what_is_told_is_what_is_wanted(steps):
    numbers = iter(range(1000))
    merging = Merging(lambda: f"*{next(numbers)}")
    wanted: dict[str, fyke.Filter] = {}
    told: dict[str, fyke.Filter] = {}
    for number, (is_new, text) in enumerate(steps):
        if is_new or not wanted:
            wanted[str(number)] = fyke.parse(text)
            changed = merging.put(str(number), wanted[str(number)])
        else:
            id = min(wanted)
            del wanted[id]
            changed = merging.drop(id)
        for id, filter in changed.items():
            if filter is None:
                del told[id]
            else:
                told[id] = filter
        for filter in wanted.values():
            assert any(covers(each, filter) for each in told.values())
        if wanted:
            assert equivalent(disjunction(told.values()), disjunction(wanted.values()))
        else:
            assert told == {}


@reaches(merged=0.1)
@given(randoms())
def test_what_is_told_is_what_is_wanted_in_the_declared_order(rng: Random) -> None:
    """Told filters are judged by the neighbour, under the same schema."""
    schema = ordered.schema(rng, is_single=rng.random() < 0.5)
    merging = Merging(iter(("merged", str(number)) for number in range(1000)).__next__, schema)
    wanted, told = {}, {}
    leaves = [ordered.leaf(rng, schema, is_ordered=False) for _ in range(8)]
    for number, leaf in enumerate(leaves):
        key = ("a", str(number))
        changed = merging.put(key, leaf)
        wanted[key] = leaf
        if rng.random() < 0.3:
            gone = rng.choice(list(wanted))
            changed = {**changed, **merging.drop(gone)}
            del wanted[gone]
        told |= changed
        told = {key: filter for key, filter in told.items() if filter is not None}
        reached(merged=any(key[0] == "merged" for key in told))
        for _ in range(6):
            event = schema.validate(ordered.document(rng, schema))
            is_wanted = any(accepts(each, event, schema) for each in wanted.values())
            assert any(accepts(each, event, schema) for each in told.values()) is is_wanted


def test_a_group_stays_small():
    merging = Merging(iter(map(str, range(-1, -100, -1))).__next__)
    for number in range(3 * GROUP):
        merging.put(str(number), fyke.parse(f"a = {number}"))
    assert len({id(group) for group in merging._group_of.values()}) == 3


def test_brokers_hold_less_and_clients_get_the_same():
    topology = line(4)
    rows, got = [], []
    for merging in (False, True):
        system = assemble("subscription_forwarding", topology, engine="scan", merging=merging)
        trace: list[Record] = []
        overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
        for broker in topology.brokers:
            overlay.attach(f"at {broker}", broker)
        for number in range(40):
            client = f"at {topology.brokers[number % 4]}"
            filter = fyke.parse(f"a = {number} and b < 5")
            overlay.say(client, Subscribe(Subscription(f"s{number}", filter)))
        overlay.run()
        for number in range(0, 40, 3):
            overlay.say(f"at {topology.brokers[number % 4]}", Unsubscribe(f"s{number}"))
        overlay.run()
        for number in range(45):
            event = fyke.Event({"a": number, "b": number % 6})
            overlay.say(f"at {topology.brokers[0]}", Publish(f"e{number}", event))
        overlay.run()
        rows.append(sum(overlay.node(broker).stats().rows for broker in topology.brokers))
        got.append({(each.client, each.id) for each in trace if isinstance(each, Delivered)})
    assert got[0] == got[1]
    assert len(got[0]) == sum(number % 3 > 0 and number % 6 < 5 for number in range(40))
    assert rows[1] * 4 < rows[0]


@pytest.mark.parametrize("strategy", ["pf1", "pf7", "rn6"])
def test_brokers_that_do_not_act_as_subscribers_cannot_merge(strategy):
    with pytest.raises(fyke.FykeError, match="merge"):
        assemble(strategy, Topology.of([("a", "b")]), merging=True)


# --- the model of Siena ---------------------------------------------------------------------------


def spread(topology: Topology, subsumption: float, count: int) -> int:
    """Messages of so many subscriptions."""
    system = assemble("siena_model", topology, subsumption=subsumption, engine="scan")
    trace: list[Record] = []
    overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
    draw = Random(1)
    for broker in topology.brokers:
        overlay.attach(f"at {broker}", broker)
    for number in range(count):
        client = f"at {draw.choice(topology.brokers)}"
        overlay.say(client, Subscribe(Subscription(f"s{number}", fyke.parse("a = 1"))))
    overlay.run()
    overlay.say(client, Publish("e", fyke.Event({"a": 1})))
    overlay.run()
    assert [each.reason for each in trace if isinstance(each, Rejected)] == [
        "a model of how subscriptions spread cannot route events"
    ]
    return sum(isinstance(each, Sent) for each in trace)


def test_subsumption_stops_subscriptions_by_the_degree_of_the_broker():
    topology = line(2)
    assert spread(topology, 0.0, 200) == 200
    assert spread(topology, 1.0, 200) == 0
    assert 70 < spread(topology, 0.5, 200) < 130
    star = Topology.of([("hub", f"b{number}") for number in range(10)])
    # A leaf, of degree 1 of 10, forwards nine of ten; the hub none.
    assert 75 <= spread(star, 1.0, 110) <= 105


def test_subsumption_is_a_probability():
    with pytest.raises(fyke.FykeError, match="expected 0 to 1"):
        assemble("siena_model", line(2), subsumption=1.5)
