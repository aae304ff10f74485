"""Standing: filters at their footprints, found by what a filter asks for that may cover them.

Filters whose footprints speak of the same attributes lie in one block (`columns`). It may find too
many, never too few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fyke.events.value import Kind
from fyke.filters.intervals import is_point
from fyke.routing.covering.claims import Claim, Interval, any_of
from fyke.routing.covering.columns import Block, Mask, Rows
from fyke.routing.covering.crowds import Crowds
from fyke.routing.covering.footprint import Corner, Footprint, Key, key_corner
from fyke.routing.covering.needs import AtSpan, AtType, AtValue, Ban, Need, Needs
from fyke.routing.covering.waiting import banning
from fyke.routing.covering.weak_code import Code, code


class _Make(NamedTuple):
    """What footprints of one block have in common."""

    columns: tuple[tuple[str, Kind, bool], ...]
    """A corner each, of which an attribute may have several."""
    names: frozenset[str]
    """The attributes that are wanted."""
    vague: frozenset[str]
    types: frozenset[str]


class _Stand:
    """A block, and where in it the corners of an attribute are."""

    __slots__ = ("block", "bucketed", "columns", "known")

    def __init__(self, make: _Make) -> None:
        self.known = make.names | make.vague
        self.block = Block([column[1:] for column in make.columns])
        self.columns: dict[str, list[tuple[int, Kind, bool]]] = {}
        for at, (name, kind, is_single) in enumerate(make.columns):
            self.columns.setdefault(name, []).append((at, kind, is_single))
        self.bucketed = [
            (name, each[0][1])
            for name, each in self.columns.items()
            if len(each) == 1 and each[0][2]
        ]
        """Attributes with a single value, by which rows lie in buckets."""


class Standing:
    """Footprints by slot."""

    def __init__(self) -> None:
        self._stands: dict[_Make, _Stand] = {}
        self._bans: dict[str, Crowds[Key | None, int]] = {}

    def add(self, footprint: Footprint, slot: int) -> None:
        make, corners = _made(footprint)
        stand = self._stands.get(make)
        if stand is None:
            stand = self._stands[make] = _Stand(make)
        bounds = [(code(kind, low), code(kind, high)) for kind, low, high in corners]
        stand.block.add(slot, bounds, _bucket(stand, corners))
        for name, keys in footprint.bans.items():
            banned = self._bans.setdefault(name, Crowds())
            for key in (None,) if keys is None else keys:
                banned.add(key, slot)

    def remove(self, footprint: Footprint, slot: int) -> None:
        make, corners = _made(footprint)
        stand = self._stands[make]
        stand.block.remove(slot, _bucket(stand, corners))
        if not stand.block:
            del self._stands[make]
        for name, keys in footprint.bans.items():
            for key in (None,) if keys is None else keys:
                self._bans[name].remove(key, slot)
            if not self._bans[name]:
                del self._bans[name]

    def meeting(self, claim: Claim) -> Iterator[int]:
        """Return those that have all of what is asked for."""
        asked = [
            (each, code(each.kind, each.low), code(each.kind, each.high))
            for each in claim.intervals
        ]
        wanted = claim.present.union(each.attribute for each in claim.intervals)
        for make, stand in self._stands.items():
            if wanted <= stand.known and claim.types <= make.types:
                yield from stand.block.slots(_within(make, stand, claim, asked))

    def crowd(self, need: Need) -> float:
        """Return how many may meet a need."""
        return sum(1 for _ in self.meeting_one([need]))

    def meeting_one(self, needs: Needs) -> Iterator[int]:
        """Return those that may meet one of some needs."""
        for need in needs:
            if isinstance(need, Ban) and need.attribute in self._bans:
                keys = None if need.key is None else (need.key,)
                yield from banning(self._bans[need.attribute], keys)
        for make, stand in self._stands.items():
            found: set[int] = set()
            for need in needs:
                found.update(stand.block.slots(_beginning(make, stand, need)))
            yield from found

    @property
    def nbytes(self) -> int:
        return sum(stand.block.nbytes for stand in self._stands.values())


def _within(
    make: _Make, stand: _Stand, claim: Claim, asked: list[tuple[Interval, Code, Code]]
) -> Rows:
    block = stand.block
    values = {each.attribute: each for each in claim.intervals if each.is_point}
    if all(name in values and values[name].kind is kind for name, kind in stand.bucketed):
        rows = block.at(tuple(values[name].low[1] for name, _ in stand.bucketed))
    else:
        rows = block.all()
    for each, low, high in asked:
        if not rows.size:
            break
        if each.attribute in make.vague:
            continue
        columns = stand.columns.get(each.attribute, [])
        rows = _kept(
            rows,
            columns,
            lambda kind, is_single, each=each: (  # type: ignore[misc]
                kind is each.kind and (is_single or not each.is_point)
            ),
            lambda rows, at, low=low, high=high: block.within(rows, at, low, high),  # type: ignore[misc]
        )
    return rows


def _beginning(make: _Make, stand: _Stand, need: Need) -> Rows:
    """Return those that one need of several may be met by."""
    block = stand.block
    if isinstance(need, AtType):
        return block.all() if need.name in make.types else block.none()
    if isinstance(need, Ban):
        return block.none()
    if need.attribute in make.vague:
        return block.all()
    if isinstance(need, AtValue):
        kind, low, high = key_corner(need.key)
    elif isinstance(need, AtSpan):
        _, kind, low, high = need
    else:
        return block.all() if need.attribute in make.names else block.none()
    first, last = code(kind, low), code(kind, high)
    return _kept(
        block.all(),
        stand.columns.get(need.attribute, []),
        lambda each, _: each is kind,
        lambda rows, at: block.beginning(rows, at, first, last),
    )


def _kept(
    rows: Rows,
    columns: list[tuple[int, Kind, bool]],
    is_asked: Callable[[Kind, bool], bool],
    compare: Callable[[Rows, int], Mask],
) -> Rows:
    masks = [compare(rows, at) for at, kind, is_single in columns if is_asked(kind, is_single)]
    return rows[any_of(masks)]


def _made(footprint: Footprint) -> tuple[_Make, list[Corner]]:
    placed = [
        ((name, corner[0], is_point(corner[1:])), corner)
        for name, corners in footprint.corners.items()
        for corner in corners
    ]
    placed.sort(key=lambda each: each[0])
    make = _Make(
        tuple(column for column, _ in placed),
        frozenset(footprint.corners),
        footprint.vague,
        footprint.types,
    )
    return make, [corner for _, corner in placed]


def _bucket(stand: _Stand, corners: list[Corner]) -> tuple[object, ...]:
    return tuple(corners[stand.columns[name][0][0]][1][1] for name, _ in stand.bucketed)
