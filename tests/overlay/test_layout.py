"""Where brokers are drawn: apart from each other, links about equally long."""

from __future__ import annotations

from itertools import combinations
from math import dist

import pytest

from fyke.overlay.generators import line, random_tree
from fyke.overlay.layout import layout
from fyke.overlay.named import OVERLAYS, named
from fyke.overlay.topology import Topology


@pytest.mark.parametrize("name", OVERLAYS)
def test_links_are_about_equally_long_and_nobody_is_hidden(name: str):
    overlay = named(name)
    places = layout(overlay)
    assert set(places) == set(overlay.brokers)
    lengths = [dist(places[a], places[b]) for a, b in overlay.links]
    assert min(lengths) > 0.4 and max(lengths) < 2.5
    assert min(dist(a, b) for a, b in combinations(places.values(), 2)) > 0.25


def test_a_line_is_straight_and_flat():
    places = layout(line(9))
    assert all(abs(y) < 1e-6 for _, y in places.values())
    assert sorted(round(x) for x, _ in places.values()) == list(range(-4, 5))


def test_trees_hardly_cross():
    crossings = sum(_crossings(random_tree(30, seed)) for seed in range(10))
    assert crossings <= 5


@pytest.mark.parametrize("brokers", [1, 2, 3, 400])
def test_any_size(brokers: int):
    places = layout(random_tree(brokers))
    assert len(set(places.values())) == brokers


def test_parts_lie_side_by_side():
    places = layout(Topology(("a", "b", "c", "d", "e"), (("a", "b"), ("c", "d"))))
    assert len(places) == 5
    assert min(dist(a, b) for a, b in combinations(places.values(), 2)) > 0.5


def _crossings(overlay: Topology) -> int:
    places = layout(overlay)
    return sum(
        _cross(*(places[end] for end in (*one, *other)))
        for one, other in combinations(overlay.links, 2)
        if not set(one) & set(other)
    )


def _cross(a, b, c, d) -> bool:
    def side(p, q, r) -> bool:
        return (q[0] - p[0]) * (r[1] - p[1]) > (q[1] - p[1]) * (r[0] - p[0])

    return side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)
