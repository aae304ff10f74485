"""Waiting: filters at what they need, found by what may meet it (`needs`, `footprint`).

It may find too many, never too few.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, TypeVar

from fyke.events.value import Kind
from fyke.filters.intervals import BEFORE, EMPTY_TEXT, Cut
from fyke.matching.span_tree import SpanTree
from fyke.routing.covering.crowds import Crowds
from fyke.routing.covering.footprint import Corner, Footprint, Key
from fyke.routing.covering.needs import AtSpan, AtType, AtValue, Ban, Need, Present

T = TypeVar("T", bound=Hashable)


class Spans(Generic[T]):
    """Spans with those who wait for a value in them."""

    __slots__ = ("_numbered", "_numbers", "_tree")

    def __init__(self) -> None:
        self._tree = SpanTree()
        self._numbered: dict[int, T] = {}
        self._numbers: dict[tuple[T, AtSpan], int] = {}

    def add(self, need: AtSpan, one: T) -> None:
        number = next(reversed(self._numbered), 0) + 1
        self._numbered[number] = one
        self._numbers[one, need] = number
        self._tree.add((need.low, need.high), number)

    def remove(self, need: AtSpan, one: T) -> None:
        number = self._numbers.pop((one, need))
        del self._numbered[number]
        self._tree.remove((need.low, need.high), number)

    def around(self, cut: Cut) -> Iterator[T]:
        """Those whose span holds what is just behind a cut."""
        return map(self._numbered.__getitem__, self._tree.containing(cut))

    def all(self) -> Iterable[T]:
        return self._numbered.values()

    def __len__(self) -> int:
        return len(self._numbered)


class _Post(Generic[T]):
    """Who waits at one attribute."""

    __slots__ = ("bans", "present", "spans", "values")

    def __init__(self) -> None:
        self.values: Crowds[Key, T] = Crowds()
        self.spans: dict[Kind, Spans[T]] = {}
        self.present: dict[T, None] = {}
        self.bans: Crowds[Key | None, T] = Crowds()

    def all(self) -> Iterator[T]:
        yield from self.present
        yield from self.values.all()
        for spans in self.spans.values():
            yield from spans.all()

    def met_by(self, corner: Corner) -> Iterator[T]:
        kind, cut = corner[0], _telling(corner)
        if cut[0] == 0 and cut[2] == 0:
            yield from self.values.at((kind, cut[1]))
        if kind in self.spans:
            yield from self.spans[kind].around(cut)


def _telling(corner: Corner) -> Cut:
    """A cut just before a value at one end of a corner: its beginning, unless many begin there."""
    _, low, high = corner
    if low in (BEFORE, EMPTY_TEXT):
        return high[0], high[1], high[2] - 1
    return low


class Waiting(Generic[T]):
    """By needs; one may wait at several."""

    def __init__(self) -> None:
        self._posts: dict[str, _Post[T]] = {}
        self._types: Crowds[str, T] = Crowds()

    def add(self, need: Need, one: T) -> None:
        if isinstance(need, AtType):
            self._types.add(need.name, one)
            return
        post = self._posts.get(need.attribute)
        if post is None:
            post = self._posts[need.attribute] = _Post()
        match need:
            case AtValue(_, key):
                post.values.add(key, one)
            case AtSpan(_, kind):
                if kind not in post.spans:
                    post.spans[kind] = Spans()
                post.spans[kind].add(need, one)
            case Present():
                post.present[one] = None
            case Ban(_, key):
                post.bans.add(key, one)

    def remove(self, need: Need, one: T) -> None:
        if isinstance(need, AtType):
            self._types.remove(need.name, one)
            return
        post = self._posts[need.attribute]
        match need:
            case AtValue(_, key):
                post.values.remove(key, one)
            case AtSpan(_, kind):
                post.spans[kind].remove(need, one)
                if not post.spans[kind]:
                    del post.spans[kind]
            case Present():
                del post.present[one]
            case Ban(_, key):
                post.bans.remove(key, one)
        if not (post.values or post.spans or post.present or post.bans):
            del self._posts[need.attribute]

    def crowd(self, need: Need) -> float:
        """About how many one would wait with; of empty places the more telling is better."""
        if isinstance(need, AtType):
            return self._types.size(need.name) + 0.3
        post = self._posts.get(need.attribute)
        if isinstance(need, AtValue):
            return post.values.size(need.key) if post else 0.0
        if isinstance(need, AtSpan):
            share = 8 if need.low[0] == need.high[0] else 2
            return 0.1 + (len(post.spans.get(need.kind, ())) / share if post else 0)
        if isinstance(need, Present):
            return 0.4 + (len(post.present) if post else 0)
        return 0.5 + (post.bans.size(need.key) if post else 0)

    def met_by(self, footprint: Footprint) -> Iterator[T]:
        """Those with a need that a footprint may meet."""
        for name, corners in footprint.corners.items():
            post = self._posts.get(name)
            if post is not None:
                yield from post.present
                for corner in corners:
                    yield from post.met_by(corner)
        for name in footprint.vague & self._posts.keys():
            yield from self._posts[name].all()
        for name in footprint.types:
            yield from self._types.at(name)
        for name, keys in footprint.bans.items():
            if name in self._posts:
                yield from banning(self._posts[name].bans, keys)


def banning(bans: Crowds[Key | None, T], keys: Iterable[Key | None] | None) -> Iterator[T]:
    """Those at a ban that may go with one of some keys; None goes with all, here and there."""
    if keys is None:
        yield from bans.all()
    else:
        yield from bans.at(None)
        for key in keys:
            yield from bans.at(key)
