"""The numpy twins give what `draw` gives, at the ends of tables too."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fyke.workloads import draw, vector_draw
from fyke.workloads.draw import COLUMNS, Choice, Ranges, Stream
from fyke.workloads.predicates import NONE, Templates

TOP = 2**32 - 1
RANGES = Ranges((0, 1, 10, 1_000_001), (1, 0, 2))
CHOICE = Choice((1, 0, 3, 7))

words = st.lists(
    st.one_of(st.sampled_from([0, 1, 2**31, 2**63, 2**64 - 1]), st.integers(0, 2**64 - 1))
)
edges = [0, TOP, *(min(end + step, TOP) for end in CHOICE.ends for step in (-1, 0, 1))]
halves = st.lists(st.one_of(st.sampled_from(edges), st.integers(0, TOP)))


def array(values: list[int]) -> vector_draw.Words:
    return np.array(values, dtype=np.uint64)


@given(words)
def test_mix(some: list[int]) -> None:
    assert vector_draw.mix(array(some)).tolist() == list(map(draw.mix, some))


@given(st.integers(), words, st.integers(0, COLUMNS - 1))
def test_half(seed: int, rows: list[int], column: int) -> None:
    stream = Stream(seed, "x")
    expected = [stream.half(row, column) for row in rows]
    assert vector_draw.half(stream, array(rows), column).tolist() == expected


@given(halves, halves)
def test_tables(some: list[int], others: list[int]) -> None:
    pairs = list(zip(some, others, strict=False))
    which, inside = array([a for a, _ in pairs]), array([b for _, b in pairs])
    assert vector_draw.pick(CHOICE, which).tolist() == [CHOICE.pick(a) for a, _ in pairs]
    drawn = vector_draw.pick_within(RANGES, which, inside)
    assert drawn.tolist() == [RANGES.pick(a, b) for a, b in pairs]
    assert vector_draw.scale(inside, 2**32).tolist() == [b for _, b in pairs]


@given(halves)
def test_templates(some: list[int]) -> None:
    templates = Templates([(0,), (1, 2, 3), (4, 5)])
    rows = [
        tuple(at for at in row if at != NONE) for row in templates.pick_many(array(some)).tolist()
    ]
    assert rows == [templates.pick(half) for half in some]


def test_numbers_of_a_range() -> None:
    assert vector_draw.numbers(3, 5).tolist() == [5, 6, 7]
    assert vector_draw.numbers(0, 5).tolist() == []
