"""Deployments: closed forms of load and duplication, counted steps."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction

import pytest

from fyke.errors import FykeError
from fyke.experiments.das.deployment import BUS, Deployment, network
from fyke.experiments.das.metering import Tally
from fyke.experiments.das.workload import Profiles
from fyke.nodes.node import Stats
from fyke.traces.trace import Delivered, Rejected, Sent
from tests.experiments.das import model

HALF = Fraction(1, 2)


def bus(strategy: str, sigma: int = 1) -> Deployment:
    return Deployment(strategy, BUS, Profiles(BUS.brokers, 40, sigma), {"": "B2"}, "interval")


@pytest.mark.parametrize(
    ("strategy", "load", "duplication"), [("EF", 3.0, 1.0), ("PF", 0.625, 2.5), ("RN", 1.3125, 1.5)]
)
def test_the_closed_forms_hold_exactly(strategy, load, duplication):
    row = bus(strategy, sigma=2).measure(HALF)
    assert (row["load"], row["duplication"]) == (load, duplication)
    assert (row["p_e"], row["p_p"]) == (0.5, 1.0)


@pytest.mark.parametrize("strategy", ["EF", "PF", "RN"])
def test_it_goes_at_once_when_it_is_dropped(strategy):
    """At the paper's sizes a search for cycles takes longer than a figure's point."""
    gc.collect()
    gc.disable()
    try:
        overlay = bus(strategy)
        overlay.measure(HALF)
        brokers = [weakref.ref(overlay._overlay.node(name)._node) for name in BUS.brokers]
        del overlay
        assert [each() for each in brokers] == [None] * 4
    finally:
        gc.enable()


def test_all_strategies_notify_the_same_profiles():
    rows = [
        bus(strategy, sigma=5).measure(Fraction(1, 5), repeats=2) for strategy in ["PF", "EF", "RN"]
    ]
    assert {row["p_p"] for row in rows} == {1.0}


def test_the_steps_of_flooding():
    """B2 filters each event, has it on two links, and notifies a quarter of the matches."""
    row = bus("EF").measure(HALF)
    assert row["busiest"] == "B2"
    assert row["steps"] == 1 + 2 + 0.5 / 4
    assert row["efficiency"] == pytest.approx(1_000 / 3.125)


@pytest.mark.parametrize("strategy", ["PF", "EF", "RN"])
@pytest.mark.parametrize(
    ("tree", "p_e", "sigma", "locality"),
    [
        (BUS, Fraction(3, 10), 1, None),
        (BUS, Fraction(1), 5, None),
        (BUS, HALF, 2, Fraction(1, 4)),
        (network(6), HALF, 2, None),
    ],
)
def test_every_broker_does_what_the_paths_of_the_tree_say(strategy, tree, p_e, sigma, locality):
    """Each counter of each broker, exactly; so the work of a broker is all accounted for."""
    profiles = Profiles(tree.brokers, 60, sigma)
    overlay = Deployment(strategy, tree, profiles, {"": "B2"}, "interval")
    row = overlay.measure(p_e, locality=locality, repeats=2)
    expected = model.work(strategy, tree, p_e, sigma, ("B2",), locality)
    for found in overlay.work():
        counts = expected[found["broker"]]
        for name in model.COUNTERS:
            assert Fraction(found[name], row["events"]) == counts[name], name
        assert found["steps"] == sum(found[name] for name in model.COUNTERS)
        assert found["probes"] == found["filtered"]  # one attribute, one look-up
    busiest = max(overlay.work(), key=lambda each: each["steps"])
    assert row["steps"] == pytest.approx(busiest["steps"] / row["events"])
    assert {name: row[name] for name in model.COUNTERS} == {
        name: pytest.approx(busiest[name] / row["events"]) for name in model.COUNTERS
    }


def test_times_have_a_range():
    row = bus("RN").measure(HALF, at_least=100, repeats=5)
    assert row["events_per_s_low"] < row["events_per_s"] < row["events_per_s_high"]
    assert row["repeats"] == 5


def test_an_engine_with_parameters_and_several_subscribers():
    profiles = Profiles(BUS.brokers, 80, sigma=4)
    engine = "interval:bit_list_from=0.5,growth=2,reorder_every=10"
    rows = {
        strategy: Deployment(strategy, BUS, profiles, {"": "B2"}, engine, subscribers=2).measure(
            HALF
        )
        for strategy in ("PF", "pf1", "pf7")
    }
    assert {row["p_p"] for row in rows.values()} == {2.0}
    held = {strategy: row["duplication"] for strategy, row in rows.items()}
    assert held["PF"] < held["pf7"] < held["pf1"] == 4.0  # covering: of all, of one, of none


def test_types_meet_at_their_own_brokers():
    topology = network(3)
    profiles = Profiles(topology.brokers, 18, types=3)
    places = {"T1": "B1", "T2": "B2", "T3": "B3"}
    row = Deployment("RN", topology, profiles, places, "interval").measure(Fraction(0))
    assert row["duplication"] == pytest.approx(1 + 8 / 9)
    assert row["load"] == pytest.approx(8 / 9)


def test_a_tally_counts_events_and_nothing_else():
    tally = Tally(("a", "b"))
    tally(Sent(0.0, "a", "b", "Publish", "e", 40))
    tally(Sent(0.0, "a", "b", "Subscribe", "s", 0))
    tally(Delivered(0.0, "b", "client", "e", ("s", "t")))
    assert (tally.messages, tally.bytes, tally.notified) == (1, 40, 2)
    assert tally.matched == {"e"}
    before = {"a": Stats(matched=7, probes=9), "b": Stats()}
    tally.add(before, {"a": Stats(matched=8, probes=11), "b": Stats(matched=1, probes=1)})
    assert (tally.meters["a"].steps, tally.meters["b"].steps) == (2, 4)
    assert (tally.meters["a"].probes, tally.meters["b"].probes) == (2, 1)
    assert tally.busiest == "b"
    with pytest.raises(FykeError, match="too long"):
        tally(Rejected(0.0, "a", "client", "Publish", "too long"))


def test_the_network_of_figure_11():
    assert network(1).brokers == ("B1",)
    assert network(5).degree("B2") == 4
    assert network(9).is_tree()
