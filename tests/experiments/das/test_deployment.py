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
from fyke.traces.trace import Delivered, Rejected, Sent, Told

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


def test_types_meet_at_their_own_brokers():
    topology = network(3)
    profiles = Profiles(topology.brokers, 18, types=3)
    places = {"T1": "B1", "T2": "B2", "T3": "B3"}
    row = Deployment("RN", topology, profiles, places, "interval").measure(Fraction(0))
    assert row["duplication"] == pytest.approx(1 + 8 / 9)
    assert row["load"] == pytest.approx(8 / 9)


def test_a_tally_counts_events_and_nothing_else():
    tally = Tally(("a", "b"))
    tally(Told(0.0, "a", "client", "Publish", "e"))
    tally(Sent(0.0, "a", "b", "Publish", "e", 40))
    tally(Sent(0.0, "a", "b", "Subscribe", "s", 0))
    tally(Delivered(0.0, "b", "client", "e", ("s", "t")))
    assert (tally.messages, tally.bytes, tally.matched, tally.notified) == (1, 40, 1, 2)
    assert (tally.meters["a"].steps, tally.meters["b"].steps) == (2, 4)
    assert tally.busiest == "b"
    with pytest.raises(FykeError, match="too long"):
        tally(Rejected(0.0, "a", "client", "Publish", "too long"))


def test_the_network_of_figure_11():
    assert network(1).brokers == ("B1",)
    assert network(5).degree("B2") == 4
    assert network(9).is_tree()
