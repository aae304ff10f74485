"""Table: all rows of a broker, and those of neighbours that events are held against.

Rows of the broker's own clients are here to be offered to neighbours; whom they concern is decided
by local delivery. Under preventive storing a neighbour's covered rows are kept, not filtered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fyke.events.event import Event
from fyke.nodes.message import NodeId, SubscriptionKey
from fyke.nodes.node import Stats
from fyke.routing.covering_set import Change, Selection
from fyke.routing.interests import Group, Interests
from fyke.routing.offer import Scope
from fyke.routing.row import Row


class Table:
    """Rows by key."""

    def __init__(self, interests: Interests, select: Callable[[], Selection]) -> None:
        self._searched: Group[SubscriptionKey] = Group(interests)
        self._select = select
        self._selections: dict[Scope, Selection] = {}
        self._rows: dict[SubscriptionKey, Row] = {}
        self._filtered: dict[SubscriptionKey, Scope] = {}
        """Rows of neighbours that may be filtered; a selection says which are."""
        self._sources: dict[NodeId, dict[SubscriptionKey, None]] = {}
        self._ways: dict[NodeId, dict[SubscriptionKey, NodeId]] = {}
        self._tests = 0

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(list(self._rows.values()))

    def get(self, key: SubscriptionKey) -> Row | None:
        return self._rows.get(key)

    def of(self, source: NodeId) -> list[SubscriptionKey]:
        return list(self._sources.get(source, ()))

    def way(self, home: NodeId) -> NodeId | None:
        """Return the neighbour behind which a broker is, as far as rows tell."""
        return next(iter(self._ways.get(home, {}).values()), None)

    # --- changing ---------------------------------------------------------------------------------

    def put(self, row: Row, scope: Scope | None) -> None:
        """Add a row; with a scope it may be filtered, among others of this scope and source."""
        key = row.key
        self.drop(key)
        self._rows[key] = row
        self._sources.setdefault(row.source, {})[key] = None
        self._ways.setdefault(row.home, {})[key] = row.source
        if scope is not None:
            if scope not in self._selections:
                self._selections[scope] = self._select()
            self._filtered[key] = scope
            self._note(self._selections[scope].add(key, row.subscription.filter))

    def drop(self, key: SubscriptionKey) -> Row | None:
        """Remove a row, if there is one, and return it."""
        row = self._rows.get(key)
        if row is None:
            return None
        scope = self._filtered.pop(key, None)
        if scope is not None:
            selection = self._selections[scope]
            self._note(selection.remove(key))
            if not selection:
                self._tests += selection.tests
                del self._selections[scope]
        del self._rows[key]
        _remove(self._sources, row.source, key)
        _remove(self._ways, row.home, key)
        return row

    def close(self) -> None:
        """Take all filters out of where they are searched."""
        self._searched.clear()

    def _note(self, change: Change) -> None:
        entered, left = change
        for key in left:
            self._searched.remove(key)
        for key in entered:
            self._searched.add(key, self._rows[key].subscription.filter)

    # --- matching ---------------------------------------------------------------------------------

    def match(self, event: Event) -> list[Row]:
        """Return the filtered rows that accept it."""
        return [self._rows[key] for key in self._searched.match(event)]

    def count(self, stats: Stats, me: NodeId) -> None:
        stats.rows += sum(row.home != me for row in self._rows.values())
        stats.covering_tests += self._tests
        stats.covering_tests += sum(each.tests for each in self._selections.values())


def _remove(
    groups: dict[NodeId, dict[SubscriptionKey, NodeId]] | dict[NodeId, dict[SubscriptionKey, None]],
    name: NodeId,
    key: SubscriptionKey,
) -> None:
    group = groups[name]
    del group[key]
    if not group:
        del groups[name]
