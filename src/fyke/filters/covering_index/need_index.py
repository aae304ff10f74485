"""Need index: members by the needs of which one must be met (`needs`), found by a footprint.

It may find too many, never too few.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from fyke.events.value import Kind
from fyke.filters.algebra.intervals import BEFORE, EMPTY_TEXT, Cut
from fyke.filters.algebra.span_tree import SpanTree
from fyke.filters.covering_index.footprint import Corner, Footprint, Key
from fyke.filters.covering_index.multimap import Multimap
from fyke.filters.covering_index.needs import AtSpan, AtType, AtValue, Ban, Need, Present

T = TypeVar("T", bound=Hashable)


class SpanIndex(Generic[T]):
    """Members by spans, found by a value."""

    __slots__ = ("_numbered", "_numbers", "_tree")

    def __init__(self) -> None:
        self._tree = SpanTree()
        self._numbered: dict[int, T] = {}
        self._numbers: dict[tuple[T, AtSpan], int] = {}

    def add(self, need: AtSpan, member: T) -> None:
        number = next(reversed(self._numbered), 0) + 1
        self._numbered[number] = member
        self._numbers[member, need] = number
        self._tree.add((need.low, need.high), number)

    def remove(self, need: AtSpan, member: T) -> None:
        number = self._numbers.pop((member, need))
        del self._numbered[number]
        self._tree.remove((need.low, need.high), number)

    def around(self, cut: Cut) -> Iterator[T]:
        """Yield the members whose span holds the value just behind a cut."""
        return map(self._numbered.__getitem__, self._tree.containing(cut))

    def all(self) -> Iterable[T]:
        return self._numbered.values()

    def __len__(self) -> int:
        return len(self._numbered)


class _AttributeNeeds(Generic[T]):
    """The members with needs of one attribute."""

    __slots__ = ("bans", "present", "spans", "values")

    def __init__(self) -> None:
        self.values: Multimap[Key, T] = Multimap()
        self.spans: dict[Kind, SpanIndex[T]] = {}
        self.present: dict[T, None] = {}
        self.bans: Multimap[Key | None, T] = Multimap()

    def all(self) -> Iterator[T]:
        yield from self.present
        yield from self.values.all()
        for spans in self.spans.values():
            yield from spans.all()

    def met_by(self, corner: Corner) -> Iterator[T]:
        kind, cut = corner[0], _probe(corner)
        if cut[0] == 0 and cut[2] == 0:
            yield from self.values.at((kind, cut[1]))
        if kind in self.spans:
            yield from self.spans[kind].around(cut)


def _probe(corner: Corner) -> Cut:
    """Return a cut just before a value at one end of a corner.

    This is the corner's beginning, unless many begin there.
    """
    _, low, high = corner
    if low in (BEFORE, EMPTY_TEXT):
        return high[0], high[1], high[2] - 1
    return low


class NeedIndex(Generic[T]):
    """Members by needs; a member may have several."""

    def __init__(self) -> None:
        self._by_attribute: dict[str, _AttributeNeeds[T]] = {}
        self._types: Multimap[str, T] = Multimap()

    def add(self, need: Need, member: T) -> None:
        if isinstance(need, AtType):
            self._types.add(need.name, member)
            return
        needs = self._by_attribute.get(need.attribute)
        if needs is None:
            needs = self._by_attribute[need.attribute] = _AttributeNeeds()
        match need:
            case AtValue(_, key):
                needs.values.add(key, member)
            case AtSpan(_, kind):
                if kind not in needs.spans:
                    needs.spans[kind] = SpanIndex()
                needs.spans[kind].add(need, member)
            case Present():
                needs.present[member] = None
            case Ban(_, key):
                needs.bans.add(key, member)

    def remove(self, need: Need, member: T) -> None:
        if isinstance(need, AtType):
            self._types.remove(need.name, member)
            return
        needs = self._by_attribute[need.attribute]
        match need:
            case AtValue(_, key):
                needs.values.remove(key, member)
            case AtSpan(_, kind):
                needs.spans[kind].remove(need, member)
                if not needs.spans[kind]:
                    del needs.spans[kind]
            case Present():
                del needs.present[member]
            case Ban(_, key):
                needs.bans.remove(key, member)
        if not (needs.values or needs.spans or needs.present or needs.bans):
            del self._by_attribute[need.attribute]

    def count(self, need: Need) -> float:
        """Estimate the number of members at a need. Among empty ones the rarer need is lower."""
        if isinstance(need, AtType):
            return self._types.size(need.name) + 0.3
        needs = self._by_attribute.get(need.attribute)
        if isinstance(need, AtValue):
            return needs.values.size(need.key) if needs else 0.0
        if isinstance(need, AtSpan):
            share = 8 if need.low[0] == need.high[0] else 2
            return 0.1 + (len(needs.spans.get(need.kind, ())) / share if needs else 0)
        if isinstance(need, Present):
            return 0.4 + (len(needs.present) if needs else 0)
        return 0.5 + (needs.bans.size(need.key) if needs else 0)

    def met_by(self, footprint: Footprint) -> Iterator[T]:
        """Yield the members with a need that a footprint may meet."""
        for name, corners in footprint.corners.items():
            needs = self._by_attribute.get(name)
            if needs is not None:
                yield from needs.present
                for corner in corners:
                    yield from needs.met_by(corner)
        for name in footprint.vague & self._by_attribute.keys():
            yield from self._by_attribute[name].all()
        for name in footprint.types:
            yield from self._types.at(name)
        for name, keys in footprint.bans.items():
            if name in self._by_attribute:
                yield from banning(self._by_attribute[name].bans, keys)


def banning(bans: Multimap[Key | None, T], keys: Iterable[Key | None] | None) -> Iterator[T]:
    """Yield the members at a ban that may match one of the keys. A None key matches every key."""
    if keys is None:
        yield from bans.all()
    else:
        yield from bans.at(None)
        for key in keys:
            yield from bans.at(key)
