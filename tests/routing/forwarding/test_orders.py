"""Orders that are declared and changed while subscriptions are out: who gets what follows them."""

from __future__ import annotations

from random import Random

import pytest

import fyke
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Advertise, Declare, Publish, Subscribe
from fyke.testing import ordered
from fyke.testing.ordering import accepts
from fyke.traces.trace import Sent
from tests.overlays import Overlay

BROKERS = "abcde"
STRATEGIES = {
    "event_forwarding": {},
    "subscription_forwarding": {},
    "merging": {"merging": True},
    "rendezvous": {"rendezvous": {"": "c"}},
    "adaptive": {},
    "pf1": {},
    "pf3": {},
    "pf8": {},
    "rn4": {"rendezvous": {"": "b"}},
}


def overlay(strategy: str, rng: Random) -> Overlay:
    links = [(rng.choice(BROKERS[:at]), name) for at, name in enumerate(BROKERS) if at]
    name = "subscription_forwarding" if strategy == "merging" else strategy
    return Overlay(name, links, **STRATEGIES[strategy])


def declare(place: Overlay, schema: Schema, rng: Random) -> None:
    """Declares all that differs; whoever declares is anywhere."""
    for name, document in schema.to_document()["attributes"].items():
        assert place.say(f"c{rng.choice(BROKERS)}", Declare("attribute", name, document)) == []


def check(place: Overlay, wanted: dict[str, Filter], schema: Schema, rng: Random) -> int:
    """Everybody gets what the declared order says; how many deliveries there were."""
    found = 0
    for _ in range(12):
        document = ordered.document(rng, schema)
        event = schema.validate(document)
        expected = {id for id, each in wanted.items() if accepts(each, event, schema)}
        got = place.publish(f"c{rng.choice(BROKERS)}", document)
        assert {id for _, ids in got for id in ids} == expected, (document, schema)
        found += len(expected)
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_deliveries_follow_the_order(strategy: str, seed: int) -> None:
    """Subscribed before there is an order, under it, and when it has changed."""
    rng = Random(f"{strategy} {seed}")
    place, wanted = overlay(strategy, rng), {}

    def subscribe(filters: list[Filter]) -> None:
        for filter in filters:
            id, client = f"s{len(wanted)}", f"c{rng.choice(BROKERS)}"
            assert place.say(client, Subscribe(Subscription(id, filter))) == []
            wanted[id] = filter

    schema = ordered.schema(rng)
    subscribe(ordered.filters(rng, schema, 6, is_ordered=False))
    declare(place, schema, rng)
    found = check(place, wanted, schema, rng)
    subscribe(ordered.filters(rng, schema, 6))
    found += check(place, wanted, schema, rng)
    schema = ordered.schema(rng)
    declare(place, schema, rng)
    found += check(place, wanted, schema, rng)
    assert found > 20


def test_what_covers_by_the_order_is_not_sent_on() -> None:
    """level > 'medium' is within level > 'low' by the order, and without by the text."""
    place = Overlay("subscription_forwarding")
    domain = {"enumeration": ["low", "medium", "high"]}
    assert place.say("ca", Declare("attribute", "level", {"domain": domain})) == []
    place.subscribe("ca", "wide", "level > 'low'")
    before = len(place.trace)
    place.subscribe("ca", "narrow", "level > 'medium'")
    told = [each for each in place.trace[before:] if isinstance(each, Sent) and each.at != "ca"]
    assert told == []
    assert place.publish("cd", {"level": "high"}) == [("ca", ("narrow", "wide"))]
    assert place.publish("cd", {"level": "medium"}) == [("ca", ("wide",))]


def test_the_door_refuses_what_has_no_order() -> None:
    place = Overlay("subscription_forwarding")
    domain = {"enumeration": ["low", "medium", "high"]}
    assert place.subscribe("cb", "early", "level > 'lwo'") == []
    assert place.say("ca", Declare("attribute", "level", {"domain": domain})) == []
    (reason,) = place.subscribe("cb", "late", "level > 'lwo'")
    assert "'lwo'" in reason and "'low', 'medium', 'high'" in reason
    (reason,) = place.say("cb", Advertise("ad", fyke.parse("level < 'lwo'")))
    assert "'lwo'" in reason


def test_who_advertises_is_held_to_the_order() -> None:
    place = Overlay("subscription_forwarding")
    domain = {"enumeration": ["low", "medium", "high"]}
    assert place.say("ca", Declare("attribute", "level", {"domain": domain})) == []
    assert place.say("cb", Advertise("ad", fyke.parse("level > 'low'"))) == []
    place.subscribe("cd", "any", "exists level")
    assert place.publish("cb", {"level": "high"}) == [("cd", ("any",))]
    (reason,) = place.say("cb", Publish("", fyke.Event({"level": "low"})))
    assert "advertised" in reason
