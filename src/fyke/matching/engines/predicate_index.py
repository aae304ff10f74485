"""PredicateIndex: from an event to the predicates it satisfies, attribute by attribute.

Idea. Each distinct predicate is stored once, under a small number, however many filters use it.
What an attribute's value satisfies is looked up, not tried:

    In                      a table from values to predicates, per kind of value
    NotIn                   all of them, but those that list the value
    Range, starts with      a `SpanTree` per kind; a prefix is a span of strings
    Exists                  the attribute is there
    TypeIs                  a table of names, asked for the type and each supertype
    everything else         tried, once per event, if its attribute is there: suffixes, inner
                            patterns, ignored case, regular expressions, networks, two attributes

Example. Of a = 1, a in (1, 2), a > 0 and a != 2, the event {a: 1.0} finds the first two in the
table of numbers, the third in the tree of numbers, the fourth because 1 is not listed by it; the
event {a: true} finds the fourth alone: a boolean is not in the tables of numbers.
Invariant. A predicate is in the index while an owner holds it (`acquire`, `release`); nothing of
it is left afterwards, and its number is given out again. Every satisfied predicate is found exactly
once per event, though several elements of a list may satisfy it.
Cost. Per value a few table accesses, O(log n) bisections and the answer; per event one test for
each distinct predicate that has to be tried. Updates as those of `SpanTree`, else constant.
Source. First step of PRU-5; PRU-13 counts a predicate once per event; SUM-13 and SUM-14 ask the
same of a summary. Differs: SUM-5 cuts ranges into rows that do not overlap, where a wide range
can take as many rows as there are other ranges; a tree stores each once. SUM-Q5 (a row that hides
another) cannot happen: tables and trees are both asked. A residual is no predicate: engines run it
on candidates only.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import Final, TypeAlias

from fyke.events.event import Event
from fyke.events.value import Kind, Scalar, Value, kind
from fyke.filters.algebra.intervals import Span, prefix_span, span
from fyke.filters.algebra.span_tree import SpanTree
from fyke.filters.filter import Test
from fyke.filters.predicate import Exists, In, NotIn, Predicate, Range, TypeIs
from fyke.filters.text_predicate import Like
from fyke.matching.engines.contract import Work

_NONE: Final[Set[int]] = frozenset()
_Listing: TypeAlias = dict[Scalar, set[int]]


class PredicateIndex:
    """Distinct predicates by number, each held by as many as acquired it."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._numbers: dict[Predicate, int] = {}
        self._predicates: dict[int, Predicate] = {}
        self._holders: dict[int, int] = {}
        self._free: list[int] = []
        self._columns: dict[str, _Column] = {}
        self._types: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    # --- updates

    def acquire(self, predicate: Predicate) -> int:
        """Return the number of a predicate, which is in the index until it is released as often."""
        number = self._numbers.get(predicate)
        if number is None:
            number = self._free.pop() if self._free else len(self._numbers)
            self._numbers[predicate] = number
            self._predicates[number] = predicate
            self._holders[number] = 0
            self._put(predicate, number)
        self._holders[number] += 1
        return number

    def release(self, number: int) -> None:
        """Give up one hold on a predicate."""
        self._holders[number] -= 1
        if self._holders[number]:
            return
        predicate = self._predicates.pop(number)
        del self._numbers[predicate], self._holders[number]
        self._take(predicate, number)
        self._free.append(number)
        if not self._numbers:
            self._free.clear()

    def _put(self, predicate: Predicate, number: int) -> None:
        if isinstance(predicate, TypeIs):
            self._types[predicate.name] = number
            return
        column = self._columns.get(predicate.attribute)
        if column is None:
            column = self._columns[predicate.attribute] = _Column()
        column.put(predicate, number)

    def _take(self, predicate: Predicate, number: int) -> None:
        if isinstance(predicate, TypeIs):
            del self._types[predicate.name]
            return
        column = self._columns[predicate.attribute]
        column.take(predicate, number)
        if not column.size:
            del self._columns[predicate.attribute]

    # --- events

    def satisfied(self, event: Event) -> list[int]:
        """Return the numbers of the predicates that the event satisfies, each once."""
        attributes, columns = event.attributes, self._columns
        found = self._types_of(event) if self._types else []
        for name in attributes.keys() & columns.keys():
            column, value = columns[name], attributes[name]
            self._work.probes += len(column.tests)
            self._work.probes += len(value) if type(value) is tuple else 1
            found += column.satisfied_by(value)
            if column.tests:
                found += [n for n, test in column.tests.items() if test(attributes, event)]
        return found

    def _types_of(self, event: Event) -> list[int]:
        names = {*event.supertypes, *_elements(event.attributes.get("type"))}
        self._work.probes += len(names)
        return [self._types[name] for name in names if name in self._types]  # type: ignore[index]


class _Column:
    """The predicates on one attribute."""

    __slots__ = ("exists", "kinds", "negative", "size", "tests")

    def __init__(self) -> None:
        self.size = 0
        self.exists: int | None = None
        self.kinds: list[_Kind | None] = [None] * len(Kind)
        self.negative: set[int] = set()
        self.tests: dict[int, Test] = {}

    def satisfied_by(self, value: Value) -> Collection[int]:
        """Return the predicates that a value satisfies, of those that need not be tried."""
        if type(value) is tuple:
            found: Collection[int] = {n for element in value for n in self._holding(element)}
        else:
            found = self._holding(value)  # type: ignore[arg-type]
        if self.negative:
            found = [*found, *self._not_listing(_elements(value))]
        return found if self.exists is None else [*found, self.exists]

    def _holding(self, element: Scalar) -> list[int]:
        """Return the sets and spans that contain an element."""
        table = self.kinds[kind(element)]
        if table is None:
            return []
        found = table.spans.containing((0, element, 0))
        found += table.listed.get(element, _NONE)
        return found

    def _not_listing(self, elements: tuple[Scalar, ...]) -> Set[int]:
        """Return all of `NotIn` but those that list every element."""
        if not elements:
            return _NONE
        listing: Set[int] = self.negative
        for element in elements:
            table = self.kinds[kind(element)]
            listing = listing & table.excluded.get(element, _NONE) if table else _NONE
            if not listing:
                return self.negative
        return self.negative - listing

    def put(self, predicate: Predicate, number: int) -> None:
        self.size += 1
        match predicate:
            case In(_, values):
                for value in values:
                    self._table(kind(value)).listed.setdefault(value, set()).add(number)
            case NotIn(_, values):
                self.negative.add(number)
                for value in values:
                    self._table(kind(value)).excluded.setdefault(value, set()).add(number)
            case Exists():
                self.exists = number
            case _ if place := _place(predicate):
                self._table(place[0]).spans.add(place[1], number)
            case _:
                self.tests[number] = predicate.test()

    def take(self, predicate: Predicate, number: int) -> None:
        self.size -= 1
        match predicate:
            case In(_, values):
                for value in values:
                    _unlist(self._table(kind(value)).listed, value, number)
            case NotIn(_, values):
                self.negative.discard(number)
                for value in values:
                    _unlist(self._table(kind(value)).excluded, value, number)
            case Exists():
                self.exists = None
            case _ if place := _place(predicate):
                self._table(place[0]).spans.remove(place[1], number)
            case _:
                del self.tests[number]

    def _table(self, shared: Kind) -> _Kind:
        table = self.kinds[shared]
        if table is None:
            table = self.kinds[shared] = _Kind()
        return table


class _Kind:
    """The predicates on the values of one kind at one attribute."""

    __slots__ = ("excluded", "listed", "spans")

    def __init__(self) -> None:
        self.listed: _Listing = {}
        self.excluded: _Listing = {}
        self.spans = SpanTree()


def _place(predicate: Predicate) -> tuple[Kind, Span] | None:
    """Return the kind and the span of a predicate that is one."""
    match predicate:
        case Range():
            return predicate.kind, span(predicate)
        case Like(_, pattern, False) if pattern.is_prefix:
            return Kind.STRING, prefix_span(pattern.segments[0])
    return None


def _unlist(listing: _Listing, value: Scalar, number: int) -> None:
    numbers = listing[value]
    numbers.discard(number)
    if not numbers:
        del listing[value]


def _elements(value: Value) -> tuple[Scalar, ...]:
    return value if isinstance(value, tuple) else (value,)
