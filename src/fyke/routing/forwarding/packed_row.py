"""PackedRow: a row in few bytes, as tables and offers hold it.

All who know of a subscription hold one object: its key, its packed filter, and its terms, which are
shared by all subscriptions of a subscriber. Rows are made of it when somebody asks.
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from fyke.filters.packed.packing import Packing
from fyke.filters.subscription import Subscription
from fyke.nodes.message import NodeId, Subscribe, SubscriptionKey
from fyke.routing.forwarding.row import Offered, Row


class Terms(Struct, frozen=True):
    """The parts of a row beside its id and filter."""

    source: NodeId
    home: NodeId
    subscriber: str | None
    towards: tuple[str, ...]


terms = lru_cache(maxsize=4_096)(Terms)
"""Return the same object for the same terms, as a rule."""


class PackedRow(Struct, frozen=True, gc=False):
    key: SubscriptionKey
    filter: bytes
    terms: Terms

    @property
    def subscriber(self) -> tuple[NodeId, str]:
        return self.key[0], self.terms.subscriber or ""

    def is_told_as(self, other: PackedRow) -> bool:
        """Return True if two rows are the same to a neighbour."""
        if self is other:
            return True
        mine, its = self.terms, other.terms
        return (self.filter, mine.home, mine.subscriber, mine.towards) == (
            *(other.filter, its.home, its.subscriber, its.towards),
        )

    def for_rendezvous(self, towards: tuple[str, ...]) -> PackedRow:
        """Return the row as it is told on the way to some rendezvous."""
        known = self.terms
        if known.towards == towards:
            return self
        named = terms(known.source, known.home, known.subscriber, towards)
        return PackedRow(self.key, self.filter, named)


class RowPacking(Packing):
    """Packs the rows of a broker."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        super().__init__()
        self._last: tuple[Row, PackedRow] | None = None

    def pack_row(self, row: Row, known: PackedRow | None = None) -> PackedRow:
        """Return a packed row. Packing the same row again at once returns the same object.

        If one of the same key is `known`, there is one key for both.
        """
        if self._last is not None and self._last[0] is row:
            return self._last[1]
        named = terms(row.source, row.home, row.subscription.subscriber, row.towards)
        key = (named.home, row.subscription.id) if known is None else known.key
        packed = PackedRow(key, self.pack(row.subscription.filter), named)
        self._last = row, packed
        return packed

    def unpack_row(self, packed: PackedRow) -> Row:
        """Return a row. Packing it at once returns the same object again."""
        known = packed.terms
        row = Row(self.subscription(packed), known.source, known.home, known.towards)
        self._last = row, packed
        return row

    def subscription(self, packed: PackedRow) -> Subscription:
        return Subscription(packed.key[1], self.unpack(packed.filter), packed.terms.subscriber)

    def message(self, packed: PackedRow, replaces: tuple[SubscriptionKey, ...] = ()) -> Subscribe:
        """Return the message that tells a neighbour of a row."""
        route = Offered(packed.key[0], packed.terms.towards, replaces)
        return Subscribe(self.subscription(packed), route)

    def forget(self) -> None:
        """Forget the last row."""
        self._last = None

    def clear(self) -> None:
        self.forget()
        super().clear()
