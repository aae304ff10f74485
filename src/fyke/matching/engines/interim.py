"""interim: answers until the compiled engine can. Plain Python, ready at once.

Idea. A filter is filed under one thing that every event it accepts must have, and evaluated for
the events that have it:

    a table       from an attribute's value to the filters that need it: a = 1, a in (1, 'x')
    a band        the ends of ranges of numbers, compared with a value all at once by numpy
    the rest      evaluated for every event

Example. "a = 1 and b > 5" lies under a = 1; "b > 5 and b < 9" in the band of b; "not a = 1" in the
rest. Of several equalities the one is taken under which fewest lie.
Invariant. Tables and bands only propose; `filter.matches` decides. A proposal may be stale: entries
are numbered, a number is never given out again, and one that is not in `_held` is passed over. So
others may search, without a lock, while filters come and go.
Numbers. An end and a value are compared as float64. Rounding never turns an order round, so that a
value within a range is within its rounded ends.
Cost. Adding takes some microseconds. An event costs one evaluation for each filter proposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from fyke.events.event import Event
from fyke.events.number import ExactDecimal
from fyke.events.value import Kind, Scalar, Value
from fyke.filters.filter import And, Filter, Or
from fyke.filters.predicate import In, Range
from fyke.matching.engines.contract import Work

Needed: TypeAlias = list[tuple[str, Scalar]]
"""Attributes with values: an accepted event has one of them at least."""

NEEDED_MAX: Final = 16
"""Values that one filter is filed under."""
STALE_MIN: Final = 1_000
"""Stale entries that stay where they are, however few filters there are."""
_NUMBERS: Final = frozenset({int, float, ExactDecimal})


class InterimEngine:
    """Filters by slot, filed under what they need."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._held: dict[int, tuple[int, Filter]] = {}
        """By the number of an entry, the slot and the filter."""
        self._entries: dict[int, int] = {}
        """By slot, the number of its entry."""
        self._next = 0
        self._files = _Files()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def unguarded(self) -> int:
        return sum(entry in self._held for entry in self._files.rest)

    def filters(self) -> list[tuple[int, Filter]]:
        """Return all slots with their filters."""
        return list(self._held.values())

    # --- filters

    def add(self, slot: int, filter: Filter) -> None:
        entry, self._next = self._next, self._next + 1
        self._held[entry] = slot, filter
        self._entries[slot] = entry
        self._files.add(entry, filter)

    def remove(self, slot: int) -> None:
        del self._held[self._entries.pop(slot)]
        if self._files.size > STALE_MIN + 2 * len(self._held):
            files = _Files()
            for entry, (_, filter) in self._held.items():
                files.add(entry, filter)
            self._files = files

    # --- events

    def match(self, event: Event) -> list[int]:
        held, attributes, work = self._held, event.attributes, self.work
        slots: set[int] = set()
        for entries in self._files.proposed(event):
            work.probes += 1
            work.candidates += len(entries)
            work.checks += len(entries)
            for entry in entries:
                kept = held.get(entry)
                if kept is not None and kept[1].test()(attributes, event):
                    slots.add(kept[0])
        return sorted(slots)

    def nearest(self, event: Event, count: int) -> list[int]:
        """Return some slots whose filters refuse the event; first those that it nearly reached."""
        near = [entry for entries in self._files.proposed(event) for entry in entries]
        slots: list[int] = []
        for entry in dict.fromkeys([*near, *list(self._held)]):
            kept = self._held.get(entry)
            if len(slots) < count and kept is not None and not kept[1].matches(event):
                slots.append(kept[0])
        return slots


class _Files:
    """Numbers of entries under what their filters need."""

    def __init__(self) -> None:
        self.size = 0
        self.rest: list[int] = []
        self._tables: dict[str, dict[Scalar, list[int]]] = {}
        self._bands: dict[str, _Band] = {}

    def add(self, entry: int, filter: Filter) -> None:
        self.size += 1
        needed = self._needed(filter)
        if needed:
            for attribute, value in needed:
                self._tables.setdefault(attribute, {}).setdefault(value, []).append(entry)
        elif (span := _span(filter)) is not None:
            self._bands.setdefault(span.attribute, _Band()).add(entry, span)
        else:
            self.rest.append(entry)

    def _needed(self, filter: Filter) -> Needed:
        """Return the values to file a filter under; empty if it needs none, or one of many."""
        match filter:
            case In(attribute, values) if len(values) <= NEEDED_MAX:
                return [(attribute, value) for value in values]
            case And():
                found = [needed for each in filter.children if (needed := self._needed(each))]
                return min(found, key=self._filed, default=[]) if len(found) != 1 else found[0]
            case Or():
                parts = [self._needed(each) for each in filter.children]
                joined = [pair for part in parts for pair in part]
                return joined if all(parts) and len(joined) <= NEEDED_MAX else []
        return []

    def _filed(self, needed: Needed) -> int:
        """Return how many lie under some values already."""
        tables = self._tables
        return sum(len(tables.get(attribute, {}).get(value, ())) for attribute, value in needed)

    def proposed(self, event: Event) -> Iterator[list[int]]:
        """Yield entries of the filters that may accept the event; an entry may come again."""
        for attribute, value in event.attributes.items():
            elements: Any = value if type(value) is tuple else (value,)
            if (table := self._tables.get(attribute)) is not None:
                yield from (table[each] for each in elements if each in table)
            if (band := self._bands.get(attribute)) is not None:
                yield band.holding(elements)
        yield self.rest


class _Band:
    """Ranges of numbers of one attribute, by their ends."""

    __slots__ = ("_arrays", "_entries", "_highs", "_lows")

    def __init__(self) -> None:
        self._entries: list[int] = []
        self._lows: list[float] = []
        self._highs: list[float] = []
        self._arrays: tuple[Any, Any, Any] = (), (), ()

    def add(self, entry: int, span: Range) -> None:
        self._lows.append(-np.inf if span.low is None else float(span.low))  # type: ignore[arg-type]
        self._highs.append(np.inf if span.high is None else float(span.high))  # type: ignore[arg-type]
        self._entries.append(entry)

    def holding(self, elements: tuple[Value, ...]) -> list[int]:
        """Return entries of the ranges that hold one of the elements."""
        numbers = [float(each) for each in elements if type(each) in _NUMBERS]  # type: ignore[arg-type]
        if not numbers:
            return []
        arrays = self._arrays
        entries, lows, highs = arrays if len(arrays[0]) == len(self._entries) else self._made()
        within = np.zeros(len(entries), np.bool_)
        for number in numbers:
            within |= (lows <= number) & (number <= highs)
        found: list[int] = entries[within].tolist()
        return found

    def _made(self) -> tuple[Any, Any, Any]:
        """Return the lists as arrays. Of what is added the entry comes last: its ends are there."""
        entries = np.array(self._entries, np.int64)
        count = len(entries)
        self._arrays = arrays = entries, np.array(self._lows[:count]), np.array(self._highs[:count])
        return arrays


def _span(filter: Filter) -> Range | None:
    """Return a range of numbers that accepted events are in, one with two ends if there is one."""
    parts = filter.children if isinstance(filter, And) else (filter,)
    spans = [each for each in parts if isinstance(each, Range) and each.kind is Kind.NUMBER]
    both = (each for each in spans if each.low is not None and each.high is not None)
    return next(both, spans[0] if spans else None)
