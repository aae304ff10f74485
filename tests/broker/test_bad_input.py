"""What is unacceptable is refused at the place that can act; the overlay goes on unharmed."""

from __future__ import annotations

from contextlib import nullcontext
from random import Random

import pytest

import fyke
from fyke.assembly import STRATEGIES, SUMMARIES, Options, assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Deliver, Reject, Send
from fyke.nodes.inputs import LinkUp, Received
from fyke.nodes.message import (
    Advertise,
    Connect,
    Control,
    Declare,
    Disconnect,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from fyke.overlay.topology import Topology
from fyke.routing.adaptive.epoch import Closed
from fyke.routing.forwarding.reach import Reachable
from fyke.routing.forwarding.row import Addressed
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Rejected

LINE = Topology.of([("a", "b"), ("b", "c")])
READING = {
    "attributes": {"celsius": {"domain": {"integer": {"low": -50, "high": 50}}, "required": True}}
}


class Overlay:
    """Three brokers in a line; alice at a, carl at c."""

    def __init__(self, strategy: str = "subscription_forwarding", **options: object) -> None:
        system = assemble(strategy, LINE, engine="scan", **options)  # type: ignore[arg-type]
        self.trace: list[Record] = []
        self.simulation = Simulation(LINE, system.make, codec=system.codec, write=self.trace.append)
        self.simulation.attach("alice", "a")
        self.simulation.attach("carl", "c")

    def say(self, client: str, message) -> list[str]:
        """What was refused because of it."""
        self.trace.clear()
        self.simulation.say(client, message)
        self.simulation.run()
        return [record.reason for record in self.trace if isinstance(record, Rejected)]

    def works(self) -> bool:
        """Whether an event still reaches carl, and only once."""
        assert self.say("carl", Subscribe(Subscription("works", fyke.parse("works = 1")))) == []
        assert (
            self.say(
                "alice", Publish("w", fyke.Event({"works": 1, "type": "Reading", "celsius": 1}))
            )
            == []
        )
        return [each.client for each in self.trace if isinstance(each, Delivered)] == ["carl"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_strategy_needs_a_tree_and_brokers_that_there_are(strategy):
    cycle = Topology.of([("a", "b"), ("b", "c"), ("c", "a")])
    needs_tree = Options(strategy).needs_tree
    assert needs_tree is (strategy != SUMMARIES)
    with pytest.raises(fyke.FykeError, match="cycle") if needs_tree else nullcontext():
        assemble(strategy, cycle)
    with pytest.raises(fyke.FykeError, match="no way from"):
        assemble(strategy, Topology.of([("a", "b")], ["c"]))
    with pytest.raises(fyke.FykeError, match="unknown broker 'z'"):
        assemble(strategy, LINE, rendezvous={"T": "z"})


def test_an_unknown_strategy_is_named():
    with pytest.raises(fyke.FykeError, match="unknown strategy 'gossip'"):
        assemble("gossip", LINE)


# --- schema ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["event_forwarding", "subscription_forwarding", "rendezvous"])
def test_types_are_declared_once_and_known_everywhere(strategy):
    overlay = Overlay(strategy)
    assert overlay.say("alice", Declare("type", "Reading", READING)) == []
    (refused,) = overlay.say("carl", Subscribe(Subscription("s", fyke.parse("type is Reding"))))
    assert "'Reding'" in refused and "Reading" in refused
    (refused,) = overlay.say("carl", Publish("", fyke.Event({"type": "Reading"})))
    assert "celsius" in refused
    (refused,) = overlay.say("carl", Publish("", fyke.Event({"type": "Other"})))
    assert "not declared" in refused
    hot = {"type": "Reading", "celsius": "hot"}
    (refused,) = overlay.say("carl", Publish("", fyke.Event(hot)))
    assert "celsius" in refused
    assert overlay.works()


def test_a_type_that_is_declared_later_and_its_subtypes_are_reached():
    overlay = Overlay("rendezvous", rendezvous={"Warm": "b", "": "a"})
    overlay.say("alice", Declare("type", "Reading", READING))
    overlay.say("carl", Subscribe(Subscription("s", fyke.parse("type is Reading"))))
    warm = {"supertypes": ["Reading"], "attributes": {}}
    assert overlay.say("alice", Declare("type", "Warm", warm)) == []
    overlay.say("alice", Publish("e", fyke.Event({"type": "Warm", "celsius": 30})))
    assert [each.client for each in overlay.trace if isinstance(each, Delivered)] == ["carl"]


def test_a_declaration_that_contradicts_others_is_refused():
    overlay = Overlay()
    overlay.say("alice", Declare("type", "Reading", READING))
    wrong = {"supertypes": ["Nothing"], "attributes": {}}
    (refused,) = overlay.say("carl", Declare("type", "Warm", wrong))
    assert "unknown supertype 'Nothing'" in refused
    (refused,) = overlay.say("carl", Declare("topic", "Warm", wrong))
    assert "expected type or attribute or domain" in refused
    assert overlay.works()


# --- clients --------------------------------------------------------------------------------------


def test_ids_are_used_once_and_taken_back_by_their_owner():
    overlay = Overlay()
    filter = fyke.parse("a = 1")
    overlay.say("alice", Subscribe(Subscription("s", filter)))
    (refused,) = overlay.say("alice", Subscribe(Subscription("s", filter)))
    assert "'s'" in refused
    (refused,) = overlay.say("carl", Unsubscribe("s"))
    assert "carl has no subscription 's'" in refused
    assert overlay.say("carl", Subscribe(Subscription("s", fyke.parse("a = 2")))) == []
    assert overlay.works()


def test_a_publisher_keeps_to_what_it_advertised():
    overlay = Overlay()
    overlay.say("alice", Advertise("ad", fyke.parse("works = 1")))
    (refused,) = overlay.say("alice", Publish("", fyke.Event({"works": 2})))
    assert "advertised" in refused
    (refused,) = overlay.say("alice", Unadvertise("other"))
    assert "'other'" in refused
    assert overlay.works()
    assert overlay.say("alice", Unadvertise("ad")) == []
    assert overlay.say("alice", Publish("", fyke.Event({"works": 2}))) == []


def test_what_clients_have_no_business_with_is_refused():
    class Gossip(Control, frozen=True):
        pass

    overlay = Overlay()
    (refused,) = overlay.say("alice", Gossip())
    assert "takes no Gossip" in refused
    assert overlay.say("alice", Connect()) == []
    assert overlay.works()


def test_a_client_that_leaves_takes_all_with_it():
    overlay = Overlay()
    overlay.say("carl", Subscribe(Subscription("s", fyke.parse("a = 1"))))
    overlay.say("carl", Disconnect())
    overlay.say("alice", Publish("e", fyke.Event({"a": 1})))
    assert not [each for each in overlay.trace if isinstance(each, Delivered)]
    (refused,) = overlay.say("carl", Publish("e", fyke.Event({"a": 1})))
    assert "'carl' is no neighbour of c" in refused


# --- neighbours -----------------------------------------------------------------------------------


def broker(strategy: str = "subscription_forwarding", **options: object):
    """The middle of the line, with its links."""
    made = assemble(strategy, LINE, engine="scan", **options).make("b", ["a", "c"], Random(1))  # type: ignore[arg-type]
    made.handle(LinkUp("a"), 0.0)
    made.handle(LinkUp("c"), 0.0)
    return made


def test_a_stranger_is_not_listened_to():
    node = broker()
    effects = node.handle(Received("z", Publish("e", fyke.Event({"a": 1}))), 0.0)
    assert effects == [Reject("z", "Publish", "'z' is no neighbour of b")]
    effects = node.handle(Received("z", Subscribe(Subscription("s", fyke.parse("a = 1")))), 0.0)
    assert isinstance(effects[0], Reject)
    assert node.stats().rejected == 2
    assert node.stats().rows == 0


@pytest.mark.parametrize("options", [{}, {"first": "pf1"}])
def test_where_brokers_talk_straight_strangers_may_bring_events_only(options):
    node = broker("adaptive" if options else "pf1", **options)
    node.handle(LinkUp("bert", is_client=True), 0.0)
    node.handle(Received("bert", Subscribe(Subscription("s", fyke.parse("a = 1")))), 0.0)
    notification = Publish("e", fyke.Event({"a": 1}), route=Addressed("b", "bert"))
    (effect,) = node.handle(Received("z", notification, is_straight=True), 0.0)
    assert isinstance(effect, Deliver)
    (effect,) = node.handle(Received("z", Unsubscribe("s"), is_straight=True), 0.0)
    assert isinstance(effect, Reject)
    (effect,) = node.handle(Received("z", notification), 0.0)
    assert isinstance(effect, Reject), "that a broker sent it is the runtime's word"


def test_a_control_message_of_another_strategy_is_refused():
    node = broker("event_forwarding")
    (effect,) = node.handle(Received("a", Closed(3)), 0.0)
    assert isinstance(effect, Reject) and "Closed" in effect.reason


def test_of_two_rendezvous_of_one_type_the_first_name_holds():
    node = broker("rendezvous", rendezvous={"T": "b"})
    assert node.handle(Received("c", Reachable({"T": "c"})), 0.0) == []
    effects = node.handle(Received("c", Reachable({"T": "c", "U": "c"})), 0.0)
    assert effects[0] == Send("a", Reachable({"U": "c"})), "the rest of it is news"
    effects = node.handle(Received("a", Reachable({"T": "a"})), 0.0)
    assert Send("c", Reachable({"T": "a"})) in effects


def test_an_event_of_several_types_has_no_rendezvous_and_goes_everywhere():
    overlay = Overlay("rendezvous", rendezvous={"A": "b", "B": "c"})
    overlay.say("carl", Subscribe(Subscription("s", fyke.parse("type = 'B'"))))
    assert overlay.say("alice", Publish("e", fyke.Event({"type": ["A", "B"]}))) == []
    assert [each.client for each in overlay.trace if isinstance(each, Delivered)] == ["carl"]
    assert overlay.works()
