"""Places: where filters wait for those that they cover, and where they stand for their coverers.

`Waiting` holds filters by their needs and finds those that a footprint may meet; `Standing` holds
filters by their footprints and finds those that may meet some needs. Both speak of numbers, and
both may find too many, never too few (`footprint`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias, TypeVar

from fyke.events.value import Kind
from fyke.filters.intervals import Cut
from fyke.matching.span_tree import SpanTree
from fyke.routing.footprint import Corner, Footprint, Key
from fyke.routing.ladder import Ladder
from fyke.routing.needs import AtSpan, AtType, AtValue, Ban, Need, Needs, Present

Numbers: TypeAlias = dict[int, None]
_K = TypeVar("_K")


class _Post:
    """What waits at one attribute."""

    __slots__ = ("all", "bans", "present", "spans", "values")

    def __init__(self) -> None:
        self.all: Numbers = {}
        self.values: dict[Key, Numbers] = {}
        self.spans: dict[Kind, SpanTree] = {}
        self.present: Numbers = {}
        self.bans: dict[Key | None, Numbers] = {}


class Waiting:
    """By needs. A filter may wait at several places under different numbers."""

    def __init__(self) -> None:
        self._posts: defaultdict[str, _Post] = defaultdict(_Post)
        self._types: dict[str, Numbers] = {}

    def add(self, need: Need, number: int) -> None:
        if isinstance(need, AtType):
            self._types.setdefault(need.name, {})[number] = None
            return
        post = self._posts[need.attribute]
        match need:
            case AtValue(_, key):
                post.values.setdefault(key, {})[number] = None
            case AtSpan(_, kind, low, high):
                post.spans.setdefault(kind, SpanTree()).add((low, high), number)
            case Present():
                post.present[number] = None
            case Ban(_, key):
                post.bans.setdefault(key, {})[number] = None
                return
        post.all[number] = None

    def remove(self, need: Need, number: int) -> None:
        if isinstance(need, AtType):
            _discard(self._types, need.name, number)
            return
        post = self._posts[need.attribute]
        match need:
            case AtValue(_, key):
                _discard(post.values, key, number)
            case AtSpan(_, kind, low, high):
                post.spans[kind].remove((low, high), number)
            case Present():
                del post.present[number]
            case Ban(_, key):
                _discard(post.bans, key, number)
        post.all.pop(number, None)
        if not post.all and not post.bans:
            del self._posts[need.attribute]

    def crowd(self, need: Need) -> float:
        """About how many a filter would wait with; of empty places the more telling is better."""
        if isinstance(need, AtType):
            return len(self._types.get(need.name, ())) + 0.3
        post = self._posts.get(need.attribute)
        match need:
            case AtValue(_, key):
                return len(post.values.get(key, ())) if post else 0.0
            case AtSpan(_, kind, low, high):
                share = 8 if low[0] == high[0] else 2
                return len(post.spans[kind]) / share + 0.1 if post and kind in post.spans else 0.1
            case Present():
                return len(post.present) + 0.4 if post else 0.4
            case Ban(_, key):
                return len(post.bans.get(key, ())) + 0.5 if post else 0.5

    def met_by(self, footprint: Footprint) -> Iterator[int]:
        for name, corners in footprint.corners.items():
            post = self._posts.get(name)
            if post is not None:
                yield from post.present
                for corner in corners:
                    yield from _met(post, corner)
        for name in footprint.vague:
            if name in self._posts:
                yield from self._posts[name].all
        for name in footprint.types:
            yield from self._types.get(name, ())
        for name, keys in footprint.bans.items():
            if name in self._posts:
                yield from _banned(self._posts[name].bans, keys)


def _met(post: _Post, corner: Corner) -> Iterator[int]:
    kind, low, _ = corner
    if low[0] == 0 and low[2] == 0 and post.values:
        yield from post.values.get((kind, low[1]), ())
    tree = post.spans.get(kind)
    if tree is not None:
        yield from tree.containing(low)


def _banned(bans: dict[Key | None, Numbers], keys: Iterable[Key | None] | None) -> Iterator[int]:
    """Those at a ban that one of some keys may meet; None meets every ban and is met by all."""
    for key in bans if keys is None else (None, *keys):
        yield from bans.get(key, ())


class _Stand:
    """What stands at one attribute."""

    __slots__ = ("all", "bans", "highs", "lows", "vague")

    def __init__(self) -> None:
        self.all: Numbers = {}
        self.vague: Numbers = {}
        self.lows: dict[Kind, Ladder] = {}
        self.highs: dict[Kind, Ladder] = {}
        self.bans: dict[Key | None, Numbers] = {}


class Standing:
    """By footprints."""

    def __init__(self) -> None:
        self._stands: defaultdict[str, _Stand] = defaultdict(_Stand)
        self._types: dict[str, Numbers] = {}

    def add(self, footprint: Footprint, number: int) -> None:
        for name, corners in footprint.corners.items():
            stand = self._stands[name]
            stand.all[number] = None
            for kind, low, high in corners:
                stand.lows.setdefault(kind, Ladder()).add(low, number)
                stand.highs.setdefault(kind, Ladder()).add(high, number)
        for name in footprint.vague:
            self._stands[name].all[number] = self._stands[name].vague[number] = None
        for name in footprint.types:
            self._types.setdefault(name, {})[number] = None
        for name, keys in footprint.bans.items():
            for key in (None,) if keys is None else keys:
                self._stands[name].bans.setdefault(key, {})[number] = None

    def remove(self, footprint: Footprint, number: int) -> None:
        for name, corners in footprint.corners.items():
            stand = self._stands[name]
            del stand.all[number]
            for kind, low, high in dict.fromkeys(corners):
                stand.lows[kind].discard(low, number)
                stand.highs[kind].discard(high, number)
        for name in footprint.vague:
            del self._stands[name].all[number], self._stands[name].vague[number]
        for name in footprint.types:
            _discard(self._types, name, number)
        for name, keys in footprint.bans.items():
            for key in (None,) if keys is None else keys:
                _discard(self._stands[name].bans, key, number)
        for name in {*footprint.corners, *footprint.vague, *footprint.bans}:
            if not self._stands[name].all and not self._stands[name].bans:
                del self._stands[name]

    def crowd(self, need: Need) -> float:
        """About how many may meet a need."""
        if isinstance(need, AtType):
            return len(self._types.get(need.name, ()))
        stand = self._stands.get(need.attribute)
        if stand is None:
            return 0
        match need:
            case AtValue(_, (kind, value)):
                return len(stand.vague) + _at(stand, kind, (0, value, 0))
            case AtSpan(_, kind, low, high):
                return len(stand.vague) + min(
                    _between(stand.lows, kind, low, high), _between(stand.highs, kind, low, high)
                )
            case Present():
                return len(stand.all)
            case Ban(_, key):
                return sum(1 for _ in _banned(stand.bans, None if key is None else (key,)))

    def meeting(self, needs: Needs) -> Iterator[int]:
        """Those that may meet one of some needs."""
        highs = len(needs) == 1 and self._ends_tell_more(needs[0])
        for need in needs:
            if isinstance(need, AtType):
                yield from self._types.get(need.name, ())
                continue
            stand = self._stands.get(need.attribute)
            if stand is not None:
                yield from _meeting(stand, need, highs)

    def _ends_tell_more(self, need: Need) -> bool:
        """Whether fewer end in a span than begin in it."""
        if not isinstance(need, AtSpan) or need.attribute not in self._stands:
            return False
        stand, (_, kind, low, high) = self._stands[need.attribute], need
        return _between(stand.highs, kind, low, high) < _between(stand.lows, kind, low, high)


def _meeting(stand: _Stand, need: Need, highs: bool) -> Iterator[int]:
    match need:
        case AtValue(_, (kind, value)):
            yield from stand.vague
            if kind in stand.lows:
                yield from stand.lows[kind].at((0, value, 0))
        case AtSpan(_, kind, low, high):
            yield from stand.vague
            ladder = (stand.highs if highs else stand.lows).get(kind)
            if ladder is not None:
                yield from ladder.between(low, high)
        case Present():
            yield from stand.all
        case Ban(_, key):
            yield from _banned(stand.bans, None if key is None else (key,))


def _at(stand: _Stand, kind: Kind, cut: Cut) -> int:
    return len(stand.lows[kind].at(cut)) if kind in stand.lows else 0


def _between(ladders: dict[Kind, Ladder], kind: Kind, low: Cut, high: Cut) -> int:
    return ladders[kind].estimate(low, high) if kind in ladders else 0


def _discard(held: dict[_K, Numbers], key: _K, number: int) -> None:
    numbers = held[key]
    del numbers[number]
    if not numbers:
        del held[key]
