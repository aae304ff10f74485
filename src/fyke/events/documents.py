"""Documents: a batch of events that come one by one, as JSON or as dictionaries, in columns.

Idea. JSON says more than a table can. Null is a value there, and not a missing attribute; one path
may hold a number in this document and a string in the next. So documents do not become a table:
each is read as an event, by the one reader there is, and its attributes are dealt out to the parts
of `Columns`. A path has a part for each kind of value that it holds, nulls among them: that part is
what a table has no place for, a list of the rows in which null stands.

    {"a": 1}    {"a": null}    {}    {"a": [2, null]}

    "a"    number    values [1, 2]          rows [0, 3]
           null      values [null, null]    rows [1, 3]          nothing says "a" in row 2

Invariant. That of `Columns`, and `event(i)` is event i itself.
Cost. About 0.3 µs for a value, beside what it takes to read the document.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from fyke.errors import EventError
from fyke.events.arrow.decimals import decimal_array
from fyke.events.arrow.parts import Column, ColumnKind
from fyke.events.arrow.scalars import Mask
from fyke.events.columns import Columns
from fyke.events.event import Document, Event, as_event
from fyke.events.json import decode_event
from fyke.events.number import ExactDecimal
from fyke.events.schema import Schema

Text: TypeAlias = str | bytes
_Cells: TypeAlias = tuple[list[Any], list[int], list[int]]
"""Values, the row of each, and the rows in which they are elements of a list."""

KINDS_OF_CLASSES: Final[dict[type, tuple[ColumnKind, Any]]] = {
    type(None): ("null", pa.null()),
    bool: ("bool", pa.bool_()),
    int: ("number", pa.int64()),
    float: ("number", pa.float64()),
    str: ("string", pa.large_string()),
    datetime: ("timestamp", pa.timestamp("us", "UTC")),
    tuple: ("empty", pa.null()),
}
"""The kind and the Arrow type of a column, by the class of its admitted values.

A tuple that is a value here is an empty list.
"""
_BLANK: Final = " \t\r\n"


def in_columns(events: Sequence[Event]) -> Columns:
    """Return events as a batch: row i is event i."""
    paths: defaultdict[str, defaultdict[type, _Cells]] = defaultdict(_by_class)
    supertypes = _by_class()
    for row, event in enumerate(events):
        for path, value in event.attributes.items():
            cls = value.__class__
            if cls is tuple:
                _deal_list(value, row, paths[path])  # type: ignore[arg-type]
            else:
                values, rows, _ = paths[path][cls]
                values.append(value)
                rows.append(row)
        if event.supertypes:
            _deal_list(event.supertypes, row, supertypes)
    return Columns(
        rows=len(events),
        paths={path: _parts(cells, len(events)) for path, cells in paths.items()},
        bad={},
        make=events.__getitem__,
        supertypes=_parts(supertypes, len(events)),
    )


def _by_class() -> defaultdict[type, _Cells]:
    return defaultdict(lambda: ([], [], []))


def _deal_list(elements: tuple[Any, ...], row: int, cells: defaultdict[type, _Cells]) -> None:
    if not elements:
        cells[tuple][2].append(row)
    for element in elements:
        values, rows, lists = cells[element.__class__]
        values.append(element)
        rows.append(row)
        lists.append(row)


def _parts(cells: Mapping[type, _Cells], count: int) -> tuple[Column, ...]:
    parts: list[Column] = []
    for cls, (values, rows, lists) in cells.items():
        if cls is ExactDecimal:
            parts += _decimals(values, rows, lists, count)
        else:
            kind, type_ = KINDS_OF_CLASSES[cls]
            parts.append(_column(kind, pa.array(values, type_), rows, lists, count))
    return tuple(parts)


def _decimals(
    values: list[ExactDecimal], rows: list[int], lists: list[int], count: int
) -> Iterator[Column]:
    """Yield a column for each scale: one type of Arrow's has no room for all scales."""
    places: defaultdict[int, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        places[-int(value.as_tuple().exponent)].append(place)
    listed = set(lists)
    for scale, at in places.items():
        array = decimal_array([values[place] for place in at], scale)
        held = [rows[place] for place in at]
        yield _column("decimal", array, held, [row for row in held if row in listed], count)


def _column(kind: ColumnKind, array: Any, rows: list[int], lists: list[int], count: int) -> Column:
    if not lists and len(rows) == count:
        return Column(kind, array, None, None, None)
    held = np.array(rows, np.int64)
    is_list = _mask(lists, count) if lists else None
    present = _mask(rows or lists, count)
    return Column(kind, array, held, None if present.all() else present, is_list)


def _mask(rows: list[int], count: int) -> Mask:
    mask = np.zeros(count, bool)
    mask[rows] = True
    return mask


# --- documents as they are handed over -----------------------------------------------------------


def read_document(document: Event | Document | Text | None, schema: Schema | None = None) -> Event:
    """Return the event that a dictionary or a JSON text describes, or the event itself.

    The schema says what text is read as a timestamp, and which numbers of JSON are decimals.
    """
    if document is None:
        raise EventError("the row is null")
    if isinstance(document, str | bytes):
        decimals = () if schema is None else schema.decimals
        event = decode_event(document, decimals=decimals)
    else:
        event = as_event(document)
    return event if schema is None else schema.read(event)


def numbered(documents: object) -> Iterator[tuple[int, Any]]:
    """Return documents with their numbers: JSON lines, Arrow texts of JSON, or any iterable.

    Lines, as a text or as an open file, have the numbers of lines; blank lines are passed over.
    """
    if isinstance(documents, str):
        return _lines(io.StringIO(documents, newline="\n"))  # no other character ends a line
    if isinstance(documents, bytes | bytearray | memoryview):
        return _lines(io.BytesIO(documents))
    if isinstance(documents, io.IOBase):
        return _lines(documents)
    if isinstance(documents, pa.Array | pa.ChunkedArray):
        return enumerate(text.as_py() for text in as_bytes(documents))
    if isinstance(documents, Mapping | Event) or not isinstance(documents, Iterable):
        raise _no_batch(type(documents).__name__)
    return enumerate(documents)


def as_bytes(texts: Any) -> Any:
    """Return an Arrow array of JSON texts as bytes: the reader refuses those that are not UTF-8."""
    try:
        return texts.cast(pa.large_binary())
    except pa.ArrowNotImplementedError:
        raise _no_batch(f"an array of {texts.type}") from None


def _lines(file: Iterable[Text]) -> Iterator[tuple[int, Text]]:
    for number, line in enumerate(file):
        text = line.strip(_BLANK) if isinstance(line, str) else line.strip(_BLANK.encode())
        if text:
            yield number, text


def _no_batch(given: str) -> EventError:
    return EventError(
        "expected a pyarrow Table or RecordBatch, JSON lines, a pyarrow array of JSON texts, or"
        f" documents; not {given}"
    )
