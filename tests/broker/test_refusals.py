"""A refused input changes nothing: whoever was served before is served the same way after."""

from __future__ import annotations

from random import Random

import pytest

import fyke
from fyke.assembly import STRATEGIES, Options, make_broker
from fyke.broker.broker import Broker
from fyke.filters.predicate import In
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Deliver, Effect, Reject, Store
from fyke.nodes.inputs import LinkUp, Received
from fyke.nodes.message import (
    Advertise,
    Declare,
    Disconnect,
    Learn,
    Message,
    NodeId,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from fyke.routing.adaptive.epoch import Switch
from fyke.routing.event_forwarding import EventForwarding
from fyke.routing.forwarding.row import Addressed
from fyke.routing.strategy import Decision
from fyke.traces.trace import Delivered, Sent
from tests.overlays import Overlay

SOME = ("event_forwarding", "subscription_forwarding", "rendezvous", "adaptive", "pf1", "rn2")
EVERYTHING = fyke.parse("true")
LONG, HALF = "x" * 2**24, "\ud800"
DEEP: dict[str, object] = {}
for _ in range(110):
    DEEP = {"deeper": DEEP}
REFUSED: tuple[Message, ...] = (
    Subscribe(Subscription(LONG, EVERYTHING)),
    Subscribe(Subscription(HALF, EVERYTHING)),
    Subscribe(Subscription("taken", EVERYTHING)),
    Subscribe(Subscription("s", fyke.parse("type is Nothing or a = 1"))),
    Subscribe(Subscription("s", In("a", (HALF,)))),
    Subscribe(Subscription("s", In(HALF, (1,)))),
    Subscribe(Subscription("s", In("a", tuple(range(50_001))))),
    Unsubscribe("nobody's"),
    Unsubscribe(HALF),
    Advertise(LONG, EVERYTHING),
    Advertise(HALF, EVERYTHING),
    Unadvertise("nobody's"),
    Publish(LONG, fyke.Event({"type": "T", "a": 1})),
    Publish(HALF, fyke.Event({"type": "T", "a": 1})),
    Publish("e", fyke.Event({"type": "Nothing", "a": 1})),
    Publish("e", fyke.Event({"a": 1})),
    Publish("e", fyke.Event({"type": "T", "a": 1}, payload=HALF)),
    Publish("e", fyke.Event({"type": "T", "a": 1}, payload={"what": object()})),
    Publish("e", fyke.Event({"type": "T", "a": 1}, payload=DEEP)),
    Declare("topic", "T", {"attributes": {}}),
    Declare("type", "U", {"supertypes": ["Nothing"], "attributes": {}}),
    Declare("type", HALF, {"attributes": {}}),
    Declare("attribute", "a", {"domain": "nothing"}),
    Declare("type", "U", {"attributes": {HALF: {"domain": "string"}}}),
    Declare("type", "U", {"attributes": {"a": {"domain": {"enumeration": ["x", HALF]}}}}),
    Switch("gossip"),
)


def overlay_of(strategy: str) -> Overlay:
    overlay = Overlay(strategy, [("p", "h"), ("h", "q")], in_bytes=True)
    assert overlay.say("cp", Declare("type", "T", {"attributes": {}})) == []
    assert overlay.subscribe("ch", "taken", "type = 'T' and a = 0") == []
    return overlay


@pytest.mark.parametrize("strategy", SOME)
@pytest.mark.parametrize("message", REFUSED, ids=lambda each: type(each).__name__)
def test_what_is_refused_is_told_to_nobody_and_leaves_no_trace(strategy: str, message: Message):
    refusing, other = overlay_of(strategy), overlay_of(strategy)
    before = len(refusing.trace)
    assert refusing.say("ch", message) != []
    assert not [each for each in refusing.trace[before:] if isinstance(each, Sent | Delivered)]
    refusing.run.cut("p", "h")
    refusing.run.heal("p", "h")
    refusing.settle()
    for overlay in (refusing, other):
        assert overlay.subscribe("ch", "s", "a = 1 and type = 'T'") == []
        assert overlay.subscribe("cq", "q", "a > 0") == []
    event = {"type": "T", "a": 1}
    assert refusing.publish("cp", event) == other.publish("cp", event) != []
    for broker in "phq":
        ours, theirs = (each.run.node(broker).stats() for each in (refusing, other))
        assert (ours.rows, ours.filtered) == (theirs.rows, theirs.filtered)
    assert refusing.say("ch", Unsubscribe("s")) == []
    assert refusing.publish("cp", event) == [("cq", ("q",))]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_refused_subscription_covers_others(strategy: str):
    overlay = Overlay(strategy, [("p", "h")])
    for id in (LONG, HALF):
        assert len(overlay.subscribe("ch", id, "true")) == 1
    assert overlay.subscribe("ch", "s", "a = 1") == []
    assert overlay.publish("cp", {"a": 1}) == [("ch", ("s",))]
    overlay.run.cut("p", "h")
    overlay.run.heal("p", "h")
    overlay.settle()
    assert overlay.publish("cp", {"a": 1}) == [("ch", ("s",))]


class Choosy(EventForwarding):
    """Takes no subscription to everything, and no advertisement at all."""

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        if message.subscription.filter == EVERYTHING:
            raise fyke.FykeError("too much")
        return super().subscribe(message, came_from)

    def advertise(self, message: Advertise | Unadvertise, came_from: NodeId) -> Decision:
        raise fyke.FykeError("who asked?")


def test_what_a_strategy_refuses_is_refused_by_its_broker():
    broker = Broker("b", [], lambda here, random: Choosy(here), Random(1), engine="scan")
    broker.handle(LinkUp("bert", is_client=True), 0.0)

    def say(message: Message) -> list[Effect]:
        return broker.handle(Received("bert", message), 0.0)

    assert say(Subscribe(Subscription("s", EVERYTHING))) == [
        Reject("bert", "Subscribe", "too much")
    ]
    assert say(Publish("e", fyke.Event({"a": 1}))) == []
    assert broker.stats().subscriptions == broker.stats().filtered == 0
    assert say(Advertise("ad", fyke.parse("b = 1"))) == [Reject("bert", "Advertise", "who asked?")]
    assert say(Publish("e", fyke.Event({"a": 1}))) == [], "it is bound by nothing"
    (stored,) = say(Subscribe(Subscription("s", fyke.parse("a = 1"))))
    assert isinstance(stored, Store)
    assert [type(each) for each in say(Publish("e", fyke.Event({"a": 1})))] == [Deliver]


# --- clients that have left -----------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_who_has_left_publishes_nothing_not_even_past_the_schema(strategy: str):
    overlay = Overlay(strategy, [("p", "h")])
    assert overlay.subscribe("ch", "s", "a = 1") == []
    assert overlay.say("cp", Declare("type", "T", {"attributes": {}})) == []
    assert overlay.say("cp", Disconnect()) == []
    for event in ({"a": 1}, {"type": "T", "a": 1}):
        before = len(overlay.trace)
        refused = overlay.say("cp", Publish("e", fyke.Event(event)))
        assert refused == ["'cp' is no neighbour of p"]
        assert not [each for each in overlay.trace[before:] if isinstance(each, Sent | Delivered)]


@pytest.mark.parametrize("strategy", ["pf1", "pf3", "pf6", "rn1", "rn3", "rn6", "adaptive"])
def test_a_client_cannot_say_that_its_message_came_straight_from_a_broker(strategy: str):
    overlay = Overlay(
        strategy, [("p", "h")], **({"first": "pf1"} if strategy == "adaptive" else {})
    )
    assert overlay.subscribe("ch", "s", "a = 1") == []
    assert overlay.say("cp", Declare("type", "T", {"attributes": {}})) == []
    routed = Publish("e", fyke.Event({"a": 1}), route=Addressed("h", "ch"))
    assert overlay.say("cp", routed) != [], "an event without a type"
    for home in ("p", "h", "nowhere"):
        event = fyke.Event({"type": "T", "a": 1})
        before = len(overlay.trace)
        assert overlay.say("cp", Publish("e", event, 7, Addressed(home, "nobody"))) == []
        got = [each.client for each in overlay.trace[before:] if isinstance(each, Delivered)]
        assert got == ["ch"], "a route that a client names is not its business"


@pytest.mark.parametrize("strategy", ["ef", "pf8", "rn8", "adaptive"])
def test_what_has_to_be_kept_is_kept_before_anybody_hears_of_it(strategy: str):
    """What follows a Store leaves when that is safe; so the record comes first."""
    node = make_broker("b", ["a", "c"], Options(strategy, engine="scan"), Random(0), owns=[""])
    for peer in "ac":
        node.handle(LinkUp(peer), 0.0)
    node.handle(LinkUp("client", is_client=True), 0.0)
    filter = fyke.parse("a = 1")
    for message in [
        Subscribe(Subscription("s", filter)),
        Advertise("ad", filter),
        Declare("type", "T", {"attributes": {}}),
        Learn(),
        Unsubscribe("s"),
        Unadvertise("ad"),
    ]:
        effects = node.handle(Received("client", message), 0.0)
        kinds = [isinstance(each, Store) for each in effects]
        assert kinds[:1] == [True] and not any(kinds[1:]), (message, effects)
