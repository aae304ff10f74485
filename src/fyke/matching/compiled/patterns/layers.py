"""Layers: patterns that come and go, over blocks that never change.

Idea. New patterns stand in a memtable, a small list that is tested one by one. When it is full it
becomes a block. Blocks stand in the order of their age; one that is not several times as large as
all younger ones together is merged with them, like the digits of a counter carry. Discarding marks
an entry; marked entries vanish when their block is merged.
Example. With a ratio of 4, loads 100, 20, 6 are left alone; a new block of 4 makes 20 too small
for 6 + 4, and the three become one of 30, for which 100 is too small: all become one.
Invariant. A number is alive in at most one place. Small merges happen at once; of the larger ones
(`due`) a plan is made, built by a thread that has the time, and put in place; meanwhile the blocks
are held: searched and marked, but part of no other merge.
Cost. O(log n) blocks; a pattern is rebuilt O(log n) times, amortised.
Source. J. L. Bentley, J. B. Saxe, Decomposable searching problems I, J. Algorithms 1 (1980).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from fyke.filters.texts import glob as globs
from fyke.filters.texts.glob import Glob
from fyke.matching.compiled.patterns.block import ENTRY_LOAD, Block
from fyke.matching.compiled.patterns.block_arrays import Bytes
from fyke.matching.compiled.patterns.encoding import encode

WAITING_MAX: Final = 512
"""Patterns of the memtable, at most, while nobody searches."""
TESTS_MAX: Final = 32
"""Tests of the memtable in one search, at most: patterns, times texts."""
AT_ONCE_LOAD: Final = 1 << 16
"""Load of a block that is built at once, on the caller's time: a few milliseconds."""
BLOCK_LOAD_MAX: Final = 1 << 29
"""Load of a block, at most: beyond this, offsets might not fit."""
RATIO: Final = 4

Test = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Plan:
    """Blocks to be merged, and what was alive in them when the plan was made."""

    first: int
    sources: tuple[tuple[Block, Bytes], ...]

    def block(self) -> Block | None:
        """Return the merged block; None if nothing is alive."""
        if not any(alive.any() for _, alive in self.sources):
            return None
        return Block.merged(self.sources)


class Layers:
    """Numbered patterns of one kind, all folded or none. Not safe for threads by itself."""

    __slots__ = ("_held", "_load", "_tests", "_waiting", "blocks")

    def __init__(self, blocks: tuple[Block, ...] = ()) -> None:
        self.blocks = blocks
        self._waiting: dict[int, Glob] = {}
        self._tests: dict[int, Test] = {}
        self._load = 0
        self._held = 0

    def __len__(self) -> int:
        return len(self._waiting) + sum(block.live for block in self.blocks)

    @property
    def is_empty(self) -> bool:
        return not self.blocks and not self._waiting

    def add(self, number: int, pattern: Glob) -> None:
        self._waiting[number] = pattern
        self._load += _load(pattern)
        if len(self._waiting) >= WAITING_MAX or self._load >= AT_ONCE_LOAD:
            self.freeze()

    def discard(self, number: int) -> bool:
        """Drop the pattern of a number. Return False if there is none."""
        pattern = self._waiting.pop(number, None)
        if pattern is not None:
            self._tests.pop(number, None)
            self._load -= _load(pattern)
            return True
        return any(block.discard(number) for block in self.blocks)

    def tests(self, texts: int) -> list[tuple[int, Test]]:
        """Return the tests of the memtable, for a search with `texts` texts."""
        if len(self._waiting) * texts > TESTS_MAX:
            self.freeze()
        if len(self._tests) < len(self._waiting):
            for number in self._waiting.keys() - self._tests.keys():
                self._tests[number] = globs.matcher(self._waiting[number])
        return list(self._tests.items())

    def freeze(self) -> None:
        """Make a block of the memtable, and do the merges that are small."""
        if self._waiting:
            block = Block.of({n: encode(pattern) for n, pattern in self._waiting.items()})
            self._waiting, self._tests, self._load = {}, {}, 0
            self.blocks = (*self.blocks, block)
        plan = self._plan(AT_ONCE_LOAD)
        if plan is not None:
            self._replace(plan, plan.block())

    # --- merging ---------------------------------------------------------------------------------

    @property
    def due(self) -> bool:
        return self._first(BLOCK_LOAD_MAX) is not None

    def plan(self) -> Plan | None:
        """Return the merge that is due, if any. Its blocks are held until `install`."""
        plan = self._plan(BLOCK_LOAD_MAX)
        if plan is not None:
            self._held = len(self.blocks)
        return plan

    def install(self, plan: Plan, block: Block | None) -> None:
        """Put the block of a plan in the place of its sources."""
        self._replace(plan, block)
        self._held = 0

    def abandon(self) -> None:
        self._held = 0

    def _plan(self, load_max: int) -> Plan | None:
        first = self._first(load_max)
        if first is None:
            return None
        return Plan(first, tuple((block, block.alive.copy()) for block in self.blocks[first:]))

    def _first(self, load_max: int) -> int | None:
        """Return the oldest block to be merged with all younger ones, of `load_max` together."""
        found, younger = None, 0
        for place in range(len(self.blocks) - 1, self._held - 1, -1):
            block = self.blocks[place]
            load = block.load
            if load + younger > load_max:
                break
            if load < RATIO * younger or 2 * block.live < len(block):
                found = place
            younger += load
        return found

    def _replace(self, plan: Plan, block: Block | None) -> None:
        end = plan.first + len(plan.sources)
        if block is not None:
            for source, alive in plan.sources:
                for number in source.patterns.numbers[(alive != 0) & (source.alive == 0)]:
                    block.discard(int(number))
        merged = () if block is None else (block,)
        self.blocks = (*self.blocks[: plan.first], *merged, *self.blocks[end:])


def _load(pattern: Glob) -> int:
    return ENTRY_LOAD + sum(map(len, pattern.segments))
