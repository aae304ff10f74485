"""Access: under which of its symbols a box is filed, and what is left to test there.

Idea. An event finds a box through one symbol, the one that the fewest events are expected to have;
where even that one is common, through a pair of symbols. The other constraints are the box's
*residue*, tested at the symbol's cluster; those that no kernel can test there (a pattern that was
not chosen) leave the box inexact. Presence of an attribute need not be tested where another
constraint needs a value of it.
Pairs. An event asks for every pair of axes that a segment uses, so these are few (`PAIRS_MAX`):
those through which most boxes would be reached otherwise, and a small segment uses none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from fyke.matching.compiled.boxes.box_table import BoxTable, Flags, Places, Words
from fyke.matching.compiled.coding.axes import KEYED, AxisKind
from fyke.matching.compiled.coding.frequencies import Shares
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.kernels.kernel import kernel

ROOT: Final = 0
"""Stands in place of a symbol for boxes without one."""
PAIR_FROM: Final = 0.005
"""A symbol that at least this share of the events has is paired with another one."""
PAIRS_MAX: Final = 16
PAIR_REACHED: Final = 2.0
"""Boxes that a pair of axes must spare each event; asking for the pair costs as much."""


@dataclass(frozen=True, slots=True)
class AxisFacts:
    """Facts about the axes that the layout needs, as arrays by axis."""

    keyed: Flags
    testable: Flags
    presence: Flags
    attribute: Words

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> AxisFacts:
        kinds = [kind for kind, _ in vocabulary.axes]
        names: dict[tuple[bool, str], int] = {}
        numbers = [
            names.setdefault((kind is AxisKind.TYPE, name), len(names))
            for kind, name in vocabulary.axes
        ]
        return cls(
            keyed=np.array([kind in KEYED for kind in kinds], np.bool_),
            testable=np.array([kind is not AxisKind.TEXT for kind in kinds], np.bool_),
            presence=np.array([kind is AxisKind.PRESENCE for kind in kinds], np.bool_),
            attribute=np.array(numbers, np.int32),
        )


@dataclass(frozen=True, slots=True)
class Filed:
    """Boxes with the symbols and the axes of their access, and their residues, sorted by axis.

    The second symbol is ROOT, and its axis -1, where there is no pair.
    """

    symbol: Words
    second: Words
    axis: Words
    second_axis: Words
    residues: BoxTable

    @property
    def key(self) -> Places:
        """Both symbols as one number."""
        return self.symbol.astype(np.int64) << 32 | self.second


def file_boxes(boxes: BoxTable, facts: AxisFacts, share: Shares) -> Filed:
    """Choose the access of each box. `share` is that of each constraint's symbol."""
    axis, low, high, share = arrange(boxes.starts, boxes.axis, boxes.low, boxes.high, share)
    pairable = facts.keyed & facts.testable & ~facts.presence
    first, second = choose(boxes.starts, axis, low, high, facts.keyed, pairable, share)
    second = _few_pairs(first, second, axis, share)
    kept, exact = residue(
        boxes.starts, axis, low, high, first, second, boxes.exact,
        facts.testable, facts.presence, facts.attribute,
    )  # fmt: skip
    starts = _sums(kept)[boxes.starts]
    return Filed(
        symbol=_at(low, first, ROOT),
        second=_at(low, second, ROOT),
        axis=_at(axis, first, -1),
        second_axis=_at(axis, second, -1),
        residues=BoxTable(starts, axis[kept], low[kept], high[kept], boxes.owner, exact),
    )


def _few_pairs(first: Places, second: Places, axis: Words, share: Shares) -> Places:
    """Return the second constraints without those of axes that save few boxes."""
    paired = np.flatnonzero(second >= 0)
    saved = np.minimum(share[first[paired]], share[second[paired]])
    if saved.sum() < PAIR_REACHED:
        return np.full(len(second), -1, np.int64)
    axes = axis[first[paired]].astype(np.int64) << 32 | axis[second[paired]]
    pairs, which = np.unique(axes, return_inverse=True)
    reached = np.bincount(which, saved)
    best = np.argsort(-reached, kind="stable")[:PAIRS_MAX]
    is_kept = np.zeros(len(pairs), np.bool_)
    is_kept[best] = reached[best] >= PAIR_REACHED
    second = second.copy()
    second[paired[~is_kept[which]]] = -1
    return second


def _sums(kept: Flags) -> Places:
    """Return the number of constraints that are kept before each place."""
    sums = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=sums[1:])
    return sums


def _at(column: Words, places: Places, otherwise: int) -> Words:
    """Return the column at some places; -1 stands for no place."""
    return np.append(column, np.int32(otherwise))[places].astype(np.int32)


@kernel
def arrange(starts: Any, axis: Any, low: Any, high: Any, share: Any) -> Any:
    """Sort the constraints of each box by axis, then low; equal ones keep their order."""
    axis, low, high, share = axis.copy(), low.copy(), high.copy(), share.copy()
    for box in range(len(starts) - 1):
        for number in range(starts[box] + 1, starts[box + 1]):
            at = number
            moved = axis[at], low[at], high[at], share[at]
            while at > starts[box] and (
                axis[at - 1] > moved[0] or (axis[at - 1] == moved[0] and low[at - 1] > moved[1])
            ):
                axis[at], low[at], high[at] = axis[at - 1], low[at - 1], high[at - 1]
                share[at] = share[at - 1]
                at -= 1
            axis[at], low[at], high[at], share[at] = moved
    return axis, low, high, share


@kernel
def choose(
    starts: Any, axis: Any, low: Any, high: Any, keyed: Any, pairable: Any, share: Any
) -> Any:
    """Return per box the constraint with the rarest symbol, and one to pair it with; else -1.

    Of a pair the one on the lower axis comes first.
    """
    first = np.full(len(starts) - 1, -1, np.int64)
    second = np.full(len(starts) - 1, -1, np.int64)
    for box in range(len(starts) - 1):
        best, next_best = 2.0, 2.0
        other = -1
        for at in range(starts[box], starts[box + 1]):
            if low[at] == high[at] and keyed[axis[at]] and share[at] < best:
                best = share[at]
                first[box] = at
        if best < PAIR_FROM or first[box] < 0 or not pairable[axis[first[box]]]:
            continue
        for at in range(starts[box], starts[box + 1]):
            is_symbol = low[at] == high[at] and pairable[axis[at]]
            if is_symbol and axis[at] != axis[first[box]] and share[at] < next_best:
                next_best = share[at]
                other = at
        second[box] = max(first[box], other) if other >= 0 else -1
        if other >= 0:
            first[box] = min(first[box], other)
    return first, second


@kernel
def residue(
    starts: Any,
    axis: Any,
    low: Any,
    high: Any,
    first: Any,
    second: Any,
    exact: Any,
    testable: Any,
    presence: Any,
    attribute: Any,
) -> Any:
    """Return which constraints are kept for the test, and which boxes are exact with these."""
    kept = np.ones(len(axis), np.bool_)
    exact = exact.copy()
    for box in range(len(starts) - 1):
        for at in range(starts[box], starts[box + 1]):
            if at == first[box] or at == second[box]:
                kept[at] = False
            elif not testable[axis[at]]:
                kept[at] = False
                exact[box] = False
            elif presence[axis[at]] and low[at] <= high[at]:
                for other in range(starts[box], starts[box + 1]):
                    same = attribute[axis[other]] == attribute[axis[at]]
                    if same and not presence[axis[other]] and low[other] <= high[other]:
                        kept[at] = False
    return kept, exact
