"""Table: all rows of a broker, and those of neighbours that events are held against.

Rows of the broker's own clients are here to be offered to neighbours; whom they concern is decided
by local delivery. Under preventive storing a neighbour's covered rows are kept, not filtered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from fyke.events.event import Event
from fyke.matching.matcher import Matcher
from fyke.nodes.message import NodeId, SubscriptionId
from fyke.nodes.node import Stats
from fyke.routing.covering_set import Change, Selection
from fyke.routing.offer import Scope
from fyke.routing.row import Row


class Table:
    """Rows by id."""

    def __init__(self, engine: str, select: Callable[[], Selection]) -> None:
        self._matcher = Matcher(engine=engine)
        self._select = select
        self._selections: dict[Scope, Selection] = {}
        self._rows: dict[SubscriptionId, Row] = {}
        self._filtered: dict[SubscriptionId, Scope] = {}
        """Rows of neighbours that may be filtered; a selection says which are."""
        self._sources: dict[NodeId, dict[SubscriptionId, None]] = {}
        self._ways: dict[NodeId, dict[SubscriptionId, NodeId]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(list(self._rows.values()))

    def get(self, id: SubscriptionId) -> Row | None:
        return self._rows.get(id)

    def of(self, source: NodeId) -> list[SubscriptionId]:
        return list(self._sources.get(source, ()))

    def way(self, home: NodeId) -> NodeId | None:
        """The neighbour behind which a broker is, as far as rows tell."""
        return next(iter(self._ways.get(home, {}).values()), None)

    # --- changing ---------------------------------------------------------------------------------

    def put(self, row: Row, scope: Scope | None) -> None:
        """A row; with a scope it may be filtered, among others of this scope and source."""
        id = row.subscription.id
        self.drop(id)
        self._rows[id] = row
        self._sources.setdefault(row.source, {})[id] = None
        self._ways.setdefault(row.home, {})[id] = row.source
        if scope is not None:
            if scope not in self._selections:
                self._selections[scope] = self._select()
            self._filtered[id] = scope
            self._note(self._selections[scope].add(id, row.subscription.filter))

    def drop(self, id: SubscriptionId) -> Row | None:
        """Without this row; returns it."""
        row = self._rows.get(id)
        if row is None:
            return None
        scope = self._filtered.pop(id, None)
        if scope is not None:
            self._note(self._selections[scope].remove(id))
        del self._rows[id]
        del self._sources[row.source][id]
        ways = self._ways[row.home]
        del ways[id]
        if not ways:
            del self._ways[row.home]
        return row

    def _note(self, change: Change) -> None:
        entered, left = change
        for id in left:
            self._matcher.remove(id)
        for id in entered:
            self._matcher.add(id, self._rows[id].subscription.filter)

    # --- matching ---------------------------------------------------------------------------------

    def match(self, event: Event) -> list[Row]:
        """The filtered rows that accept it."""
        if not len(self._matcher):
            return []
        return [self._rows[id] for id in self._matcher.match(event)]

    def count(self, stats: Stats, me: NodeId) -> None:
        local = sum(row.home == me for row in self._rows.values())
        done = self._matcher.stats()
        stats.rows += len(self._rows) - local
        stats.filtered += len(self._matcher)
        stats.matched += done.events
        stats.probes += done.work.probes
        stats.candidates += done.work.candidates
        stats.checks += done.work.checks
        stats.covering_tests += sum(each.tests for each in self._selections.values())
