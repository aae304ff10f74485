"""Draws by address: the same number for the same place, as one row at a time draws it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fyke.workloads.draw import (
    COLUMNS,
    Bits,
    Choice,
    Codes,
    Draw,
    KeyedChoice,
    RandomStream,
    Ranges,
    mix,
    popularity,
    row_numbers,
    scale,
)
from fyke.workloads.predicates import NONE, Templates
from tests.workloads import one_row
from tests.workloads.one_row import Row

TOP = 2**32 - 1
RANGES = Ranges((-7, 1, 10, 1_000_001), (1, 0, 2))
CHOICE = Choice((1, 0, 3, 7))

seeds = st.integers(-(2**70), 2**70)
numbers = st.lists(st.integers(0, 2**58), max_size=12)
columns = st.integers(0, COLUMNS - 1)
weights = st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any)
words = st.lists(
    st.one_of(st.sampled_from([0, 1, 2**31, 2**63, 2**64 - 1]), st.integers(0, 2**64 - 1))
)
edges = [0, TOP, *(min(end + step, TOP) for end in CHOICE.ends.tolist() for step in (-1, 0, 1))]
halves = st.lists(st.one_of(st.sampled_from(edges), st.integers(0, TOP)))


def bits(values: list[int]) -> Bits:
    return np.array(values, np.uint64)


def codes(values: list[int]) -> Codes:
    return np.array(values, np.int64)


def test_mix_is_splitmix64() -> None:
    """The first words from the state 1234567, as other implementations publish them."""
    counters = bits([(1234567 + step * one_row.GOLDEN) % 2**64 for step in range(1, 4)])
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert mix(counters).tolist() == expected


@given(words)
def test_mix(some: list[int]) -> None:
    assert mix(bits(some)).tolist() == list(map(one_row.mix, some))


@given(seeds, st.text(max_size=5), numbers, columns)
def test_streams(seed: int, name: str, rows: list[int], column: int) -> None:
    stream = RandomStream(seed, name)
    assert int(stream.start) == one_row.start(seed, name)
    expected = [one_row.half(stream, row, column) for row in rows]
    assert stream.half(codes(rows), column).tolist() == expected


@given(halves, halves, weights)
def test_tables(some: list[int], others: list[int], weights: list[int]) -> None:
    pairs = list(zip(some, others, strict=False))
    which, inside = bits([a for a, _ in pairs]), bits([b for _, b in pairs])
    assert CHOICE.pick(which).tolist() == [one_row.pick(CHOICE, a) for a, _ in pairs]
    expected = [one_row.inside(RANGES, one_row.pick(RANGES.choice, a), b) for a, b in pairs]
    assert RANGES.pick(which, inside).tolist() == expected
    keyed, keys = KeyedChoice([RANGES.choice, CHOICE]), codes([b % 2 for _, b in pairs])
    expected = [one_row.pick((RANGES.choice, CHOICE)[b % 2], a) for a, b in pairs]
    assert keyed.pick(which, keys).tolist() == expected
    assert scale(inside, 2**32).tolist() == [b for _, b in pairs]
    assert Choice(weights).ends.tolist() == one_row.ends(weights)


@given(seeds, numbers, columns, st.integers(1, 2**32), st.lists(weights, min_size=1, max_size=4))
def test_many_rows_are_rows(
    seed: int, given: list[int], column: int, limit: int, several: list[list[int]]
) -> None:
    stream, other = RandomStream(seed, "one"), RandomStream(seed, "other")
    choices = [*map(Choice, several)]
    keyed = KeyedChoice(choices)

    def drawn(draw: Draw) -> dict[str, Codes]:
        key = draw.number % len(choices)
        away = draw.seek(draw.number // 3, other)
        return {
            "below": draw.below(column, limit),
            "pick": draw.pick(choices[0], column),
            "by": draw.pick_by(keyed, key, column),
            "chance": draw.chance(draw.number % 1_001, column),
            "within": draw.within(RANGES, column, 15 - column),
            "away": away.below(column, 1_000) + draw.seek(key).below(column, 10),
        }

    found = drawn(Draw(stream, codes(given)))
    assert all(each.dtype == np.int64 for each in found.values())
    rows = [Row(stream, number) for number in given]
    for name, each in found.items():
        assert each.tolist() == [drawn(row)[name] for row in rows], name
    by_key = [row.pick(choices[row.number % len(choices)], column) for row in rows]
    assert found["by"].tolist() == by_key


@given(seeds, numbers)
def test_templates(seed: int, rows: list[int]) -> None:
    given = [(0,), (1, 2, 3), (4, 5)]
    stream = RandomStream(seed, "x")
    found = Templates(given).pick(stream, codes(rows)).tolist()
    expected = [given[Row(stream, row).below(0, len(given))] for row in rows]
    assert [tuple(at for at in row if at != NONE) for row in found] == expected


def test_rare_and_impossible_choices() -> None:
    """Weight zero is never picked, also at the seam between two choices."""
    keyed = KeyedChoice([Choice((0, 1, 0)), Choice((1, 0)), Choice((0, 0, 5, 0))])
    draw = Draw(RandomStream(1, "x"), row_numbers(3_000))
    assert draw.pick_by(keyed, draw.number % 3, 0).tolist() == [1, 0, 2] * 1_000


def test_numbers_of_a_range() -> None:
    assert row_numbers(3, 5).tolist() == [5, 6, 7]
    assert row_numbers(0, 5).tolist() == []


def test_streams_rows_and_columns_differ() -> None:
    streams = [
        RandomStream(seed, name) for seed in (0, 1, -1, 2**64 + 5) for name in ("a", "b", "ab")
    ]
    rows = row_numbers(100)
    words = {
        word for s in streams for column in range(COLUMNS) for word in s.half(rows, column).tolist()
    }
    assert len(words) > 0.999 * len(streams) * 100 * COLUMNS


def test_below_is_uniform() -> None:
    counts = np.bincount(RandomStream(0, "x").below(row_numbers(14_000), 0, 7), minlength=7)
    assert len(counts) == 7
    assert abs(counts - 2_000).max() < 200


def test_choice_keeps_its_weights_and_its_ends() -> None:
    choice = Choice((1, 0, 3))
    assert choice.pick(bits([0, TOP])).tolist() == [0, 2]
    counts = np.bincount(choice.pick(RandomStream(0, "x").half(row_numbers(8_000), 0)), minlength=3)
    assert counts[1] == 0
    assert abs(counts[0] - 2_000) < 200


def test_popularity_falls_with_the_rank() -> None:
    choice = popularity(1_000, flat=10)
    picked = choice.pick(RandomStream(0, "x").half(row_numbers(50_000), 0))
    counts = np.bincount(picked, minlength=1_000)
    assert len(counts) == 1_000
    assert counts[:10].sum() > 1.5 * counts[20:30].sum() > 3 * counts[200:210].sum() > 0


def test_ranges_stay_inside() -> None:
    ranges = Ranges((0, 1, 10, 100), (1, 1, 2))
    assert ranges.pick(bits([0, TOP, TOP]), bits([TOP, 0, TOP])).tolist() == [0, 10, 99]


def test_shuffled_is_a_permutation_of_its_own() -> None:
    items = [f"item {number}" for number in range(100)]
    one, other = RandomStream(1, "x").shuffled(items), RandomStream(2, "x").shuffled(items)
    assert sorted(one) == sorted(other) == sorted(items)
    assert one != other != items
    assert one == RandomStream(1, "x").shuffled(iter(items))
    start = int(RandomStream(1, "x").start)
    assert one == sorted(items, key=lambda item: one_row.mix((start + items.index(item)) % 2**64))
