"""Covering set: of many filters those that no other covers.

Idea. If A was sent over a link and A covers B, the neighbour forwards all that B wants; B stays
silent. When A is withdrawn, what it covered has to speak for itself.
Example. Add price < 100: it enters. Add price < 50: nothing. Remove price < 100: price < 50 enters,
price < 100 leaves.
Invariant. Every filter that is no upper one has a parent: a filter that was proven to cover it, or
the parent of one. So the way up ends at an upper filter that accepts all that it accepts. That
`covers` may fail to prove for A and C what it proves for A and B and for B and C costs nothing: a
child of a lower filter that goes is given to its grandparent, unasked. Of equal filters the one
that came first is the upper one.
Cost. A look-up among the upper filters per filter added; per upper filter removed one more for each
of its children.
Source. DAS-32, DAS-33 with DAS-Q1 to DAS-Q3: exact sets per neighbour.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from fyke.filters.filter import Filter
from fyke.nodes.message import SubscriptionKey
from fyke.routing.covering_index import CoveringIndex

if TYPE_CHECKING:
    from fyke.events.schema import Schema

Change: TypeAlias = tuple[list[SubscriptionKey], list[SubscriptionKey]]
"""Those that have entered the upper ones, and those that have left them."""


class Selection(Protocol):
    """Which of many filters are told to a neighbour, or filtered."""

    def add(self, key: SubscriptionKey, filter: Filter) -> Change: ...

    def remove(self, key: SubscriptionKey) -> Change: ...

    def __len__(self) -> int:
        """Return how many filters there are, upper and lower."""
        ...

    @property
    def tests(self) -> int:
        """Covering tests so far."""
        ...


class Everything:
    """All of them."""

    tests = 0

    def __init__(self, schema: Schema | None = None) -> None:
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, key: SubscriptionKey, filter: Filter) -> Change:
        self._size += 1
        return [key], []

    def remove(self, key: SubscriptionKey) -> Change:
        self._size -= 1
        return [], [key]


class CoveringSet:
    """The upper ones; a schema says which events there are."""

    def __init__(self, schema: Schema | None = None) -> None:
        self._upper: CoveringIndex[SubscriptionKey] = CoveringIndex(schema)
        self._filters: dict[SubscriptionKey, Filter] = {}
        self._parents: dict[SubscriptionKey, SubscriptionKey] = {}
        self._children: dict[SubscriptionKey, dict[SubscriptionKey, None]] = {}

    def __len__(self) -> int:
        return len(self._filters)

    @property
    def tests(self) -> int:
        return self._upper.tests

    def add(self, key: SubscriptionKey, filter: Filter) -> Change:
        self._filters[key] = filter
        parent = self._upper.coverer(filter)
        if parent is not None:
            self._adopt(parent, key)
            return [], []
        return [key], self._enter(key)

    def remove(self, key: SubscriptionKey) -> Change:
        del self._filters[key]
        children = self._children.pop(key, {})
        parent = self._parents.pop(key, None)
        if parent is not None:
            self._disown(parent, key)
            for child in children:
                self._adopt(parent, child)
            return [], []
        self._upper.remove(key)
        return self._orphaned(children, key)

    def _orphaned(self, orphans: dict[SubscriptionKey, None], gone: SubscriptionKey) -> Change:
        """Find a parent for each, or make it an upper filter."""
        entered: dict[SubscriptionKey, None] = {}
        left = [gone]
        for orphan in orphans:
            parent = self._upper.coverer(self._filters[orphan])
            if parent is not None:
                self._adopt(parent, orphan)
                continue
            del self._parents[orphan]
            for below in self._enter(orphan):
                if below in entered:
                    del entered[below]
                else:
                    left.append(below)
            entered[orphan] = None
        return list(entered), left

    def _enter(self, key: SubscriptionKey) -> list[SubscriptionKey]:
        """Make it an upper filter. Return those that it covers, which no longer are."""
        filter = self._filters[key]
        below = self._upper.covered(filter)
        for each in below:
            self._upper.remove(each)
            self._adopt(key, each)
        self._upper.add(key, filter)
        return below

    def _adopt(self, parent: SubscriptionKey, child: SubscriptionKey) -> None:
        self._parents[child] = parent
        self._children.setdefault(parent, {})[child] = None

    def _disown(self, parent: SubscriptionKey, child: SubscriptionKey) -> None:
        children = self._children[parent]
        del children[child]
        if not children:
            del self._children[parent]
