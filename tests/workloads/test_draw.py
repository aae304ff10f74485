"""Draws by address: the same number for the same place, whoever computes it."""

from __future__ import annotations

import numpy as np

from fyke.workloads.draw import COLUMNS, Choice, Ranges, Stream, mix, popularity

TOP = 2**32 - 1


def test_mix_is_splitmix64() -> None:
    """The first words from the state 1234567, as other implementations publish them."""
    golden = 0x9E3779B97F4A7C15
    words = [mix((1234567 + step * golden) % 2**64) for step in range(1, 4)]
    assert words == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_numpy_draws_the_same_words() -> None:
    stream = Stream(7, "ticks")
    start = np.uint64(stream.start)
    rows = np.arange(500, dtype=np.uint64)
    words = start + (rows * np.uint64(COLUMNS) + np.uint64(3)) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    halves = (words ^ (words >> np.uint64(31))) >> np.uint64(32)
    assert halves.tolist() == [stream.half(row, 3) for row in range(500)]
    choice = popularity(100, flat=5)
    picked = np.searchsorted(np.array(choice.ends, dtype=np.uint64), halves, side="right")
    assert picked.tolist() == [choice.pick(half) for half in halves.tolist()]


def test_streams_rows_and_columns_differ() -> None:
    streams = [Stream(seed, name) for seed in (0, 1, -1, 2**64 + 5) for name in ("a", "b", "ab")]
    words = {
        s.half(row, column) for s in streams for row in range(100) for column in range(COLUMNS)
    }
    assert len(words) > 0.999 * len(streams) * 100 * COLUMNS


def test_below_is_uniform() -> None:
    stream = Stream(0, "x")
    counts = np.bincount([stream.below(row, 0, 7) for row in range(14_000)], minlength=7)
    assert len(counts) == 7
    assert abs(counts - 2_000).max() < 200


def test_choice_keeps_its_weights_and_its_ends() -> None:
    choice = Choice((1, 0, 3))
    assert choice.pick(0) == 0
    assert choice.pick(TOP) == 2
    stream = Stream(0, "x")
    counts = np.bincount([choice.pick(stream.half(row, 0)) for row in range(8_000)], minlength=3)
    assert counts[1] == 0
    assert abs(counts[0] - 2_000) < 200


def test_popularity_falls_with_the_rank() -> None:
    choice = popularity(1_000, flat=10)
    stream = Stream(0, "x")
    counts = np.bincount(
        [choice.pick(stream.half(row, 0)) for row in range(50_000)], minlength=1_000
    )
    assert len(counts) == 1_000
    assert counts[:10].sum() > 1.5 * counts[20:30].sum() > 3 * counts[200:210].sum() > 0


def test_ranges_stay_inside() -> None:
    ranges = Ranges((0, 1, 10, 100), (1, 1, 2))
    assert ranges.pick(0, TOP) == 0
    assert ranges.pick(TOP, 0) == 10
    assert ranges.pick(TOP, TOP) == 99


def test_shuffled_is_a_permutation_of_its_own() -> None:
    items = [f"item {number}" for number in range(100)]
    one, other = Stream(1, "x").shuffled(items), Stream(2, "x").shuffled(items)
    assert sorted(one) == sorted(other) == sorted(items)
    assert one != other != items
    assert one == Stream(1, "x").shuffled(iter(items))
