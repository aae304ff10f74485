"""The law of columns: the parts of all paths hold for each row what its event holds."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import chain

from fyke import Event
from fyke.events.columns import Column, Columns
from fyke.events.value import canonical, sort_key


def check_parts(columns: Columns, row: int, event: Event) -> None:
    """The parts hold for a row what its event holds."""
    for path in columns.paths.keys() | event.attributes.keys():
        parts = columns.paths.get(path, ())
        assert any(holds(part.present, row) for part in parts) is (path in event)
        if path not in event:
            continue
        value = event[path]
        found = [values_in(part, row) for part in parts]
        elements = value if type(value) is tuple else (value,)
        assert Counter(map(sort_key, chain(*found))) == Counter(map(sort_key, elements))
        listed = any(part.is_list is not None and part.is_list[row] for part in parts)
        assert (type(value) is tuple) is (listed or sum(map(bool, found)) > 1)


def holds(mask: object, row: int) -> bool:
    return mask is None or bool(mask[row])


def values_in(part: Column, row: int) -> list[object]:
    assert part.values.null_count == (len(part.values) if part.kind == "null" else 0)
    rows = range(len(part.values)) if part.rows is None else part.rows.tolist()
    assert list(rows) == sorted(rows) and len(rows) == len(part.values)
    return [scalar_at(part, place) for place, each in enumerate(rows) if each == row]


def scalar_at(part: Column, place: int) -> object:
    if part.kind == "timestamp":
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        return epoch + timedelta(microseconds=part.numbers().item(place))
    value = part.values[place].as_py()
    if part.kind == "number":
        assert part.numbers().item(place) == value
    if part.kind == "decimal":
        assert part.numbers().item(place) == float(value)
        return canonical(value)
    return value
