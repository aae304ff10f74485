"""The paper's structures as they are printed: rows with lists of ids, filled one by one.

The oracle of the arrays, and the clearest statement of the algorithms. AACS and SACS are lists of
(row, ids); inserting a constraint follows SUM-7 and SUM-9, matching is Algorithm 1 with the
readings of SUM-Q5 and SUM-Q6. Nothing is fast, and strings may land in another one of several rows
that cover them than they do in arrays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from fyke.events.event import Event
from fyke.events.value import Scalar
from fyke.filters.algebra.intervals import Span, is_point
from fyke.filters.algebra.value_set import ValueSet, without
from fyke.filters.filter import Filter
from fyke.summaries.constraints import AxisKey, boxes
from fyke.summaries.rows import (
    FLAG,
    LANGUAGE,
    STRINGS,
    TYPE,
    Piece,
    Rows,
    language_of,
    pieces_of,
)
from fyke.summaries.search import types_of

if TYPE_CHECKING:
    from fyke.events.schema import Schema

PlainId = tuple[str, int]
"""A subscription and the number of its box."""


class PlainSummary:
    """Rows by attribute, each with the ids that lie in it."""

    def __init__(self, *, exact: bool = False, schema: Schema | None = None) -> None:
        self._exact = exact
        self._schema = schema
        self.rows: dict[AxisKey, list[tuple[Piece, set[PlainId]]]] = {}
        self._popcount: dict[PlainId, int] = {}

    @staticmethod
    def of(
        pairs: Iterable[tuple[str, Filter]], *, exact: bool = False, schema: Schema | None = None
    ) -> PlainSummary:
        summary = PlainSummary(exact=exact, schema=schema)
        for name, filter in pairs:
            summary.add(name, filter)
        return summary

    def add(self, name: str, filter: Filter) -> None:
        orders = {} if self._schema is None else self._schema.orders
        for number, box in enumerate(boxes(filter, self._schema, exact=self._exact)):
            id = name, number
            self._popcount[id] = len(box)
            for key, constraint in box.items():
                for piece in pieces_of(constraint, orders.get(key[0])):
                    self._insert(self.rows.setdefault(key, []), piece, {id})

    def remove(self, name: str) -> None:
        """Remove an id from all lists; rows stay as wide as they are (SUM-17)."""
        self._popcount = {id: count for id, count in self._popcount.items() if id[0] != name}
        for key, rows in list(self.rows.items()):
            kept = [(row, {id for id in ids if id[0] != name}) for row, ids in rows]
            self.rows[key] = [(row, ids) for row, ids in kept if ids]

    def _insert(
        self, rows: list[tuple[Piece, set[PlainId]]], piece: Piece, ids: set[PlainId]
    ) -> None:
        """Put a constraint into the row that includes it, or make one that includes others."""
        for row, known in rows:
            if row == piece or (not self._exact and _includes(row, piece)):
                known |= ids
                return
        absorbed = [] if self._exact else [each for each in rows if _meets(piece, each[0])]
        for each in absorbed:
            rows.remove(each)
            piece, ids = _hull(piece, each[0]), ids | each[1]
        if absorbed:
            self._insert(rows, piece, ids)
        else:
            rows.append((piece, set(ids)))

    def match(self, event: Event) -> list[str]:
        """Return the ids that as many attributes accept as they have (Algorithm 1)."""
        counts: Counter[PlainId] = Counter()
        for (name, _), rows in self.rows.items():
            found: set[PlainId] = set()
            for row, ids in rows:
                if _is_satisfied(row, name, event, self._schema):
                    found |= ids
            counts.update(found)
        counted = (id for id, needed in self._popcount.items() if counts[id] == needed)
        return sorted({name for name, _ in counted})


def _is_satisfied(row: Piece, name: str, event: Event, schema: Schema | None) -> bool:
    which, what = row
    if which == FLAG and what.startswith(TYPE):
        return what.removeprefix(TYPE) in types_of(event)
    if name not in event.attributes:
        return False
    value = event.attributes[name]
    elements = value if isinstance(value, tuple) else (value,)
    if row == (FLAG, "present"):
        return True
    if len(elements) > 1 and (
        row == (FLAG, "list") or (schema is not None and schema.is_single(name))
    ):
        return True
    order = None if schema is None else schema.orders.get(name)
    return any(_holds(row, each, Rows(order=order)) for each in elements)


def _holds(row: Piece, value: Scalar, rows: Rows) -> bool:
    which, what = row
    place = rows.place_of(value)
    if which == FLAG:
        return place is None and what == ("null" if value is None else str(value).lower())
    if which == LANGUAGE:
        return place is not None and place[0] == STRINGS and language_of(what).accepts()(value)
    return place is not None and place[0] == which and what[0] <= (0, place[1], 0) < what[1]


def _includes(row: Piece, piece: Piece) -> bool:
    if row[0] == STRINGS and is_point(row[1]):
        return row == piece
    if row[0] in (STRINGS, LANGUAGE) and piece[0] in (STRINGS, LANGUAGE):
        return without(_set(piece), _set(row)).is_empty
    is_span = row[0] == piece[0] and row[0] != FLAG and not is_point(row[1])
    return is_span and row[1][0] <= piece[1][0] and piece[1][1] <= row[1][1]


def _meets(piece: Piece, row: Piece) -> bool:
    """Return True if a new constraint takes a row up: it includes it, or ranges overlap."""
    if piece[0] in (STRINGS, LANGUAGE) or row[0] != piece[0] or piece[0] == FLAG:
        return _includes(piece, row)
    one, other = piece[1], row[1]
    overlap = one[0] < other[1] and other[0] < one[1]
    return overlap and not (is_point(one) and is_point(other))


def _hull(piece: Piece, row: Piece) -> Piece:
    if piece[0] in (STRINGS, LANGUAGE):
        return piece
    one: Span = piece[1]
    other: Span = row[1]
    return piece[0], (min(one[0], other[0]), max(one[1], other[1]))


def _set(piece: Piece) -> ValueSet:
    if piece[0] == LANGUAGE:
        return ValueSet(languages=(language_of(piece[1]),))
    return ValueSet(strings=(piece[1],))
