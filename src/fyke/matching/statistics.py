"""Statistics: how many events of a sample have an attribute, and which values of it.

A matcher files a subscription under the rarest thing that it needs. What is rare it learns from the
events that it sees; statistics say so before, from a sample or from a job over all there is.

    Statistics.of([{"symbol": "A"}, {"symbol": "B"}])
    {"events": 2, "attributes": {"symbol": {"present": 2, "values": [["A", 1], ["B", 1]]}},
     "types": {}}                                       the same as data (`document`, `read`)

Values are written as in JSON; a timestamp is {"timestamp": "..."}, a decimal {"decimal": "..."}.
Parts add up: the sum of the statistics of two samples is that of both.
Cost. The most common values of an attribute are kept (`VALUES_MAX`), and none that is very long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from fyke.errors import FykeError, shown
from fyke.events.event import Document, Event, as_event
from fyke.events.number import INT_MAX
from fyke.events.value import admit, canonical, parse_timestamp
from fyke.matching.compiled.coding.codes import key_document, scalar_key

VALUES_MAX: Final = 10_000
"""Values of an attribute that are kept."""
TEXT_MAX: Final = 1_000
"""Longer strings are not told apart."""
ROWS_MAX: Final = 10_000
"""Rows of a table that are looked at."""
_KEYS: Final = frozenset({"events", "attributes", "types"})
_ATTRIBUTE_KEYS: Final = frozenset({"present", "values"})


@dataclass(frozen=True, slots=True)
class AttributeCounts:
    """The number of events that have an attribute, and its values by `scalar_key`.

    The most common values come first.
    """

    present: int
    values: Mapping[object, int]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of a sample of events, which stand for all events."""

    events: int = 0
    attributes: Mapping[str, AttributeCounts] = field(default_factory=dict)
    types: Mapping[str, int] = field(default_factory=dict)
    """By name, the number of events of a type."""

    @classmethod
    def of(cls, events: Iterable[Event | Document] | Any) -> Statistics:
        """Count a sample: events, or a pyarrow table of which some rows are looked at."""
        count = _Count()
        for event in _events(events):
            count.add(event)
        return count.statistics()

    def __add__(self, other: Statistics) -> Statistics:
        count = _Count()
        for part in (self, other):
            count.events += part.events
            count.types.update(part.types)
            for name, counts in part.attributes.items():
                count.present[name] += counts.present
                count.values.setdefault(name, Counter()).update(counts.values)
        return count.statistics()

    @property
    def document(self) -> dict[str, object]:
        """The statistics as data that JSON can say."""
        attributes = {
            name: {
                "present": counts.present,
                "values": [[key_document(key), count] for key, count in counts.values.items()],
            }
            for name, counts in self.attributes.items()
        }
        return {"events": self.events, "attributes": attributes, "types": dict(self.types)}

    @classmethod
    def read(cls, document: Any) -> Statistics:
        """Return the statistics that some data says; FykeError tells what is wrong with it."""
        parts = _mapping(document, "statistics", _KEYS)
        count = _Count()
        count.events = _number(parts.get("events"), "events", INT_MAX)
        for name, each in _mapping(parts.get("attributes", {}), "attributes").items():
            _read_attribute(count, name, each)
        for name, number in _mapping(parts.get("types", {}), "types").items():
            count.types[name] = _number(number, f"types: {shown(name)}", count.events)
        return count.statistics()


# --- counting ------------------------------------------------------------------------------------


class _Count:
    def __init__(self) -> None:
        self.events = 0
        self.present: Counter[str] = Counter()
        self.values: dict[str, Counter[object]] = {}
        self.types: Counter[str] = Counter()

    def add(self, event: Event) -> None:
        self.events += 1
        for name, value in event.attributes.items():
            self.present[name] += 1
            elements = value if isinstance(value, tuple) else (value,)
            self.count(name, {scalar_key(each) for each in elements})
        declared = event.attributes.get("type")
        names = declared if isinstance(declared, tuple) else (declared,)
        self.types.update({name for name in (*names, *event.supertypes) if isinstance(name, str)})

    def count(self, name: str, keys: Iterable[object], number: int = 1) -> None:
        counts = self.values.setdefault(name, Counter())
        for key in keys:
            if not isinstance(key, str) or len(key) <= TEXT_MAX:
                counts[key] += number
        if len(counts) > 4 * VALUES_MAX:
            self.values[name] = _most_common(counts)

    def statistics(self) -> Statistics:
        attributes = {
            name: AttributeCounts(present, dict(_most_common(self.values.get(name, Counter()))))
            for name, present in self.present.items()
        }
        return Statistics(self.events, attributes, dict(self.types))


def _most_common(counts: Counter[object]) -> Counter[object]:
    return Counter(dict(counts.most_common(VALUES_MAX)))


def _events(sample: Any) -> Iterator[Event]:
    if hasattr(sample, "num_rows"):
        yield from _rows(sample)
        return
    if isinstance(sample, Mapping | Event | str | bytes) or not isinstance(sample, Iterable):
        raise FykeError(f"{shown(sample)} is no sample; expected events or a pyarrow table")
    for event in sample:
        yield as_event(event)


def _rows(table: Any) -> Iterator[Event]:
    """Yield the events of some rows, at even distances; rows that are no events are passed over."""
    from fyke.events.columns import read

    if table.num_rows > ROWS_MAX:
        table = table.take([row * table.num_rows // ROWS_MAX for row in range(ROWS_MAX)])
    columns = read(table, errors="collect")
    for row in range(columns.rows):
        if row not in columns.bad:
            yield columns.event(row)


# --- as data -------------------------------------------------------------------------------------


def _read_attribute(count: _Count, name: str, document: Any) -> None:
    where = f"attributes: {shown(name)}"
    parts = _mapping(document, where, _ATTRIBUTE_KEYS)
    count.present[name] = _number(parts.get("present"), f"{where}: present", count.events)
    values = parts.get("values", [])
    if not isinstance(values, list | tuple):
        raise FykeError(f"{where}: values is {shown(values)}; expected a list of pairs")
    for pair in values:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise FykeError(f"{where}: {shown(pair)} is no pair of a value and a number")
        number = _number(pair[1], f"{where}: {shown(pair[0])}", count.present[name])
        count.count(name, [_read_value(pair[0], name)], number)


def _read_value(written: Any, name: str) -> object:
    match written:
        case {"timestamp": str(text)}:
            return admit(_timestamp(text, name), name)
        case {"decimal": str(text)}:
            return canonical(_decimal(text, name))
    return scalar_key(admit(written, name))


def _decimal(text: str, name: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise FykeError(f"attributes: {shown(name)}: {shown(text)} is no decimal")
    return number


def _timestamp(text: str, name: str) -> datetime:
    try:
        return parse_timestamp(text)
    except ValueError as refused:
        raise FykeError(f"attributes: {shown(name)}: {refused}") from None


def _mapping(document: Any, what: str, keys: frozenset[str] | None = None) -> Mapping[str, Any]:
    if not isinstance(document, Mapping) or not all(isinstance(key, str) for key in document):
        raise FykeError(f"{what}: {shown(document)}; expected an object")
    for key in document:
        if keys is not None and key not in keys:
            expected = ", ".join(sorted(keys))
            raise FykeError(f"{what}: {shown(key)} is not known; expected {expected}")
    return document


def _number(number: Any, what: str, most: int) -> int:
    if type(number) is not int or not 0 <= number <= most:
        raise FykeError(f"{what} is {shown(number)}; expected a number from 0 to {most}")
    return number
