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
from fyke.nodes.message import Message, NodeId, Subscribe, SubscriptionKey
from fyke.routing.covering_set import Change, Selection
from fyke.routing.merging import Merging
from fyke.routing.row import Offered, Row, withdrawal

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
        self._rows: dict[SubscriptionKey, tuple[Scope, Subscribe]] = {}
        self._wanted: dict[SubscriptionKey, Subscribe] = {}
        self._held: dict[SubscriptionKey, Subscribe] = {}
        self._touched: dict[SubscriptionKey, None] = {}
        self._tests = 0

    def selecting_anew(
        self, select: Callable[[], Selection], merge: Callable[[], Merging] | None = None
    ) -> Offer:
        """Return an empty offer that selects otherwise, to a neighbour that holds the same."""
        other = Offer(self._me, select, merge)
        other._held = self._held
        other._touched = dict.fromkeys(self._held)
        other._tests = self.tests
        return other

    @property
    def held(self) -> dict[SubscriptionKey, Subscription]:
        """What the neighbour holds."""
        return {key: each.subscription for key, each in self._held.items()}

    def __len__(self) -> int:
        return len(self._held)

    @property
    def tests(self) -> int:
        return self._tests + sum(each.tests for each in self._selections.values())

    def put(self, row: Row, scope: Scope, towards: tuple[str, ...]) -> None:
        """Make a row the neighbour's business, for these rendezvous."""
        key = row.key
        message = Subscribe(row.subscription, Offered(row.home, towards))
        if key in self._rows:
            if self._rows[key] == (scope, message):
                return
            self.drop(key)
        self._rows[key] = scope, message
        if scope not in self._selections:
            self._selections[scope] = self._select()
            if self._merge is not None:
                self._mergings[scope] = self._merge()
        self._note(scope, self._selections[scope].add(key, row.subscription.filter), towards)

    def drop(self, key: SubscriptionKey) -> None:
        """Make it nobody's business, if it was the neighbour's."""
        known = self._rows.pop(key, None)
        if known is None:
            return
        scope, message = known
        selection = self._selections[scope]
        self._note(scope, selection.remove(key), _offered(message).towards)
        if not selection:
            self._tests += selection.tests
            del self._selections[scope]
            self._mergings.pop(scope, None)

    def messages(self) -> list[Message]:
        """Return what the neighbour has to be told: what is new, what is different, what is void.

        From now on it holds that.
        """
        added: list[Subscribe] = []
        different: list[Subscribe] = []
        removed: list[SubscriptionKey] = []
        for key in self._touched:
            wanted, held = self._wanted.get(key), self._held.get(key)
            if wanted is None:
                if held is not None:
                    del self._held[key]
                    removed.append(key)
            elif held != wanted:
                self._held[key] = wanted
                (added if held is None else different).append(wanted)
        self._touched.clear()
        told = added + different
        if told and removed:
            told[-1] = _replacing(told[-1], tuple(removed))
            removed = []
        return [*told, *map(withdrawal, removed)]

    def _note(self, scope: Scope, change: Change, towards: tuple[str, ...]) -> None:
        entered, left = change
        merging = self._mergings.get(scope)
        for key in entered:
            message = self._rows[key][1]
            if merging is None:
                self._tell(key, message)
            else:
                self._tell_merged(merging.put(key, message.subscription.filter), towards)
        for key in left:
            if merging is None:
                self._tell(key, None)
            else:
                self._tell_merged(merging.drop(key), towards)

    def _tell_merged(
        self, changed: Mapping[SubscriptionKey, Filter | None], towards: tuple[str, ...]
    ) -> None:
        for key, filter in changed.items():
            if filter is None or key in self._rows:
                self._tell(key, None if filter is None else self._rows[key][1])
            else:
                home, id = key
                merged = Subscription(id, filter, self._me)
                self._tell(key, Subscribe(merged, Offered(home, towards)))

    def _tell(self, key: SubscriptionKey, message: Subscribe | None) -> None:
        self._touched[key] = None
        if message is None:
            self._wanted.pop(key, None)
        else:
            self._wanted[key] = message


def _offered(message: Subscribe) -> Offered:
    assert isinstance(message.route, Offered)
    return message.route


def _replacing(message: Subscribe, removed: tuple[SubscriptionKey, ...]) -> Subscribe:
    offered = _offered(message)
    return Subscribe(message.subscription, Offered(offered.home, offered.towards, removed))
