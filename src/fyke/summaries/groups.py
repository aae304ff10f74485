"""Groups: lists of integers of any lengths, in two arrays.

Group i is items[offsets[i] : offsets[i + 1]]. Cells are groups of rows, boxes are groups of cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from fyke.summaries.line import Ints

FEW: Final = 40
"""The number of groups that are sooner taken one by one than by arrays of their places."""


@dataclass(frozen=True)
class Groups:
    """The offset where each group begins, and the items of all groups."""

    offsets: Ints
    items: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @staticmethod
    def of(groups: Iterable[Sequence[int]]) -> Groups:
        given = list(groups)
        offsets = np.zeros(len(given) + 1, np.int64)
        np.cumsum([len(each) for each in given], out=offsets[1:])
        return Groups(offsets, np.array([item for each in given for item in each], np.int64))

    @staticmethod
    def by(owners: Ints, items: Ints, count: int) -> Groups:
        """Return the items of `count` groups, by the number of the group that each belongs to."""
        order = np.argsort(owners, kind="stable")
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(owners, minlength=count), out=offsets[1:])
        return Groups(offsets, items[order])

    @property
    def widths(self) -> Ints:
        return np.diff(self.offsets)

    @property
    def owners(self) -> Ints:
        """The group of each item."""
        return np.repeat(np.arange(len(self)), self.widths)

    def lists(self) -> list[list[int]]:
        items, offsets = self.items.tolist(), self.offsets.tolist()
        return [items[offsets[at] : offsets[at + 1]] for at in range(len(self))]

    def take(self, which: Ints) -> Groups:
        """Return some groups, in the order given."""
        widths = self.widths[which]
        offsets = np.zeros(len(which) + 1, np.int64)
        np.cumsum(widths, out=offsets[1:])
        places = np.repeat(self.offsets[which] - offsets[:-1], widths) + np.arange(offsets[-1])
        return Groups(offsets, self.items[places])

    def gather(self, which: Sequence[int]) -> Ints:
        """Return the items of some groups, in the order given."""
        if not 0 < len(which) <= FEW:
            return self.take(np.array(which, np.int64)).items
        offsets, items = self.offsets, self.items
        return np.concatenate([items[offsets[at] : offsets[at + 1]] for at in which])

    def mapped(self, mapping: Ints) -> Groups:
        """Return the groups with other items, each once and in order; negative items go."""
        items, owners = mapping[self.items], self.owners
        order = np.lexsort((items, owners))
        items, owners = items[order], owners[order]
        keep = items >= 0
        keep[1:] &= (items[1:] != items[:-1]) | (owners[1:] != owners[:-1])
        return Groups.by(owners[keep], items[keep], len(self))

    def distinct(self) -> tuple[Groups, Ints]:
        """Return each group once, by width and then by items; and the new number of each group."""
        widths = self.widths
        mapping = np.zeros(len(self), np.int64)
        parts, new_widths, base = [], [], 0
        for width in np.unique(widths).tolist():
            which = np.flatnonzero(widths == width)
            matrix = self.items[self.offsets[which][:, None] + np.arange(width)]
            unique, inverse = unique_rows(matrix)
            mapping[which] = base + inverse
            base += len(unique)
            parts.append(unique.reshape(-1))
            new_widths.append(np.full(len(unique), width, np.int64))
        offsets = np.zeros(base + 1, np.int64)
        if parts:
            np.cumsum(np.concatenate(new_widths), out=offsets[1:])
        items = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        return Groups(offsets, items), mapping


def concatenated(parts: Sequence[Groups]) -> Groups:
    widths = np.concatenate([each.widths for each in parts])
    offsets = np.zeros(len(widths) + 1, np.int64)
    np.cumsum(widths, out=offsets[1:])
    return Groups(offsets, np.concatenate([each.items for each in parts]))


def unique_rows(matrix: Ints) -> tuple[Ints, Ints]:
    """Return the distinct rows of a matrix in order, and the number of each row among them."""
    count, width = matrix.shape
    if width == 0 or count == 0:
        return matrix[: min(count, 1)], np.zeros(count, np.int64)
    order = np.lexsort(matrix.T[::-1])
    ordered = matrix[order]
    is_new: npt.NDArray[np.bool_] = np.ones(count, bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    inverse = np.empty(count, np.int64)
    inverse[order] = np.cumsum(is_new) - 1
    return ordered[is_new], inverse
