"""Cuts, partitions, crashes and restarts, of real brokers; and schedules of them."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest

import fyke
from fyke.assembly import assemble
from fyke.errors import FykeError
from fyke.filters.subscription import Subscription
from fyke.nodes.effect import Effect, Send, Store, Wake
from fyke.nodes.inputs import Input, LinkUp, Received, Recovered, Stored, Tick
from fyke.nodes.message import Disconnect, Message, Publish, Subscribe, Unsubscribe
from fyke.nodes.node import Stats
from fyke.overlay.generators import line
from fyke.overlay.topology import TopologyError
from fyke.simulation.faults import Fault, check, parse, schedule
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Happened, Lost, Record, Rejected, Sent


class Overlay:
    """Three brokers in a row, a client at each end: alice publishes, carl wants everything."""

    def __init__(self, **network: float) -> None:
        self.trace: list[Record] = []
        topology = line(3)
        system = assemble("event_forwarding", topology, engine="scan")
        self.run = Simulation(
            topology,
            system.make,
            network=Network(**network),
            write=self.trace.append,
            codec=system.codec,
        )
        self.run.attach("alice", "b1")
        self.run.attach("carl", "b3")
        self.run.say("carl", Subscribe(Subscription("all", fyke.parse("exists n"))))
        assert self.run.run()

    def publish(self, *numbers: int) -> None:
        for number in numbers:
            self.run.say("alice", Publish(f"e{number}", fyke.Event({"n": number})))

    def got(self) -> list[str]:
        return [each.id for each in self.trace if isinstance(each, Delivered)]

    def lost(self) -> list[tuple[str, str, str]]:
        return [(each.at, each.to, each.id) for each in self.trace if isinstance(each, Lost)]

    def happened(self) -> list[tuple[str, ...]]:
        every = [each for each in self.trace if isinstance(each, Happened)]
        return [
            (each.what, each.at, each.to) if each.to else (each.what, each.at) for each in every
        ]


def test_what_is_on_its_way_over_a_link_that_breaks_is_lost():
    overlay = Overlay(latency_s=1)
    overlay.publish(1)
    overlay.run.run(until=overlay.run.now + 1.5)
    overlay.run.cut("b3", "b2")
    overlay.run.heal("b2", "b3")
    overlay.publish(2)
    assert overlay.run.run()
    assert overlay.lost() == [("b2", "b3", "e1")]
    assert overlay.got() == ["e2"]


def test_a_crashed_broker_comes_back_with_what_was_safe():
    overlay = Overlay()
    overlay.run.crash("b3")
    with pytest.raises(FykeError, match="'b3' has crashed"):
        overlay.run.node("b3")
    overlay.publish(1)
    overlay.run.say("carl", Unsubscribe("all"))
    assert overlay.run.run()
    assert overlay.got() == []
    assert ("carl", "b3", "all") in overlay.lost(), "nobody was there to hear it"
    overlay.run.restart("b3")
    overlay.publish(2)
    assert overlay.run.run()
    assert overlay.got() == ["e2"]


def test_what_was_not_stored_in_time_is_forgotten():
    overlay = Overlay(store_s=5)
    overlay.run.say("carl", Subscribe(Subscription("late", fyke.parse("n > 0"))))
    overlay.run.run(until=overlay.run.now + 4)
    overlay.run.crash("b3")
    overlay.run.restart("b3")
    overlay.publish(1)
    assert overlay.run.run()
    (delivered,) = [each for each in overlay.trace if isinstance(each, Delivered)]
    assert delivered.subscriptions == ("all",)


def test_a_link_that_was_cut_stays_cut_through_a_restart():
    overlay = Overlay()
    overlay.run.cut("b2", "b3")
    overlay.run.crash("b2")
    overlay.run.restart("b2")
    overlay.publish(1)
    assert overlay.run.run()
    assert overlay.got() == []
    overlay.run.crash("b3")
    overlay.run.heal("b2", "b3")
    assert overlay.happened()[-1] == ("crashed", "b3"), "a link needs both its ends"
    overlay.run.restart("b3")
    assert overlay.happened()[-2:] == [("restarted", "b3"), ("healed", "b3", "b2")]
    overlay.publish(2)
    assert overlay.run.run()
    assert overlay.got() == ["e2"]


def test_a_partition_cuts_all_links_between_its_sides():
    overlay = Overlay()
    overlay.run.part(["b2"])
    assert overlay.happened() == [("cut", "b1", "b2"), ("cut", "b2", "b3")]
    overlay.run.part(["b2"])
    overlay.run.cut("b1", "b2")
    assert len(overlay.happened()) == 2, "what is cut is not cut again"
    overlay.run.join(["b2"])
    overlay.run.heal("b1", "b2")
    assert overlay.happened()[2:] == [("healed", "b2", "b3"), ("healed", "b1", "b2")]
    overlay.publish(1)
    assert overlay.run.run()
    assert overlay.got() == ["e1"]


class Caller:
    """Sends to any node by name, and stores what it is told; a node that is no broker."""

    def __init__(self, me: str, neighbours: Iterable[str], random: Random) -> None:
        self.me, self.heard, self.life = me, [""], random.random()
        self.recovered: dict[str, Message] = {}
        self.safe: list[str] = []
        self.ticks: list[float] = []

    def handle(self, input: Input, now: float) -> list[Effect]:
        match input:
            case Received(sender="user", message=Unsubscribe(id=to)):
                return [
                    Send(to, Unsubscribe(self.me), is_straight=True),
                    Store(("called",), input.message),
                    Wake(now + 2),
                ]
            case Received(sender=sender):
                self.heard.append(sender)
            case Recovered(records):
                self.recovered = records
            case Stored(key):
                self.safe.append(key)
            case Tick():
                self.ticks.append(now)
        return []

    def stats(self) -> Stats:
        return Stats()


def calls(**network: float) -> tuple[Simulation, list[Record]]:
    trace: list[Record] = []
    overlay = Simulation(line(3), Caller, network=Network(**network), write=trace.append)
    overlay.attach("user", "b1")
    return overlay, trace


def test_nodes_that_are_no_neighbours_reach_each_other_unless_parted():
    overlay, trace = calls()
    call = Unsubscribe("b3")
    overlay.cut("b1", "b2")
    overlay.say("user", call)
    overlay.run()
    assert overlay.node("b3").heard[1:] == ["b1"], "the way does not lead over links"
    overlay.part(["b1", "b2"])
    overlay.say("user", call)
    overlay.run()
    assert [(each.at, each.to) for each in trace if isinstance(each, Lost)] == [("b1", "b3")]
    overlay.join(["b2", "b1"])
    overlay.say("user", call)
    overlay.run()
    assert overlay.node("b3").heard[1:] == ["b1", "b1"]


def test_a_direct_message_to_a_node_that_has_crashed_is_lost():
    overlay, trace = calls(latency_s=1)
    overlay.say("user", Unsubscribe("b3"))
    overlay.run(until=0.5)
    overlay.crash("b3")
    overlay.say("user", Unsubscribe("b3"))
    overlay.run(until=0.6)
    overlay.restart("b3")
    overlay.run()
    assert overlay.node("b3").heard[1:] == []
    assert len([each for each in trace if isinstance(each, Lost)]) == 2


def test_another_life_has_other_numbers_no_old_ticks_and_only_what_was_safe():
    overlay, _ = calls(store_s=1)
    first = overlay.node("b1")
    overlay.say("user", Unsubscribe("b2"))
    overlay.run(until=1.5)
    assert first.safe == [("called",)]
    overlay.crash("b1")
    overlay.restart("b1")
    second = overlay.node("b1")
    assert overlay.run(until=10)
    assert overlay.now == 10
    assert first.life != second.life
    assert first.ticks == second.ticks == []
    assert second.recovered == {("called",): Unsubscribe("b2")}


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        (lambda run: run.cut("b1", "b3"), "no link between 'b1' and 'b3'"),
        (lambda run: run.heal("b1", "z"), "no link between 'b1' and 'z'"),
        (lambda run: run.crash("z"), "the node 'z' is unknown"),
        (lambda run: run.restart("b1"), "'b1' has not crashed"),
        (lambda run: run.restart("z"), "'z' has not crashed"),
        (lambda run: run.part(["b1", "z"]), "unknown broker 'z'"),
        (lambda run: run.attach("alice", "b2"), "there is a node 'alice' already"),
        (lambda run: run.attach("b2", "b2"), "there is a node 'b2' already"),
        (lambda run: run.attach("dora", "z"), "the node 'z' is unknown"),
        (lambda run: run.say("dora", Unsubscribe("x")), "unknown client 'dora'"),
        (lambda run: run.do(print, float("nan")), "at is nan; expected a time"),
    ],
)
def test_what_cannot_happen_is_refused_and_harms_nobody(action, problem: str):
    overlay = Overlay()
    with pytest.raises(FykeError, match=problem):
        action(overlay.run)
    overlay.publish(1)
    assert overlay.run.run()
    assert overlay.got() == ["e1"]


# --- schedules ------------------------------------------------------------------------------------

FILE = """
faults = [
    { at = 2.0, heal = ["b1", "b2"] },
    { at = 0.5, cut = ["b2", "b1"] },
    { at = 3, crash = ["b2", "b3"] },
    { at = 4, restart = ["b3", "b2"] },
    { at = 5, part = ["b1"] },
    { at = 6, join = ["b1"] },
]
"""


def test_a_schedule_is_kept():
    overlay = Overlay()
    faults = parse(FILE)
    check(faults, line(3))
    start = overlay.run.now
    schedule(overlay.run, faults)
    for number, at in enumerate((0.1, 1.0, 2.5, 3.5, 4.5, 5.5, 6.5)):
        overlay.run.run(until=start + at)
        overlay.publish(number)
    assert overlay.run.run()
    assert overlay.got() == ["e0", "e2", "e4", "e6"]
    assert [fault.at for fault in faults] == [0.5, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("fault = []", "fault is unknown; expected faults"),
        ("faults = 1", "faults is 1; expected a list"),
        ("faults = [1]", r"faults\[0\] is 1; expected a table with at and one of cut, heal, crash"),
        ("faults = [{cut = ['a', 'b']}]", r"faults\[0\].at is missing"),
        ("faults = [{at = -1, crash = ['a']}]", r"faults\[0\].at is -1; expected a number from 0"),
        ("faults = [{at = 1}]", r"faults\[0\] has nothing; expected one of cut"),
        (
            "faults = [{at = 1, cut = ['a', 'b'], heal = ['a', 'b']}]",
            r"faults\[0\] has cut and heal",
        ),
        ("faults = [{at = 1, crash = 'a'}]", r"faults\[0\].crash is 'a'; expected names"),
        ("faults = [{at = 1, crash = []}]", r"faults\[0\].crash is \[\]; expected names"),
        ("faults = [{at = 1, crash = ['a'], why = 2}]", r"faults\[0\].why is unknown; expected at"),
    ],
)
def test_a_mistake_in_a_schedule_is_named(text: str, problem: str):
    with pytest.raises(FykeError, match=rf"^f.toml: {problem}"):
        parse(text, "f.toml")


@pytest.mark.parametrize(
    ("faults", "problem"),
    [
        ([Fault(1, "cut", ("b1", "b3"))], "cut of b1, b3 at 1 s: expected two brokers that are"),
        ([Fault(1, "cut", ("b1",))], "expected two brokers that are linked"),
        ([Fault(1, "cut", ("b1", "b2"))] * 2, "it is broken already"),
        ([Fault(1, "heal", ("b1", "b2"))], "there was no cut before"),
        ([Fault(1, "crash", ("b1",)), Fault(2, "crash", ("b1",))], "crash of b1 at 2 s: it is"),
        ([Fault(1, "restart", ("b1",))], "there was no crash before"),
        ([Fault(1, "join", ("b1",))], "there was no part before"),
        ([Fault(1, "part", ("b1", "b2", "b3"))], "nobody is left on the other side"),
        ([Fault(1, "crash", ("b9",))], "unknown broker 'b9'"),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused(faults: list[Fault], problem: str):
    with pytest.raises((FykeError, TopologyError), match=problem):
        check(faults, line(3))


# --- partitions, clients and ticks ----------------------------------------------------------------


def up(overlay: Overlay) -> list[str]:
    """Return which of the three links of a row of four works, by sending over them."""
    before = len(overlay.trace)
    for at in range(1, 5):
        overlay.run.say(f"user {at}", Publish(f"from b{at}", fyke.Event({"n": 1})))
    overlay.run.run()
    got = {(each.at, each.id) for each in overlay.trace[before:] if isinstance(each, Delivered)}
    ends = [(f"b{at}", f"b{at + 1}") for at in range(1, 4)]
    return [f"{a}-{b}" for a, b in ends if (b, f"from {a}") in got and (a, f"from {b}") in got]


class Row(Overlay):
    """Four brokers in a row, and a client at each, which wants everything."""

    def __init__(self, strategy: str = "event_forwarding") -> None:
        self.trace: list[Record] = []
        topology = line(4)
        system = assemble(strategy, topology, engine="scan")
        self.run = Simulation(topology, system.make, write=self.trace.append, codec=system.codec)
        for at in range(1, 5):
            self.run.attach(f"user {at}", f"b{at}")
            self.run.say(f"user {at}", Subscribe(Subscription(f"s{at}", fyke.parse("exists n"))))
        assert self.run.run()


@pytest.mark.parametrize("seed", range(30))
def test_a_link_works_exactly_if_nothing_keeps_it_down(seed: int):
    """Whatever is cut, parted and stopped, and in whatever order that ends."""
    draw, overlay = Random(seed), Row()
    run, links = overlay.run, [(f"b{at}", f"b{at + 1}") for at in range(1, 4)]
    cut: set[tuple[str, str]] = set()
    parted: set[frozenset[str]] = set()
    down: set[str] = set()
    for _ in range(12):
        match draw.randrange(3):
            case 0:
                link = draw.choice(links)
                (run.heal if link in cut else run.cut)(*link)
                cut ^= {link}
            case 1:
                side = frozenset(draw.sample(["b1", "b2", "b3", "b4"], draw.randrange(1, 3)))
                (run.join if side in parted else run.part)(sorted(side))
                parted ^= {side}
            case _:
                broker = f"b{draw.randrange(1, 5)}"
                (run.restart if broker in down else run.crash)(broker)
                down ^= {broker}
        right = [
            f"{a}-{b}"
            for a, b in links
            if (a, b) not in cut
            and not {a, b} & down
            and not any((a in side) != (b in side) for side in parted)
        ]
        assert up(overlay) == right, (cut, parted, down)


def test_who_is_parted_stays_so_when_another_comes_back():
    overlay = Row()
    overlay.run.part(["b1"])
    overlay.run.part(["b2"])
    overlay.run.join(["b1"])
    assert up(overlay) == ["b3-b4"]
    overlay.run.join(["b2"])
    assert up(overlay) == ["b1-b2", "b2-b3", "b3-b4"]


@pytest.mark.parametrize("strategy", ["event_forwarding", "subscription_forwarding", "pf1"])
def test_who_has_left_does_not_come_back_with_its_broker(strategy: str):
    overlay = Row(strategy)
    overlay.run.say("user 2", Disconnect())
    overlay.run.run()
    overlay.run.crash("b2")
    overlay.run.restart("b2")
    overlay.run.run()
    before = len(overlay.trace)
    overlay.run.say("user 2", Publish("e", fyke.Event({"n": 1})))
    overlay.run.run()
    after = overlay.trace[before:]
    assert [each.to for each in after if isinstance(each, Rejected)] == ["user 2"]
    assert not [each for each in after if isinstance(each, Delivered | Sent)]
    overlay.run.attach("user 2", "b2")
    overlay.run.say("user 2", Publish("again", fyke.Event({"n": 1})))
    overlay.run.run()
    got = [each.client for each in overlay.trace if isinstance(each, Delivered)]
    assert sorted(got[-3:]) == ["user 1", "user 3", "user 4"], "it may come again, without wishes"


class Ticking:
    """Is woken every second, and says so each time; `is_background` is whether that matters."""

    is_background = True

    def __init__(self, me: str, neighbours: Iterable[str], random: Random) -> None:
        self.ticks: list[float] = []

    def handle(self, input: Input, now: float) -> list[Effect]:
        match input:
            case LinkUp(is_client=False):
                return [Wake(now + 1, self.is_background)]
            case Tick():
                self.ticks.append(now)
                assert len(self.ticks) < 50, "nobody waits for it"
                return [Wake(now + 1, self.is_background)]
            case Received(message=Unsubscribe()):
                return [Wake(now + 2.5)]
        return []

    def stats(self) -> Stats:
        return Stats()


def test_an_overlay_is_quiet_when_only_background_ticks_are_left():
    overlay = Simulation(line(2), Ticking)
    overlay.attach("user", "b1")
    assert overlay.run(), "a periodic tick keeps nobody waiting"
    assert (overlay.now, overlay.node("b1").ticks) == (0.0, [])
    overlay.say("user", Unsubscribe("x"))
    assert overlay.run(), "another tick does"
    assert overlay.now == 2.5
    assert overlay.node("b1").ticks == [1.0, 2.0, 2.5]
    assert overlay.run(until=10)
    assert overlay.now == 10
    assert overlay.node("b2").ticks == [float(at) for at in range(1, 11)]
    overlay.crash("b1")
    assert overlay.run(until=12)
    assert overlay.run()
    assert overlay.now == 12


def test_a_tick_that_is_waited_for_goes_on_and_on():
    class Waited(Ticking):
        is_background = False

    overlay = Simulation(line(2), Waited)
    assert not overlay.run(until=5)
    assert overlay.node("b1").ticks == [1.0, 2.0, 3.0, 4.0, 5.0]
