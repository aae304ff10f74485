"""Offer: what one neighbour is told to want, kept exactly.

Idea. The broker says which rows are the neighbour's business; a selection says which of them it has
to be told. The difference to what it holds already becomes messages: what is new first, so that at
no time less is wanted than before. What is void because of something new goes along with it.
Invariant. After `messages`, the neighbour holds exactly the selected rows.
Source. DAS-Q2: per neighbour the exact set that was forwarded, additions before removals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias

from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Message, NodeId, Subscribe, SubscriptionId, Unsubscribe
from fyke.routing.covering_set import Change, Selection
from fyke.routing.merging import Merging
from fyke.routing.row import Offered, Row

Scope: TypeAlias = Hashable
"""Filters of one scope may cover each other."""


class Offer:
    """To one neighbour of `me`. With `merge`, selected filters may be told as one."""

    def __init__(
        self,
        me: NodeId,
        select: Callable[[], Selection],
        merge: Callable[[], Merging] | None = None,
    ) -> None:
        self._me = me
        self._select = select
        self._merge = merge
        self._selections: dict[Scope, Selection] = {}
        self._mergings: dict[Scope, Merging] = {}
        self._rows: dict[SubscriptionId, tuple[Scope, Subscribe]] = {}
        self._wanted: dict[SubscriptionId, Subscribe] = {}
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
            if self._merge is not None:
                self._mergings[scope] = self._merge()
        self._note(scope, self._selections[scope].add(id, row.subscription.filter), towards)

    def drop(self, id: SubscriptionId) -> None:
        """It no longer is, if it was."""
        known = self._rows.pop(id, None)
        if known is not None:
            scope, message = known
            towards = _offered(message).towards
            self._note(scope, self._selections[scope].remove(id), towards)

    def messages(self) -> list[Message]:
        """What the neighbour has to be told now: what is new, what is different, what is void."""
        added: list[Subscribe] = []
        different: list[Subscribe] = []
        removed: list[SubscriptionId] = []
        for id in self._touched:
            wanted, held = self._wanted.get(id), self._held.get(id)
            if wanted is None:
                if held is not None:
                    del self._held[id]
                    removed.append(id)
            elif held != wanted:
                self._held[id] = wanted
                (added if held is None else different).append(wanted)
        self._touched.clear()
        told = added + different
        if told and removed:
            told[-1] = _replacing(told[-1], tuple(removed))
            removed = []
        return [*told, *map(Unsubscribe, removed)]

    def _note(self, scope: Scope, change: Change, towards: tuple[str, ...]) -> None:
        entered, left = change
        merging = self._mergings.get(scope)
        for id in entered:
            message = self._rows[id][1]
            if merging is None:
                self._tell(id, message)
            else:
                self._tell_merged(merging.put(id, message.subscription.filter), towards)
        for id in left:
            if merging is None:
                self._tell(id, None)
            else:
                self._tell_merged(merging.drop(id), towards)

    def _tell_merged(
        self, changed: Mapping[SubscriptionId, Filter | None], towards: tuple[str, ...]
    ) -> None:
        for id, filter in changed.items():
            if filter is None or id in self._rows:
                self._tell(id, None if filter is None else self._rows[id][1])
            else:
                merged = Subscription(id, filter, self._me)
                self._tell(id, Subscribe(merged, Offered(self._me, towards)))

    def _tell(self, id: SubscriptionId, message: Subscribe | None) -> None:
        self._touched[id] = None
        if message is None:
            self._wanted.pop(id, None)
        else:
            self._wanted[id] = message


def _offered(message: Subscribe) -> Offered:
    assert isinstance(message.route, Offered)
    return message.route


def _replacing(message: Subscribe, removed: tuple[SubscriptionId, ...]) -> Subscribe:
    offered = _offered(message)
    return Subscribe(message.subscription, Offered(offered.home, offered.towards, removed))
