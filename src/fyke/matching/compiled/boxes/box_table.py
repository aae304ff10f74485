"""BoxTable: many boxes as columns, the form between filters and a segment.

Box b has the constraints from starts[b] to starts[b + 1], belongs to subscription owner[b] (its
number within the segment) and is exact or not.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from fyke.matching.compiled.boxes.boxing import Boxes

Words: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]
Places: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class BoxTable:
    starts: Places
    axis: Words
    low: Words
    high: Words
    owner: Words
    exact: Flags

    def __len__(self) -> int:
        return len(self.owner)


class BoxWriter:
    """Collects the boxes of one subscription after the other."""

    def __init__(self) -> None:
        self._constraints = array("i")
        self._starts = array("q", [0])
        self._owner = array("i")
        self._exact = array("b")
        self.owners = 0
        self.has_several = False
        """True if an owner has several boxes."""

    def add(self, boxes: Boxes) -> None:
        constraints, owner = self._constraints, self.owners
        self.has_several = self.has_several or len(boxes.boxes) > 1
        for box in boxes.boxes:
            for constraint in box:
                constraints.extend(constraint)
            self._starts.append(len(constraints) // 3)
            self._owner.append(owner)
            self._exact.append(boxes.is_exact)
        self.owners += 1

    def table(self) -> BoxTable:
        axis, low, high = np.ascontiguousarray(self.constraints().reshape(-1, 3).T)
        return BoxTable(self.starts(), axis, low, high, self.owner(), self.exact())

    def starts(self) -> Places:
        return np.array(self._starts, np.int64)

    def constraints(self) -> Words:
        """Return axis, low and high of one constraint after the other."""
        return np.array(self._constraints, np.int32)

    def owner(self) -> Words:
        return np.array(self._owner, np.int32)

    def exact(self) -> Flags:
        return np.array(self._exact, np.bool_)


def concatenate(tables: Iterable[BoxTable]) -> BoxTable:
    """Join tables, one after the other; owners are not renumbered."""
    parts = list(tables)
    shifts = np.cumsum([0, *(len(part.axis) for part in parts)])
    starts = [part.starts[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
    return BoxTable(
        starts=np.concatenate([*starts, shifts[-1:]]),
        axis=np.concatenate([part.axis for part in parts]),
        low=np.concatenate([part.low for part in parts]),
        high=np.concatenate([part.high for part in parts]),
        owner=np.concatenate([part.owner for part in parts]),
        exact=np.concatenate([part.exact for part in parts]),
    )
