"""A pattern as one string of bytes, and the part of it that an index can find: its key.

Idea. A pattern is its segments in UTF-8 with a byte STAR between each two; ONE inside a segment is
a byte as well. Neither byte occurs in UTF-8, so nothing else needs to be stored. In valid UTF-8 a
string starts with, ends with or contains another exactly where its bytes do.
Key. Between the wildcards lie pieces: a piece at the front is found by walking a trie from the
front of a text, one at the back from the back, any other by an automaton. Each pattern is indexed
by one piece, the one that the fewest texts are expected to hold: the share of the patterns that
have the same piece (people who write patterns use the words that texts are made of), plus the
chance that so few bytes turn up anyway. A pattern without any piece has the empty key at the front.
Example. `/usr/%certutil%.exe` beside many patterns that start with `/usr/` or end in `.exe` gets
the key `certutil`.
Invariant. Every text that a pattern accepts holds its key at the key's place. Where the key is all
of the pattern, the converse holds too and the pattern is *sure*: nothing is left to verify.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from fyke.filters.texts.glob import ONE as ANY_ONE
from fyke.filters.texts.glob import Glob
from fyke.matching.compiled.kernels.kernel import kernel
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers

STAR: Final = 0xFE
ONE: Final = 0xFF
FRONT: Final = 0
BACK: Final = 1
INNER: Final = 2
KEY_MAX: Final = 16_384
"""Bytes of a key. What is longer is indexed by this much of it and verified."""

_STAR_BYTE: Final = bytes([STAR])
_ONE_BYTE: Final = bytes([ONE])
_HASH_FACTOR: Final = 1_000_003
_HASH_MASK: Final = 0x7FFFFFFF
_BYTE_CHANCE: Final = 0.125
_PLACES: Final = 64.0
"""Places in a text at which an inner piece is expected to be tried."""


def encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def encode(pattern: Glob) -> bytes:
    """Return the pattern as bytes."""
    return _STAR_BYTE.join(
        _ONE_BYTE.join(map(encode_text, segment.split(ANY_ONE))) for segment in pattern.segments
    )


def decode(data: bytes) -> Glob:
    """Return the pattern of some bytes."""
    return Glob(
        tuple(
            ANY_ONE.join(
                piece.decode("utf-8", "surrogatepass") for piece in segment.split(_ONE_BYTE)
            )
            for segment in data.split(_STAR_BYTE)
        )
    )


@kernel
def choose_keys(
    patterns: Bytes, starts: Integers, place: Bytes, key: Integers, length: Integers, sure: Bytes
) -> None:
    """Fill in the place, first byte and length of each pattern's key, and if it is sure."""
    count = len(starts) - 1
    size = 64
    while size < 4 * count:
        size *= 2
    uses = np.zeros(size, np.int32)
    for number in range(count):
        at, stop = int(starts[number]), int(starts[number + 1])
        while at < stop:
            end = piece_end(patterns, at, stop)
            if end > at:
                uses[_hash(patterns, at, end) & (size - 1)] += 1
            at = end + 1
    for number in range(count):
        start, stop = int(starts[number]), int(starts[number + 1])
        place[number], key[number], length[number] = FRONT, start, 0
        least = 2.0 + _PLACES
        at = start
        while at < stop:
            end = piece_end(patterns, at, stop)
            if end > at:
                anchored = at == start or end == stop
                chance = _BYTE_CHANCE ** min(end - at, 100) * (1.0 if anchored else _PLACES)
                cost = chance + uses[_hash(patterns, at, end) & (size - 1)] / count
                if cost < least:
                    least = cost
                    place[number] = FRONT if at == start else BACK if end == stop else INNER
                    key[number] = at
                    length[number] = end - at
            at = end + 1
        if length[number] > KEY_MAX:
            if place[number] == BACK:
                key[number] += length[number] - KEY_MAX
            length[number] = KEY_MAX
        sure[number] = _is_sure(patterns, start, stop, place[number], length[number])


@kernel
def piece_end(patterns: Bytes, at: int, stop: int) -> int:
    """Return where the piece that starts here ends: at the next wildcard."""
    while at < stop and patterns[at] < STAR:
        at += 1
    return at


@kernel
def _hash(patterns: Bytes, at: int, end: int) -> int:
    value = 0
    for each in range(at, end):
        value = (value * _HASH_FACTOR + int(patterns[each]) + 1) & _HASH_MASK
    return value ^ (value >> 15)


@kernel
def _is_sure(patterns: Bytes, start: int, stop: int, place: int, length: int) -> bool:
    """Return True if the pattern is its key with a star at each open end."""
    if place == FRONT:
        return stop - start == length + 1 and patterns[stop - 1] == STAR
    if place == BACK:
        return stop - start == length + 1 and patterns[start] == STAR
    return stop - start == length + 2 and patterns[start] == STAR and patterns[stop - 1] == STAR
