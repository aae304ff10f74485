"""Brokers that are added and removed while an overlay runs."""

from __future__ import annotations

from random import Random

import pytest

import fyke
from fyke.assembly import STRATEGIES
from fyke.errors import FykeError
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Declare, Publish, Subscribe
from fyke.routing.forwarding.variant import VARIANTS
from fyke.simulation.network import Network
from fyke.traces.trace import Delivered, Happened
from tests.overlays import Overlay

SOME = (
    "event_forwarding",
    "subscription_forwarding",
    "rendezvous",
    "adaptive",
    "pf1",
    "rn2",
    "pf4",
)


def everybody(overlay: Overlay, client: str) -> list[str]:
    """Return who gets an event that all want."""
    got = overlay.publish(client, {"type": "T", "a": 1})
    assert [ids for _, ids in got] == [(f"s{who[1:]}",) for who, _ in got]
    return [who for who, _ in got]


def settled(strategy: str, links: list[tuple[str, str]], **options: object) -> Overlay:
    overlay = Overlay(strategy, links, rendezvous={"": "b"}, **options)
    overlay.say("ca", Declare("type", "T", {"attributes": {}}))
    for broker in overlay.topology.brokers:
        assert overlay.subscribe(f"c{broker}", f"s{broker}", "a = 1") == []
    return overlay


def come(overlay: Overlay, broker: str, *neighbours: str) -> None:
    overlay.run.add(broker, neighbours)
    overlay.run.attach(f"c{broker}", broker)
    overlay.settle()
    assert overlay.subscribe(f"c{broker}", f"s{broker}", "a = 1") == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_new_broker_serves_its_clients_and_all_others(strategy: str):
    overlay = settled(strategy, [("a", "b"), ("b", "c")])
    come(overlay, "d", "b")
    come(overlay, "e", "d")
    names = [f"c{broker}" for broker in "abcde"]
    for client in names:
        assert everybody(overlay, client) == names
    assert overlay.say("ce", Publish("", fyke.Event({"a": 1}))) != [], "it knows what is declared"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_broker_that_is_removed_takes_its_clients_along_and_nothing_else(strategy: str):
    overlay = settled(strategy, [("a", "b"), ("b", "c"), ("c", "d")])
    overlay.run.remove("d")
    overlay.settle()
    for client in ("ca", "cb", "cc"):
        assert everybody(overlay, client) == ["ca", "cb", "cc"]
    rows = [overlay.run.node(broker).stats().rows for broker in "abc"]
    fresh = settled(strategy, [("a", "b"), ("b", "c")])
    assert rows == [fresh.run.node(broker).stats().rows for broker in "abc"]
    with pytest.raises(FykeError, match="unknown client 'cd'"):
        overlay.run.say("cd", Publish("", fyke.Event({"a": 1})))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_broker_in_the_middle_is_replaced(strategy: str):
    """What lies behind is cut off, and reached again through another one."""
    overlay = settled(strategy, [("a", "b"), ("b", "x"), ("x", "c"), ("c", "d")])
    overlay.run.remove("x")
    overlay.settle()
    assert everybody(overlay, "ca") == ["ca", "cb"]
    assert everybody(overlay, "cd") == ["cc", "cd"]
    come(overlay, "y", "b", "c")
    names = [f"c{broker}" for broker in "abcdy"]
    for client in names:
        assert everybody(overlay, client) == names
    assert overlay.say("cd", Declare("type", "U", {"attributes": {}})) == []
    assert overlay.say("ca", Publish("", fyke.Event({"type": "U"}))) == []


@pytest.mark.parametrize("strategy", [name for name in VARIANTS if name.startswith("rn")])
def test_without_its_rendezvous_an_event_still_reaches_all(strategy: str):
    overlay = settled(strategy, [("a", "c"), ("c", "d"), ("c", "b")])
    overlay.run.remove("b")
    overlay.settle()
    for client in ("ca", "cc", "cd"):
        assert everybody(overlay, client) == ["ca", "cc", "cd"]
    come(overlay, "b", "d")
    for client in ("ca", "cb", "cc", "cd"):
        assert everybody(overlay, client) == ["ca", "cb", "cc", "cd"]


@pytest.mark.parametrize("strategy", SOME)
@pytest.mark.parametrize("seed", range(6))
def test_who_stays_loses_and_doubles_nothing_while_others_come_and_go(strategy: str, seed: int):
    """Leaves come and go amid a stream of events between those who stay."""
    draw = Random(seed)
    size = draw.randrange(2, 5)
    links = [(f"b{draw.randrange(at)}", f"b{at}") for at in range(1, size)]
    overlay = Overlay(strategy, links, Network(latency_s=0.003))
    run = overlay.run
    for at in range(size):
        assert overlay.subscribe(f"cb{at}", f"s{at}", f"a >= {at}") == []
    overlay.trace.clear()
    start = run.now
    for number in range(8):
        name, home = f"n{number}", f"b{draw.randrange(size)}"

        def arrive(name: str = name, home: str = home) -> None:
            run.add(name, [home])
            run.attach(f"c{name}", name)
            run.say(f"c{name}", Subscribe(Subscription(f"s{name}", fyke.parse("true"))))

        at = start + draw.random() * 0.1
        run.do(arrive, at)
        if draw.random() < 0.6:
            run.do(lambda name=name: run.remove(name), at + draw.random() * 0.05)  # type: ignore[misc]
    expected = []
    for number in range(120):
        value, publish = draw.randrange(size), f"e{number}"
        message = Publish(publish, fyke.Event({"a": value}))
        run.say(f"cb{draw.randrange(size)}", message, start + draw.random() * 0.15)
        expected += [(publish, f"cb{at}") for at in range(size) if value >= at]
    overlay.settle()
    got = [(each.id, each.client) for each in overlay.trace if isinstance(each, Delivered)]
    assert len(got) == len(set(got))
    assert sorted(each for each in got if each[1].startswith("cb")) == sorted(expected)
    before = len(overlay.trace)
    overlay.publish("cb0", {"a": size}, "last")
    left = {each.client for each in overlay.trace[before:] if isinstance(each, Delivered)}
    gone = {
        each.at for each in overlay.trace if isinstance(each, Happened) and each.what == "removed"
    }
    stay = {f"cb{at}" for at in range(size)} | {
        f"cn{at}" for at in range(8) if f"n{at}" not in gone
    }
    assert left == stay


def test_what_cannot_come_or_go_is_refused_and_changes_nothing():
    overlay = settled("subscription_forwarding", [("a", "b")])
    for action, problem in (
        (lambda: overlay.run.add("a", ["b"]), "there is a node 'a' already"),
        (lambda: overlay.run.add("ca", ["b"]), "there is a node 'ca' already"),
        (lambda: overlay.run.add("n", ["b", "z"]), "unknown broker 'z'"),
        (lambda: overlay.run.remove("z"), "unknown broker 'z'"),
        (lambda: overlay.run.remove("ca"), "unknown broker 'ca'"),
    ):
        with pytest.raises(FykeError, match=problem):
            action()
    assert everybody(overlay, "ca") == ["ca", "cb"]
    come(overlay, "n", "b")
    assert everybody(overlay, "ca") == ["ca", "cb", "cn"]
    overlay.run.crash("n")
    overlay.run.remove("n")
    come(overlay, "n", "a")
    assert overlay.publish("cb", {"type": "T", "a": 1})[-1] == ("cn", ("sn",)), "another one"


def test_who_comes_again_under_an_old_name_is_new():
    """Nothing that its forerunner wanted, wrote or suffered is left: no record, and no cut."""
    overlay = Overlay("event_forwarding", [("a", "b")], network=Network(store_s=0.01))
    run = overlay.run
    run.say("cb", Subscribe(Subscription("s", fyke.parse("a = 1"))))
    run.run(until=run.now + 0.001)
    run.cut("a", "b")
    run.remove("b")
    run.add("b", ["a"])
    run.attach("cb", "b")
    overlay.settle()
    run.crash("b")
    run.restart("b")
    assert overlay.publish("ca", {"a": 1}) == []
    assert overlay.subscribe("cb", "s", "a = 1") == []
    assert overlay.publish("ca", {"a": 1}) == [("cb", ("s",))]
