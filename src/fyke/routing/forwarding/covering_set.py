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
Bound. A question tries at most `TREES_MAX` pairs of Boolean trees, and of many orphans only the
first `ORPHANS_MAX` ask for another parent. What is not tried is taken for not covered: it is told
as it is, which costs a message and never an event.
Cost. A look-up among the upper filters per filter added; per upper filter removed one more for each
of its children. Sets of one broker share an index, where a filter is held once (`filter_index`);
beside it a set takes 8 bytes a filter, and two dictionary entries for one that is covered.
Source. DAS-32, DAS-33 with DAS-Q1 to DAS-Q3: exact sets per neighbour.
"""

from __future__ import annotations

from typing import Final, Protocol, TypeAlias

from fyke.filters.covering_index.filter_index import FilterIndex
from fyke.nodes.message import SubscriptionKey

Change: TypeAlias = tuple[list[SubscriptionKey], list[SubscriptionKey]]
"""The filters that became upper ones, and the filters that are upper ones no longer."""

_Family: TypeAlias = dict[SubscriptionKey, bytes] | tuple[SubscriptionKey, bytes]

TREES_MAX: Final = 32
ORPHANS_MAX: Final = 256


class Selection(Protocol):
    """Selects the packed filters that are told to a neighbour, or held against events."""

    def add(self, key: SubscriptionKey, packed: bytes) -> Change: ...

    def remove(self, key: SubscriptionKey, packed: bytes) -> Change: ...

    def __len__(self) -> int:
        """Return the number of all filters, upper and lower."""
        ...

    def clear(self) -> None:
        """Release what is shared with other selections. Nobody asks any more."""
        ...

    @property
    def tests(self) -> int:
        """Number of covering tests so far."""
        ...


class Everything:
    """Selects all filters."""

    tests = 0

    def __init__(self) -> None:
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, key: SubscriptionKey, packed: bytes) -> Change:
        self._size += 1
        return [key], []

    def remove(self, key: SubscriptionKey, packed: bytes) -> Change:
        self._size -= 1
        return [], [key]

    def clear(self) -> None:
        return None


class CoveringSet:
    """Selects the upper filters. Other sets may share its index."""

    def __init__(self, index: FilterIndex) -> None:
        self.tests = 0
        self._index = index
        self._size = 0
        self._upper: list[SubscriptionKey | None] = []
        """By slot."""
        self._parents: dict[SubscriptionKey, SubscriptionKey] = {}
        self._children: dict[SubscriptionKey, _Family] = {}
        """With their filters; one alone is held without a dictionary."""

    def __len__(self) -> int:
        return self._size

    def add(self, key: SubscriptionKey, packed: bytes) -> Change:
        packed = self._index.resolve(packed)
        self._size += 1
        parent = self._parent(packed)
        if parent is not None:
            self._adopt(parent, key, packed)
            return [], []
        return [key], self._enter(key, packed)

    def remove(self, key: SubscriptionKey, packed: bytes) -> Change:
        packed = self._index.resolve(packed)
        self._size -= 1
        children = _members(self._children.pop(key, {}))
        parent = self._parents.pop(key, None)
        if parent is not None:
            self._disown(parent, key)
            for child, filter in children.items():
                self._adopt(parent, child, filter)
            return [], []
        slot = self._index.slot(packed)
        assert slot is not None
        self._leave(slot)
        return self._settle_orphans(children, key)

    def _settle_orphans(
        self, orphans: dict[SubscriptionKey, bytes], gone: SubscriptionKey
    ) -> Change:
        """Find a parent for each orphan, or make it an upper filter."""
        entered: dict[SubscriptionKey, None] = {}
        left = [gone]
        for number, (orphan, packed) in enumerate(orphans.items()):
            is_asked = number < ORPHANS_MAX
            parent = self._parent(packed, is_asked)
            if parent is not None:
                self._adopt(parent, orphan, packed)
                continue
            del self._parents[orphan]
            for below in self._enter(orphan, packed, is_asked):
                if below in entered:
                    del entered[below]
                else:
                    left.append(below)
            entered[orphan] = None
        return list(entered), left

    def _parent(self, packed: bytes, is_asked: bool = True) -> SubscriptionKey | None:
        """Return an upper filter that covers this one. Unless asked, only an equal one counts."""
        slot = self._index.slot(packed)
        if slot is not None and self._is_upper(slot):
            return self._upper[slot]
        if not is_asked:
            return None
        before = self._index.tests
        slot = next(self._index.coverers(packed, self._is_upper, TREES_MAX), None)
        self.tests += self._index.tests - before
        return None if slot is None else self._upper[slot]

    def _enter(
        self, key: SubscriptionKey, packed: bytes, is_asked: bool = True
    ) -> list[SubscriptionKey]:
        """Make a filter an upper one. Return the upper filters that it makes lower ones."""
        below: list[SubscriptionKey] = []
        if is_asked:
            before = self._index.tests
            for slot in list(self._index.covered(packed, self._is_upper, TREES_MAX)):
                lower = self._upper[slot]
                assert lower is not None
                below.append(lower)
                self._adopt(key, lower, self._leave(slot))
            self.tests += self._index.tests - before
        slot = self._index.hold(packed)
        if slot >= len(self._upper):
            self._upper.extend([None] * (slot + 1 - len(self._upper)))
        self._upper[slot] = key
        return below

    def _is_upper(self, slot: int) -> bool:
        return slot < len(self._upper) and self._upper[slot] is not None

    def _leave(self, slot: int) -> bytes:
        """Take an upper filter out, and return it."""
        packed = self._index.filter(slot)
        self._upper[slot] = None
        while self._upper and self._upper[-1] is None:
            self._upper.pop()
        self._index.release(slot)
        return packed

    def clear(self) -> None:
        for slot, key in enumerate(tuple(self._upper)):
            if key is not None:
                self._leave(slot)

    def _adopt(self, parent: SubscriptionKey, child: SubscriptionKey, packed: bytes) -> None:
        self._parents[child] = parent
        known = self._children.get(parent)
        if known is None:
            self._children[parent] = child, packed
        else:
            family = self._children[parent] = _members(known)
            family[child] = packed

    def _disown(self, parent: SubscriptionKey, child: SubscriptionKey) -> None:
        known = self._children[parent]
        if isinstance(known, dict):
            del known[child]
        if not isinstance(known, dict) or not known:
            del self._children[parent]


def _members(family: _Family) -> dict[SubscriptionKey, bytes]:
    return family if isinstance(family, dict) else dict([family])
