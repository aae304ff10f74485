"""Batches: events in columns, for any engine.

An engine that searches columns itself is `Columnar`; for the others each row becomes an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np

from fyke.errors import EventError
from fyke.events.columns import Columns, read
from fyke.matching.engine import Engine

Places: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Words: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]

ROWS_MAX: Final = 65_536
"""So many rows are searched at a time, which bounds the memory that a batch takes."""


@runtime_checkable
class Columnar(Protocol):
    """An engine that takes events in columns."""

    def match_columns(self, columns: Columns) -> tuple[Places, Words]:
        """The slots that accept each row: those of row i between offsets[i] and offsets[i + 1]."""
        ...


def match_columns(engine: Engine, columns: Columns) -> tuple[Places, Words]:
    """What `Columnar` promises, from any engine."""
    if isinstance(engine, Columnar):
        return engine.match_columns(columns)
    found = [engine.match(columns.event(row)) for row in range(columns.rows)]
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return offsets, np.array([slot for slots in found for slot in slots], np.int32)


def batches(table: Any) -> Iterator[tuple[int, Columns]]:
    """Parts of a table with the number of their first row; a bad row is an EventError."""
    whole = getattr(table, "num_rows", 0)
    for first in range(0, max(whole, 1), ROWS_MAX):
        part = table.slice(first, ROWS_MAX) if whole > ROWS_MAX else table
        columns = read(part, errors="collect")
        if columns.bad:
            row = min(columns.bad)
            raise EventError(f"row {first + row}: {columns.bad[row]}")
        yield first, columns
