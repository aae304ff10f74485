"""Standing: filters at their footprints, found by the needs that they may meet.

It may find too many, never too few. What is wanted of an attribute is held by where it begins and
by where it ends; a range asks at that end at which it finds fewer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, Literal, TypeAlias, TypeVar

from fyke.events.value import Kind
from fyke.filters.intervals import Cut, is_point
from fyke.routing.covering.crowds import Crowds
from fyke.routing.covering.footprint import Corner, Footprint, Key
from fyke.routing.covering.ladder import Ladder
from fyke.routing.covering.needs import AtSpan, AtType, AtValue, Ban, Need, Needs, Present
from fyke.routing.covering.waiting import banning

T = TypeVar("T", bound=Hashable)

_Side: TypeAlias = Literal["point", "low", "high"]


class _Ends(Generic[T]):
    """Values of one kind: single ones, and where others begin and end."""

    __slots__ = ("highs", "lows", "points")

    def __init__(self) -> None:
        self.points: Ladder[T] = Ladder()
        self.lows: Ladder[T] = Ladder()
        self.highs: Ladder[T] = Ladder()

    def __bool__(self) -> bool:
        return bool(self.points or self.lows)

    def at(self, side: _Side) -> Ladder[T]:
        return self.points if side == "point" else self.lows if side == "low" else self.highs


class _Stand(Generic[T]):
    """Who stands at one attribute."""

    __slots__ = ("bans", "bare", "ends", "vague")

    def __init__(self) -> None:
        self.ends: dict[Kind, _Ends[T]] = {}
        self.bare: dict[T, None] = {}
        """Those that want it to be there, whatever it is."""
        self.vague: dict[T, None] = {}
        self.bans: Crowds[Key | None, T] = Crowds()

    def __bool__(self) -> bool:
        return bool(self.ends or self.bare or self.vague or self.bans)

    def all(self) -> Iterator[T]:
        yield from self.bare
        yield from self.vague
        for ends in self.ends.values():
            yield from ends.points.all()
            yield from ends.lows.all()


def _places(corners: Iterable[Corner]) -> Iterable[tuple[Kind, _Side, Cut]]:
    """The cuts at which somebody stands, once each: two intervals may have an end in common."""
    found: dict[tuple[Kind, _Side, Cut], None] = {}
    for kind, low, high in corners:
        if is_point((low, high)):
            found[kind, "point", low] = None
        else:
            found[kind, "low", low] = found[kind, "high", high] = None
    return found


class Standing(Generic[T]):
    """By footprints."""

    def __init__(self) -> None:
        self._stands: dict[str, _Stand[T]] = {}
        self._types: Crowds[str, T] = Crowds()

    def add(self, footprint: Footprint, one: T) -> None:
        for name, corners in footprint.corners.items():
            stand = self._at(name)
            if not corners:
                stand.bare[one] = None
            for kind, side, cut in _places(corners):
                ends = stand.ends.get(kind)
                if ends is None:
                    ends = stand.ends[kind] = _Ends()
                ends.at(side).add(cut, one)
        for name in footprint.vague:
            self._at(name).vague[one] = None
        for name in footprint.types:
            self._types.add(name, one)
        for name, keys in footprint.bans.items():
            stand = self._at(name)
            for key in (None,) if keys is None else keys:
                stand.bans.add(key, one)

    def remove(self, footprint: Footprint, one: T) -> None:
        for name, corners in footprint.corners.items():
            stand = self._stands[name]
            if not corners:
                del stand.bare[one]
            for kind, side, cut in _places(corners):
                stand.ends[kind].at(side).remove(cut, one)
            for kind in {corner[0] for corner in corners}:
                if not stand.ends[kind]:
                    del stand.ends[kind]
        for name in footprint.vague:
            del self._stands[name].vague[one]
        for name in footprint.types:
            self._types.remove(name, one)
        for name, keys in footprint.bans.items():
            for key in (None,) if keys is None else keys:
                self._stands[name].bans.remove(key, one)
        for name in {*footprint.corners, *footprint.vague, *footprint.bans}:
            if not self._stands[name]:
                del self._stands[name]

    def _at(self, name: str) -> _Stand[T]:
        stand = self._stands.get(name)
        if stand is None:
            stand = self._stands[name] = _Stand()
        return stand

    def crowd(self, need: Need) -> float:
        """About how many may meet a need."""
        if isinstance(need, AtType):
            return self._types.size(need.name)
        stand = self._stands.get(need.attribute)
        if stand is None:
            return 0
        if isinstance(need, AtValue):
            kind, value = need.key
            return len(stand.vague) + _size(stand.ends.get(kind), (0, value, 0))
        if isinstance(need, AtSpan):
            return len(stand.vague) + sum(_counts(stand.ends.get(need.kind), need)[:2])
        if isinstance(need, Present):
            return len(stand.vague) + len(stand.bare) + sum(map(_crowd, stand.ends.values()))
        return sum(1 for _ in banning(stand.bans, None if need.key is None else (need.key,)))

    def meeting(self, needs: Needs) -> Iterator[T]:
        """Those that may meet one of some needs."""
        for need in needs:
            if isinstance(need, AtType):
                yield from self._types.at(need.name)
            elif need.attribute in self._stands:
                yield from _meeting(self._stands[need.attribute], need, is_only=len(needs) == 1)


def _crowd(ends: _Ends[T]) -> int:
    return ends.points.total() + ends.lows.total()


def _size(ends: _Ends[T] | None, cut: Cut) -> int:
    return 0 if ends is None else ends.points.size(cut) + ends.lows.size(cut)


def _counts(ends: _Ends[T] | None, span: AtSpan) -> tuple[float, float, bool]:
    """Single values in a span, others that begin or end in it, and whether fewer end in it."""
    if ends is None:
        return 0, 0, False
    lows, highs = (each.estimate(span.low, span.high) for each in (ends.lows, ends.highs))
    return ends.points.estimate(span.low, span.high), min(lows, highs), highs < lows


def _meeting(stand: _Stand[T], need: Need, is_only: bool) -> Iterator[T]:
    if isinstance(need, AtValue):
        yield from stand.vague
        kind, value = need.key
        if kind in stand.ends:
            yield from stand.ends[kind].points.at((0, value, 0))
            yield from stand.ends[kind].lows.at((0, value, 0))
    elif isinstance(need, AtSpan):
        yield from stand.vague
        ends = stand.ends.get(need.kind)
        if ends is not None:
            by_end = is_only and _counts(ends, need)[2]
            yield from ends.points.between(need.low, need.high)
            yield from (ends.highs if by_end else ends.lows).between(need.low, need.high)
    elif isinstance(need, Ban):
        yield from banning(stand.bans, None if need.key is None else (need.key,))
    else:
        yield from stand.all()
