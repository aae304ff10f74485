"""What strategies and brokers promise each other, whichever strategy it is."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterable
from functools import partial
from random import Random

import msgspec
import pytest

import fyke
from fyke.assembly import CODEC, STRATEGIES, SUMMARIES, Options, assemble, make_broker
from fyke.broker.broker import Broker
from fyke.errors import FykeError
from fyke.events import binary
from fyke.filters.subscription import Subscription
from fyke.matching.matcher import Matcher
from fyke.nodes.codec import Codec
from fyke.nodes.effect import Accept, Deliver, Effect, Send, Store, Wake
from fyke.nodes.inputs import Joined, Left, LinkDown, LinkUp, Received, Unreachable
from fyke.nodes.message import (
    Advertise,
    Control,
    Declare,
    Disconnect,
    Message,
    NodeId,
    Publish,
    Route,
    Subscribe,
    Unsubscribe,
)
from fyke.overlay.generators import line
from fyke.overlay.topology import Topology, TopologyError
from fyke.routing.adaptive.adaptive import KINDS, Adaptive
from fyke.routing.adaptive.epoch import Switch
from fyke.routing.adaptive.weighing import Weighing
from fyke.routing.event_forwarding import EventForwarding
from fyke.routing.forwarding.reach import COORDINATOR, Reach
from fyke.routing.forwarding.row import Synced
from fyke.routing.strategy import (
    EVERYONE,
    NOTHING,
    Decision,
    Strategy,
    Surroundings,
)
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Rejected, Sent
from tests.overlays import Overlay, delivered

# --- a decision is a value ------------------------------------------------------------------------


def test_a_decision_is_a_value_and_says_all_that_is_to_be_done():
    assert msgspec.structs.fields(Decision) != ()
    assert {each.name for each in msgspec.structs.fields(Decision)} == {
        "sends",
        "audience",
        "wakes",
        "records",
        "answers",
    }
    send, wake = Send("a", Disconnect()), Wake(1.0)
    assert Decision([send], "alice", [wake]) == Decision([send], "alice", [wake])
    with pytest.raises(AttributeError):
        NOTHING.sends = [send]  # type: ignore[misc]
    both = Decision([send], EVERYONE).and_then(NOTHING, Decision([send, send], None, [wake]))
    assert both == Decision([send] * 3, EVERYONE, [wake])
    store, accept = Store(("k",), None), Accept("alice", "Subscribe", "s")
    kept = Decision(records=[store]).and_then(Decision(answers=[accept]), Decision([send]))
    assert (kept.records, kept.answers, kept.sends) == ((store,), (accept,), [send])
    assert NOTHING.and_then() is NOTHING
    assert Decision(audience="alice").and_then(Decision([send])).audience == "alice"


def asked() -> list[str]:
    """Return what a broker may ask of a strategy."""
    return [name for name in vars(Strategy) if not name.startswith("_") and name != "needs_tree"]


def test_whatever_a_strategy_is_asked_it_answers_with_a_decision():
    hints = {name: inspect.signature(getattr(Strategy, name)).return_annotation for name in asked()}
    assert {name for name, hint in hints.items() if hint != "Decision"} == {"close"}
    assert Strategy.__abstractmethods__ == {"subscribe", "unsubscribe", "publish"}


def test_what_tests_and_pictures_need_is_not_asked_of_every_strategy():
    gone = {"tables", "count", "command", "delivered", "is_direct", "wake_at"}
    assert not gone & set(dir(Strategy))
    overlay = Overlay("event_forwarding")
    assert overlay.run.node("a").stats().subscriptions == 0
    assert not hasattr(overlay.run.node("a").strategy, "tables")  # type: ignore[attr-defined]


class Wrapped(Strategy):
    """A strategy around another one, which does nothing but hand on what it is asked."""

    def __init__(self, inner: Strategy) -> None:
        for name in asked():
            setattr(self, name, partial(getattr(type(inner), name), inner))

    def subscribe(self, message: Subscribe, came_from: NodeId) -> Decision:
        raise NotImplementedError

    unsubscribe = publish = subscribe  # type: ignore[assignment]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_who_hands_on_decisions_has_forgotten_nothing(strategy: str):
    """An overlay of wrapped strategies leaves the same trace, byte for byte."""
    traces = []
    for is_wrapped in (False, True):
        topology = line(4)
        system = assemble(strategy, topology, engine="scan", rendezvous={"": "b3"}, first="pf1")
        trace: list[Record] = []

        def make(name, neighbours, random, system=system, is_wrapped=is_wrapped) -> Broker:
            broker = system.make(name, neighbours, random)
            if is_wrapped:
                broker._strategy = Wrapped(broker._strategy)  # type: ignore[attr-defined]
            return broker  # type: ignore[return-value]

        run = Simulation(topology, make, codec=system.codec, write=trace.append)
        for at in range(1, 5):
            run.attach(f"c{at}", f"b{at}")
            run.say(f"c{at}", Subscribe(Subscription(f"s{at}", fyke.parse(f"a < {at}"))))
        run.say("c1", Declare("type", "T", {"attributes": {}}), 0.01)
        for number in range(20):
            event = fyke.Event({"type": "T", "a": number % 5})
            run.say(f"c{1 + number % 4}", Publish(f"e{number}", event), 0.02 + number * 0.001)
        if strategy == "adaptive":
            run.say("c1", Switch("rn2"), 0.025)
        run.do(lambda run=run: run.cut("b2", "b3"), 0.03)
        run.do(lambda run=run: run.heal("b2", "b3"), 0.04)
        run.say("c2", Disconnect(), 0.05)
        run.say("c1", Unsubscribe("s1"), 0.06)
        assert run.run()
        traces.append(trace)
    assert traces[0] == traces[1]
    assert delivered(traces[0])


# --- straight messages ----------------------------------------------------------------------------


class Hello(Control, frozen=True):
    """To any broker, by its name."""

    text: str = ""


class Towards(Route, frozen=True):
    hops: int = 0


class Greeting(EventForwarding):
    """Greets whom a client names, straight; remembers who greeted, and who was not there."""

    def __init__(self, here: Surroundings) -> None:
        super().__init__(here)
        self.heard: list[tuple[NodeId, Message]] = []
        self.missed: list[tuple[NodeId, Message]] = []
        self.ticks: list[float] = []

    def advertise(self, message, came_from: NodeId) -> Decision:
        greetings = (
            Hello(message.id),
            Unsubscribe(message.id, Towards(1)),
            Publish(message.id, fyke.Event({"a": 1})),
        )
        wakes = [Wake(self._here.now + 0.5)]
        return Decision([Send(message.id, each, True) for each in greetings], wakes=wakes)

    def straight(self, message: Message, sender: NodeId) -> Decision:
        self.heard.append((sender, message))
        return Decision(audience=EVERYONE)

    def unreachable(self, peer: NodeId, message: Message) -> Decision:
        self.missed.append((peer, message))
        return NOTHING

    def tick(self) -> Decision:
        self.ticks.append(self._here.now)
        return NOTHING


def greeting(is_adaptive: bool) -> tuple[Simulation, dict[str, Greeting], list[Record]]:
    """Return an overlay of greeting brokers, under an adaptive strategy or by themselves."""
    made: dict[str, Greeting] = {}

    def decide(here: Surroundings, random: Random) -> Strategy:
        inner = made[here.me] = Greeting(here)
        if not is_adaptive:
            return inner
        reach = Reach(here.me, [COORDINATOR] if here.me == "b1" else [])
        weighing = Weighing(here.me)
        return Adaptive(here, reach, lambda name: inner, str, "greeting", weighing, random)

    def make(name: NodeId, neighbours: Iterable[NodeId], random: Random) -> Broker:
        return Broker(name, neighbours, decide, random, engine="scan")

    trace: list[Record] = []
    kinds = [*KINDS, Hello, Towards, *(each for each in CODEC._kinds.values())]
    run = Simulation(line(4), make, codec=Codec(kinds), write=trace.append, in_bytes=True)
    for at in range(1, 5):
        run.attach(f"c{at}", f"b{at}")
    run.say("c4", Subscribe(Subscription("s", fyke.parse("a = 1"))))
    assert run.run()
    return run, made, trace


@pytest.mark.parametrize("is_adaptive", [False, True])
def test_messages_of_any_kind_go_straight_to_any_broker(is_adaptive: bool):
    run, made, trace = greeting(is_adaptive)
    run.cut("b2", "b3")
    run.say("c1", Advertise("b4", fyke.parse("true")))
    assert run.run()
    assert len(made["b1"].ticks) == 1
    (hello, unsubscribe, publish) = made["b4"].heard
    assert hello == ("b1", Hello("b4"))
    assert unsubscribe == ("b1", Unsubscribe("b4", Towards(1)))
    assert publish[1].id == "b4"
    assert made["b1"].missed == made["b2"].heard == made["b3"].heard == []
    assert [each.client for each in trace if isinstance(each, Delivered)] == ["c4"]
    assert not [each for each in trace if isinstance(each, Rejected)]


@pytest.mark.parametrize("is_adaptive", [False, True])
@pytest.mark.parametrize("why", ["unknown", "crashed", "parted", "removed", "client"])
def test_a_name_that_cannot_be_reached_is_an_input(is_adaptive: bool, why: str):
    run, made, trace = greeting(is_adaptive)
    name = {"unknown": "nobody", "client": "c4"}.get(why, "b4")
    if why == "crashed":
        run.crash("b4")
    elif why == "parted":
        run.part(["b4"])
    elif why == "removed":
        run.remove("b4")
    run.say("c1", Advertise(name, fyke.parse("true")))
    assert run.run()
    assert [peer for peer, _ in made["b1"].missed] == [name] * 3
    assert [type(message) for _, message in made["b1"].missed] == [Hello, Unsubscribe, Publish]
    assert made["b4"].heard == []
    assert not [each for each in trace if isinstance(each, Rejected)]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_no_broker_minds_that_somebody_cannot_be_reached(strategy: str):
    overlay = Overlay(strategy)
    node = overlay.run.node("a")
    for message in (Publish("e", fyke.Event({"a": 1})), Hello(), Unsubscribe("s")):
        assert node.handle(Unreachable("nobody", message), 0.0) == []


# --- configurations -------------------------------------------------------------------------------

CYCLE = Topology.of([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])


@pytest.mark.parametrize("strategy", [each for each in STRATEGIES if each != SUMMARIES])
def test_who_needs_a_tree_refuses_a_graph_with_cycles_and_says_why(strategy: str):
    assert Options(strategy).needs_tree
    with pytest.raises(TopologyError, match=r"not a tree: there is a cycle, . - . - . - .$"):
        assemble(strategy, CYCLE)


def test_who_needs_no_tree_works_on_a_graph_with_cycles():
    assert not Options("siena_model").needs_tree
    overlay = Overlay("siena_model", CYCLE.links)
    assert overlay.subscribe("ca", "s", "a = 1") == []
    told = [overlay.run.node(broker).stats().rows for broker in "abcd"]
    assert told == [0, 1, 1, 1]
    assert overlay.say("ca", Unsubscribe("s")) == []
    assert [overlay.run.node(broker).stats().rows for broker in "abcd"] == [0, 0, 0, 0]


class Gossiping(EventForwarding):
    """Floods any graph: whoever knows an event keeps it to itself."""

    needs_tree = False

    def __init__(self, here: Surroundings) -> None:
        super().__init__(here)
        self._known: set[str] = set()

    def publish(self, publish: Publish, came_from: NodeId) -> Decision:
        if publish.id in self._known:
            return NOTHING
        self._known.add(publish.id)
        return super().publish(publish, came_from)


def test_a_strategy_of_ones_own_runs_on_any_graph():
    def make(name: NodeId, neighbours: Iterable[NodeId], random: Random) -> Broker:
        return Broker(name, neighbours, lambda here, _: Gossiping(here), random, engine="scan")

    trace: list[Record] = []
    run = Simulation(CYCLE, make, write=trace.append)
    for broker in CYCLE.brokers:
        run.attach(f"c{broker}", broker)
        run.say(f"c{broker}", Subscribe(Subscription("s", fyke.parse("a = 1"))))
    run.say("cd", Publish("e", fyke.Event({"a": 1})))
    assert run.run()
    assert [client for client, _ in delivered(trace)] == ["ca", "cb", "cc", "cd"]


@pytest.mark.parametrize("strategy", [each for each in STRATEGIES if each != SUMMARIES])
def test_a_broker_is_made_from_its_own_configuration(strategy: str):
    """It knows its neighbours before their links are up, and nothing else of the overlay."""
    owns = ["", COORDINATOR]
    broker = make_broker("b", ["a", "c"], Options(strategy, engine="scan"), Random(1), owns=owns)
    broker.handle(LinkUp("bert", is_client=True), 0.0)
    wanted = Subscribe(Subscription("s", fyke.parse("a = 1")))
    effects = broker.handle(Received("bert", wanted), 0.0)
    assert not [each for each in effects if isinstance(each, Send)], "no link is up"
    publish = Publish("e", fyke.Event({"a": 1}))
    effects = broker.handle(Received("bert", publish), 0.0)
    assert [each.client for each in effects if isinstance(each, Deliver)] == ["bert"]
    assert not [each for each in effects if isinstance(each, Send)]

    def sent(effects: list[Effect]) -> set[NodeId]:
        return {each.to for each in effects if isinstance(each, Send)}

    assert sent(broker.handle(LinkUp("c"), 0.0)) <= {"c"}
    effects = broker.handle(Received("bert", publish), 0.0)
    events = {each.to for each in effects if isinstance(each, Send) and each.message.id == "e"}  # type: ignore[attr-defined]
    assert events == {"c"}, "what c wants is not known yet, so it gets all"
    broker.handle(LinkDown("c"), 0.0)
    assert sent(broker.handle(Received("bert", publish), 0.0)) == set()


@pytest.mark.parametrize("strategy", ["pf8", "pf1", "rn8", "rn2"])
def test_a_neighbour_that_joined_is_one_before_its_link_is_up(strategy: str):
    """Nothing is known of what is wanted behind it, so nobody is told that all is."""
    broker = make_broker("b", ["a"], Options(strategy, engine="scan"), Random(1), owns=[""])

    def told() -> bool:
        broker.handle(LinkDown("a"), 0.0)
        effects = broker.handle(LinkUp("a"), 0.0)
        return any(isinstance(each, Send) and isinstance(each.message, Synced) for each in effects)

    assert told()
    broker.handle(Joined("z"), 0.0)
    assert not told()
    broker.handle(LinkUp("z"), 0.0)
    assert not told()
    broker.handle(Left("z"), 0.0)
    assert told()


def test_options_that_cannot_be_are_refused():
    with pytest.raises(FykeError, match="unknown strategy 'gossip'"):
        Options("gossip")
    with pytest.raises(FykeError, match="rows_max is 0"):
        Options("adaptive", rows_max=0)
    with pytest.raises(FykeError, match="needs a name"):
        make_broker("", [], Options("ef"), Random(1))


# --- work -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_bytes", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_event_is_encoded_once_however_far_it_goes(strategy: str, in_bytes: bool, monkeypatch):
    overlay = Overlay(strategy, [(f"b{at}", f"b{at + 1}") for at in range(9)], in_bytes=in_bytes)
    for at in (0, 4, 9):
        assert overlay.subscribe(f"cb{at}", f"s{at}", "a = 1") == []
    encoded: Counter[str] = Counter()
    before = binary._encoded

    def counted(event: fyke.Event) -> bytes:
        encoded[str(event["n"])] += 1
        return before(event)

    monkeypatch.setattr(binary, "_encoded", counted)
    for number in range(6):
        got = overlay.publish(f"cb{number % 2 * 9}", {"a": 1, "n": number})
        assert len(got) == 3
    assert encoded == {str(number): 1 for number in range(6)}


@pytest.mark.parametrize("in_bytes", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_broker_searches_once_for_an_event(strategy: str, in_bytes: bool, monkeypatch):
    overlay = Overlay(strategy, in_bytes=in_bytes, rendezvous={"": "c"})
    for broker in "abcd":
        assert overlay.subscribe(f"c{broker}", f"s{broker}", "a < 5") == []
        assert overlay.subscribe(f"c{broker}", f"t{broker}", f"a = {ord(broker)}") == []
    searched: Counter[tuple[int, object]] = Counter()
    match = Matcher.match

    def counted(self: Matcher, event: fyke.Event) -> list[str]:
        searched[id(self), event["n"]] += 1
        return match(self, event)

    monkeypatch.setattr(Matcher, "match", counted)
    for number in range(16):
        if strategy == "adaptive" and number in (4, 8):
            overlay.run.say("ca", Switch("pf8" if number == 4 else "rn8"))
        overlay.run.say(f"c{'abcd'[number % 4]}", Publish("", fyke.Event({"a": 1, "n": number})))
    overlay.settle()
    got = [each for each in overlay.trace if isinstance(each, Delivered)]
    assert len(got) == 16 * 4
    assert set(searched.values()) == {1}
    assert len({matcher for matcher, _ in searched}) == 4, "all filters of a broker are in one"
    matched = [overlay.run.node(broker).stats().matched for broker in "abcd"]
    assert matched == [sum(1 for who, _ in searched if who == each) for each in _matchers(overlay)]


def _matchers(overlay: Overlay) -> list[int]:
    return [id(overlay.run.node(broker)._here.interests._matcher) for broker in "abcd"]  # type: ignore[attr-defined]


def test_the_size_of_a_message_costs_no_encoding(monkeypatch):
    overlay = Overlay("subscription_forwarding")
    assert overlay.subscribe("cd", "s", "a = 1") == []

    def refused(self, message) -> bytes:
        raise AssertionError("encoded for its size")

    monkeypatch.setattr(Codec, "encode", refused)
    assert overlay.publish("ca", {"a": 1}) == [("cd", ("s",))]
    sent = [each.bytes for each in overlay.trace if isinstance(each, Sent)]
    assert min(sent) > 0
