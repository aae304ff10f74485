"""SpanTree against looking at every span."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from fyke.filters.algebra import span_tree
from fyke.filters.algebra.intervals import AFTER, BEFORE, Cut, Span, prefix_span
from fyke.filters.algebra.span_tree import SpanTree

cuts = st.one_of(
    st.sampled_from([BEFORE, AFTER]), st.tuples(st.just(0), st.integers(-4, 9), st.integers(0, 1))
)


def containing(spans: dict[int, Span], cut: Cut) -> list[int]:
    return sorted(number for number, (low, high) in spans.items() if low <= cut < high)


@given(
    st.lists(st.tuples(cuts, cuts), max_size=60),
    st.lists(st.integers(0, 59), max_size=60),
    st.randoms(use_true_random=False),
)
def test_agrees_with_every_span(spans: list[Span], removed: list[int], draw: random.Random) -> None:
    tree, kept = SpanTree(), dict[int, Span]()
    numbers = list(range(len(spans)))
    draw.shuffle(numbers)
    for number, span in zip(numbers, spans, strict=True):
        tree.add(span, number)
        kept[number] = span
    for number in removed:
        if number in kept:
            tree.remove(kept.pop(number), number)
    for value in range(-5, 11):
        found = tree.containing((0, value, 0))
        assert sorted(found) == containing(kept, (0, value, 0))
        assert len(found) == len(set(found))
    for number, span in kept.items():
        tree.remove(span, number)
    assert len(tree) == 0
    assert tree._root is None


def test_open_and_closed_ends() -> None:
    tree = SpanTree()
    tree.add(((0, 1, 0), (0, 5, 1)), 0)
    tree.add(((0, 1, 1), (0, 5, 0)), 1)
    tree.add((BEFORE, (0, 5, 0)), 2)
    tree.add(((0, 5, 0), AFTER), 3)
    tree.add(((0, 5, 1), (0, 5, 0)), 4)
    assert sorted(tree.containing((0, 1, 0))) == [0, 2]
    assert sorted(tree.containing((0, 3.0, 0))) == [0, 1, 2]
    assert sorted(tree.containing((0, 5, 0))) == [0, 3]
    assert sorted(tree.containing((0, 2**53 + 1, 0))) == [3]
    assert len(tree) == 4


def test_neighbouring_numbers_are_told_apart() -> None:
    tree = SpanTree()
    tree.add((BEFORE, (0, 2**53, 1)), 0)
    tree.add(((0, 2**53 + 1, 0), AFTER), 1)
    assert tree.containing((0, float(2**53), 0)) == [0]
    assert tree.containing((0, 2**53 + 1, 0)) == [1]


def test_prefixes_are_spans() -> None:
    tree = SpanTree()
    for number, prefix in enumerate(["", "a", "ab", "b", "\U0010ffff"]):
        tree.add(prefix_span(prefix), number)
    assert sorted(tree.containing((0, "abc", 0))) == [0, 1, 2]
    assert sorted(tree.containing((0, "\U0010ffffa", 0))) == [0, 4]
    assert sorted(tree.containing((0, "\ud7ff", 0))) == [0]


def test_sorted_arrivals_and_departures_keep_it_flat() -> None:
    tree, kept = SpanTree(), dict[int, Span]()
    for number in range(3000):
        kept[number] = ((0, 10 * number, 0), (0, 10 * number + 5, 1))
        tree.add(kept[number], number)
    assert _depth(tree._root) < 30
    assert tree.containing((0, 20_005, 0)) == [2000]
    for number in range(2990):
        tree.remove(kept.pop(number), number)
    assert _depth(tree._root) < 10
    assert len(tree) == len(kept) == 10


def _depth(node: span_tree._Node | None) -> int:
    return 0 if node is None else 1 + max(_depth(node.left), _depth(node.right))
