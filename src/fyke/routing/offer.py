"""Offer: what one neighbour is told to want, kept exactly.

Idea. The broker says which rows are the neighbour's business; a selection says which of them it has
to be told. The difference to what it holds already becomes messages: what is new first, so that at
no time less is wanted than before. What is void because of something new goes along with it.
Invariant. After `messages`, the neighbour holds exactly the selected rows.
Source. DAS-Q2: per neighbour the exact set that was forwarded, additions before removals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

from fyke.filters.subscription import Subscription
from fyke.nodes.message import Message, Subscribe, SubscriptionId, Unsubscribe
from fyke.routing.covering_set import Change, Selection
from fyke.routing.row import Offered, Row

Scope: TypeAlias = Hashable
"""Filters of one scope may cover each other."""


class Offer:
    """To one neighbour."""

    def __init__(self, select: Callable[[], Selection]) -> None:
        self._select = select
        self._selections: dict[Scope, Selection] = {}
        self._rows: dict[SubscriptionId, tuple[Scope, Subscribe]] = {}
        self._selected: set[SubscriptionId] = set()
        self._held: dict[SubscriptionId, Subscribe] = {}
        self._touched: dict[SubscriptionId, None] = {}

    @property
    def held(self) -> dict[SubscriptionId, Subscription]:
        """What the neighbour holds."""
        return {id: each.subscription for id, each in self._held.items()}

    def __len__(self) -> int:
        return len(self._held)

    @property
    def tests(self) -> int:
        return sum(each.tests for each in self._selections.values())

    def put(self, row: Row, scope: Scope, towards: tuple[str, ...]) -> None:
        """A row is the neighbour's business, for these rendezvous."""
        id = row.subscription.id
        message = Subscribe(row.subscription, Offered(row.home, towards))
        if id in self._rows:
            if self._rows[id] == (scope, message):
                return
            self.drop(id)
        self._rows[id] = scope, message
        if scope not in self._selections:
            self._selections[scope] = self._select()
        self._note(self._selections[scope].add(id, row.subscription.filter))
        self._touched[id] = None

    def drop(self, id: SubscriptionId) -> None:
        """It no longer is, if it was."""
        known = self._rows.pop(id, None)
        if known is not None:
            self._note(self._selections[known[0]].remove(id))

    def messages(self) -> list[Message]:
        """What the neighbour has to be told now."""
        added: list[Subscribe] = []
        removed: list[SubscriptionId] = []
        for id in self._touched:
            wanted = self._rows[id][1] if id in self._selected else None
            if wanted is None:
                if self._held.pop(id, None) is not None:
                    removed.append(id)
            elif self._held.get(id) != wanted:
                self._held[id] = wanted
                added.append(wanted)
        self._touched.clear()
        if added and removed:
            added[-1] = _replacing(added[-1], tuple(removed))
            removed = []
        return [*added, *map(Unsubscribe, removed)]

    def _note(self, change: Change) -> None:
        entered, left = change
        for id in entered:
            self._selected.add(id)
            self._touched[id] = None
        for id in left:
            self._selected.discard(id)
            self._touched[id] = None


def _replacing(message: Subscribe, removed: tuple[SubscriptionId, ...]) -> Subscribe:
    route = message.route
    assert isinstance(route, Offered)
    return Subscribe(message.subscription, Offered(route.home, route.towards, removed))
