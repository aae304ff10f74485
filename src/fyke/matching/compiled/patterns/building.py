"""Building the arrays of a block from numbered patterns, and putting the patterns of several
together. No step holds the interpreter's lock for long: what is linear in the patterns is done by
kernels and by numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.patterns import block_layout
from fyke.matching.compiled.patterns.aho_corasick import link
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers, Longs, frozen, octets_of
from fyke.matching.compiled.patterns.encoding import BACK, FRONT, INNER, choose_keys
from fyke.matching.compiled.patterns.marks import mark_patterns
from fyke.matching.compiled.patterns.trie import Trie, grow
from fyke.matching.compiled.patterns.windows import COMPARED_MAX, choose_windows, index_windows


class Numbered(NamedTuple):
    """Encoded patterns, in the order of their numbers."""

    numbers: Integers
    starts: Integers
    """By pattern, and one more: its first byte in `data`."""
    data: Bytes


def numbered(patterns: Mapping[int, bytes]) -> Numbered:
    numbers = sorted(patterns)
    data = [patterns[number] for number in numbers]
    return Numbered(
        np.array(numbers, np.int32),
        _starts(np.fromiter(map(len, data), np.int64, len(data))),
        octets_of(b"".join(data)),
    )


def united(sources: Sequence[tuple[Numbered, Bytes]]) -> Numbered:
    """Return the patterns of all sources that are alive there."""
    numbers, low, high, shift = [], [], [], 0
    for source, alive in sources:
        kept = np.flatnonzero(alive)
        numbers.append(source.numbers[kept])
        low.append(source.starts[kept].astype(np.int64) + shift)
        high.append(source.starts[kept + 1].astype(np.int64) + shift)
        shift += len(source.data)
    all_numbers = np.concatenate(numbers)
    order = np.argsort(all_numbers)
    starts_then = np.concatenate(low)[order]
    starts = _starts(np.concatenate(high)[order] - starts_then)
    data = np.empty(starts[-1], np.uint8)
    _gather(
        frozen(np.concatenate([source.data for source, _ in sources])), starts_then, starts, data
    )
    return Numbered(all_numbers[order], starts, data)


def _starts(lengths: Longs) -> Integers:
    starts = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:], dtype=np.int32)
    return starts


@kernel
def _gather(source: Bytes, at: Longs, starts: Integers, target: Bytes) -> None:
    for number in range(len(at)):
        low, high = int(starts[number]), int(starts[number + 1])
        for place in range(high - low):
            target[low + place] = source[at[number] + place]


def build(patterns: Numbered) -> tuple[Integers, Bytes]:
    """Return the two arrays of the block."""
    count = len(patterns.numbers)
    data, starts = frozen(patterns.data), patterns.starts
    place, sure = np.empty(count, np.uint8), np.empty(count, np.uint8)
    key, length = np.empty(count, np.int32), np.empty(count, np.int32)
    choose_keys(data, starts, place, key, length, sure)
    window = _window_ends(data, place, key, length)
    windowed = np.flatnonzero(window).astype(np.int32)
    sure[windowed[length[windowed] > COMPARED_MAX]] = 0
    windows = index_windows(data, windowed, key[windowed], length[windowed], window[windowed])
    front = _trie(data, np.flatnonzero(place == FRONT), key, length, 1)
    back = _trie(data, np.flatnonzero(place == BACK), key + length - 1, length, -1)
    inner = _trie(data, np.flatnonzero((place == INNER) & (window == 0)), key, length, 1)
    automaton = link(inner)
    front_marks, back_marks, inner_marks = (
        mark_patterns(data, starts, sure, trie.reports) for trie in (front, back, inner)
    )
    return block_layout.pack(
        (
            *(patterns.numbers, starts),
            *(front.starts, front.reports, front_marks, front.first, front.output),
            *(back.starts, back.reports, back_marks, back.first, back.output),
            *(inner.starts, inner.reports, inner_marks),
            *(automaton.nodes, automaton.further, automaton.rows),
            *(windows.buckets, windows.records),
        ),
        (data, sure, front.label, back.label, automaton.symbols, windows.sieve),
    )


def _window_ends(data: Bytes, place: Bytes, key: Integers, length: Integers) -> Integers:
    """Return, by pattern, the bytes of its key up to the end of its window; 0 without one."""
    inner = np.flatnonzero(place == INNER)
    ends = np.empty(len(inner), np.int32)
    choose_windows(data, key[inner], length[inner], ends)
    window = np.zeros(len(place), np.int32)
    window[inner] = ends
    return window


def _trie(data: Bytes, chosen: Longs, at: Integers, length: Integers, step: int) -> Trie:
    trie = grow(data, at[chosen], length[chosen], step)
    return trie._replace(reports=chosen[trie.reports].astype(np.int32))
