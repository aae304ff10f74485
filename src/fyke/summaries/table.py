"""Table: a summary as arrays. Rows make cells, cells make boxes, boxes have members.

Idea. The paper keeps a list of subscription ids beside each row (SUM-5 to SUM-9) and counts in how
many lists an id is found. Subscriptions that lie in the same rows cannot be told apart by counting,
so they are one *box* here, and lists are kept of boxes. A *cell* is the set of rows of one axis in
which a subscription lies, mostly one; a box is a set of cells, of different axes; a *member* is a
box, an owner and the number (c2) of a subscription there.
Invariant. Cells and boxes are distinct and sorted, nothing is there that no member needs. So equal
summaries are equal arrays.
Change. Everything that a summary goes through is a mapping of rows to rows that cover them
(`joining`), followed by `remapped`; or other members, followed by `pruned`.
Cost. Linear in boxes but for sorting them, in numpy; Python only looks at rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fyke.events.domain import Enumeration
from fyke.summaries.constraints import AxisKey, Box, Constraint
from fyke.summaries.groups import Groups, concatenated, unique_rows
from fyke.summaries.line import Ints
from fyke.summaries.rows import Piece, Rows, merged, pieces_of


@dataclass(frozen=True)
class Table:
    """The arrays of a summary."""

    axes: tuple[AxisKey, ...]
    rows: tuple[Rows, ...]
    cells: tuple[Groups, ...]
    """By axis, the rows of each cell."""
    boxes: Groups
    """The cells of each box; those of all axes are numbered through."""
    members: Ints
    """A row for each: box, owner, number."""

    @cached_property
    def bases(self) -> Ints:
        """The number of the first cell of each axis, and the number of all cells."""
        return np.cumsum([0, *map(len, self.cells)])

    @cached_property
    def axis_of_cell(self) -> Ints:
        return np.repeat(np.arange(len(self.axes)), np.diff(self.bases))

    # --- changes ----------------------------------------------------------------------------------

    def remapped(self, rows: Sequence[Rows], mappings: Sequence[Ints | None]) -> Table:
        """Return the table with other rows, by axis; no mapping for one that is not looked at."""
        cells, moved, base = [], [], 0
        for axis, mapping in enumerate(mappings):
            if mapping is None:
                cells.append(Groups.of([]))
                moved.append(np.full(len(self.cells[axis]), -1, np.int64))
                continue
            distinct, numbers = self.cells[axis].mapped(mapping).distinct()
            cells.append(distinct)
            moved.append(numbers + base)
            base += len(distinct)
        mapping = np.concatenate([*moved, np.zeros(0, np.int64)])
        return Table(
            self.axes, tuple(rows), tuple(cells), self.boxes.mapped(mapping), self.members
        ).pruned()

    def with_members(self, members: Ints) -> Table:
        return replace(self, members=members).pruned()

    def pruned(self) -> Table:
        """Return the table in its one form: sorted, and without what no member needs."""
        used = np.unique(self.members[:, 0])
        boxes, numbers = self.boxes.take(used).distinct()
        places = np.zeros(len(self.boxes), np.int64)
        places[used] = numbers
        members = self.members.copy()
        members[:, 0] = places[members[:, 0]]
        members, _ = unique_rows(members)
        return Table(self.axes, self.rows, self.cells, boxes, members)._without_unused()

    def _without_unused(self) -> Table:
        """Drop cells, rows and axes that no box needs, and sort what is left."""
        is_used: npt.NDArray[np.bool_] = np.zeros(int(self.bases[-1]), bool)
        is_used[self.boxes.items] = True
        if is_used.all() and all(
            _is_tight(*each) for each in zip(self.rows, self.cells, strict=True)
        ):
            return self
        axes, rows, cells = [], [], []
        moved = np.full(int(self.bases[-1]), -1, np.int64)
        base = 0
        for axis, key in enumerate(self.axes):
            begin, end = int(self.bases[axis]), int(self.bases[axis + 1])
            kept = np.flatnonzero(is_used[begin:end])
            if not len(kept):
                continue
            some = self.cells[axis].take(kept)
            needed, mapping = _needed(self.rows[axis], np.unique(some.items))
            distinct, numbers = some.mapped(mapping).distinct()
            moved[begin + kept] = base + numbers
            base += len(distinct)
            axes.append(key)
            rows.append(needed)
            cells.append(distinct)
        boxes, numbers = self.boxes.mapped(moved).distinct()
        members = self.members.copy()
        members[:, 0] = numbers[members[:, 0]]
        members, _ = unique_rows(members)
        return Table(tuple(axes), tuple(rows), tuple(cells), boxes, members)


EMPTY_MEMBERS: Ints = np.zeros((0, 3), np.int64)
EMPTY_TABLE = Table((), (), (), Groups.of([]), EMPTY_MEMBERS)


def _is_tight(rows: Rows, cells: Groups) -> bool:
    return len(cells) > 0 and len(np.unique(cells.items)) == len(rows)


def _needed(rows: Rows, used: Ints) -> tuple[Rows, Ints]:
    """Return some of the rows, and where each of them is now."""
    mapping = np.full(len(rows), -1, np.int64)
    flags = tuple(rows.flags[at] for at in used.tolist() if at < len(rows.flags))
    lines, starts = [], rows.starts
    for which, line in enumerate(rows.lines):
        own = used[(used >= starts[which]) & (used < starts[which + 1])] - starts[which]
        lines.append(replace(line, lows=line.lows[own], highs=line.highs[own]).trimmed())
    keys = tuple(rows.languages[at - starts[-1]] for at in used.tolist() if at >= starts[-1])
    mapping[used] = np.arange(len(used))
    return Rows(flags, tuple(lines), keys, rows.order), mapping  # type: ignore[arg-type]


def concat(tables: Sequence[Table]) -> Table:
    """Return tables side by side: equal rows are one, all boxes and members are there."""
    keys = sorted({key for table in tables for key in table.axes})
    rows, cells = [], []
    moved = [np.zeros(int(table.bases[-1]), np.int64) for table in tables]
    base = 0
    for key in keys:
        having = [
            (at, table.axes.index(key)) for at, table in enumerate(tables) if key in table.axes
        ]
        united, mappings = merged([tables[at].rows[axis] for at, axis in having])
        parts = [
            tables[at].cells[axis].mapped(mapping)
            for (at, axis), mapping in zip(having, mappings, strict=True)
        ]
        distinct, numbers = concatenated(parts).distinct()
        for (at, axis), some in zip(
            having, np.split(numbers, np.cumsum([len(each) for each in parts])[:-1]), strict=True
        ):
            first = int(tables[at].bases[axis])
            moved[at][first : first + len(some)] = base + some
        base += len(distinct)
        rows.append(united)
        cells.append(distinct)
    boxes = [table.boxes.mapped(mapping) for table, mapping in zip(tables, moved, strict=True)]
    members, first = [], 0
    for table in tables:
        members.append(table.members + np.array([first, 0, 0]))
        first += len(table.boxes)
    whole = concatenated(boxes) if boxes else Groups.of([])
    everyone = np.concatenate([*members, EMPTY_MEMBERS])
    return Table(tuple(keys), tuple(rows), tuple(cells), whole, everyone).pruned()


# --- from boxes -----------------------------------------------------------------------------------


class Builder:
    """Collects boxes; rows stay as they are said."""

    def __init__(self, orders: Mapping[str, Enumeration]) -> None:
        self._orders = orders
        self._axes: dict[AxisKey, _Axis] = {}
        self._boxes: dict[tuple[int, ...], int] = {}
        self._cells: list[tuple[AxisKey, int]] = []
        self._members: list[tuple[int, int, int]] = []

    def add(self, boxes: Iterable[Box], owner: int, number: int) -> None:
        """Add a subscription."""
        for box in boxes:
            cells = tuple(sorted(self._cell(key, each) for key, each in box.items()))
            self._members.append((self._boxes.setdefault(cells, len(self._boxes)), owner, number))

    def _cell(self, key: AxisKey, constraint: Constraint) -> int:
        """Return the number of the cell of a constraint, over all axes."""
        axis = self._axes.get(key)
        if axis is None:
            axis = self._axes[key] = _Axis(self._orders.get(key[0]))
        cell = axis.numbers.get(constraint)
        if cell is None:
            cell = axis.numbers[constraint] = len(self._cells)
            self._cells.append((key, axis.enter(constraint)))
        return cell

    def table(self) -> Table:
        """Return all that was added."""
        keys = sorted(self._axes)
        rows, cells, base = [], [], {}
        total = 0
        for key in keys:
            axis = self._axes[key]
            made, mapping = Rows.of(axis.pieces, axis.order)
            rows.append(made)
            cells.append(Groups.of(axis.cells).mapped(mapping))
            base[key] = total
            total += len(axis.cells)
        moved = np.array([base[key] + cell for key, cell in self._cells], np.int64)
        boxes = Groups.of(self._boxes)
        if len(boxes.items):
            boxes = boxes.mapped(moved)
        members = np.array(self._members, np.int64).reshape(-1, 3)
        table = Table(tuple(keys), tuple(rows), tuple(cells), boxes, members)
        return table.remapped(rows, [np.arange(len(each)) for each in rows])


class _Axis:
    """An axis while it is built."""

    __slots__ = ("cells", "numbers", "order", "pieces")

    def __init__(self, order: Enumeration | None) -> None:
        self.order = order
        self.pieces: dict[Piece, int] = {}
        self.cells: list[list[int]] = []
        self.numbers: dict[Constraint, int] = {}

    def enter(self, constraint: Constraint) -> int:
        """Return the number of a new cell."""
        pieces = self.pieces
        found = pieces_of(constraint, self.order)
        self.cells.append([pieces.setdefault(piece, len(pieces)) for piece in found])
        return len(self.cells) - 1
