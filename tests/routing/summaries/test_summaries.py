"""The strategy `summaries`: the paper's example message by message, and the laws."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from random import Random

import pytest

from fyke.assembly import CODEC, Options, assemble, make_broker
from fyke.broker.broker import Broker
from fyke.events.event import Event
from fyke.filters.language.parser import parse_text
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe, Unsubscribe
from fyke.overlay.named import named
from fyke.overlay.papers import sum_figure_7
from fyke.overlay.topology import Topology
from fyke.routing.summaries.contributions import Contribution
from fyke.routing.summaries.parameters import LEAST_LOADED, NEAREST, SummaryParameters
from fyke.routing.summaries.summaries import Summaries
from fyke.simulation.simulation import Simulation
from fyke.summaries.summary import Summary
from fyke.testing.stories.overlays import Make
from fyke.testing.stories.tables import broker_of
from fyke.testing.strategy import check_strategy
from fyke.traces.trace import Delivered, Record, Sent

X8 = {
    **{1: {1}, 2: {1, 2}, 3: {3}, 4: {4}, 5: {1, 2, 3, 4, 5, 6}, 6: {6}, 7: {7}},
    **{8: {7, 8, 9, 10}, 9: {9}, 10: {10}, 11: {11, 12, 13}, 12: {12}, 13: {13}},
}


def overlay_of(strategy: SummaryParameters | None = None) -> tuple[Simulation, list[Record]]:
    """Return figure 7 with a client at each broker, of which those of 4, 8 and 13 subscribe."""
    topology, trace = sum_figure_7(), []
    system = assemble("summaries", topology, summaries=strategy)
    overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
    for broker in topology.brokers:
        overlay.attach(f"c{broker}", broker)
    for broker in ("B4", "B8", "B13"):
        subscription = Subscription("s", parse_text("price > 8.30 and price < 8.70"))
        overlay.say(f"c{broker}", Subscribe(subscription))
    overlay.run()
    return overlay, trace


def merged(overlay: Simulation, broker: str) -> set[int]:
    strategy = broker_of(overlay, broker).strategy
    assert isinstance(strategy, Summaries)
    return {int(each[1:]) for each in strategy.merged_brokers()}


def test_x8_propagation() -> None:
    overlay, trace = overlay_of()
    sent = [
        (each.at, each.to)
        for each in trace
        if isinstance(each, Sent) and each.kind == "Contribution"
    ]
    assert sent == [
        *(("B1", "B2"), ("B3", "B5"), ("B4", "B5"), ("B6", "B5"), ("B9", "B8")),
        *(("B12", "B11"), ("B13", "B11"), ("B2", "B5"), ("B7", "B8"), ("B10", "B8")),
    ]
    assert {broker: merged(overlay, f"B{broker}") for broker in X8} == X8


def test_x9_routing() -> None:
    overlay, trace = overlay_of()
    trace.clear()
    overlay.say("cB1", Publish("e", Event({"price": 8.40})))
    overlay.run()
    sent = [(each.at, each.to) for each in trace if isinstance(each, Sent)]
    assert sent == [("B1", "B5"), ("B5", "B4"), ("B5", "B8"), ("B8", "B11"), ("B11", "B13")]
    got = {each.client for each in trace if isinstance(each, Delivered)}
    assert got == {"cB4", "cB8", "cB13"}


def make(parameters: SummaryParameters) -> Make:
    return lambda topology, owners, engine: assemble(
        "summaries", topology, engine=engine, summaries=parameters
    )


PERIOD_S = 0.05
PARAMETERS = {
    "coarse": SummaryParameters(period_s=PERIOD_S),
    "exact, nearest": SummaryParameters(mode="exact", period_s=PERIOD_S, choice=NEAREST),
    "budget, least loaded": SummaryParameters(
        budget=700, period_s=PERIOD_S, choice=LEAST_LOADED, degree_max=2
    ),
    "two neighbours, subsuming": SummaryParameters(
        period_s=PERIOD_S, neighbours=2, subsumes=True, budget=60
    ),
}
SETTLES_S = 8 * PERIOD_S
"""A change may travel over as many links as there are brokers, one a period at worst."""


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("graphs", [False, True])
def test_laws_without_faults(
    name: str, graphs: bool, seeds: Callable[[int], Iterator[int]]
) -> None:
    checked = check_strategy(
        make(PARAMETERS[name]),
        seeds=seeds(12),
        graphs=graphs,
        types=graphs,
        settles_s=SETTLES_S,
    )
    assert checked["reached"] > 50


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("graphs", [False, True])
def test_laws_with_faults(name: str, graphs: bool, seeds: Callable[[int], Iterator[int]]) -> None:
    checked = check_strategy(
        make(PARAMETERS[name]),
        seeds=seeds(12 if graphs else 28),
        graphs=graphs,
        faults=True,
        types=not graphs,
        settles_s=SETTLES_S,
    )
    assert checked["reached amid faults"] > 5
    assert checked["tables"] > 5


def everybody(overlay: Simulation, brokers: Iterable[str], at: str) -> set[str]:
    """Return the clients that get an event which all of them want."""
    got: list[Record] = []
    overlay._write = got.append
    overlay.say(f"c{at}", Publish(f"e{at}{overlay.now}", Event({"a": 1})))
    overlay.run()
    found = [each.client for each in got if isinstance(each, Delivered)]
    assert len(found) == len(set(found))
    return set(found)


def joined(overlay: Simulation, broker: str) -> None:
    overlay.attach(f"c{broker}", broker)
    overlay.say(f"c{broker}", Subscribe(Subscription("s", parse_text("a = 1"))))


def test_brokers_that_join_and_leave_and_tell_each_other_who_is_there() -> None:
    """Nobody is configured: brokers learn the overlay from each other (SUM-35)."""
    topology = Topology.of([("a", "b"), ("b", "c"), ("c", "a")])
    options = Options("summaries", engine="scan", summaries=SummaryParameters(period_s=PERIOD_S))

    def node(name: str, neighbours: Iterable[str], random: Random) -> Broker:
        return make_broker(name, neighbours, options, random)

    overlay = Simulation(topology, node, codec=CODEC)
    for broker in "abc":
        joined(overlay, broker)
    overlay.run()
    assert everybody(overlay, "abc", "a") == {"ca", "cb", "cc"}
    overlay.add("d", ["c"])
    joined(overlay, "d")
    overlay.add("e", ["d", "a"])
    joined(overlay, "e")
    overlay.run()
    for at in "abcde":
        assert everybody(overlay, "abcde", at) == {"ca", "cb", "cc", "cd", "ce"}
    overlay.remove("a")
    overlay.run()
    for at in "bcde":
        assert everybody(overlay, "bcde", at) == {"cb", "cc", "cd", "ce"}
    overlay.part(["d", "e"])
    assert everybody(overlay, "bc", "b") == {"cb", "cc"}
    overlay.join(["d", "e"])
    overlay.run()
    assert everybody(overlay, "bcde", "c") == {"cb", "cc", "cd", "ce"}


def test_a_settled_overlay_is_quiet_and_only_what_changed_travels() -> None:
    overlay, trace = overlay_of()
    trace.clear()
    overlay.run(until=overlay.now + 20)
    assert not trace
    overlay.say("cB1", Subscribe(Subscription("new", parse_text("price = 1"))))
    overlay.run()
    sent = [each for each in trace if isinstance(each, Sent)]
    assert [(each.at, each.to) for each in sent] == [("B1", "B2"), ("B2", "B5")]
    overlay.say("cB1", Unsubscribe("new"))
    trace.clear()
    overlay.run()
    assert [each.to for each in trace if isinstance(each, Sent)] == ["B2", "B5"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"added": b"FYKS nothing"}, "checksum|version"),
        ({"owners": (("nobody", -1, 5, ""),)}, "unknown broker 'nobody'"),
        ({"owners": (("B5", -1, 5, ""),)}, "two brokers call themselves 'B5'"),
        ({"owners": (("B4", 77, 78, ""),)}, "held as of another version"),
        (
            {"owners": (("B4", -1, 1 << 62, ""),), "removed": {"B4": (1 << 60,)}},
            "no number 1152921504606846976",
        ),
        ({"owners": (("B4", -1, 1 << 62, ""),), "removed": {"B4": (-1,)}}, "no number -1"),
    ],
)
def test_what_does_not_fit_leaves_the_last_good_state_and_is_asked_for_again(
    changed: dict[str, object], sentence: str
) -> None:
    overlay, trace = overlay_of()
    good = Summary("coarse")
    name, _, version, _ = changed.get("owners", (("B4", -1, 1, ""),))[0]  # type: ignore[index]
    good.claim(name, version)
    parts = {"owners": ((name, -1, version, ""),), "added": good.to_bytes(), **changed}
    message = Contribution(forgotten=(), **{"removed": {}, **parts})  # type: ignore[arg-type]
    trace.clear()
    overlay.arrive(CODEC.encode(message), "B4", "B5")
    assert [each.kind for each in trace if isinstance(each, Sent)] == ["Held"]
    strategy = broker_of(overlay, "B5").strategy
    assert isinstance(strategy, Summaries)
    assert re.search(sentence, strategy.refused)
    overlay.run()
    assert merged(overlay, "B5") == X8[5]
    overlay.say("cB1", Publish("e", Event({"price": 8.40})))
    trace.clear()
    overlay.run()
    got = {each.client for each in trace if isinstance(each, Delivered)}
    assert got == {"cB4", "cB8", "cB13"}


def test_a_version_that_goes_back_is_asked_for_again() -> None:
    overlay, trace = overlay_of()
    strategy = broker_of(overlay, "B5").strategy
    assert isinstance(strategy, Summaries)
    version = strategy._held.versions["B4"]
    older = Summary("coarse")
    older.claim("B4", version - 1)
    message = Contribution((("B4", -1, version - 1, ""),), {}, (), older.to_bytes())
    trace.clear()
    overlay.arrive(CODEC.encode(message), "B4", "B5")
    assert [each.kind for each in trace if isinstance(each, Sent)] == ["Held"]
    assert "the version of 'B4' goes back" in strategy.refused
    assert strategy._held.versions["B4"] == version
    assert merged(overlay, "B5") == X8[5]


def test_a_contribution_of_another_schema_is_not_counted_in() -> None:
    """What B4 says goes by an order of values that B5 does not know: the search visits B4."""
    overlay, trace = overlay_of()
    strategy = broker_of(overlay, "B5").strategy
    assert isinstance(strategy, Summaries)
    version = strategy._held.versions["B4"]
    newer = Summary("coarse")
    newer.claim("B4", version + 1)
    message = Contribution((("B4", -1, version + 1, "newer"),), {}, (), newer.to_bytes())
    overlay.arrive(CODEC.encode(message), "B4", "B5")
    assert merged(overlay, "B5") == X8[5] - {4}
    trace.clear()
    overlay.say("cB1", Publish("e", Event({"price": 8.40})))
    overlay.run()
    got = [each.client for each in trace if isinstance(each, Delivered)]
    assert sorted(got) == ["cB13", "cB4", "cB8"]


def test_two_neighbours_merge_more_and_search_less() -> None:
    """On cwix, ten more messages of summaries save searches (section 4.1: "neighbor(s)")."""
    topology, sent = named("cwix"), {}
    for neighbours in (1, 2):
        trace: list[Record] = []
        parameters = SummaryParameters(neighbours=neighbours)
        system = assemble("summaries", topology, engine="scan", summaries=parameters)
        overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
        for broker in topology.brokers:
            joined(overlay, broker)
        overlay.run()
        told = sum(isinstance(each, Sent) and each.kind == "Contribution" for each in trace)
        trace.clear()
        for broker in topology.brokers:
            overlay.say(f"c{broker}", Publish(f"e{broker}", Event({"a": 2})))  # nobody wants it
        overlay.run()
        sent[neighbours] = told, sum(isinstance(each, Sent) for each in trace) / 24
        wanted = {f"c{each}" for each in topology.brokers}
        assert everybody(overlay, topology.brokers, "B1") == wanted
    assert sent == {1: (19, 6.5), 2: (29, pytest.approx(4.79, abs=0.01))}


def test_what_another_own_subscription_covers_is_left_out_of_the_summary() -> None:
    """SUM-F3: only the wider one is told; when it goes, the narrower one speaks for itself."""
    topology = Topology.of([("a", "b"), ("b", "c")])
    parameters = SummaryParameters(period_s=PERIOD_S, subsumes=True)
    trace: list[Record] = []
    system = assemble("summaries", topology, engine="scan", summaries=parameters)
    overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
    for client in ("one", "two"):
        overlay.attach(client, "a")
    overlay.attach("cc", "c")
    overlay.say("one", Subscribe(Subscription("wide", parse_text("x < 10"))))
    overlay.say("two", Subscribe(Subscription("narrow", parse_text("x < 5"))))
    overlay.run()
    assert _delivered(overlay, trace, {"x": 3}) == {"one", "two"}
    held = broker_of(overlay, "b").strategy
    assert isinstance(held, Summaries)
    assert len(held.tables()["heard"]["a"]) == 1
    overlay.say("one", Unsubscribe("wide"))
    overlay.run()
    assert _delivered(overlay, trace, {"x": 3}) == {"two"}
    assert _delivered(overlay, trace, {"x": 7}) == set()
    assert len(held.tables()["heard"]["a"]) == 1


def _delivered(overlay: Simulation, trace: list[Record], event: dict[str, int]) -> set[str]:
    trace.clear()
    overlay.say("cc", Publish(f"e{overlay.now}", Event(event)))
    overlay.run()
    return {each.client for each in trace if isinstance(each, Delivered)}


def test_virtual_degrees_spread_the_load() -> None:
    """On cwix the busiest broker handles fewer messages if no degree looks above 3 (SUM-F1)."""
    topology, busiest = named("cwix"), {}
    for cap in (None, 3):
        trace: list[Record] = []
        parameters = SummaryParameters(degree_max=cap)
        system = assemble("summaries", topology, engine="scan", summaries=parameters)
        overlay = Simulation(topology, system.make, codec=system.codec, write=trace.append)
        for broker in topology.brokers:
            joined(overlay, broker)
        overlay.run()
        trace.clear()
        for broker in topology.brokers:
            overlay.say(f"c{broker}", Publish(f"e{broker}", Event({"a": 1})))
        overlay.run()
        sent = [each for each in trace if isinstance(each, Sent)]
        busiest[cap] = max(Counter(end for each in sent for end in (each.at, each.to)).values())
    assert busiest[3] < busiest[None]
