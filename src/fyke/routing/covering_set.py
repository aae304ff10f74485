"""Covering set: of many filters those that no other covers.

Idea. If A was sent over a link and A covers B, the neighbour forwards all that B wants; B stays
silent. When A is withdrawn, what it covered has to speak for itself.
Example. Add price < 100: it enters. Add price < 50: nothing. Remove price < 100: price < 50 enters,
price < 100 leaves.
Invariant. Every filter is covered by an upper one, and no upper filter covers another: of equal
filters the one that came first is the upper one.
Cost. A look-up among the upper filters per filter added; per upper filter removed one more for each
that it covered.
Source. DAS-32, DAS-33 with DAS-Q1 to DAS-Q3: exact sets per neighbour.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from fyke.filters.filter import Filter
from fyke.nodes.message import SubscriptionId
from fyke.routing.covering_index import CoveringIndex

Change: TypeAlias = tuple[list[SubscriptionId], list[SubscriptionId]]
"""Those that have entered the upper ones, and those that have left them."""


class Selection(Protocol):
    """Which of many filters are told to a neighbour, or filtered."""

    def add(self, id: SubscriptionId, filter: Filter) -> Change: ...

    def remove(self, id: SubscriptionId) -> Change: ...

    @property
    def tests(self) -> int:
        """Covering tests so far."""
        ...


class Everything:
    """All of them."""

    tests = 0

    def add(self, id: SubscriptionId, filter: Filter) -> Change:
        return [id], []

    def remove(self, id: SubscriptionId) -> Change:
        return [], [id]


class CoveringSet:
    """The upper ones."""

    def __init__(self) -> None:
        self._upper = CoveringIndex()
        self._lower = CoveringIndex()
        self._filters: dict[SubscriptionId, Filter] = {}

    @property
    def tests(self) -> int:
        return self._upper.tests + self._lower.tests

    def add(self, id: SubscriptionId, filter: Filter) -> Change:
        self._filters[id] = filter
        if self._upper.is_covered(filter):
            self._lower.add(id, filter)
            return [], []
        return [id], self._enter(id, filter)

    def remove(self, id: SubscriptionId) -> Change:
        filter = self._filters.pop(id)
        if id in self._lower:
            self._lower.remove(id)
            return [], []
        self._upper.remove(id)
        entered: dict[SubscriptionId, None] = {}
        for orphan in self._lower.covered(filter):
            wanted = self._filters[orphan]
            if not self._upper.is_covered(wanted):
                self._lower.remove(orphan)
                for less in self._enter(orphan, wanted):
                    del entered[less]
                entered[orphan] = None
        return list(entered), [id]

    def _enter(self, id: SubscriptionId, filter: Filter) -> list[SubscriptionId]:
        """Makes it an upper one; those that it covers no longer are."""
        below = self._upper.covered(filter)
        for each in below:
            self._upper.remove(each)
            self._lower.add(each, self._filters[each])
        self._upper.add(id, filter)
        return below
