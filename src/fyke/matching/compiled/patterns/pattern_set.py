"""PatternSet: which of many string patterns accept a text.

Idea. Each pattern is indexed by one piece of its text (`encoding`): a piece at the front in a trie,
one at the back in a trie of reversed bytes (`trie`), any other by a window of eight bytes
(`windows`) or, if it is short or has much company, in an Aho-Corasick automaton (`aho_corasick`). A
search reads the text, meets the patterns whose piece it holds, and verifies those that the piece
does not decide (`lookup`, `marks`, `placement`). The arrays of that index form a block
(`block_layout`, `building`, `block`); blocks of growing size, with a memtable of new patterns in
front of them, make a set that can change (`layers`).
Example. 0: `OT%`, 1: `%SE`, 2: `%b%`, 3: `N%SE`. `NYSE` meets 1 at the back, and 3 at the front,
which has to be verified.
Invariant. The verdict is that of `Like`: whatever pieces, blocks and caches do, they only choose
what has to be decided.
Cost. A few nanoseconds a byte and block, plus what is reported and verified.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fyke.errors import FykeError
from fyke.filters.texts import glob as globs
from fyke.filters.texts.glob import Glob
from fyke.matching.arrays import Arrays
from fyke.matching.compiled.patterns import block_storage
from fyke.matching.compiled.patterns.block import Block
from fyke.matching.compiled.patterns.block_arrays import Bytes, Integers, Longs, octets_of
from fyke.matching.compiled.patterns.encoding import encode_text
from fyke.matching.compiled.patterns.layers import Layers, Test
from fyke.matching.compiled.patterns.text_cache import TextCache

NUMBER_MAX: Final = 2**31 - 1

_Search: TypeAlias = tuple[bool, list[tuple[int, Test]], tuple[Block, ...]]
"""Texts are folded or not; the patterns to be tested one by one; the blocks."""


class PatternSet:
    """The string patterns of one attribute, by number.

    Patterns that ignore case are held folded, apart from the others; a text is folded once.
    Safe for threads: searches go on while another thread adds, discards or merges.
    """

    __slots__ = ("_cache", "_exact", "_folded", "_lock", "_merging")

    def __init__(self, exact: tuple[Block, ...] = (), folded: tuple[Block, ...] = ()) -> None:
        self._exact = Layers(exact)
        self._folded = Layers(folded)
        self._cache = TextCache()
        self._lock = threading.Lock()
        self._merging = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            return len(self._exact) + len(self._folded)

    @property
    def nbytes(self) -> int:
        """The size of the arrays."""
        return sum(block.nbytes for each in self._layers() for block in each.blocks)

    def _layers(self) -> tuple[Layers, Layers]:
        return self._exact, self._folded

    def add(self, number: int, pattern: Glob, ignore_case: bool) -> None:
        """Add a pattern under a number that is not in use.

        One that ignores case is given folded.
        """
        if not 0 <= number <= NUMBER_MAX:
            raise FykeError(f"the number of a pattern is {number}; expected 0 to {NUMBER_MAX}")
        with self._lock:
            (self._folded if ignore_case else self._exact).add(number, pattern)
            self._cache.clear()

    def discard(self, number: int) -> None:
        """Drop the pattern of this number, if there is one; it is not reported again."""
        if not 0 <= number <= NUMBER_MAX:
            return
        with self._lock:
            if self._exact.discard(number) or self._folded.discard(number):
                self._cache.clear()

    # --- searching -------------------------------------------------------------------------------

    def accepted(self, text: str) -> Integers:
        """Return the numbers of the patterns that accept the text, ascending and read-only."""
        found = self._cache.get(text)
        if found is not None:
            return found
        with self._lock:
            epoch = self._cache.epoch
            found = self._cache.get_old(text)
            searches = [] if found is not None else self._searches(1)
        if found is None:
            found = _finds_in(searches, text)
            found.setflags(write=False)
        with self._lock:
            self._cache.put(text, found, epoch)
        return found

    def accepted_many(self, texts: Sequence[str]) -> tuple[Longs, Integers]:
        """Return the same for many texts, of which each distinct one is searched once.

        The numbers for text t lie in the second array between places t and t + 1 of the first.
        """
        rows: dict[str, int] = {}
        row = np.fromiter((rows.setdefault(t, len(rows)) for t in texts), np.int64, len(texts))
        with self._lock:
            searches = self._searches(len(rows))
        finds = _finds(searches, tuple(rows))
        bounds = np.searchsorted(finds, np.arange(len(rows) + 1, dtype=np.int64) << 32)
        numbers = _numbers(finds)
        return (bounds, numbers) if len(rows) == len(texts) else _chosen(bounds, numbers, row)

    def _searches(self, texts: int) -> list[_Search]:
        """Return the searches to make now, for `texts` texts."""
        return [
            (each is self._folded, each.tests(texts), each.blocks)
            for each in self._layers()
            if not each.is_empty
        ]

    # --- merging ---------------------------------------------------------------------------------

    def merge_due(self) -> bool:
        """Return True if a merge is due that is too large to be done at once."""
        with self._lock:
            return self._exact.due or self._folded.due

    def merge(self) -> None:
        """Do the merges that are due; a second call at the same time does nothing.

        Other threads may search, add and discard meanwhile.
        """
        if not self._merging.acquire(blocking=False):
            return
        try:
            for layers in self._layers():
                self._merge(layers)
        finally:
            self._merging.release()

    def _merge(self, layers: Layers) -> None:
        with self._lock:
            layers.freeze()
            plan = layers.plan()
        if plan is None:
            return
        block = None
        try:
            block = plan.block()
        except BaseException:
            with self._lock:
                layers.abandon()
            raise
        with self._lock:
            layers.install(plan, block)

    # --- storing ---------------------------------------------------------------------------------

    def arrays(self) -> Arrays:
        """Return all patterns as arrays without pointers, for a snapshot."""
        with self._lock:
            for each in self._layers():
                each.freeze()
            return block_storage.packed(self._exact.blocks, self._folded.blocks)

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> PatternSet:
        """Return the patterns of some arrays, which are neither copied nor written to."""
        return cls(*block_storage.unpacked(arrays))


def _finds(searches: Sequence[_Search], texts: Sequence[str]) -> Longs:
    """Return text << 32 | number of all that is found, ascending."""
    parts: list[Longs] = []
    for is_folded, tests, blocks in searches:
        read = tuple(map(globs.fold, texts)) if is_folded else texts
        if tests:
            finds = [
                place << 32 | number
                for place, text in enumerate(read)
                for number, accepts in tests
                if accepts(text)
            ]
            parts.append(np.array(finds, np.int64))
        if blocks:
            data, bounds = _encoded(read)
            for block in blocks:
                parts += block.accepted(read, data, bounds)
    finds_all = np.concatenate(parts) if parts else np.empty(0, np.int64)
    finds_all.sort()
    return finds_all


def _finds_in(searches: Sequence[_Search], text: str) -> Integers:
    """Return the numbers of the patterns that accept one text, ascending."""
    numbers: list[int] = []
    parts: list[Longs] = []
    for is_folded, tests, blocks in searches:
        read = globs.fold(text) if is_folded else text
        numbers += [number for number, accepts in tests if accepts(read)]
        if blocks:
            data = octets_of(encode_text(read))
            bounds = np.array((0, len(data)), np.int64)
            for block in blocks:
                parts += block.accepted((read,), data, bounds)
    if numbers:
        parts.append(np.array(numbers, np.int64))
    if not parts:
        return np.empty(0, np.int32)
    found = (parts[0] if len(parts) == 1 else np.concatenate(parts)).astype(np.int32)
    found.sort()
    return found


def _encoded(texts: Sequence[str]) -> tuple[Bytes, Longs]:
    """Return all texts in UTF-8, and where each starts, and the last one ends."""
    joined = "".join(texts)
    if joined.isascii():
        lengths = list(map(len, texts))
    else:
        lengths = [len(encode_text(text)) for text in texts]
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return octets_of(encode_text(joined)), bounds


def _numbers(finds: Longs) -> Integers:
    return finds.astype(np.int32)


def _chosen(bounds: Longs, numbers: Integers, rows: Longs) -> tuple[Longs, Integers]:
    """Return some rows, possibly repeated, of numbers by row."""
    lengths = np.diff(bounds)[rows]
    chosen = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=chosen[1:])
    places = np.arange(chosen[-1]) + np.repeat(bounds[:-1][rows] - chosen[:-1], lengths)
    return chosen, numbers[places]
