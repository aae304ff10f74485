"""Names are chosen by users: whatever they are, nobody is taken for somebody else."""

from __future__ import annotations

from random import Random

import pytest

import fyke
from fyke.assembly import STRATEGIES
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Advertise, Publish, Subscribe, Unadvertise, Unsubscribe
from fyke.routing.adaptive.epoch import Switch
from fyke.traces.trace import Delivered
from tests.overlays import LINE, Overlay

MERGING = ("pf5", "pf8", "rn5", "rn8", "adaptive")


def made_by(brokers: str) -> list[str]:
    """Return names that look as if brokers had made them."""
    shapes = (
        "{0}*{1}",
        "*{1}",
        "{0}-{1}",
        "{0}/{1}",
        "{1}",
        "{0}",
        "merged {1}",
        "('', '{0}*{1}')",
    )
    return sorted(
        {shape.format(name, at) for shape in shapes for name in brokers for at in range(5)}
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", MERGING)
def test_no_name_of_a_client_is_taken_for_one_that_a_broker_made(strategy: str, seed: int):
    draw = Random(seed)
    options = {"first": draw.choice(MERGING[:-1])} if strategy == "adaptive" else {}
    overlay = Overlay(strategy, merging=True, in_bytes=bool(seed % 2), **options)
    wanted: dict[str, dict[str, int]] = {client: {} for client in ("ca", "cb", "cc", "cd")}
    for round in range(60):
        client = draw.choice(list(wanted))
        if wanted[client] and draw.random() < 0.3:
            id = draw.choice(list(wanted[client]))
            del wanted[client][id]
            assert overlay.say(client, Unsubscribe(id)) == []
        else:
            id, value = draw.choice(made_by("abcd")), draw.randrange(12)
            if id not in wanted[client]:
                wanted[client][id] = value
                assert overlay.subscribe(client, id, f"a = {value}") == []
        if round % 5 == 4:
            value = draw.randrange(12)
            ids = {
                name: tuple(sorted(id for id, each in own.items() if each == value))
                for name, own in wanted.items()
            }
            right = sorted((name, own) for name, own in ids.items() if own)
            assert overlay.publish(draw.choice(list(wanted)), {"a": value}) == right


def test_a_name_like_that_of_a_merged_subscription_loses_nothing():
    overlay = Overlay("pf8", [("p", "h")], merging=True)
    for id, text in (("h*1", "a = 7"), ("h*2", "b = 1"), ("s1", "a = 1"), ("s2", "a = 2")):
        assert overlay.subscribe("ch", id, text) == []
    assert overlay.publish("cp", {"a": 1}) == [("ch", ("s1",))]
    assert overlay.publish("cp", {"a": 7, "b": 1}) == [("ch", ("h*1", "h*2"))]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_name_at_many_brokers_is_many_subscriptions(strategy: str):
    overlay = Overlay(strategy)
    for at, broker in enumerate("abcd"):  # at once: they meet on their way
        filter = fyke.parse(f"a > {at}")
        overlay.run.say(f"c{broker}", Subscribe(Subscription("s", filter)))
    overlay.settle()
    everybody = [(f"c{broker}", ("s",)) for broker in "abcd"]
    assert overlay.publish("cb", {"a": 9}) == everybody
    assert overlay.publish("cd", {"a": 2}) == everybody[:2]
    if strategy == "adaptive":
        assert overlay.say("ca", Switch("pf8")) == []
        assert overlay.publish("cd", {"a": 2}) == everybody[:2]
    assert overlay.say("cb", Unsubscribe("s")) == []
    assert overlay.publish("cc", {"a": 9}) == [each for each in everybody if each[0] != "cb"]
    overlay.run.crash("b")
    overlay.run.restart("b")
    overlay.settle()
    assert overlay.publish("cc", {"a": 9}) == [each for each in everybody if each[0] != "cb"]


# --- records --------------------------------------------------------------------------------------

PARTS = ("x", "y", "z", "x/y", "y/z", "/", "x/", "\0", "x\0y", "subscription")


@pytest.mark.parametrize("seed", range(6))
def test_no_two_names_share_a_record(seed: int):
    draw = Random(seed)
    overlay = Overlay("subscription_forwarding", LINE)
    run = overlay.run
    for name in PARTS:
        run.attach(name, "b")
    ids: dict[str, str] = {}
    advertised: set[tuple[str, str]] = set()
    for _ in range(60):
        client, id = draw.choice(PARTS), draw.choice(PARTS)
        if ids.get(id) == client:
            del ids[id]
            assert overlay.say(client, Unsubscribe(id)) == []
        elif id not in ids:
            ids[id] = client
            assert overlay.subscribe(client, id, "a = 1") == []
        if (client, id) in advertised:
            advertised.discard((client, id))
            assert overlay.say(client, Unadvertise(id)) == []
        elif draw.random() < 0.5:
            advertised.add((client, id))
            assert overlay.say(client, Advertise(id, fyke.parse("b = 1"))) == []
    run.crash("b")
    run.restart("b")
    overlay.settle()
    own = {
        client: tuple(sorted(id for id, who in ids.items() if who == client)) for client in PARTS
    }
    right = sorted((client, each) for client, each in own.items() if each)
    assert overlay.publish("ca", {"a": 1}) == right
    for client in PARTS:
        is_bound = any(who == client for who, _ in advertised)
        assert bool(overlay.say(client, Publish("", fyke.Event({"c": 1})))) == is_bound


def test_one_client_does_not_take_the_records_of_another():
    overlay = Overlay("subscription_forwarding", [("p", "h")])
    for client in ("x", "x/y"):
        overlay.run.attach(client, "h")
    assert overlay.subscribe("x", "y/z", "a = 1") == []
    assert overlay.subscribe("x/y", "z", "a = 1") == []
    overlay.run.crash("h")
    overlay.run.restart("h")
    overlay.settle()
    assert overlay.publish("cp", {"a": 1}) == [("x", ("y/z",)), ("x/y", ("z",))]
    assert overlay.say("x", Unsubscribe("y/z")) == []
    overlay.run.crash("h")
    overlay.run.restart("h")
    overlay.settle()
    assert overlay.publish("cp", {"a": 1}) == [("x/y", ("z",))]


@pytest.mark.parametrize("gone", [("x", "y/z"), ("x/y", "z")])
def test_what_one_client_advertised_is_not_taken_back_by_another(gone: tuple[str, str]):
    overlay = Overlay("subscription_forwarding", [("p", "h")])
    bound = {"x": "y/z", "x/y": "z"}
    for client, id in bound.items():
        overlay.run.attach(client, "h")
        assert overlay.say(client, Advertise(id, fyke.parse("b = 1"))) == []
    assert overlay.say(gone[0], Unadvertise(gone[1])) == []
    overlay.run.crash("h")
    overlay.run.restart("h")
    overlay.settle()
    for client in bound:
        refused = overlay.say(client, Publish("", fyke.Event({"c": 1})))
        assert bool(refused) == (client != gone[0])


# --- events ---------------------------------------------------------------------------------------


def test_ids_that_brokers_give_to_events_are_given_once():
    overlay = Overlay("event_forwarding")
    assert overlay.subscribe("ca", "s", "true") == []
    for _ in range(3):
        for broker in "abcd":
            for _ in range(5):
                overlay.publish(f"c{broker}", {"a": 1})
        overlay.run.crash("b")
        overlay.run.restart("b")
        overlay.settle()
    ids = [each.id for each in overlay.trace if isinstance(each, Delivered)]
    assert len(ids) == len(set(ids)) == 60


@pytest.mark.parametrize("strategy", ["ef", "pf8", "rn8", "adaptive"])
def test_a_client_takes_back_no_subscription_of_another_at_its_broker(strategy: str):
    overlay = Overlay(strategy)
    overlay.run.attach("other", "d")
    assert overlay.subscribe("cd", "s", "a = 1") == []
    assert overlay.say("other", Unsubscribe("s")) == ["other has no subscription 's'"]
    assert overlay.publish("ca", {"a": 1}) == [("cd", ("s",))]
