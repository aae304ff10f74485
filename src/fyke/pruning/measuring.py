"""Measuring: what each step lets through, on events themselves, in one pass over the steps.

Idea. A pruned subscription accepts what it accepted before. So an event leaves with the first
version of any subscription that accepts it, in the order of the steps, and never has to be looked
at again: the fraction of events that match at least one subscription is known after every single
step, without matching all events after each. Events are bits (`truth`), a version is a few
operations on them.
Example. After the originals, 6 of 10 events have left. Step 1 is a version that accepts 4 events, 3
of which are gone: the fraction is 0.7, and the sum of matches has grown by what this version
accepts more than the one before.
Cost. Steps times predicates left times events / 64; memory for the bits of a part of the events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fyke.events.columns import Columns
from fyke.filters.filter import Filter, Not
from fyke.pruning.shape import AND, Shape
from fyke.pruning.steps import Steps
from fyke.pruning.truth import Bits, every, truth

BYTES_MAX: Final = 128 * 2**20
"""Bits of all predicates that are held at a time."""
ROWS_MIN: Final = 1_024
Counts: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Trees:
    """Subscriptions as shapes over numbered leaves; below zero is the negation of a leaf."""

    shapes: Sequence[Shape]
    """Of each subscription."""
    leaves: Sequence[Sequence[int]]
    """Of each subscription: leaf n is `n`, its negation `~n`."""
    distinct: Sequence[Filter]

    def __len__(self) -> int:
        return len(self.shapes)


@dataclass(frozen=True, slots=True)
class Measured:
    """Of so many events: element k is after k steps."""

    events: int
    matched: Counts
    """Events that match at least one subscription."""
    matches: Counts
    """Pairs of an event and a subscription that match."""

    @property
    def fraction(self) -> npt.NDArray[np.float64]:
        return self.matched / max(self.events, 1)

    def __add__(self, other: Measured) -> Measured:
        return Measured(
            self.events + other.events, self.matched + other.matched, self.matches + other.matches
        )


def rows_at_once(predicates: int) -> int:
    """Return how many events are held as bits at a time."""
    return max(ROWS_MIN, min(65_536, 8 * BYTES_MAX // max(predicates, 1)) // 64 * 64)


def measure(trees: Trees, steps: Steps, parts: Iterable[Columns]) -> Measured:
    """Measure the steps in their order, on all parts of the events."""
    nothing = np.zeros(len(steps) + 1, np.int64)
    found = Measured(0, nothing, nothing)
    for columns in parts:
        found = found + _measure(trees, steps, columns)
    return found


def _measure(trees: Trees, steps: Steps, columns: Columns) -> Measured:
    bits = truth(columns, trees.distinct)
    whole = every(columns.rows)
    rest = whole.copy()
    kept = [shape.whole for shape in trees.shapes]
    accepted = np.zeros(len(trees), np.int64)
    matched, matches = [], []
    total = found = 0
    for row in range(len(trees)):
        version = accepts(trees.shapes[row], kept[row], trees.leaves[row], bits, whole)
        accepted[row] = count = int(np.bitwise_count(version).sum())
        total += count
        found += _leave(rest, version)
    matched.append(found)
    matches.append(total)
    for row, node in zip(steps.row.tolist(), steps.node.tolist(), strict=True):
        shape = trees.shapes[row]
        kept[row] &= ~shape.leaves[node]
        version = accepts(shape, kept[row], trees.leaves[row], bits, whole)
        count = int(np.bitwise_count(version).sum())
        total += count - int(accepted[row])
        accepted[row] = count
        found += _leave(rest, version)
        matched.append(found)
        matches.append(total)
    return Measured(columns.rows, np.array(matched, np.int64), np.array(matches, np.int64))


def _leave(rest: Bits, version: Bits) -> int:
    """Take the events that a version accepts from the rest; return how many there were."""
    first = version & rest
    count = int(np.bitwise_count(first).sum())
    if count:
        rest ^= first
    return count


def accepts(
    shape: Shape, kept: int, leaves: Sequence[int], bits: Bits, whole: Bits, node: int = 0
) -> Bits:
    """Return the events that a version accepts, as bits."""
    kind = shape.kinds[node]
    if not kind:
        leaf = leaves[shape.leaves[node].bit_length() - 1]
        row: Bits = bits[leaf] if leaf >= 0 else bits[~leaf] ^ whole
        return row
    found: Any = None
    for child in shape.children[node]:
        if shape.leaves[child] & kept:
            there = accepts(shape, kept, leaves, bits, whole, child)
            if found is None:
                found = there
            elif kind == AND:
                found = found & there
            else:
                found = found | there
    result: Bits = found
    return result


def number_leaves(literals: Sequence[Filter], known: dict[Filter, int]) -> list[int]:
    """Return the numbers of literals; new ones are added to what is known."""
    found = []
    for literal in literals:
        is_negated = isinstance(literal, Not)
        leaf = literal.child if isinstance(literal, Not) else literal
        number = known.setdefault(leaf, len(known))
        found.append(~number if is_negated else number)
    return found
