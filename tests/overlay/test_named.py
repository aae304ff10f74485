"""Generated overlays and the papers' networks."""

from __future__ import annotations

from collections import Counter
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fyke.overlay import papers
from fyke.overlay.generators import hierarchy, line, random_graph, random_tree, star, tree
from fyke.overlay.named import OVERLAYS, named
from fyke.overlay.topology import Topology, TopologyError


def mean_distance(overlay: Topology) -> float:
    """Over all ordered pairs, each broker with itself included."""
    return mean(far for root in overlay.brokers for far in overlay.distances(root).values())


def test_shapes():
    assert line(3).links == (("b1", "b2"), ("b2", "b3"))
    assert {star(9).degree(broker) for broker in star(9).brokers} == {1, 8}
    assert tree(7).links == (
        *(("b1", "b2"), ("b1", "b3"), ("b2", "b4"), ("b2", "b5"), ("b3", "b6"), ("b3", "b7")),
    )
    assert tree(5, fan_out=4) == star(5)
    stages = Counter(hierarchy((10, 10)).distances("b1").values())
    assert stages == {0: 1, 1: 10, 2: 100}
    assert hierarchy(()).brokers == ("b1",)


@pytest.mark.parametrize("make", [line, star, tree, random_tree, random_graph])
def test_one_broker_needs_no_link(make):
    assert make(1) == Topology(("b1",), ())


@pytest.mark.parametrize("name", ["line", "star", "tree", "hierarchy", "random_tree"])
@pytest.mark.parametrize("brokers", [1, 2, 3, 4, 5, 10, 57, 100])
def test_named_trees_are_trees_of_that_size(name: str, brokers: int):
    overlay = named(name, brokers, seed=3)
    overlay.check_tree()
    if name == "hierarchy":
        assert brokers * 0.9 <= len(overlay.brokers) <= brokers * 1.1
    else:
        assert len(overlay.brokers) == brokers


def test_each_tree_of_four_is_about_as_likely():
    drawn = Counter(frozenset(map(frozenset, random_tree(4, seed).links)) for seed in range(1_600))
    assert len(drawn) == 16
    assert min(drawn.values()) > 60 and max(drawn.values()) < 140


@given(st.integers(2, 60), st.floats(0, 70), st.integers(0, 100))
def test_a_random_graph_is_connected_and_as_dense_as_asked(brokers: int, degree: float, seed: int):
    overlay = random_graph(brokers, degree, seed)
    assert len(overlay.parents("b1")) == brokers
    most = brokers * (brokers - 1) // 2
    assert len(overlay.links) == max(brokers - 1, min(most, int(brokers * degree / 2)))


def test_what_is_drawn_depends_on_the_seed():
    assert random_tree(30, 1) == random_tree(30, 1) != random_tree(30, 2)
    assert random_graph(30, seed=1) == random_graph(30, seed=1) != random_graph(30, seed=2)


def test_das_networks_have_the_distances_of_the_closed_forms():
    assert mean_distance(papers.das_bus()) == 1.25
    assert mean(papers.das_bus().distances("B2").values()) == 1
    found = [round(mean_distance(papers.das_figure_11(n)), 3) for n in range(2, 10)]
    assert found == [0.5, 0.889, 1.125, 1.28, 1.556, 1.714, 1.938, 2.074]
    to_b2 = [1 + mean(papers.das_figure_11(n).distances("B2").values()) for n in range(2, 10)]
    assert [round(each, 3) for each in to_b2] == [1.5, 1.667, 1.75, 1.8, 2, 2.143, 2.25, 2.333]
    assert papers.das_figure_2().neighbors("B4") == ("B3", "B5", "B6")


def test_sum_networks_have_the_degrees_of_the_text():
    overlay = papers.sum_figure_7()
    overlay.check_tree()
    degrees = {int(broker[1:]): overlay.degree(broker) for broker in overlay.brokers}
    assert {at for at, degree in degrees.items() if degree == 1} == {1, 3, 4, 6, 9, 12, 13}
    assert {at for at, degree in degrees.items() if degree == 2} == {2, 7, 10}
    assert (degrees[8], degrees[11], degrees[5]) == (3, 3, 5)
    cwix = papers.cwix()
    assert (len(cwix.brokers), len(cwix.links)) == (24, 29)
    assert max(map(cwix.degree, cwix.brokers)) == 5
    assert max(max(cwix.distances(root).values()) for root in cwix.brokers) == 8
    apart = [far for root in cwix.brokers for far in cwix.distances(root).values() if far]
    assert round(mean(apart), 3) == 3.576


def test_every_name_makes_an_overlay():
    for name in OVERLAYS:
        assert len(named(name).parents(named(name).brokers[0])) == len(named(name).brokers)


@pytest.mark.parametrize(
    ("name", "brokers", "problem"),
    [
        ("ring", 3, "unknown overlay 'ring'; expected line, star"),
        ("line", 0, "the number of brokers is 0; expected 1 to"),
        ("tree", 10**9, "expected 1 to 100,000"),
        ("star", True, "expected 1 to"),
        ("das_figure_11", 10, "1 to 9 brokers, not 10"),
        ("cwix", 5, "cwix has 24 brokers, not 5"),
    ],
)
def test_what_cannot_be_made_is_refused(name: str, brokers: int, problem: str):
    with pytest.raises(TopologyError, match=problem):
        named(name, brokers)


def test_a_hierarchy_too_large_is_refused_before_it_is_built():
    with pytest.raises(TopologyError, match="expected 1 to"):
        hierarchy((1_000, 1_000, 1_000))
    with pytest.raises(TopologyError, match="a fan-out is 0"):
        hierarchy((2, 0))
