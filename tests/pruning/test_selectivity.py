"""Shares of trees: what is known of them, whatever predicates depend on."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given

from fyke.pruning.predicate_statistics import PredicateStatistics, leaves_of
from fyke.pruning.selectivity import SCALAR, Fold
from fyke.pruning.shape import Shape, read
from fyke.pruning.steps import VECTOR
from fyke.testing.generators import randoms
from fyke.testing.related import events_about, tree
from fyke.testing.stories.reaching import examples, reached, reaches
from tests.pruning.test_worked_examples import test_x7_the_share_of_h


@reaches(inside=0.3)
@examples(0.5)
@given(randoms())
def test_the_share_lies_between_least_and_most_however_predicates_depend(rng: Random) -> None:
    """PRU-17: events are made from the filter itself, so that its predicates depend strongly."""
    filter = tree(rng, 5)
    events = events_about(rng, [filter], 40)
    counted = PredicateStatistics.of(events, leaves_of([filter]))
    key, literals = read(filter)
    shape = Shape(key)
    shares = [counted.satisfied[each] / 40 for each in map(_leaf, literals)]
    shares = [
        1 - share if literal != _leaf(literal) else share
        for share, literal in zip(shares, literals, strict=True)
    ]
    least, likely, most = shape.share(shape.whole, shares, SCALAR)
    actual = sum(map(filter.matches, events)) / 40
    assert least - 1e-9 <= actual <= most + 1e-9
    assert least - 1e-9 <= likely <= most + 1e-9
    reached(inside=0 < actual < 1)


def _leaf(literal):
    return literal.children[0] if literal.children else literal


@examples(0.5)
@given(randoms())
def test_candidates_have_the_share_of_the_tree_without_them(rng: Random) -> None:
    """Prefix and suffix give what evaluating each pruned tree gives, for numbers and arrays."""
    filter = tree(rng, 8)
    key, literals = read(filter)
    shape = Shape(key)
    rows = np.array([[rng.random() for _ in range(3)] for _ in literals])
    kept = shape.whole
    while candidates := list(shape.candidates(kept)):
        share, found = shape.shares(kept, rows, VECTOR)
        assert [each.node for each in found] == candidates
        for each in found:
            left = shape.without(kept, each.node)
            for row in range(3):
                alone = shape.share(left, rows[:, row].tolist(), SCALAR)
                assert [part[row] for part in each.share] == pytest.approx(alone, abs=1e-12)
                assert all(
                    part[row] >= whole[row] - 1e-12
                    for part, whole in zip(each.share, share, strict=True)
                )
        kept = shape.without(kept, rng.choice(candidates))


@pytest.mark.parametrize("is_and", [False, True])
def test_all_but_one(is_and: bool) -> None:
    fold = Fold(SCALAR, is_and)
    parts = [(0.1, 0.2, 0.3), (0.4, 0.5, 0.6), (0.2, 0.7, 0.9), (0.3, 0.3, 0.4)]
    for count in (2, 3, 4):
        for at, found in enumerate(fold.all_but_one(parts[:count])):
            others = [part for place, part in enumerate(parts[:count]) if place != at]
            assert found == pytest.approx(fold.all(others))


def test_the_printed_formula_contradicts_the_printed_figure(monkeypatch) -> None:
    """PRU-Q1: with min(0, ...) the least share of every conjunction is 0, and H has 0.7."""

    def printed(self, joined, children):
        least = (
            self.arithmetic.lesser(joined[0] - (children - 1), 0.0) if self.is_and else joined[0]
        )
        return least, *share(self, joined, children)[1:]

    share = Fold.share
    monkeypatch.setattr(Fold, "share", printed)
    with pytest.raises(AssertionError):
        test_x7_the_share_of_h()
