"""Truth: which of some events satisfy each of many predicates, as rows of bits.

Idea. Trees over thousands of predicates are evaluated on 64 events with one instruction, once the
predicates are rows of bits. What a predicate says depends on one attribute, so it is decided once
per distinct value, and events are known by the rank of their value: an interval is two comparisons
of ranks. Patterns, sets of several values and lists are left to a matcher, of which each predicate
is a subscription and each distinct value an event; what looks at more than one attribute (two
attributes, types, a dialect's own) to another, which sees the events themselves.
Invariant. Bit i of a predicate's row is what `predicate.matches(event i)` says. `PredicateCounts`
counts the same without keeping bits; each is the other's check.
Cost. Linear in predicates times events / 8 bytes; a comparison of ranks per interval and event.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fyke.events.columns import Columns
from fyke.events.event import Event
from fyke.events.number import ExactDecimal
from fyke.events.value import Kind
from fyke.filters.filter import Constant, Filter
from fyke.filters.predicate import Exists, In, Range, TypeIs, ValuePredicate
from fyke.matching.compiled.coding.codes import scalar_key
from fyke.matching.matcher import Matcher
from fyke.matching.value_counts import elements_by_row, scalar

Bits: TypeAlias = npt.NDArray[np.uint64]
_Codes: TypeAlias = npt.NDArray[np.int32]
_TYPES: Final[dict[Kind, tuple[type, ...]]] = {
    Kind.NUMBER: (int, float, ExactDecimal),
    Kind.STRING: (str,),
    Kind.TIMESTAMP: (datetime,),
}


def words(rows: int) -> int:
    """Return how many words of 64 bits so many rows take."""
    return -(-rows // 64)


def every(rows: int) -> Bits:
    """Return the bits of all events, and none beyond them."""
    return _pack(np.ones(rows, bool))


def truth(columns: Columns, leaves: Sequence[Filter]) -> Bits:
    """Return a row of bits for each leaf: predicates, residuals and constants."""
    found = np.zeros((len(leaves), words(columns.rows)), np.uint64)
    by_attribute: dict[str, list[int]] = {}
    others: list[int] = []
    for number, leaf in enumerate(leaves):
        if isinstance(leaf, Constant):
            found[number] = _pack(np.full(columns.rows, leaf.value))
        elif isinstance(leaf, ValuePredicate | Exists) and not isinstance(leaf, TypeIs):
            by_attribute.setdefault(leaf.attribute, []).append(number)
        else:
            others.append(number)
    for attribute, numbers in by_attribute.items():
        if attribute in columns.paths:
            coded = _Coded.of(columns, attribute)
            coded.answer([(number, leaves[number]) for number in numbers], found)
    if others:
        matches = _matcher((number, leaves[number]) for number in others).match_batch(columns)
        _scatter(matches, columns.rows, found)
    return found


def _matcher(leaves: Iterable[tuple[int, Filter]]) -> Matcher:
    matcher = Matcher()
    matcher.add_many((str(number), leaf) for number, leaf in leaves)
    return matcher


def _scatter(matches: pa.Table, rows: int, found: Bits) -> None:
    for number, events in _by_number(matches):
        accepted = np.zeros(rows, bool)
        accepted[events] = True
        found[number] = _pack(accepted)


def _by_number(matches: pa.Table) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Yield predicates with the rows that satisfy them."""
    events = matches["event"].to_numpy()
    numbers = matches["subscription"].cast(pa.int64()).to_numpy()
    order = np.argsort(numbers, kind="stable")
    distinct, starts = np.unique(numbers[order], return_index=True)
    ends = [*starts[1:].tolist(), *[len(order)] * bool(len(order))]
    for number, start, end in zip(distinct.tolist(), starts.tolist(), ends, strict=True):
        yield number, events[order[start:end]]


def _pack(accepted: npt.NDArray[np.bool_]) -> Bits:
    """Return booleans as words, the first in the lowest bit."""
    packed = np.zeros(8 * words(len(accepted)), np.uint8)
    packed[: -(-len(accepted) // 8)] = np.packbits(accepted, bitorder="little")
    return packed.view(np.uint64)


@dataclass(frozen=True, slots=True)
class _Coded:
    """One attribute of a batch: its distinct values, and the rank of each row's among them."""

    attribute: str
    ranks: _Codes
    """Negative where the attribute is missing."""
    keys: list[Any]
    """Single values first, sorted within their kind; then sets of several."""
    spans: dict[Kind, tuple[int, int]]
    """The first place and the end of each ordered kind's values among the keys."""
    places: dict[object, int]

    @classmethod
    def of(cls, columns: Columns, attribute: str) -> _Coded:
        rows, keys = _rows_and_keys(columns, attribute)
        spans: dict[Kind, tuple[int, int]] = {}
        order: list[int] = []
        taken = [False] * len(keys)
        for kind, types in _TYPES.items():
            ours = [at for at, key in enumerate(keys) if type(key) in types]
            ours.sort(key=keys.__getitem__)
            spans[kind] = len(order), len(order) + len(ours)
            order += ours
            for at in ours:
                taken[at] = True
        order += [at for at, done in enumerate(taken) if not done]
        rank = np.empty(len(keys) + 1, np.int32)
        rank[order] = np.arange(len(keys), dtype=np.int32)
        rank[-1] = -1
        sorted_keys = [keys[at] for at in order]
        places = {key: place for place, key in enumerate(sorted_keys)}
        return cls(attribute, rank[rows], sorted_keys, spans, places)

    def answer(self, leaves: list[tuple[int, Filter]], found: Bits) -> None:
        asked: list[tuple[int, Filter]] = []
        for number, leaf in leaves:
            match leaf:
                case Exists():
                    found[number] = _pack(self.ranks >= 0)
                case Range():
                    start, end = self._span(leaf)
                    found[number] = _pack((self.ranks >= start) & (self.ranks < end))
                case In() if len(leaf.values) == 1:
                    at = self.places.get(scalar_key(leaf.values[0]), -2)
                    found[number] = _pack(self.ranks == at)
                case _:
                    asked.append((number, leaf))
        single: list[int] = []
        several: list[int] = []
        for at, key in enumerate(self.keys):
            (several if type(key) is frozenset else single).append(at)
        if asked:
            self._ask(asked, single, found)
        if several:
            self._ask([each for each in leaves if type(each[1]) is not Exists], several, found)

    def _span(self, leaf: Range) -> tuple[int, int]:
        """Return the ranks of the values in an interval."""
        start, end = self.spans[leaf.kind]
        low: Any = leaf.low
        high: Any = leaf.high
        keys, first, last = self.keys, start, end
        if low is not None:
            cut = bisect_right if leaf.low_open else bisect_left
            start = cut(keys, low, first, last)
        if high is not None:
            cut = bisect_left if leaf.high_open else bisect_right
            end = cut(keys, high, first, last)
        return start, end

    def _ask(self, leaves: list[tuple[int, Filter]], keys: list[int], found: Bits) -> None:
        """Ask a matcher about some distinct values."""
        events = [Event.flat({self.attribute: _value(self.keys[at])}) for at in keys]
        numbers = np.array(keys, np.int32)
        for number, met in _by_number(_matcher(leaves).match_batch(events)):
            accepted = np.zeros(len(self.keys) + 1, bool)
            accepted[numbers[met]] = True
            found[number] |= _pack(accepted[self.ranks])


def _value(key: Any) -> Any:
    return tuple(map(scalar, key)) if type(key) is frozenset else scalar(key)


def _rows_and_keys(columns: Columns, attribute: str) -> tuple[Any, list[Any]]:
    """Return for each row the number of its key, -1 where there is none, and the keys."""
    parts = columns.paths[attribute]
    only = parts[0]
    if len(parts) == 1 and only.is_list is None and only.kind in ("number", "string"):
        if only.kind == "number":
            distinct, codes = np.unique(only.numbers(), return_inverse=True)
            keys = distinct.tolist()
        else:
            values = only.values
            if pa.types.is_dictionary(values.type):
                values = values.dictionary_decode()
            encoded = values.dictionary_encode()
            codes, keys = encoded.indices.to_numpy(), encoded.dictionary.to_pylist()
        if only.rows is None:
            return codes, keys
        rows = np.full(columns.rows, -1, np.int64)
        rows[only.rows] = codes
        return rows, keys
    met: dict[Any, int] = {}
    rows = np.full(columns.rows, -1, np.int64)
    for row, elements in elements_by_row(parts, columns.rows).items():
        keyed = frozenset(map(scalar_key, elements))
        key = next(iter(keyed)) if len(keyed) == 1 else keyed
        rows[row] = met.setdefault(key, len(met))
    return rows, list(met)
