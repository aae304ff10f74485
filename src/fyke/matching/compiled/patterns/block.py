"""A block: an immutable index of numbered patterns. Patterns can only be marked as gone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from fyke.filters.texts import glob as globs
from fyke.matching.compiled.patterns import block_layout
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers, Longs, frozen
from fyke.matching.compiled.patterns.building import Numbered, build, numbered, united
from fyke.matching.compiled.patterns.encoding import decode
from fyke.matching.compiled.patterns.lookup import search

ENTRY_LOAD: Final = 16
_FOUND_MIN: Final = 4096
_NUMBER_MASK: Final = 0xFFFFFFFF


class _Scratch(NamedTuple):
    """The arrays that a search writes to. Kept between searches, never used by two at once."""

    seen: Bytes
    met: Integers
    found: Longs


class Block:
    """Patterns in the two arrays of `block_layout`, and which of them are alive."""

    __slots__ = ("_alive", "_scratches", "_writable", "data", "live", "words")

    def __init__(self, words: Integers, data: Bytes, alive: Bytes) -> None:
        self.words = frozen(words)
        self.data = frozen(data)
        self._writable = alive
        self._alive = frozen(alive)
        self._scratches: list[_Scratch] = []
        self.live = int(np.count_nonzero(alive))

    @classmethod
    def of(cls, patterns: Mapping[int, bytes]) -> Block:
        """Return the block of encoded patterns by number."""
        return cls(*build(numbered(patterns)), np.ones(len(patterns), np.uint8))

    @classmethod
    def merged(cls, sources: Sequence[tuple[Block, Bytes]]) -> Block:
        """Return the block of those patterns of others that are alive, in the given arrays."""
        patterns = united([(block.patterns, alive) for block, alive in sources])
        return cls(*build(patterns), np.ones(len(patterns.numbers), np.uint8))

    def __len__(self) -> int:
        return len(self._alive)

    @property
    def alive(self) -> Bytes:
        return self._alive

    @property
    def patterns(self) -> Numbered:
        return Numbered(
            block_layout.integers(self.words, block_layout.NUMBERS),
            block_layout.integers(self.words, block_layout.STARTS),
            block_layout.octets(self.words, self.data, block_layout.PATTERNS),
        )

    @property
    def load(self) -> int:
        """The cost of building the block, in bytes of patterns."""
        return int(self.words[block_layout.SURE_AT]) + ENTRY_LOAD * len(self)

    @property
    def nbytes(self) -> int:
        return int(self.words.nbytes + self.data.nbytes + self._alive.nbytes)

    # --- searching -------------------------------------------------------------------------------

    def accepted(self, texts: Sequence[str], data: Bytes, bounds: Longs) -> list[Longs]:
        """Return text << 32 | number for each pattern that accepts a text.

        Text t is encoded in `data` between bounds[t] and bounds[t + 1].
        """
        scratch = self._scratches.pop() if self._scratches else self._new_scratch()
        parts, text = [], 0
        while text < len(texts):
            count, text = search(self.words, self.data, self._alive, data, bounds, text, *scratch)
            if count:
                parts.append(self._decided(scratch.found[:count].copy(), texts))
        self._scratches.append(scratch)
        return parts

    def _new_scratch(self) -> _Scratch:
        return _Scratch(
            np.zeros(len(self), np.uint8),
            np.empty(len(self), np.int32),
            np.empty(max(_FOUND_MIN, len(self)), np.int64),
        )

    def _decided(self, finds: Longs, texts: Sequence[str]) -> Longs:
        """Decide the finds that were too much work for the kernel."""
        undecided = np.flatnonzero(finds < 0)
        if not len(undecided):
            return finds
        for place in undecided:
            find = ~int(finds[place])
            if globs.matcher(self._pattern(find & _NUMBER_MASK))(texts[find >> 32]):
                finds[place] = find
        return finds[finds >= 0]

    def _pattern(self, number: int) -> globs.Glob:
        patterns, entry = self.patterns, self._entry(number)
        return decode(patterns.data[patterns.starts[entry] : patterns.starts[entry + 1]].tobytes())

    # --- discarding ------------------------------------------------------------------------------

    def discard(self, number: int) -> bool:
        """Mark a pattern as gone. Return False if it is not here."""
        entry = self._entry(number)
        if entry < 0 or not self._alive[entry]:
            return False
        if not self._writable.flags.writeable:
            self._writable = self._writable.copy()
            self._alive = frozen(self._writable)
        self._writable[entry] = 0
        self.live -= 1
        return True

    def _entry(self, number: int) -> int:
        numbers = self.words[self.words[0] : self.words[1]]
        entry = int(numbers.searchsorted(np.int32(number)))
        return entry if entry < len(numbers) and numbers[entry] == number else -1
