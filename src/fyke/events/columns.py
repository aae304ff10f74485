"""Columns: a batch of events, read from a pyarrow Table or RecordBatch.

Idea. Columns are attributes and rows are events. A null cell means that the attribute is *missing*;
the value null has no place in a table. (JSON has it, so `documents` makes columns of JSON without a
table.) Structs flatten to dotted paths, lists are lists, lists of structs are a list per path: row
i is the event `Event(row i without its nulls)`, and `event(i)` makes it. But nobody needs to make
the events: for each path, `paths` has the values of all rows in flat arrays.

    a: [1, null, 3]                     "a"    values [1, 3]        rows [0, 2]
    b: [["x", "y"], [], null]           "b"    values ["x", "y"]    rows [0, 0]   present rows 0, 1
    c: [{"d": 5}, {"d": 6}, {"d": 7}]   "c.d"  values [5, 6, 7]     rows None: value i is of row i

A path may have several parts: a column `a.b` beside a struct `a` with a field `b`, or two columns
of one name. A row that has values in several parts holds the list of all of them; their order has
no meaning. Columns (or fields) of one name are one list of their cells, and so always lists.

Invariant. The values of a row, over the parts of a path, are the elements of that attribute in
`event(row).attributes`; the attribute is there iff some part is `present`.
Cost. Linear in the cells, vectorised; fixed-width values of 64 bits are not copied unless there are
nulls. Only `event` makes Python values, of its own row.

What Arrow's types become is in `events.arrow`; types that have no meaning here (binary, map, time
of day, union) are refused by name. Columns that do not concern the reader are best left out before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal

import pyarrow as pa

from fyke.errors import EventError
from fyke.events.arrow.cells import Cells, Objects, objects, read_cells
from fyke.events.arrow.parts import Column, Flattening
from fyke.events.arrow.text_moments import timed
from fyke.events.event import Event
from fyke.events.value import Scalar, Value
from fyke.limits import DEFAULT_LIMITS, Limits

__all__ = ["Column", "Columns", "read"]


MADE_MAX: Final = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A batch of events. A row in `bad` has no event; what the arrays hold of it means nothing."""

    rows: int
    paths: dict[str, tuple[Column, ...]]
    bad: dict[int, str]
    make: Callable[[int], Event]
    """The event of a row that has one."""
    supertypes: tuple[Column, ...] = ()
    """The names of supertypes, of events that bring them along."""
    _made: dict[int, Event] = field(default_factory=dict)
    """Events that were made, some thousands of them."""

    def event(self, row: int) -> Event:
        """Return a row as an event, by which every verdict on the row is defined."""
        made = self._made.get(row)
        if made is None:
            made = self._make(row)
            if len(self._made) >= MADE_MAX:
                self._made.clear()
            self._made[row] = made
        return made

    def _make(self, row: int) -> Event:
        if not 0 <= row < self.rows:
            raise EventError(f"there is no row {row} among {self.rows}")
        if row in self.bad:
            raise EventError(f"row {row}: {self.bad[row]}")
        return self.make(row)


def read(
    table: Any,
    *,
    errors: Literal["raise", "collect"] = "raise",
    limits: Limits = DEFAULT_LIMITS,
    timestamps: Collection[str] = (),
) -> Columns:
    """Read a pyarrow Table or RecordBatch.

    A row that is not an event (NaN, an integer beyond int64, a timestamp out of range, a list that
    is too long) is an EventError that names it, or is collected in `bad`. Text at one of the paths
    in `timestamps` is read as a timestamp.
    """
    if errors not in ("raise", "collect"):
        raise EventError(f"errors is {errors!r}; expected 'raise' or 'collect'")
    if not isinstance(table, (pa.Table, pa.RecordBatch)):
        name = type(table).__name__
        raise EventError(f"expected a pyarrow Table or RecordBatch, not {name}")
    names = table.schema.names
    fields = (
        (name, _read_column(column, name, limits))
        for name, column in zip(names, table.columns, strict=True)
    )
    cells = objects(fields, table.num_rows)
    if timestamps:
        cells = timed(cells, timestamps)
    flattening = Flattening(table.num_rows, limits)
    flattening.run(cells)
    if flattening.bad and errors == "raise":
        row = min(flattening.bad)
        path, problem = flattening.bad[row]
        raise EventError(f"row {row}: {problem}", attribute=path)
    bad = {
        row: str(EventError(text, attribute=path)) for row, (path, text) in flattening.bad.items()
    }
    paths = {path: tuple(parts) for path, parts in flattening.paths.items()}
    return Columns(table.num_rows, paths, bad, partial(_event, cells))


def _read_column(column: Any, name: str, limits: Limits) -> Cells:
    try:
        return read_cells(_one_array(column), name, limits)
    except pa.ArrowException as refused:
        raise EventError(f"the column cannot be read: {refused}", attribute=name) from None


def _one_array(column: Any) -> Any:
    if isinstance(column, pa.Array):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_dictionary(column.type) and any(
        each.dictionary.null_count for each in column.chunks
    ):
        return pa.concat_arrays([chunk.dictionary_decode() for chunk in column.chunks])
    return column.combine_chunks()


def _event(cells: Objects, row: int) -> Event:
    document = cells.cell(row)
    assert document is not None
    event = Event.flat(_flattened(document))
    event.document = document
    return event


def _flattened(document: dict[str, object]) -> dict[str, Value]:
    """Do as `event.flatten`, but with values that are admitted already, decimals among them."""
    if not any(type(value) in (list, dict) for value in document.values()):
        return document  # type: ignore[return-value]
    flat: dict[str, Scalar | list[Scalar]] = {}
    for name, value in document.items():
        _spread(value, name, False, flat)
    return {
        path: tuple(value) if isinstance(value, list) else value for path, value in flat.items()
    }


def _spread(value: object, path: str, listed: bool, flat: dict[str, Scalar | list[Scalar]]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            _spread(inner, f"{path}.{name}", listed, flat)
    elif isinstance(value, list):
        if not value:
            _list_at(path, flat)
        for element in value:
            _spread(element, path, True, flat)
    elif listed or path in flat:
        _list_at(path, flat).append(value)  # type: ignore[arg-type]
    else:
        flat[path] = value  # type: ignore[assignment]


def _list_at(path: str, flat: dict[str, Scalar | list[Scalar]]) -> list[Scalar]:
    met = flat.get(path, [])
    if not isinstance(met, list):
        met = [met]
    flat[path] = met
    return met
