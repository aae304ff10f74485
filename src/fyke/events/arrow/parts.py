"""Flattening: a tree of cells as flat columns, one or more parts per dotted path.

Idea. Walk down the tree and carry along which row each place belongs to. At the top place i is of
row i; below lists the rows are repeated by the lists' lengths. Scalars that are reached are a part
of their path.
Empty lists have no scalars, but their attribute is there: below a list, the rows that hold it are
carried along. `[{}]` at `a` leaves nothing; `[]`, and `[null]`, leaves an empty list at `a` itself,
whatever its elements would have been.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from fyke.events.arrow.cells import Cells, Lists, Missing, Objects
from fyke.events.arrow.decimals import nearest_floats
from fyke.events.arrow.scalars import Mask, ScalarKind, Scalars
from fyke.limits import Limits

Rows: TypeAlias = NDArray[np.int64]
ColumnKind: TypeAlias = ScalarKind | Literal["null", "empty"]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values of one kind at one path, end to end: those of an Arrow column, or of documents.

    By kind `values` is an array of bool ("bool"), int64 or float64 ("number"), a decimal type
    ("decimal"), string, large_string or a dictionary of these ("string", where the dictionary may
    hold values twice, or that no row has), timestamp[us, UTC] ("timestamp"), nulls ("null": only
    documents have them), or empty ("empty": there are only empty lists). It has no other nulls.
    """

    kind: ColumnKind
    values: Any
    rows: NDArray[np.int64] | None
    """The row of each value, ascending; None where value i is of row i, for all rows."""
    present: Mask | None
    """The rows in which the attribute is there, if only as an empty list; None where all are."""
    is_list: Mask | None
    """The rows in which it is a list, be it of one element; None where no row has one."""

    def numbers(self) -> NDArray[Any]:
        """Return numbers as int64 or float64, timestamps as int64 microseconds since 1970.

        They are not copied. Decimals are the nearest float64 each, which keeps their order but
        makes neighbours equal.
        """
        if self.kind == "decimal":
            return nearest_floats(self.values)
        array = self.values.view(pa.int64()) if self.kind == "timestamp" else self.values
        found: NDArray[Any] = array.to_numpy(zero_copy_only=True)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class _Position:
    """A position of the walk."""

    path: str
    rows: Rows | None
    """The row of each place; None where place i is of row i."""
    most: int
    """No row has more places."""
    listed: bool
    """True if the cells here are elements of a list."""
    holders: Rows | None = None
    """Directly below a list: the rows that hold it."""
    empty: tuple[Rows, ...] = ()
    """Directly below lists: the rows in which one of them has no elements."""

    def rows_at(self, places: NDArray[np.int64]) -> Rows:
        return places if self.rows is None else self.rows[places]

    def rows_where(self, valid: Mask | None) -> Rows | None:
        """Return the rows of the cells that are there."""
        return self.rows if valid is None else self.rows_at(np.flatnonzero(valid))


class Flattening:
    """One walk: `paths` has the parts found, `bad` the rows that are no events, and why."""

    def __init__(self, rows: int, limits: Limits) -> None:
        self.paths: dict[str, list[Column]] = {}
        self.bad: dict[int, tuple[str | None, str]] = {}
        self._rows = rows
        self._limits = limits
        self._most = 0

    def run(self, cells: Objects) -> None:
        """Walk over a whole table."""
        for name, field in cells.fields:
            self._walk(field, _Position(name, None, 1, name in cells.repeated))
        if self._most > self._limits.attributes_max:
            self._check_sizes()

    def _walk(self, cells: Cells, at: _Position) -> None:
        match cells:
            case Scalars():
                self._scalars(cells, at)
            case Lists():
                self._lists(cells, at)
            case Objects():
                self._objects(cells, at)
            case Missing():
                if at.holders is not None:
                    self._empty(at.path, at.holders)

    def _objects(self, cells: Objects, at: _Position) -> None:
        if at.empty:
            self._empty(at.path, np.concatenate(at.empty))
        for name, field in cells.fields:
            listed = at.listed or name in cells.repeated
            self._walk(field, _Position(f"{at.path}.{name}", at.rows, at.most, listed))

    def _lists(self, cells: Lists, at: _Position) -> None:
        sizes, lengths = cells.sizes(), np.diff(cells.ends)
        longest = int(lengths.max(initial=0))
        if longest > self._limits.list_size_max:
            self._check_lengths(sizes, at)
        places = np.arange(len(cells)) if at.rows is None else at.rows
        held = places if cells.valid is None else places[cells.valid]
        bare = sizes == 0 if cells.valid is None else (sizes == 0) & cells.valid
        below = _Position(
            path=at.path,
            rows=np.repeat(places, lengths),
            most=at.most * longest,
            listed=True,
            holders=held if at.holders is None else at.holders,
            empty=(*at.empty, places[bare]) if bare.any() else at.empty,
        )
        self._walk(cells.elements, below)

    def _scalars(self, cells: Scalars, at: _Position) -> None:
        for places, problem in cells.refused:
            self._refuse(at.rows_at(places), at.path, problem)
        rows = at.rows_where(cells.valid)
        if at.holders is not None:
            present = self._mask(at.holders)
        elif at.rows is None:
            present = cells.valid
        else:
            present = None if rows is None else self._mask(rows)
        self._add(at.path, cells.kind, cells.values(), rows, present, at.listed)
        self._most += at.most

    def _empty(self, path: str, rows: Rows) -> None:
        if len(rows):
            none = np.zeros(0, np.int64)
            self._add(path, "empty", pa.nulls(0), none, self._mask(rows), listed=True)
            self._most += 1

    def _add(
        self,
        path: str,
        kind: ColumnKind,
        values: Any,
        rows: Rows | None,
        present: Mask | None,
        listed: bool,
    ) -> None:
        lists = None
        if listed:
            lists = np.ones(self._rows, bool) if present is None else present
        self.paths.setdefault(path, []).append(Column(kind, values, rows, present, lists))

    def _mask(self, rows: Rows) -> Mask | None:
        """Return the rows as a mask; None where these are all rows."""
        mask = np.zeros(self._rows, bool)
        mask[rows] = True
        return None if mask.all() else mask

    # --- what is too large

    def _refuse(self, rows: Rows, path: str | None, problem: str) -> None:
        for row in rows.tolist():
            self.bad.setdefault(row, (path, problem))

    def _check_lengths(self, sizes: NDArray[np.int64], at: _Position) -> None:
        limit = self._limits.list_size_max
        for place in np.flatnonzero(sizes > limit):
            problem = f"a list of {sizes[place]} elements is longer than {limit}"
            self._refuse(at.rows_at(np.array([place])), at.path, problem)

    def _check_sizes(self) -> None:
        """Refuse rows with too many attribute values; an empty list counts as one."""
        counts = np.zeros(self._rows, np.int64)
        for parts in self.paths.values():
            for part in parts:
                there: Any = 1 if part.present is None else part.present
                counts += (
                    there
                    if part.rows is None or not len(part.rows)
                    else np.maximum(np.bincount(part.rows, minlength=self._rows), there)
                )
        problem = f"more than {self._limits.attributes_max} attribute values"
        self._refuse(np.flatnonzero(counts > self._limits.attributes_max), None, problem)
