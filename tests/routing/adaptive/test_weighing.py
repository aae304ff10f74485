"""When an adaptive overlay changes by itself: for messages and for memory, at a small price."""

from __future__ import annotations

from collections import Counter
from functools import partial
from random import Random

import pytest

import fyke
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe, Unsubscribe
from fyke.routing.adaptive.adaptive import Adaptive
from fyke.routing.adaptive.weighing import EVENTS, SUBSCRIPTIONS, BrokerReport, Weighing, is_sampled
from fyke.simulation.network import Network
from fyke.traces.trace import Sent
from tests.overlays import Overlay

WEIGHING = ("Busy", "Poll", "Gathered")
SAMPLED = [f"e{number}" for number in range(10_000) if is_sampled(f"e{number}")]


def current(overlay: Overlay) -> str:
    strategy = overlay.run.node(overlay.topology.brokers[0]).strategy  # type: ignore[attr-defined]
    assert isinstance(strategy, Adaptive)
    return strategy.current


def stream(overlay: Overlay, clients: list[str], count: int, name: str = "e") -> Counter[str]:
    """Publish events that are not alike, one after the other. Return the messages by kind."""
    before, start = len(overlay.trace), overlay.run.now
    for number in range(count):
        publish = Publish(f"{name}{number}", fyke.Event({"a": number}))
        overlay.run.say(clients[number % len(clients)], publish, start + number * 0.01)
    overlay.settle()
    return Counter(each.kind for each in overlay.trace[before:] if isinstance(each, Sent))


def star(leaves: int) -> list[tuple[str, str]]:
    return [("hub", f"l{at}") for at in range(leaves)]


# --- what it costs --------------------------------------------------------------------------------


@pytest.mark.parametrize("leaves", [1, 5, 130])
@pytest.mark.parametrize("wanted", ["true", "a < 0"])
def test_weighing_costs_a_small_share_of_all_messages_at_any_degree(leaves: int, wanted: str):
    overlay = Overlay("adaptive", star(leaves))
    for at in range(leaves):
        assert overlay.subscribe(f"cl{at}", f"s{at}", wanted) == []
    for clients in (["chub"], ["cl0"], [f"cl{at}" for at in range(leaves)]):
        sent = stream(overlay, clients, 300, clients[-1])
        assert sum(sent[kind] for kind in WEIGHING) <= 0.1 * max(sent["Publish"], 640)


@pytest.mark.parametrize("length", [4, 25])
def test_many_brokers_that_are_busy_at_once_are_asked_once(length: int):
    overlay = Overlay("adaptive", [(f"b{at}", f"b{at + 1}") for at in range(length)])
    for at in range(length + 1):
        assert overlay.subscribe(f"cb{at}", f"s{at}", "true") == []
    for client in ("cb0", f"cb{length // 2}", f"cb{length}"):
        sent = stream(overlay, [client], 300, client)
        assert sum(sent[kind] for kind in WEIGHING) <= 0.1 * sent["Publish"]


# --- when it changes ------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["ef", "event_forwarding", "rn1", "rn2", "rn8", "centralised"])
def test_all_names_of_a_strategy_adapt_alike(first: str):
    """Nobody wants anything, so nothing has to be sent."""
    overlay = Overlay("adaptive", first=first, rendezvous={"": "d"})
    stream(overlay, ["cb"], 600)
    assert current(overlay) == SUBSCRIPTIONS


@pytest.mark.parametrize("first", ["pf8", "siena", "subscription_forwarding", "pf4", "pf1"])
def test_what_is_wanted_everywhere_and_changes_all_the_time_is_sent_everywhere(first: str):
    overlay = Overlay("adaptive", first=first)
    start = overlay.run.now
    for number in range(700):
        for broker in "abcd":
            if number:
                overlay.run.say(f"c{broker}", Unsubscribe(f"{broker}{number - 1}"), start + number)
            filter = fyke.parse(f"b > {-number}")
            subscribe = Subscribe(Subscription(f"{broker}{number}", filter))
            overlay.run.say(f"c{broker}", subscribe, start + number)
        publish = Publish(f"e{number}", fyke.Event({"b": 1}))
        overlay.run.say("ca", publish, start + number + 0.5)
    overlay.settle()
    assert current(overlay) == EVENTS


@pytest.mark.parametrize("cut_for", [70, 100, 150, 260])
def test_a_busy_broker_that_was_not_heard_says_so_again(cut_for: int):
    overlay = Overlay("adaptive", [("a", "b"), ("b", "c"), ("c", "d")])
    overlay.run.cut("a", "b")
    stream(overlay, ["cd"], cut_for, "cut")
    overlay.run.heal("a", "b")
    assert current(overlay) == EVENTS
    stream(overlay, ["cd"], 600, "healed")
    assert current(overlay) == SUBSCRIPTIONS


@pytest.mark.parametrize("link", [("a", "b"), ("b", "c"), ("c", "d")])
@pytest.mark.parametrize("later", [0.0, 0.015, 0.025, 0.035, 0.045, 0.055])
@pytest.mark.parametrize("what", ["cut", "crash", "add"])
def test_a_round_ends_whatever_happens_while_it_is_under_way(link, later: float, what: str):
    overlay = Overlay("adaptive", network=Network(latency_s=0.01))
    run, start, (near, far) = overlay.run, overlay.run.now, link
    for number in range(900):
        publish = Publish(f"e{number}", fyke.Event({"a": 1}))
        run.say("cd", publish, start + number * 0.002)
    while not any(isinstance(each, Sent) and each.kind == "Poll" for each in overlay.trace):
        run.run(until=run.now + 0.001)
    run.run(until=run.now + later)
    if what == "cut":
        run.cut(near, far)
        run.run(until=run.now + 0.001)
        run.heal(near, far)
    elif what == "crash":
        run.crash(far)
        run.run(until=run.now + 0.001)
        run.restart(far)
    else:
        run.add("new", [near])
    overlay.settle()
    stream(overlay, ["ca"], 900, "whole")
    assert current(overlay) == SUBSCRIPTIONS


@pytest.mark.parametrize("link", [("a", "b"), ("b", "c"), ("c", "d")])
def test_rounds_that_begin_while_somebody_is_cut_off_end_as_well(link: tuple[str, str]):
    overlay = Overlay("adaptive")
    overlay.run.cut(*link)
    for client in ("ca", "cd"):
        stream(overlay, [client], 300, f"cut {client}")
    assert current(overlay) == EVENTS
    overlay.run.heal(*link)
    stream(overlay, ["ca"], 900, "whole")
    assert current(overlay) == SUBSCRIPTIONS


@pytest.mark.parametrize("seed", range(8))
def test_whatever_breaks_or_comes_and_goes_weighing_goes_on(seed: int):
    draw = Random(seed)
    size = draw.randrange(3, 8)
    links = [(f"b{draw.randrange(at)}", f"b{at}") for at in range(1, size)]
    overlay = Overlay("adaptive", links, Network(latency_s=0.02))
    run, start = overlay.run, overlay.run.now
    for number in range(14):
        at = start + draw.random() * 4
        link, broker = draw.choice(links), f"b{draw.randrange(size)}"
        if draw.random() < 0.5:
            run.do(partial(run.cut, *link), at)
            run.do(partial(run.heal, *link), at + draw.random() * 0.1)
        elif draw.random() < 0.5:
            run.do(partial(run.part, [broker]), at)
            run.do(partial(run.join, [broker]), at + draw.random() * 0.1)
        else:
            run.do(partial(run.add, f"n{number}", [broker]), at)
            run.do(partial(run.remove, f"n{number}"), at + draw.random() * 0.1)
    run.do(partial(run.crash, "b1"), start + 2)
    run.do(partial(run.restart, "b1"), start + 2.1)
    assert overlay.subscribe(f"cb{size - 1}", "s", "true") == []
    stream(overlay, [f"cb{at}" for at in range(size)], 500, "broken")
    assert overlay.say(f"cb{size - 1}", Unsubscribe("s")) == []
    stream(overlay, [f"cb{draw.randrange(size)}"], 900, "whole")
    assert current(overlay) == SUBSCRIPTIONS


# --- adding up ------------------------------------------------------------------------------------


def reports(
    events: int = 100, rows: int = 0, subscriptions: int = 10, *sample: str
) -> list[BrokerReport]:
    """Of three brokers in a line; all enters at the first, and nobody wants it."""
    first = BrokerReport("a", "", events, 2 * events, 0, 0, subscriptions, rows, tuple(sample), ())
    others = [
        BrokerReport(name, to, 0, 0, 0, 0, 0, rows, (), ()) for name, to in (("b", "a"), ("c", "b"))
    ]
    return [first, *others]


def test_a_round_that_saw_no_event_of_the_sample_says_nothing():
    weighing = Weighing("a")
    seen, unseen = reports(100, 0, 10, SAMPLED[0]), reports(100)
    assert weighing.better(EVENTS, seen) is None, "once is not enough"
    assert weighing.better(EVENTS, unseen) is None
    assert weighing.better(EVENTS, seen) == SUBSCRIPTIONS


def test_a_change_has_to_pay_twice_in_a_row():
    weighing = Weighing("a")
    cheaper = reports(100, 0, 10, SAMPLED[0])
    wanted = [*cheaper[:2], BrokerReport("c", "b", 0, 0, 0, 0, 0, 0, (), (SAMPLED[0],))]
    assert weighing.better(EVENTS, cheaper) is None
    assert weighing.better(EVENTS, wanted) is None, "it costs the same now"
    assert weighing.better(EVENTS, cheaper) is None
    assert weighing.better(EVENTS, cheaper) == SUBSCRIPTIONS


def test_two_rounds_that_wish_for_different_strategies_are_not_two_of_one():
    """Where little is wanted subscriptions cost least, where they change all the time events do."""
    weighing = Weighing("a")
    calm = [BrokerReport("a", "", 100, 900, 0, 0, 1, 0, (SAMPLED[0],), ())]
    calm += [
        BrokerReport(name, to, 0, 0, 0, 0, 0, 0, (), ()) for name, to in (("b", "a"), ("c", "b"))
    ]
    restless = [BrokerReport("a", "", 100, 900, 500, 900, 1, 0, (SAMPLED[0],), ()), *calm[1:]]
    wishes = [calm, restless] * 3
    assert [weighing.better("rendezvous", each) for each in wishes] == [None] * 6
    assert weighing.better("rendezvous", restless) == EVENTS


# --- memory ---------------------------------------------------------------------------------------


def test_tables_that_do_not_fit_cost_too_much():
    weighing = Weighing("a", rows_max=50)
    small, large = (reports(100, rows, rows, SAMPLED[0]) for rows in (20, 90))
    for _ in range(3):
        assert weighing.better(SUBSCRIPTIONS, small) is None
    assert weighing.better(SUBSCRIPTIONS, large) is None
    assert weighing.better(SUBSCRIPTIONS, large) == EVENTS, "though it sends more"
    for _ in range(3):
        assert weighing.better(EVENTS, large) is None, "it would not fit"
    weighing.better(EVENTS, small)
    assert weighing.better(EVENTS, small) == SUBSCRIPTIONS, "it fits again"


def test_without_a_limit_memory_is_not_weighed():
    weighing = Weighing("a")
    for _ in range(4):
        assert weighing.better(SUBSCRIPTIONS, reports(100, 9_000, 9_000, SAMPLED[0])) is None


@pytest.mark.parametrize("first", ["ef", "pf8", "rn8", "pf4"])
def test_an_overlay_of_very_many_subscriptions_sends_events_everywhere(first: str):
    """As many as fit are told to all; when they are more, no broker has to hold them (DAS-F1)."""
    overlay = Overlay("adaptive", first=first, rows_max=100)
    ids = [(f"c{'abcd'[at % 4]}", f"s{at}") for at in range(500)]
    for at, (client, id) in enumerate(ids):
        assert overlay.subscribe(client, id, f"b = {at}") == []
    stream(overlay, ["ca", "cd"], 600, "grown")
    assert current(overlay) == EVENTS
    assert all(overlay.run.node(broker).stats().rows == 0 for broker in "abcd")
    stream(overlay, ["ca", "cd"], 600, "large")
    assert current(overlay) == EVENTS, "nobody wants anything, but tables would not fit"
    for client, id in ids[30:]:
        assert overlay.say(client, Unsubscribe(id)) == []
    stream(overlay, ["ca", "cd"], 600, "small")
    assert current(overlay) == SUBSCRIPTIONS
