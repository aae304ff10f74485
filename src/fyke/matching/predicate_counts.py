"""PredicateCounts: the number of events that satisfy each of many predicates.

Idea. Whether a value predicate holds depends on one attribute, so it is decided once per distinct
value of that attribute, for all events that have it: `a = 5` is looked up, `a < 5` is a sum over
the sorted values, `a != 5` all but one. Lists, which are rare, and predicates that are neither
(patterns, types, two attributes, a dialect's own) are left to a matcher, of which each predicate
is a subscription.
Cost. V log V per attribute with V distinct values, and log V per predicate; where matchers decide,
the pairs that match. Predicates are counted at the end and whenever many values have come together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from fyke.events.columns import Columns
from fyke.events.event import Event
from fyke.events.number import ExactDecimal
from fyke.events.value import Kind
from fyke.filters.filter import Filter
from fyke.filters.predicate import Exists, In, NotIn, Predicate, Range
from fyke.matching.compiled.coding.codes import scalar_key
from fyke.matching.matcher import Matcher
from fyke.matching.value_counts import ValueCounts, scalar, value_counts

KEYS_MAX: Final = 300_000
"""Values that come together before predicates are counted."""
_TYPES: Final[dict[Kind, tuple[type, ...]]] = {
    Kind.NUMBER: (int, float, ExactDecimal),
    Kind.STRING: (str,),
    Kind.TIMESTAMP: (datetime,),
}


class PredicateCounts:
    """The number of events in which each predicate held so far, by the predicate's number."""

    def __init__(self, predicates: Sequence[Filter]) -> None:
        self.events = 0
        self.satisfied = np.zeros(len(predicates), np.int64)
        self._questions: dict[str, _Questions] = {}
        self._others = Matcher()
        for number, leaf in enumerate(predicates):
            if isinstance(leaf, Exists | In | NotIn | Range):
                asked = self._questions.setdefault(leaf.attribute, _Questions(leaf.attribute))
                asked.ask(number, leaf)
            else:
                self._others.add(str(number), leaf)
        self._counts = {attribute: ValueCounts() for attribute in self._questions}

    def count(self, events: Columns | list[Event]) -> None:
        """Count some more events."""
        self.events += len(events) if isinstance(events, list) else events.rows
        for attribute, counts in value_counts(events, self._questions).items():
            self._counts[attribute].merge(counts)
        if len(self._others):
            found = self._others.match_batch(events)
            counted = pc.value_counts(found["subscription"])
            numbers = pc.cast(counted.field("values"), pa.int64()).to_numpy(zero_copy_only=False)
            self.satisfied[numbers] += counted.field("counts").to_numpy(zero_copy_only=False)
        if sum(map(len, self._counts.values())) > KEYS_MAX:
            self.settle()

    def settle(self) -> None:
        """Count the predicates on the values that have come together."""
        for attribute, asked in self._questions.items():
            asked.answer(self._counts[attribute], self.satisfied)
            self._counts[attribute] = ValueCounts()


class _Questions:
    """The predicates on one attribute, by how they are answered."""

    def __init__(self, attribute: str) -> None:
        self._attribute = attribute
        self._present: list[int] = []
        self._equal: dict[object, list[int]] = {}
        self._unequal: list[tuple[int, list[object]]] = []
        self._ranges: list[tuple[int, Range]] = []
        self._of_values: list[tuple[int, Predicate]] = []
        self._matcher: Matcher | None = None

    def ask(self, number: int, leaf: Exists | In | NotIn | Range) -> None:
        if isinstance(leaf, Exists):
            self._present.append(number)
            return
        self._of_values.append((number, leaf))
        match leaf:
            case In():
                for value in leaf.values:
                    self._equal.setdefault(scalar_key(value), []).append(number)
            case NotIn():
                self._unequal.append((number, [scalar_key(value) for value in leaf.values]))
            case Range():
                self._ranges.append((number, leaf))

    def answer(self, counts: ValueCounts, satisfied: Any) -> None:
        satisfied[self._present] += counts.present
        for key in counts.single.keys() & self._equal.keys():
            satisfied[self._equal[key]] += counts.single[key]
        events = counts.single.total()
        for number, keys in self._unequal:
            satisfied[number] += events - sum(counts.single[key] for key in keys)
        for kind, types in _TYPES.items():
            ranges = [(number, leaf) for number, leaf in self._ranges if leaf.kind is kind]
            _answer_ranges(ranges, _of_types(counts, types) if ranges else [], satisfied)
        self._answer_lists(counts, satisfied)

    def _answer_lists(self, counts: ValueCounts, satisfied: Any) -> None:
        if counts.several and self._matcher is None:
            self._matcher = Matcher()
            self._matcher.add_many((str(number), leaf) for number, leaf in self._of_values)
        for keys, count in counts.several.items():
            assert self._matcher is not None
            event = Event.flat({self._attribute: tuple(map(scalar, keys))})
            satisfied[[int(id) for id in self._matcher.match(event)]] += count


def _of_types(counts: ValueCounts, types: tuple[type, ...]) -> list[tuple[Any, int]]:
    found: Counter[Any] = Counter()
    for key, count in counts.single.items():
        if type(key) in types:
            found[key] = count
    return sorted(found.items())


def _answer_ranges(
    ranges: list[tuple[int, Range]], values: list[tuple[Any, int]], satisfied: Any
) -> None:
    """Add the events up to a range's end less those before its start; values are in order."""
    keys: list[Any] = [key for key, _ in values]
    before = [0, *accumulate(count for _, count in values)]
    for number, range_ in ranges:
        low: Any = range_.low
        high: Any = range_.high
        start = 0
        if low is not None:
            start = bisect_right(keys, low) if range_.low_open else bisect_left(keys, low)
        end = len(keys)
        if high is not None:
            end = bisect_left(keys, high) if range_.high_open else bisect_right(keys, high)
        if start < end:
            satisfied[number] += before[end] - before[start]
