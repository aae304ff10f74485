"""Weakening covers, and reads only what it may."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import fyke
from fyke.events.event import Event
from fyke.filters.comparison import Compare
from fyke.filters.covering import covers
from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import Predicate
from fyke.filters.weakening import indexable, weaken
from fyke.testing.covering import check_covers
from fyke.testing.generators import NAMES, events, filters


@given(filters(), st.sets(st.sampled_from(NAMES)), st.lists(events(), min_size=1, max_size=8))
def test_weakening_covers_and_reads_only_the_kept(
    filter: Filter, kept: set[str], seen: list[Event]
) -> None:
    weak = weaken(filter, kept)
    check_covers(weak, filter, seen)
    for node in walk(weak):
        if isinstance(node, Predicate):
            assert node.attribute in kept
        if isinstance(node, Compare):
            assert node.other in kept


def test_stages_of_the_auction_filter() -> None:
    """MSF-X6: weakening f4 stage by stage; each stage covers the one before."""
    f4 = fyke.parse(
        "type is Auction and product = 'Vehicle' and kind = 'Car' and capacity < 2000"
        " and price < 10000"
    )
    g3 = weaken(f4, {"type", "product", "kind", "capacity"})
    h3 = weaken(f4, {"type", "product", "kind"})
    i2 = weaken(f4, {"type"})
    assert str(g3) == "type is Auction and product = 'Vehicle' and kind = 'Car' and capacity < 2000"
    assert str(h3) == "type is Auction and product = 'Vehicle' and kind = 'Car'"
    assert str(i2) == "type is Auction"
    for wide, narrow in ((g3, f4), (h3, g3), (i2, h3)):
        assert covers(wide, narrow)
        assert not covers(narrow, wide)


def test_weakening_below_a_negation_strengthens() -> None:
    assert str(weaken(fyke.parse("not (a = 1 and b = 2)"), {"a"})) == "true"
    assert str(weaken(fyke.parse("not (a = 1 or b = 2)"), {"a"})) == "not a = 1"


def test_residuals_are_not_indexable() -> None:
    residual = fyke.parse("residual cesql 'id = ''x'''")
    a = fyke.parse("a = 1")
    assert str(indexable(a & residual)) == "a = 1 and true"
    assert str(indexable(a & ~residual)) == "a = 1 and true"
    assert str(indexable(~(a & residual))) == "not (a = 1 and false)"
    assert weaken(residual, {"id"}) == residual
