"""The operations on sixteen words, in the mode that runs, against their meaning in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from fyke.matching.compiled.kernels import lanes
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.kernels.lanes import LANES, base

EDGES = [-(2**31), -(2**31) + 1, -2, -1, 0, 1, 2, 3, 2**31 - 2, 2**31 - 1]
words = st.one_of(st.sampled_from(EDGES), st.integers(-(2**31), 2**31 - 1))
sixteen = st.lists(words, min_size=LANES, max_size=LANES)


@kernel
def call(what: int, source: Any, a: int, b: int, c: int, d: int, out: Any) -> int:
    """Kernels call the operations; so the tests do too."""
    if what == 0:
        return lanes.inside(source, a, b, c)
    if what == 1:
        return lanes.touched(source, a, b, c, d)
    if what == 2:
        return lanes.ends_at(source, a, b, c)
    if what == 3:
        return lanes.emit(source, a, b, out, c)
    if what == 4:
        return lanes.number(a, b, out, c)
    if what == 5:
        return lanes.first(a)
    if what == 6:
        return lanes.inside_all(source, a, b, out, c, out, d)
    if what == 7:
        lanes.prefetch(source, a)
        lanes.put(out, b, c)
        return lanes.word(out, b)
    if what == 9:
        lanes.repeat(a, out, b)
        return 0
    if what == 10:
        lanes.copy(source, a, out, b)
        return 0
    if what == 11:
        return lanes.inside_2(source, a, b, c)
    if what == 12:
        return lanes.inside_3(source, a, b, c, d)
    if what == 13:
        return lanes.between(source, a, b, c)
    return lanes.word(source, a)


def asked(what: int, source: list[int], a: int, b: int = 0, c: int = 0, d: int = 0) -> int:
    held = np.array([7, *source, 7], np.int32)
    return int(call(what, base(held), a, b, c, d, base(np.zeros(64, np.int32))))


def mask_of(flags: list[bool]) -> int:
    return sum(1 << lane for lane, flag in enumerate(flags) if flag)


def holds(low: int, high: int, value: int) -> bool:
    return (value - low) % 2**32 <= (high - low) % 2**32


@settings(deadline=None)
@given(sixteen, sixteen, words)
def test_inside(lows: list[int], highs: list[int], value: int) -> None:
    right = mask_of([holds(*ends, value) for ends in zip(lows, highs, strict=True)])
    plain = [
        low <= value <= high if low <= high else value <= high or value >= low
        for low, high in zip(lows, highs, strict=True)
    ]
    whole = [low - 1 == high for low, high in zip(lows, highs, strict=True)]
    assert asked(0, [*lows, *highs], 1, 1 + LANES, value) == right
    assert all(a == b or c for a, b, c in zip(plain, map(bool, bits(right)), whole, strict=True))


@settings(deadline=None)
@given(sixteen, words, words)
def test_between(source: list[int], low: int, high: int) -> None:
    right = mask_of([holds(low, high, value) for value in source])
    assert asked(13, source, 1, low, high) == right


def bits(mask: int) -> list[int]:
    return [mask >> lane & 1 for lane in range(LANES)]


@settings(deadline=None)
@given(sixteen, sixteen, words, words)
def test_touched(lows: list[int], highs: list[int], one: int, other: int) -> None:
    least, most = sorted((one, other))
    right = [
        low <= most and least <= high if low <= high else least <= high or most >= low
        for low, high in zip(lows, highs, strict=True)
    ]
    assert asked(1, [*lows, *highs], 1, 1 + LANES, least, most) == mask_of(right)


@settings(deadline=None)
@given(sixteen, sixteen, words, st.integers(0, LANES - 1))
def test_ends(lows: list[int], highs: list[int], value: int, lane: int) -> None:
    lows[lane] = value
    right = mask_of([value in ends for ends in zip(lows, highs, strict=True)])
    assert asked(2, [*lows, *highs], 1, 1 + LANES, value) == right


@settings(deadline=None)
@given(sixteen, st.integers(0, lanes.ALL), st.integers(0, 8))
def test_emit_and_number(source: list[int], mask: int, end: int) -> None:
    held, out = np.array(source, np.int32), np.zeros(64, np.int32)
    chosen = [word for word, bit in zip(source, bits(mask), strict=True) if bit]
    assert call(3, base(held), 0, mask, end, 0, base(out)) == end + len(chosen)
    assert out[end : end + len(chosen)].tolist() == chosen
    assert not out[:end].any()
    numbers = [100 + lane for lane, bit in enumerate(bits(mask)) if bit]
    assert call(4, base(held), 100, mask, end, 0, base(out)) == end + len(numbers)
    assert out[end : end + len(numbers)].tolist() == numbers


@settings(deadline=None)
@given(st.lists(st.tuples(sixteen, sixteen, words), min_size=1, max_size=4))
def test_inside_all(axes: list[tuple[list[int], list[int], int]]) -> None:
    boxes = np.array([7, *(word for lows, highs, _ in axes for word in lows + highs)], np.int32)
    codes = [code for _, _, code in axes]
    right = lanes.ALL
    for lows, highs, code in axes:
        right &= mask_of([holds(*ends, code) for ends in zip(lows, highs, strict=True)])
    turned = [7, 7, *reversed(codes), *reversed(range(len(codes)))]
    axes_at = 2 + len(codes)
    out = np.array(turned, np.int32)
    assert call(6, base(boxes), 1, len(axes), 2, axes_at, base(out)) == right
    if len(axes) == 2:
        assert call(11, base(boxes), 1, *codes, 0, base(out)) == right
    if len(axes) == 3:
        assert call(12, base(boxes), 1, *codes, base(out)) == right


@settings(deadline=None)
@given(sixteen, words, st.integers(0, 8))
def test_repeat_and_copy(source: list[int], value: int, at: int) -> None:
    held, out = np.array([7, *source, 7], np.int32), np.zeros(64, np.int32)
    call(9, base(held), value, at, 0, 0, base(out))
    assert out[at : at + LANES].tolist() == [value] * LANES
    call(10, base(held), 1, at, 0, 0, base(out))
    assert out[at : at + LANES].tolist() == source
    assert not out[:at].any() and not out[at + LANES :].any()


@given(words)
def test_words(value: int) -> None:
    held = np.array([0, value], np.int32)
    assert call(8, base(held), 1, 0, 0, 0, base(held)) == value
    assert call(7, base(held), 0, 0, value, 0, base(held)) == value
    assert held.tolist() == [value, value]


def test_first() -> None:
    for lane in range(LANES):
        assert asked(5, [0] * LANES, lanes.ALL & ~((1 << lane) - 1)) == lane


def test_room_starts_a_cache_line() -> None:
    for size in (0, 1, 17, 1000):
        room = lanes.aligned(size)
        assert len(room) == size
        assert room.ctypes.data % lanes.CACHE_LINE == 0 or not size
