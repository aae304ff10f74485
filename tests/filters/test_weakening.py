"""Weakening covers, and reads only what it may."""

from __future__ import annotations

from random import Random

from hypothesis import given

import fyke
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.normal_form import rebuilt, simplify
from fyke.filters.algebra.weakening import indexable, weaken
from fyke.filters.comparison import Compare
from fyke.filters.filter import TRUE, Filter, walk
from fyke.filters.predicate import Predicate
from fyke.filters.residual import Residual
from fyke.testing.covering import check_covers
from fyke.testing.generators import randoms
from fyke.testing.related import events_about, tree
from fyke.testing.stories.reaching import examples, reached, reaches

RESIDUALS = [
    fyke.parse("LENGTH(a) = 1", dialect="cesql"),
    fyke.parse("a < b", dialect="cesql"),
    fyke.parse({"a": [{"anything-but": {"prefix": "a"}}]}, dialect="eventbridge"),
]


def with_residuals(rng: Random, filter: Filter) -> Filter:
    """The tree with a check of another dialect in place of some leaves."""
    if filter.children:
        return rebuilt(filter, [with_residuals(rng, child) for child in filter.children])
    return rng.choice(RESIDUALS) if rng.random() < 0.2 else filter


def read_by(filter: Filter) -> set[str]:
    """The attributes that a filter reads, whatever its leaves."""
    found: set[str] = set()
    for node in walk(filter):
        if isinstance(node, Residual):
            found |= node.attributes or {"everything"}
        if isinstance(node, Predicate):
            found.add(node.attribute)
        if isinstance(node, Compare):
            found.add(node.other)
    return found


@reaches(weakened=0.2, lossless=0.2)
@examples(2)
@given(randoms())
def test_weakening_covers_and_reads_only_the_kept(rng: Random) -> None:
    filter = with_residuals(rng, tree(rng, leaves=3) & tree(rng, leaves=3))
    read = read_by(filter)
    kept = {name for name in sorted(read) if rng.random() < 0.7}
    seen = events_about(rng, [filter])
    weak = weaken(filter, kept)
    reached(weakened=weak not in (TRUE, simplify(filter)), lossless=kept == read)
    check_covers(weak, filter, seen)
    assert read_by(weak) <= kept
    if kept == read:
        assert weak == simplify(filter), "nothing that may be read is given up"
    more = weaken(filter, {*kept, *sorted(read)[:1]})
    check_covers(weak, more, seen)


@reaches(checked=0.25)
@given(randoms())
def test_what_is_indexable_covers_and_holds_no_residual(rng: Random) -> None:
    filter = with_residuals(rng, tree(rng, leaves=5))
    has_residual = any(isinstance(node, Residual) for node in walk(filter))
    reached(checked=has_residual)
    wide = indexable(filter)
    assert not any(isinstance(node, Residual) for node in walk(wide))
    assert has_residual or wide == filter
    check_covers(wide, filter, events_about(rng, [filter]))


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
