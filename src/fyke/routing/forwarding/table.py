"""Table: all rows of a broker, and those of neighbours that events are held against.

Rows of the broker's own clients are here to be offered to neighbours; whom they concern is decided
by local delivery. Under preventive storing a neighbour's covered rows are kept, not filtered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.nodes.message import NodeId, SubscriptionKey
from fyke.nodes.node import Stats
from fyke.routing.forwarding.covering_set import Change, Selection
from fyke.routing.forwarding.offer import Scope
from fyke.routing.forwarding.packed_row import PackedRow, RowPacking
from fyke.routing.forwarding.row import Row
from fyke.routing.interests import FilterGroup, Interests


class RowTable:
    """Packed rows by key."""

    def __init__(
        self, interests: Interests, packing: RowPacking, select: Callable[[Scope], Selection]
    ) -> None:
        self._searched: FilterGroup[SubscriptionKey] = FilterGroup(interests)
        self._packing = packing
        self._select = select
        self._selections: dict[Scope, Selection] = {}
        self._rows: dict[SubscriptionKey, PackedRow] = {}
        self._filtered: dict[SubscriptionKey, Scope] = {}
        """Rows of neighbours that may be filtered; a selection says which are."""
        self._scopes: dict[Scope, Scope] = {}
        """Each scope once."""
        self._ways: dict[NodeId, dict[NodeId, int]] = {}
        """The number of rows by home and source."""
        self._tests = 0
        self.filter_bytes = 0
        """Of the packed filters of all rows."""

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return map(self._packing.unpack_row, list(self._rows.values()))

    def get(self, key: SubscriptionKey) -> Row | None:
        row = self._rows.get(key)
        return None if row is None else self._packing.unpack_row(row)

    def filter(self, key: SubscriptionKey) -> Filter:
        return self._packing.unpack(self._rows[key].filter)

    def packed_key(self, key: SubscriptionKey) -> SubscriptionKey:
        """Return the object that is the key of a row wherever it is held."""
        return self._rows[key].key

    def packed(self) -> Iterator[PackedRow]:
        return iter(list(self._rows.values()))

    def source(self, key: SubscriptionKey) -> NodeId | None:
        """Return the neighbour or client that told the row, or None."""
        row = self._rows.get(key)
        return None if row is None else row.terms.source

    def of(self, source: NodeId) -> list[SubscriptionKey]:
        return [key for key, row in self._rows.items() if row.terms.source == source]

    def way(self, home: NodeId) -> NodeId | None:
        """Return the neighbour on the way to a broker, as far as rows show it."""
        return next(iter(self._ways.get(home, ())), None)

    def rows_of(self, home: NodeId) -> int:
        """Return the number of rows of a broker's clients."""
        return sum(self._ways.get(home, {}).values())

    # --- changing ---------------------------------------------------------------------------------

    def put(self, row: Row, scope: Scope | None) -> None:
        """Add a row, or put it in the place of the one with its key.

        With a scope, events may be held against it; its scope may cover it.
        """
        known = self._rows.get(row.key)
        packed = self._packing.pack_row(row, known)
        key = packed.key
        if known is not None:
            self._take_out(known)
        self._rows[key] = packed
        self.filter_bytes += len(packed.filter)
        ways = self._ways.setdefault(row.home, {})
        ways[row.source] = ways.get(row.source, 0) + 1
        if scope is None:
            self._filtered.pop(key, None)
            return
        scope = self._scopes.setdefault(scope, scope)
        if scope not in self._selections:
            self._selections[scope] = self._select(scope)
        self._filtered[key] = scope
        self._note(self._selections[scope].add(key, packed.filter))

    def drop(self, key: SubscriptionKey) -> bool:
        """Remove a row. Return True if it was there."""
        row = self._rows.get(key)
        if row is None:
            return False
        self._take_out(row)
        self._filtered.pop(key, None)
        del self._rows[key]
        return True

    def _take_out(self, row: PackedRow) -> None:
        """Let nothing go by a row any more. Its places stay, for the one that takes them.

        Where each change took other places, dictionaries would grow to twice their size.
        """
        scope = self._filtered.get(row.key)
        if scope is not None:
            selection = self._selections[scope]
            self._note(selection.remove(row.key, row.filter))
            if not selection:
                self._tests += selection.tests
                del self._selections[scope], self._scopes[scope]
        self.filter_bytes -= len(row.filter)
        self._unpave(row)

    def _unpave(self, row: PackedRow) -> None:
        ways = self._ways[row.terms.home]
        ways[row.terms.source] -= 1
        if not ways[row.terms.source]:
            del ways[row.terms.source]
        if not ways:
            del self._ways[row.terms.home]

    def close(self) -> None:
        """Remove all filters from the matcher."""
        self._searched.clear()

    def _note(self, change: Change) -> None:
        entered, left = change
        for key in left:
            self._searched.remove(key)
        for key in entered:
            self._searched.add(key, self.filter(key))

    # --- matching ---------------------------------------------------------------------------------

    def match(self, event: Event) -> list[PackedRow]:
        """Return the filtered rows that accept an event."""
        return [self._rows[key] for key in self._searched.match(event)]

    def count(self, stats: Stats, me: NodeId) -> None:
        stats.rows += sum(row.terms.home != me for row in self._rows.values())
        stats.covering_tests += self._tests
        stats.covering_tests += sum(each.tests for each in self._selections.values())
