"""ValueCounts: the values that an attribute has, and in how many events.

A predicate looks at the set of an attribute's elements, whatever their order. So events are counted
by that set: `single` by the one element, for scalars and lists of one; `several` by the set, for
other lists. An event with an empty list only counts as present.

Values are known by `scalar_key`: True is not 1, but 1.0 is.
Cost. Columns of scalars are counted by Arrow, lists by Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fyke.events.arrow.decimals import read_decimals
from fyke.events.arrow.parts import Column
from fyke.events.columns import Columns
from fyke.events.event import Event
from fyke.events.value import Scalar, canonical
from fyke.matching.compiled.coding.codes import scalar_key


@dataclass(slots=True)
class ValueCounts:
    """The values that some events have at one attribute."""

    present: int = 0
    single: Counter[object] = field(default_factory=Counter)
    several: Counter[frozenset[object]] = field(default_factory=Counter)

    def add(self, elements: Iterable[Scalar]) -> None:
        """Count the elements of one event."""
        self.present += 1
        keys = frozenset(map(scalar_key, elements))
        if len(keys) == 1:
            self.single.update(keys)
        elif keys:
            self.several[keys] += 1

    def merge(self, other: ValueCounts) -> None:
        self.present += other.present
        self.single.update(other.single)
        self.several.update(other.several)

    def by_element(self) -> Iterator[tuple[object, int]]:
        """Yield elements with the number of events that have them; one may come more than once."""
        yield from self.single.items()
        for keys, count in self.several.items():
            yield from ((key, count) for key in keys)

    def __len__(self) -> int:
        return len(self.single) + len(self.several)


def value_counts(
    events: Columns | list[Event], wanted: Container[str] | None = None
) -> dict[str, ValueCounts]:
    """Return the counts of each attribute that the events have, or of those that are wanted."""
    if isinstance(events, Columns):
        found = {
            path: _of_parts(parts, events.rows)
            for path, parts in events.paths.items()
            if wanted is None or path in wanted
        }
        return {path: counts for path, counts in found.items() if counts.present}
    met: dict[str, ValueCounts] = {}
    for event in events:
        for path, value in event.attributes.items():
            if wanted is None or path in wanted:
                elements = value if isinstance(value, tuple) else (value,)
                met.setdefault(path, ValueCounts()).add(elements)
    return met


def scalar(key: object) -> Scalar:
    """Return the scalar behind a `scalar_key`, in canonical form."""
    value: Any = key[1] if type(key) is tuple else key
    return canonical(value)


def _of_parts(parts: tuple[Column, ...], rows: int) -> ValueCounts:
    if len(parts) == 1 and parts[0].is_list is None:
        present = rows if parts[0].present is None else int(parts[0].present.sum())
        return ValueCounts(present, Counter(dict(_counted(parts[0]))))
    counts = ValueCounts()
    for each in elements_by_row(parts, rows).values():
        counts.add(each)
    return counts


def elements_by_row(parts: tuple[Column, ...], rows: int) -> dict[int, list[Scalar]]:
    """Return the elements that each row has at an attribute, of the rows that have it."""
    elements: dict[int, list[Scalar]] = {}
    for part in parts:
        there = range(rows) if part.present is None else np.flatnonzero(part.present).tolist()
        for row in there:
            elements.setdefault(row, [])
        places = there if part.rows is None else part.rows.tolist()
        for row, value in zip(places, _values(part.values), strict=True):
            elements[row].append(value)
    return elements


def _counted(part: Column) -> Iterator[tuple[object, int]]:
    """Return the distinct values of a column, and how often each is there."""
    values = part.values
    if part.kind == "number":
        distinct, counts = np.unique(part.numbers(), return_counts=True)
        return zip(distinct.tolist(), counts.tolist(), strict=True)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    counted = pc.value_counts(values)
    keys = map(scalar_key, _values(counted.field("values")))
    return zip(keys, counted.field("counts").to_pylist(), strict=True)


def _values(array: Any) -> list[Scalar]:
    """Return Python values; a timestamp is one of ours, in UTC, a decimal in canonical form."""
    if pa.types.is_timestamp(array.type):
        return [moment.replace(tzinfo=UTC) for moment in array.to_pylist()]
    if pa.types.is_decimal(array.type):
        cells = read_decimals(array)
        return [cells.item(place) for place in range(len(array))]
    found: list[Scalar] = array.to_pylist()
    return found
