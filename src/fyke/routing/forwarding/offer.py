"""Offer: what one neighbour is told to want, kept exactly.

Idea. The broker says which rows are the neighbour's business; a selection says which of them it has
to be told. The difference to what it holds already becomes messages: what is new first, so that at
no time less is wanted than before. What is void because of something new goes along with it.
Small. Rows are the packed ones of the table; messages are made when they are sent.
Invariant. After `messages`, the neighbour holds exactly the selected rows.
Source. DAS-Q2: per neighbour the exact set that was forwarded, additions before removals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeAlias

from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Message, NodeId, SubscriptionKey
from fyke.routing.forwarding.covering_set import Change, Selection
from fyke.routing.forwarding.merging import Merging
from fyke.routing.forwarding.packed_row import PackedRow, RowPacking, terms
from fyke.routing.forwarding.row import Row, withdrawal

Scope: TypeAlias = Hashable
"""Filters of one scope may cover each other."""


class Offer:
    """The rows for one neighbour of `me`. With `merge`, several filters may become one.

    Filters of one scope may cover each other; `scope_of` returns the scope of a row.
    """

    def __init__(
        self,
        me: NodeId,
        packing: RowPacking,
        scope_of: Callable[[PackedRow], Scope],
        select: Callable[[Scope], Selection],
        merge: Callable[[], Merging] | None = None,
    ) -> None:
        self._me = me
        self._packing = packing
        self._scope_of = scope_of
        self._select = select
        self._merge = merge
        self._selections: dict[Scope, Selection] = {}
        self._mergings: dict[Scope, Merging] = {}
        self._rows: dict[SubscriptionKey, PackedRow] = {}
        """The neighbour's business."""
        self._held: dict[SubscriptionKey, PackedRow] = {}
        """Rows that the neighbour was told."""
        self._wanted: dict[SubscriptionKey, PackedRow | None] = {}
        """Rows to tell it, where they may differ; None for a row that is withdrawn."""
        self._tests = 0

    def selecting_anew(
        self, select: Callable[[Scope], Selection], merge: Callable[[], Merging] | None = None
    ) -> Offer:
        """Return an empty offer with other selections. The neighbour holds the same as before."""
        other = Offer(self._me, self._packing, self._scope_of, select, merge)
        other._held = self._held
        other._wanted = dict.fromkeys(self._held)
        other._tests = self.tests
        return other

    @property
    def held(self) -> dict[SubscriptionKey, Subscription]:
        """The subscriptions that the neighbour holds."""
        return {key: self._packing.subscription(each) for key, each in self._held.items()}

    def __len__(self) -> int:
        return len(self._held)

    @property
    def entries(self) -> int:
        """Number of entries of rows: those that were told have two."""
        return len(self._rows) + len(self._held)

    def entries_of(self, key: SubscriptionKey) -> int:
        """Return how many of them are of one subscription."""
        return (key in self._rows) + (key in self._held)

    def restated(self, keys: Iterable[SubscriptionKey]) -> list[Message]:
        """Return the messages for these keys again, if the neighbour still holds them."""
        return [self._packing.message(self._held[key]) for key in keys if key in self._held]

    @property
    def tests(self) -> int:
        return self._tests + sum(each.tests for each in self._selections.values())

    def put(self, row: Row, towards: tuple[str, ...]) -> None:
        """Offer a row to the neighbour, for these rendezvous."""
        packed = self._packing.pack_row(row).for_rendezvous(towards)
        key = packed.key
        known = self._rows.get(key)
        if known is not None:
            if known.is_told_as(packed):
                return
            self._take_out(known)
        self._rows[key] = packed
        scope = self._scope_of(packed)
        if scope not in self._selections:
            self._selections[scope] = self._select(scope)
            if self._merge is not None:
                self._mergings[scope] = self._merge()
        self._note(scope, self._selections[scope].add(key, packed.filter), towards)

    def drop(self, key: SubscriptionKey) -> None:
        """Offer a row no longer."""
        row = self._rows.get(key)
        if row is not None:
            self._take_out(row)
            del self._rows[key]

    def _take_out(self, row: PackedRow) -> None:
        """Let the selection forget a row. Its place stays, for the one that takes it."""
        scope = self._scope_of(row)
        selection = self._selections[scope]
        self._note(scope, selection.remove(row.key, row.filter), row.terms.towards)
        if not selection:
            self._tests += selection.tests
            del self._selections[scope]
            self._mergings.pop(scope, None)

    def messages(self) -> list[Message]:
        """Return messages for the neighbour: added, changed, then removed rows.

        The neighbour holds them from now on.
        """
        added: list[PackedRow] = []
        different: list[PackedRow] = []
        removed: list[SubscriptionKey] = []
        for key, wanted in self._wanted.items():
            held = self._held.get(key)
            if wanted is None:
                if held is not None:
                    del self._held[key]
                    removed.append(key)
            elif held is None or not held.is_told_as(wanted):
                self._held[key] = wanted
                (added if held is None else different).append(wanted)
        self._wanted.clear()
        told = added + different
        if not told:
            return [*map(withdrawal, removed)]
        said = [*map(self._packing.message, told[:-1])]
        return [*said, self._packing.message(told[-1], tuple(removed))]

    def close(self) -> None:
        """Release what selections share with those of other offers."""
        for selection in self._selections.values():
            selection.clear()

    def _note(self, scope: Scope, change: Change, towards: tuple[str, ...]) -> None:
        entered, left = change
        merging = self._mergings.get(scope)
        for key in entered:
            row = self._rows[key]
            if merging is None:
                self._wanted[key] = row
            else:
                filter = self._packing.unpack(row.filter)
                self._tell_merged(merging.put(key, filter), towards)
        for key in left:
            if merging is None:
                self._wanted[key] = None
            else:
                self._tell_merged(merging.drop(key), towards)

    def _tell_merged(
        self, changed: Mapping[SubscriptionKey, Filter | None], towards: tuple[str, ...]
    ) -> None:
        for key, filter in changed.items():
            if filter is None or key in self._rows:
                self._wanted[key] = None if filter is None else self._rows[key]
            else:
                named = terms(self._me, key[0], self._me, towards)
                self._wanted[key] = PackedRow(key, self._packing.pack(filter), named)
