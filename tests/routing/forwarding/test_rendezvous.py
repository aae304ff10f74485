"""Where events meet subscriptions: whatever type an event has, and wherever it moves to."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

import fyke
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Declare, Publish, Subscribe
from fyke.routing.forwarding.variant import VARIANTS
from fyke.simulation.network import Network
from fyke.traces.trace import Delivered, Rejected
from tests.overlays import Overlay

FIXED = [name for name in VARIANTS if name.startswith("rn")]
TYPES = ("Thing", "Stock", "Share", "Bond")
FILTERS = (
    *("type is null", "type = 5", "type = 5.5", "type = true", "type in ('Stock', 5, null)"),
    *(f"type = '{name}'" for name in TYPES),
    *(f"type is {name}" for name in TYPES),
    *("type is Stock and type is Bond", "type is Stock or type = 5", "not type is Stock"),
    *("type != 'Stock'", "type > 4", "type > 'S'", "a < 2", "exists type", "not exists type"),
)
VALUES = (None, 5, 5.5, True, "", "Other", *TYPES, ["Stock", 5], ["Bond", "Share"], [])


def tree(draw: Random, size: int) -> list[tuple[str, str]]:
    return [(f"b{draw.randrange(at)}", f"b{at}") for at in range(1, size)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("strategy", [*FIXED, "adaptive"])
def test_events_of_any_type_meet_what_is_wanted(strategy: str, seed: int):
    draw = Random(seed)
    size = draw.randrange(2, 6)
    owners = {name: f"b{draw.randrange(size)}" for name in ("", *TYPES) if draw.random() < 0.7}
    first = {"first": draw.choice(FIXED)} if strategy == "adaptive" else {}
    overlay = Overlay(strategy, tree(draw, size), rendezvous=owners, **first)
    wanted: dict[str, tuple[str, fyke.Filter]] = {}
    for number, text in enumerate(draw.sample(FILTERS, 14)):
        client = f"cb{draw.randrange(size)}"
        wanted[f"s{number}"] = client, fyke.parse(text)
        assert overlay.subscribe(client, f"s{number}", text) == []
    for value in VALUES:
        carried = draw.sample(TYPES, draw.choice((0, 0, 1, 2)))
        event = fyke.Event({"type": value, "a": draw.randrange(4)}, supertypes=carried)
        if draw.random() < 0.1:
            event = fyke.Event({"a": draw.randrange(4)}, supertypes=carried)
        right: dict[str, list[str]] = {}
        for id, (client, filter) in wanted.items():
            if filter.matches(event):
                right.setdefault(client, []).append(id)
        expected = sorted((client, tuple(sorted(ids))) for client, ids in right.items())
        assert overlay.publish(f"cb{draw.randrange(size)}", event) == expected, (value, carried)


@pytest.mark.parametrize("strategy", FIXED)
def test_what_an_event_says_of_its_kind_holds_beside_a_schema_that_says_less(strategy: str):
    owners = {"": "a", "Stock": "c", "Share": "d"}
    overlay = Overlay(strategy, rendezvous=owners)
    for name in ("Stock", "Share"):
        assert overlay.say("ca", Declare("type", name, {"attributes": {}})) == []
    assert overlay.subscribe("cb", "s", "type is Stock") == []
    event = fyke.Event({"type": "Share"}, supertypes=["Stock"])
    assert overlay.publish("ca", event) == [("cb", ("s",))]
    assert overlay.publish("ca", {"type": "Share"}) == []
    assert overlay.publish("ca", {"type": "Stock"}) == [("cb", ("s",))]


WANTED = ("type = 'Share'", "type is Share", "a < 3", "type in ('Share', 'Bond') and a > 1")
ABOVE: tuple[list[str], ...] = ([], ["Stock"], ["Bond"], ["Stock", "Bond"], ["Thing"])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("strategy", [*FIXED, "adaptive"])
def test_no_event_is_lost_or_doubled_while_its_type_moves_to_another_rendezvous(strategy, seed):
    draw = Random(seed)
    size = draw.randrange(3, 7)
    owners = {name: f"b{draw.randrange(size)}" for name in ("", "Thing", "Stock", "Bond")}
    first = {"first": draw.choice(FIXED)} if strategy == "adaptive" else {}
    network = Network(latency_s=0.001)
    overlay = Overlay(strategy, tree(draw, size), network, rendezvous=owners, **first)
    run = overlay.run
    for name in TYPES:
        overlay.say("cb0", Declare("type", name, {"attributes": {}}))
    wanted: dict[str, tuple[str, fyke.Filter]] = {}
    for number in range(6):
        client, text = f"cb{draw.randrange(size)}", draw.choice(WANTED)
        wanted[f"s{number}"] = client, fyke.parse(text)
        run.say(client, Subscribe(Subscription(f"s{number}", fyke.parse(text))))
    overlay.settle()
    overlay.trace.clear()
    expected: Counter[tuple[str, str, str]] = Counter()
    start = run.now
    for number in range(4):
        above = {"supertypes": draw.choice(ABOVE), "attributes": {}}
        run.say(f"cb{draw.randrange(size)}", Declare("type", "Share", above), start + number * 0.01)
    for number in range(60):
        event = fyke.Event({"type": draw.choice(("Share", "Share", "Bond")), "a": number % 5})
        publish = Publish(f"e{number}", event)
        run.say(f"cb{draw.randrange(size)}", publish, start + draw.random() * 0.05)
        for id, (client, filter) in wanted.items():
            expected[publish.id, client, id] += filter.matches(event)
    overlay.settle()
    assert not [each for each in overlay.trace if isinstance(each, Rejected)]
    got = Counter(
        (each.id, each.client, id)
        for each in overlay.trace
        if isinstance(each, Delivered)
        for id in each.subscriptions
    )
    assert got == +expected
