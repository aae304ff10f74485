"""Doubt widens: nobody forgets what is only cut off, and what is not known is not held back."""

from __future__ import annotations

from random import Random

import pytest

import fyke
from fyke.assembly import STRATEGIES
from fyke.nodes.message import Publish, Unsubscribe
from fyke.routing.forwarding.variant import VARIANTS
from fyke.simulation.network import Network
from fyke.traces.trace import Delivered
from tests.overlays import Overlay

TABLES = [name for name in VARIANTS if name != "ef"]
NEAR = [name for name in TABLES if name.startswith("pf")]


def rows(overlay: Overlay, broker: str) -> int:
    return overlay.run.node(broker).stats().rows


@pytest.mark.parametrize("strategy", [*NEAR, "adaptive"])
def test_a_restart_does_not_make_others_forget_what_is_only_cut_off(strategy: str):
    first = {"first": "pf8"} if strategy == "adaptive" else {}
    overlay = Overlay(strategy, **first)
    assert overlay.subscribe("cd", "s", "a = 1") == []
    assert [rows(overlay, broker) for broker in "abc"] == [1, 1, 1]
    overlay.run.cut("c", "d")
    overlay.settle()
    overlay.run.crash("c")
    overlay.run.restart("c")
    overlay.settle()
    assert [rows(overlay, broker) for broker in "ab"] == [1, 1], "nobody has ended it"
    overlay.run.heal("c", "d")
    overlay.settle()
    assert [rows(overlay, broker) for broker in "abc"] == [1, 1, 1]
    assert overlay.publish("ca", {"a": 1}) == [("cd", ("s",))]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_ended_behind_a_cut_is_forgotten_when_it_is_mended(strategy: str):
    overlay = Overlay(strategy)
    assert overlay.subscribe("cd", "s", "a = 1") == []
    overlay.run.cut("b", "c")
    overlay.settle()
    assert overlay.say("cd", Unsubscribe("s")) == []
    overlay.run.heal("b", "c")
    overlay.settle()
    assert [rows(overlay, broker) for broker in "abc"] == [0, 0, 0]
    assert overlay.publish("ca", {"a": 1}) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("down", ["a", "b", "c", "d", "bc", "ad", "abcd"])
def test_an_event_right_after_a_restart_reaches_all_that_had_settled(strategy: str, down: str):
    """Before brokers have heard from each other: who does not know floods."""
    overlay = Overlay(strategy, network=Network(latency_s=0.01), rendezvous={"": "c"})
    for broker in "abcd":
        assert overlay.subscribe(f"c{broker}", f"s{broker}", "a = 1") == []
    for broker in down:
        overlay.run.crash(broker)
    overlay.settle()
    for broker in down:
        overlay.run.restart(broker)
    overlay.trace.clear()
    for at, broker in enumerate("abcd"):
        for delay in (0.0, 0.004, 0.013, 0.021, 0.033):
            publish = Publish(f"{broker} {delay}", fyke.Event({"a": 1, "n": at}))
            overlay.run.say(f"c{broker}", publish, overlay.run.now + delay)
    overlay.settle()
    got = sorted((each.id, each.client) for each in overlay.trace if isinstance(each, Delivered))
    wanted = sorted(
        (f"{broker} {delay}", f"c{client}")
        for broker in "abcd"
        for delay in (0.0, 0.004, 0.013, 0.021, 0.033)
        for client in "abcd"
    )
    assert got == wanted


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", [*TABLES, "adaptive"])
def test_while_brokers_hear_from_each_other_again_nothing_is_lost_or_doubled(strategy, seed):
    """Some restart and some links were down for a moment; then events come at any time."""
    draw = Random(seed)
    size = draw.randrange(2, 8)
    links = [(f"b{draw.randrange(at)}", f"b{at}") for at in range(1, size)]
    owners = {name: f"b{draw.randrange(size)}" for name in ("", "T", "U") if draw.random() < 0.8}
    first = {"first": draw.choice(TABLES)} if strategy == "adaptive" else {}
    overlay = Overlay(strategy, links, Network(latency_s=0.01), rendezvous=owners, **first)
    run = overlay.run
    wanted: dict[str, tuple[str, fyke.Filter]] = {}
    for number in range(8):
        client = f"cb{draw.randrange(size)}"
        text = draw.choice(("type = 'T'", "type is U", "a < 3", "a > 1 and type = 'U'"))
        assert overlay.subscribe(client, f"s{number}", text) == []
        wanted[f"s{number}"] = client, fyke.parse(text)
    for _ in range(3):
        if draw.random() < 0.5:
            broker = f"b{draw.randrange(size)}"
            run.crash(broker)
            run.restart(broker)
        else:
            link = draw.choice(links)
            run.cut(*link)
            run.heal(*link)
    overlay.trace.clear()
    expected: list[tuple[str, str, str]] = []
    for number in range(40):
        event = fyke.Event({"type": draw.choice("TUV"), "a": draw.randrange(5)})
        publish = Publish(f"e{number}", event)
        run.say(f"cb{draw.randrange(size)}", publish, run.now + draw.random() * 0.01 * size)
        for id, (client, filter) in wanted.items():
            if filter.matches(event):
                expected.append((publish.id, id, client))
    overlay.settle()
    got = [
        (each.id, id, each.client)
        for each in overlay.trace
        if isinstance(each, Delivered)
        for id in each.subscriptions
    ]
    assert sorted(got) == sorted(expected)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("strategy", [*TABLES, "adaptive"])
def test_while_something_is_cut_all_others_are_reached(strategy: str, seed: int):
    """Events reach every home that had settled and can be reached from where they enter.

    What goes to a rendezvous goes on without it.
    """
    draw = Random(seed)
    size = draw.randrange(3, 8)
    links = [(f"b{draw.randrange(at)}", f"b{at}") for at in range(1, size)]
    first = {"first": draw.choice(TABLES)} if strategy == "adaptive" else {}
    overlay = Overlay(strategy, links, rendezvous={"": f"b{draw.randrange(size)}"}, **first)
    for at in range(size):
        assert overlay.subscribe(f"cb{at}", f"s{at}", f"a < {at + 1}") == []
    cut = draw.sample(links, draw.randrange(1, min(3, len(links)) + 1))
    for link in cut:
        overlay.run.cut(*link)
    overlay.settle()
    restarted = f"b{draw.randrange(size)}"
    if draw.random() < 0.5:
        overlay.run.crash(restarted)
        overlay.run.restart(restarted)
        overlay.settle()
    for number in range(size * 2):
        start, value = number % size, draw.randrange(size)
        reached = {start}
        for _ in range(size):
            for a, b in links:
                ends = {int(a[1:]), int(b[1:])}
                if (a, b) not in cut and ends & reached:
                    reached |= ends
        got = dict(overlay.publish(f"cb{start}", {"a": value}))
        right = {f"cb{at}": (f"s{at}",) for at in reached if value <= at}
        assert right.items() <= got.items(), (cut, restarted, start)
        assert all(value <= int(client[2:]) for client in got)
