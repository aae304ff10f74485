"""An overlay that changes its strategy: when it pays, and without losing or doubling an event."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest

import fyke
from fyke.assembly import assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe, Unsubscribe
from fyke.overlay.topology import Topology
from fyke.routing.adaptive import Adaptive
from fyke.routing.epoch import Switch
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Rejected, Sent

TOPOLOGY = Topology.of(
    [
        (f"b{a}", f"b{b}")
        for a, b in ((1, 2), (2, 3), (2, 4), (2, 5), (1, 6), (1, 7), (3, 8), (3, 9))
    ]
)
FIXED = ("event_forwarding", "subscription_forwarding")
VALUES = 100
PHASE_S = 40
EVENTS_S = 60
CHURN_S = 60
"""Subscriptions that come, and others that go, when most events match."""


@cache
def phases(strategy: str, first: str, churn: int) -> tuple[list[int], list[int], list[str]]:
    """Messages of all kinds and deliveries of two phases, and which strategy each ended with."""
    draw = Random(3)
    system = assemble(strategy, TOPOLOGY, first=first)
    messages, deliveries, at = [0, 0, 0], [0, 0, 0], [0]

    def see(record: Record) -> None:
        messages[at[0]] += isinstance(record, Sent)
        if isinstance(record, Delivered):
            deliveries[at[0]] += len(record.subscriptions)

    overlay = Simulation(TOPOLOGY, system.make, codec=system.codec, write=see)
    for number in range(1, 10):
        overlay.attach(f"c{number}", f"b{number}")
    waiting: list[tuple[str, str]] = []

    def subscribe(when: float) -> None:
        client, id = f"c{draw.randrange(1, 10)}", f"s{draw.getrandbits(60)}"
        filter = fyke.parse(f"a = {draw.randrange(VALUES)}")
        overlay.say(client, Subscribe(Subscription(id, filter)), at=when)
        waiting.append((client, id))

    for _ in range(300):
        subscribe(0.0)
    overlay.run(1.0)
    ended = []
    for phase, (matching, changes) in enumerate([(0.05, 0), (0.95, churn)], 1):
        at[0] = phase
        start = overlay.now
        for number in range(PHASE_S * EVENTS_S):
            is_wanted = draw.random() < matching
            value = draw.randrange(VALUES) if is_wanted else VALUES + number
            event = Publish(f"{phase}-{number}", fyke.Event({"a": value}))
            overlay.say(f"c{draw.randrange(1, 10)}", event, at=start + number / EVENTS_S)
        for number in range(PHASE_S * changes):
            client, id = waiting.pop(0)
            overlay.say(client, Unsubscribe(id), at=start + number / changes)
            subscribe(start + number / changes)
        overlay.run(start + PHASE_S)
        leader = overlay.node("b1").strategy  # type: ignore[attr-defined]
        ended.append(leader.current if isinstance(leader, Adaptive) else strategy)
    return messages[1:], deliveries[1:], ended


@pytest.mark.parametrize("first", FIXED)
@pytest.mark.parametrize("churn", [0, CHURN_S])
def test_messages_stay_near_those_of_the_better_strategy(first, churn):
    """When the portion of matching events goes from 0.05 to 0.95 (DAS-F1).

    An overlay that starts with the worse strategy is judged when it has left it.
    """
    messages, deliveries, ended = phases("adaptive", first, churn)
    fixed = [phases(each, FIXED[0], churn) for each in FIXED]
    assert fixed[0][1][0] == deliveries[0]
    for phase in (0, 1) if first == FIXED[1] else (1,):
        better = min(other[0][phase] for other in fixed)
        assert messages[phase] <= 1.2 * better, (phase, messages, [each[0] for each in fixed])
    cheapest = [min(fixed, key=lambda each: each[0][phase])[2][phase] for phase in (0, 1)]
    assert ended == cheapest
    assert cheapest == [FIXED[1], FIXED[0] if churn else FIXED[1]]


def overlay_of(topology: Topology, first: str, write) -> Simulation:
    rendezvous = {"": topology.brokers[-1]}
    system = assemble("adaptive", topology, first=first, engine="scan", rendezvous=rendezvous)
    return Simulation(topology, system.make, codec=system.codec, write=write)


@pytest.mark.parametrize("seed", range(40))
def test_a_change_amid_events_loses_and_doubles_none(seed):
    draw = Random(seed)
    size = draw.randrange(1, 9)
    topology = Topology.of([(f"b{draw.randrange(i)}", f"b{i}") for i in range(1, size)], ["b0"])
    trace: list[Record] = []
    overlay = overlay_of(topology, "event_forwarding", trace.append)
    wanted: dict[str, tuple[str, fyke.Filter]] = {}
    for number in range(12):
        client, home = f"c{number}", f"b{draw.randrange(size)}"
        overlay.attach(client, home)
        filter = fyke.parse(f"a < {draw.randrange(8)}")
        wanted[f"s{number}"] = client, filter
        overlay.say(client, Subscribe(Subscription(f"s{number}", filter)))
    overlay.attach("leader", "b0")
    overlay.run()
    events = {}
    expected: Counter[tuple[str, str, str]] = Counter()
    for round, name in enumerate(("subscription_forwarding", "rendezvous", "pf5", "ef", "rn5")):
        start = overlay.now
        overlay.say("leader", Switch(name), at=start + 0.01)
        for number in range(30):
            id, event = f"{round}-{number}", fyke.Event({"a": draw.randrange(9)})
            events[id] = event
            home = f"c{draw.randrange(12)}"
            overlay.say(home, Publish(id, event), at=start + draw.random() * 0.05)
            for each, (client, filter) in wanted.items():
                expected[id, client, each] += filter.matches(event)
        overlay.run()
        leader = overlay.node("b0").strategy  # type: ignore[attr-defined]
        assert leader.current == name
    got = Counter(
        (record.id, record.client, each)
        for record in trace
        if isinstance(record, Delivered)
        for each in record.subscriptions
    )
    assert got == +expected
    assert not [record for record in trace if isinstance(record, Rejected)]


def test_who_may_change_the_strategy_and_when():
    trace: list[Record] = []
    overlay = overlay_of(TOPOLOGY, "event_forwarding", trace.append)
    overlay.attach("leader", "b1")
    overlay.attach("other", "b9")
    overlay.run()

    def refused(client: str, name: str) -> list[str]:
        trace.clear()
        overlay.say(client, Switch(name))
        overlay.run()
        return [record.reason for record in trace if isinstance(record, Rejected)]

    assert refused("other", "pf8") == ["b9 is not the coordinator, who changes strategies"]
    assert refused("leader", "event_forwarding") == ["the strategy is 'event_forwarding' already"]
    assert "unknown strategy 'gossip'" in refused("leader", "gossip")[0]
    overlay.say("leader", Switch("pf8"))
    assert "has not ended yet" in refused("leader", "rn8")[0]
    assert refused("leader", "rn8") == []
