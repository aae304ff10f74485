"""W1 to W4: the shapes and the distributions that the benchmarks state."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from fyke.filters.filter import And, Filter, Not, Or, walk
from fyke.filters.predicate import In, Predicate, Range
from fyke.workloads.attribute import Words, geometric_widths, zipf
from fyke.workloads.conjunctive import (
    NUMBERS,
    SHAPES,
    EqualitiesWorkload,
    FlatWorkload,
    MixedWorkload,
    ThreeIntervalsWorkload,
    ThreeOfTenIntervalsWorkload,
)
from fyke.workloads.predicates import NONE, Conjunctions
from fyke.workloads.trees import TreesWorkload

ROWS = 50_000


def harmonic(size: int) -> float:
    return sum(1 / rank for rank in range(1, size + 1))


@pytest.mark.parametrize("work", [MixedWorkload(7), EqualitiesWorkload(7)], ids=lambda w: w.name)
def test_words_follow_zipf_in_events_and_filters(work: MixedWorkload) -> None:
    codes, drawn = work.codes(ROWS), work.conjunctions(ROWS)
    for at, attribute in enumerate(work.attributes):
        if attribute.is_word:
            for values in (codes[:, at], drawn.low[drawn.attribute == at]):
                assert 0 <= values.min() <= values.max() < attribute.size
                for rank in (0, 1, 4):
                    expected = 1 / ((rank + 1) * harmonic(attribute.size))
                    assert np.mean(values == rank) == pytest.approx(expected, abs=0.012)
    assert len(np.unique(codes[:, 0])) == 10
    assert len(np.unique(codes[:, 4])) > 10_000


def test_w1_has_its_attributes() -> None:
    table = MixedWorkload(7).columns(ROWS)
    words, numbers = ["s10", "s100", "s1k", "s10k", "s100k"], ["n1", "n2", "n3", "n4", "n5"]
    assert table.column_names == words + numbers
    assert [str(kind) for kind in table.schema.types] == ["string"] * 5 + ["int64"] * 5
    for name in numbers:
        column = table[name].to_numpy()
        assert 0 <= column.min() < 200 < NUMBERS - 200 < column.max() < NUMBERS
        assert np.histogram(column, 10)[0] == pytest.approx(ROWS / 10, rel=0.06)
    correlation = np.corrcoef(MixedWorkload(7).codes(ROWS)[:, 5:].T) - np.eye(5)
    assert abs(correlation).max() < 0.02


def test_w1_has_its_shapes() -> None:
    drawn = MixedWorkload(7).conjunctions(ROWS)
    equalities = drawn.is_equality.sum(axis=1)
    intervals = (drawn.attribute != NONE).sum(axis=1) - equalities
    counts = Counter(zip(equalities.tolist(), intervals.tolist(), strict=True))
    assert set(counts) == set(SHAPES)
    assert list(counts.values()) == pytest.approx([ROWS / 5] * 5, rel=0.05)
    used = np.bincount(drawn.attribute[drawn.attribute != NONE])
    assert used[:5] == pytest.approx(used[:5].mean(), rel=0.05)
    assert used[5:] == pytest.approx(used[5:].mean(), rel=0.05)
    assert distinct_attributes(drawn)


def distinct_attributes(drawn: Conjunctions) -> bool:
    attributes = np.sort(drawn.attribute.astype(int), axis=1)
    steps = np.diff(attributes, axis=1)
    return bool(((steps > 0) | (attributes[:, 1:] == NONE)).all())


def test_w1_widths_are_log_uniform() -> None:
    drawn = MixedWorkload(7).conjunctions(ROWS)
    intervals = (drawn.attribute != NONE) & ~drawn.is_equality
    low, high = drawn.low[intervals].astype(float), drawn.high[intervals].astype(float)
    widths = high - low + 1
    assert 10_000 <= widths.min() < 10_100 < 149_000 < widths.max() <= 150_000
    spread = np.log(widths / 10_000) / np.log(15)
    assert np.histogram(spread, 10, (0, 1))[0] == pytest.approx(len(spread) / 10, rel=0.05)
    assert low.min() >= 0
    assert high.max() < NUMBERS
    assert np.histogram(low / (NUMBERS + 1 - widths), 10, (0, 1))[0] == pytest.approx(
        len(low) / 10, rel=0.05
    )


@pytest.mark.parametrize(
    "work", [ThreeIntervalsWorkload(7), ThreeOfTenIntervalsWorkload(7)], ids=lambda w: w.name
)
def test_w2_has_three_intervals(work: ThreeIntervalsWorkload) -> None:
    drawn = work.conjunctions(ROWS)
    assert drawn.attribute.shape == (ROWS, 3)
    assert distinct_attributes(drawn)
    used = np.bincount(drawn.attribute.ravel())
    assert len(used) == len(work.attributes) == int(work.name[3:])
    assert used == pytest.approx(used.mean(), rel=0.05)
    assert not drawn.is_equality.any()
    widths = drawn.high - drawn.low + 1
    assert 100_000 <= widths.min() < 100_100 < 299_900 < widths.max() <= 300_000
    assert np.histogram(widths, 10)[0] == pytest.approx(ROWS * 3 / 10, rel=0.05)
    assert drawn.low.min() >= 0
    assert drawn.high.max() < NUMBERS


def test_w3_has_five_equalities() -> None:
    work = EqualitiesWorkload(7)
    sizes = Counter(attribute.size for attribute in work.attributes)
    assert sizes == dict.fromkeys((10, 100, 1_000, 10_000, 100_000), 4)
    drawn = work.conjunctions(ROWS)
    assert drawn.attribute.shape == (ROWS, 5)
    assert distinct_attributes(drawn)
    assert drawn.is_equality.all()
    used = np.bincount(drawn.attribute.ravel())
    assert len(used) == 20
    assert used == pytest.approx(ROWS / 4, rel=0.05)


# --- trees ---------------------------------------------------------------------------------------


def trees(work: TreesWorkload, count: int) -> list[Filter]:
    plain = MixedWorkload(work.seed).filters(count)
    return [mine for mine, w1 in zip(work.filters(count), plain, strict=True) if mine != w1]


def test_w4_is_w1_but_for_its_trees() -> None:
    assert TreesWorkload(7).event(3) == MixedWorkload(7).event(3)
    assert TreesWorkload(7).columns(50) == MixedWorkload(7).columns(50)
    found = trees(TreesWorkload(7), 10_000)
    assert len(found) == pytest.approx(3_000, rel=0.06)
    assert not any(
        isinstance(node, (Or, Not)) for f in MixedWorkload(7).filters(99) for node in walk(f)
    )


def test_w4_trees_have_their_shape() -> None:
    kinds: list[Counter[str]] = [Counter() for _ in range(6)]
    negated = [0] * 6
    found = trees(TreesWorkload(7), 20_000)
    for tree in found:
        a, b_or_c, d_or_ef = tree.children
        b, c = b_or_c.children
        d, ef = d_or_ef.children
        e, f = ef.children
        assert [type(node) for node in (tree, b_or_c, d_or_ef, ef)] == [And, Or, Or, And]
        leaves = [node for node in walk(tree) if isinstance(node, Predicate)]
        assert len({leaf.attribute for leaf in leaves}) == len(leaves) == 6
        for at, node in enumerate((a, b, c, d, e, f)):
            negated[at] += isinstance(node, Not)
            kinds[at][type(leaves[at]).__name__] += 1
    assert kinds[0].keys() == {"In"}
    assert negated == pytest.approx([len(found) / 10] * 6, rel=0.15)
    mixed = sum(kinds[1:], Counter())
    assert mixed["In"] / mixed.total() == pytest.approx(4 / 9, abs=0.02)
    assert kinds[3]["In"] / len(found) == pytest.approx(4 / 9, abs=0.03)


def test_w4_guarded_differs_in_a_alone() -> None:
    work = TreesWorkload(7, guarded=True)
    pairs = zip(trees(TreesWorkload(7), 3_000), trees(work, 3_000), strict=True)
    for free, guarded in pairs:
        a, *rest = free.children
        assert list(guarded.children) == [a.child if isinstance(a, Not) else a, *rest]
    assert list(work.filters(50)) == [work.filter(number) for number in range(50)]


# --- what they are made of -----------------------------------------------------------------------


def test_zipf_weighs_by_rank() -> None:
    ends = zipf(1_000).ends
    assert ends[0] / 2**32 == pytest.approx(1 / harmonic(1_000), rel=1e-4)
    assert (ends[999] - ends[998]) / ends[0] == pytest.approx(1 / 1_000, rel=1e-2)
    assert ends[-1] == 2**32


@pytest.mark.parametrize("size", [10, 100, 1_000, 10_000, 100_000])
def test_words_are_distinct(size: int) -> None:
    words = Words("w", size)
    assert len(set(map(words.value, range(size)))) == size
    assert words.column(np.arange(size)).to_pylist() == list(map(words.value, range(size)))


def test_geometric_widths_have_whole_ends() -> None:
    widths = geometric_widths(1, 16, steps=4)
    assert widths.starts.tolist() == [1, 2, 4, 8]
    lowest, highest = np.array([0], np.uint64), np.array([2**32 - 1], np.uint64)
    assert widths.pick(lowest, lowest).tolist() == [1]
    assert widths.pick(highest, highest).tolist() == [16]


@pytest.mark.parametrize("work", [MixedWorkload(7), TreesWorkload(7)], ids=lambda w: w.name)
def test_leaves_are_equalities_of_words_and_intervals_of_numbers(work: FlatWorkload) -> None:
    words = {attribute.name for attribute in work.attributes if attribute.is_word}
    for filter in work.filters(500):
        for node in walk(filter):
            if isinstance(node, Predicate):
                assert type(node) is (In if node.attribute in words else Range)


def test_rows_stay_what_they_are() -> None:
    """Numbers that others recorded with a seed must keep their meaning."""
    assert list(MixedWorkload(7).event(1).attributes.values())[3:7] == [
        "s10k-6531",
        "s100k-23774",
        848633,
        724771,
    ]
    assert MixedWorkload(7).text(2) == (
        "s10 = 's10-5' and n2 between 767428 and 778744 and n3 between 755245 and 840339"
    )
    assert ThreeOfTenIntervalsWorkload(7).text(3) == (
        "n1 between 14263 and 132404 and n2 between 212329 and 409598"
        " and n8 between 419993 and 664320"
    )
    assert TreesWorkload(7).text(2) == (
        "s10 = 's10-1' and (s100k = 's100k-18802' or n2 between 30 and 37250)"
        " and (n3 between 741269 and 838650 or s1k = 's1k-17' and not n5 between 277220 and 404811)"
    )
