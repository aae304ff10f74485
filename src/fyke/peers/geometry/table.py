"""Table: the shapes of all peers that a process knows, in columns, and questions about them.

A row is a shape with a place in the cyclic order. Rows are never changed; a peer that wants
something else gets another row. All nodes of a process share a table: a simulated peer that ten
thousand others know is stored once.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fyke.peers.geometry import kernels
from fyke.peers.geometry.boxes import Place
from fyke.peers.geometry.kernels import Columns, Scratch
from fyke.peers.geometry.shape import Shape
from fyke.peers.geometry.space import Box, Point, Space

Rows = NDArray[np.int64]
Needs = NDArray[np.uint8]
"""The directions in which rows are needed: `kernels.UP`, `kernels.DOWN` or both."""

FRAGMENTS_MAX: Final = 1_024
"""Fragments that are looked at before a peer is selected without proof."""
STACK: Final = 4_096
TAKEN_MAX: Final = 4_096
"""Boxes of selected peers that a peer is held against."""
NEAR_MAX: Final = 1 << 15
"""Boxes of all peers of a pool."""
POOL_MAX: Final = 1 << 17
"""Peers of a pool."""
_PLAIN: Final = ("sequence", "tie", "first", "around", "within")


class Table:
    """Rows for one space; `fragments_max` bounds what a subtraction may shatter into."""

    def __init__(self, space: Space, fragments_max: int = FRAGMENTS_MAX) -> None:
        self.space = space
        self._rows = 0
        self._boxes = 0
        axes = len(space.axes)
        self._columns = Columns(
            *(np.zeros(16, np.int64) for _ in _PLAIN),
            *(np.zeros((16, axes), np.int64) for _ in range(2)),
            *(np.zeros((16, axes), np.float64) for _ in range(2)),
        )
        self._scratch = Scratch(
            low=np.zeros((STACK, axes), np.int64),
            high=np.zeros((STACK, axes), np.int64),
            following=np.zeros(STACK, np.int64),
            taken=np.zeros(TAKEN_MAX, np.int64),
            taken_size=np.zeros(TAKEN_MAX, np.float64),
            near_low=np.zeros((NEAR_MAX, axes), np.int64),
            near_high=np.zeros((NEAR_MAX, axes), np.int64),
            near_at=np.zeros(NEAR_MAX, np.int64),
            near_first=np.zeros(POOL_MAX + 1, np.int64),
            budget=fragments_max,
        )

    def __len__(self) -> int:
        return self._rows

    def add(self, place: Place, shape: Shape) -> int:
        """Add a shape. Return its row."""
        row = self._write(place, shape)
        self._rows += 1
        self._boxes += len(shape.around) + len(shape.within)
        return row

    def _write(self, place: Place, shape: Shape) -> int:
        """Write a shape behind the last row. Return where."""
        boxes = (*shape.around, *shape.within)
        self._reserve(self._boxes + len(boxes))
        columns, row = self._columns, self._rows
        counts = (*place, self._boxes, len(shape.around), len(shape.within))
        for column, value in zip(columns[:5], counts, strict=True):
            column[row] = value
        for at, box in enumerate(boxes, self._boxes):
            self._put(box, at)
        return row

    def _put(self, box: Box, at: int) -> None:
        columns = self._columns
        for axis, ((low, high), ends) in enumerate(
            zip(box, self.space.positions(box), strict=True)
        ):
            columns.low[at, axis], columns.high[at, axis] = low, high
            columns.low_at[at, axis], columns.high_at[at, axis] = ends

    def _reserve(self, boxes: int) -> None:
        """Make room for one more row and for `boxes` boxes."""
        columns = self._columns
        by_row: tuple[Any, ...] = columns[:5]
        by_box: tuple[Any, ...] = columns[5:]
        if self._rows == len(columns.sequence):
            by_row = tuple(_doubled(each, self._rows) for each in by_row)
        if boxes > len(columns.low):
            by_box = tuple(_doubled(each, boxes) for each in by_box)
        self._columns = Columns._make((*by_row, *by_box))

    # --- questions --------------------------------------------------------------------------------

    def overlapping(self, rows: Rows, target: int) -> Rows:
        """Return the rows that have a point in common with a target, once each, in the cyclic
        order of sequence ids behind it.
        """
        found: Rows = kernels.overlapping(self._columns, rows, target)
        return found

    def select_peers(self, rows: Rows, target: int) -> tuple[Rows, Needs]:
        """Return whom the target needs as ring links, of some rows, and in which directions; in the
        cyclic order of sequence ids behind it.
        """
        found: tuple[Rows, Needs] = kernels.select(self._columns, rows, target, self._scratch)
        return found

    def extend(self, links: Rows, needs: Needs, fresh: Rows, target: int) -> tuple[Rows, Needs]:
        """Return what `select_peers` returns for links that it returned and some more rows."""
        found: tuple[Rows, Needs] = kernels.extend(
            self._columns, links, needs, fresh, target, self._scratch
        )
        return found

    def closest(self, rows: Rows, target: int, count: int, seed: int) -> Rows:
        """Return the rows closest to a target, at most `count`; equally close ones by chance."""
        found: Rows = kernels.closest(self._columns, rows, target, count, seed)
        return found

    def closest_to(self, rows: Rows, shape: Shape, count: int, seed: int) -> Rows:
        """Return the rows closest to a shape that is no row."""
        return self.closest(rows, self._write((0, 0), shape), count, seed)

    def holding(self, rows: Rows, point: Point) -> Rows:
        """Return the rows, as they come, whose boxes around them have a point."""
        found: Rows = kernels.holding(self._columns, rows, np.array(point, np.int64))
        return found

    def going_round(self, rows: Rows, start: int) -> Rows:
        """Return rows in the cyclic order of sequence ids, beginning behind one; once each."""
        found: Rows = kernels.going_round(self._columns, rows, start)
        return found


def _doubled(array: NDArray[Any], wanted: int) -> NDArray[Any]:
    larger = np.zeros((max(2 * len(array), wanted), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger
