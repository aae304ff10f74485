"""Graphs of brokers: ways, trees, and what is no overlay."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.overlay.generators import line, random_graph, random_tree, star
from fyke.overlay.topology import Topology, TopologyError

SIZES = st.integers(1, 40)
SEEDS = st.integers(0, 1_000)


def test_a_way_has_both_ends():
    overlay = Topology.of([("a", "b"), ("b", "c"), ("b", "é𝄞")])
    assert overlay.path("a", "é𝄞") == ("a", "b", "é𝄞")
    assert overlay.path("a", "a") == ("a",)
    assert overlay.distances("a") == {"a": 0, "b": 1, "c": 2, "é𝄞": 2}
    assert overlay.neighbors("b") == ("a", "c", "é𝄞")
    assert overlay.center() == "b"


@given(SIZES, SEEDS)
def test_between_brokers_of_a_tree_there_is_one_way(brokers: int, seed: int):
    overlay = random_tree(brokers, seed)
    overlay.check_tree()
    assert len(overlay.links) == len(overlay.brokers) - 1 == brokers - 1
    first, last = overlay.brokers[0], overlay.brokers[-1]
    way = overlay.path(first, last)
    assert all(b in overlay.neighbors(a) for a, b in itertools.pairwise(way))
    assert overlay.path(last, first) == way[::-1]
    assert overlay.distances(first)[last] == len(way) - 1


@given(SIZES, SEEDS)
def test_the_centre_is_nearest_to_all(brokers: int, seed: int):
    for overlay in (random_tree(brokers, seed), random_graph(brokers, seed=seed)):
        far = {name: sum(overlay.distances(name).values()) for name in overlay.brokers}
        assert overlay.center() == min(overlay.brokers, key=far.__getitem__)


@given(st.integers(3, 40), SEEDS)
def test_a_cycle_is_shown(brokers: int, seed: int):
    overlay = random_graph(brokers, 3.5, seed)
    assert not overlay.is_tree()
    with pytest.raises(TopologyError, match="not a tree: there is a cycle, ") as refused:
        overlay.check_tree()
    cycle = str(refused.value).split(", ", 1)[1].split(" - ")
    assert cycle[0] == cycle[-1] and len(cycle) > 3
    assert len(set(cycle)) == len(cycle) - 1
    assert all(b in overlay.neighbors(a) for a, b in itertools.pairwise(cycle))


def test_what_falls_apart_is_no_tree():
    overlay = Topology(("a", "b", "c"), (("a", "b"),))
    with pytest.raises(TopologyError, match="no way from 'a' to 'c'"):
        overlay.check_tree()
    with pytest.raises(TopologyError, match="no way from 'c' to 'b'"):
        overlay.path("c", "b")


@pytest.mark.parametrize(
    ("brokers", "links", "problem"),
    [
        ((), (), "without brokers"),
        (("a", "a"), (), "'a' is named twice"),
        (("",), (), "a broker's name is ''"),
        ((7,), (), "a broker's name is 7"),
        (("a",), (("a", "a"),), "'a' is linked to itself"),
        (("a",), (("a", "b"),), "from 'a' to 'b': unknown broker 'b'"),
        (("a",), (("a", ["b"]),), "unknown broker"),
        (("a", "b"), (("a", "b"), ("b", "a")), "'b' and 'a' are linked twice"),
        (("a", "b"), (("a", "b"), ("a", "b")), "'a' and 'b' are linked twice"),
        (("a", "b"), (("a",),), "expected two brokers"),
    ],
)
def test_what_is_no_overlay_is_refused(brokers, links, problem: str):
    with pytest.raises(TopologyError, match=problem):
        Topology(brokers, links)


def test_an_unknown_broker_is_named():
    with pytest.raises(TopologyError, match="unknown broker 'z'; there are b1, b2"):
        line(2).neighbors("z")


@pytest.mark.timeout(20)
def test_large_overlays_are_checked_in_no_time():
    assert star(20_000).center() == "b1"
    ring = Topology.of([*line(20_000).links, ("b20000", "b1")])
    with pytest.raises(TopologyError, match="cycle"):
        ring.check_tree()
