"""Batches: events in columns, for any engine.

A table is cut into parts; documents are read one by one and put into columns, some thousands at a
time.
An engine that searches columns itself is `Columnar`; for the others each row becomes an event.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa

from fyke.errors import EventError
from fyke.events.columns import Columns, read
from fyke.events.documents import in_columns, numbered, read_document
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.matching.engines.contract import Engine

Places: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Words: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]

ROWS_MAX: Final = 65_536
"""Rows that are searched at a time; this bounds the memory that a batch takes."""
DOCUMENTS_MAX: Final = 8_192
"""Documents that are searched at a time; they take more memory than rows."""


@runtime_checkable
class Columnar(Protocol):
    """An engine that takes events in columns."""

    def match_columns(self, columns: Columns) -> tuple[Places, Words]:
        """Return the slots that accept each row: of row i from offsets[i] to offsets[i + 1]."""
        ...


def match_columns(engine: Engine, columns: Columns) -> tuple[Places, Words]:
    """Return the slots that accept each row as `Columnar` does, from any engine."""
    if isinstance(engine, Columnar):
        return engine.match_columns(columns)
    found = [engine.match(columns.event(row)) for row in range(columns.rows)]
    offsets = np.cumsum([0, *map(len, found)], dtype=np.int64)
    return offsets, np.array([slot for slots in found for slot in slots], np.int32)


def batches(events: Any, schema: Schema | None = None) -> Iterator[tuple[int | Places, Columns]]:
    """Yield the parts of a batch, with the number of their first row or of each row.

    A row that is not an event is an EventError. The schema says what text is read as a timestamp,
    and which numbers of JSON are decimals.
    """
    if isinstance(events, Columns):
        yield 0, _whole(events, 0)
    elif isinstance(events, pa.Table | pa.RecordBatch):
        yield from _parts_of_table(events, schema)
    else:
        documents = numbered(events)
        while part := list(islice(documents, DOCUMENTS_MAX)):
            numbers = np.array([number for number, _ in part], np.int64)
            yield numbers, in_columns([_event(*each, schema) for each in part])


def _parts_of_table(table: Any, schema: Schema | None) -> Iterator[tuple[int, Columns]]:
    timestamps = frozenset() if schema is None else schema.timestamps
    for first in range(0, max(table.num_rows, 1), ROWS_MAX):
        part = table.slice(first, ROWS_MAX) if table.num_rows > ROWS_MAX else table
        yield first, _whole(read(part, errors="collect", timestamps=timestamps), first)


def _whole(columns: Columns, first: int) -> Columns:
    if columns.bad:
        row = min(columns.bad)
        raise EventError(f"row {first + row}: {columns.bad[row]}")
    return columns


def _event(number: int, document: Any, schema: Schema | None) -> Event:
    try:
        return read_document(document, schema)
    except EventError as refused:
        raise EventError(f"row {number}: {refused}") from None
