"""Footprint index: filters by their footprints, found by the claims or needs of a wider filter.

Filters whose footprints speak of the same attributes lie in one block (`columns`). It may find too
many, never too few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fyke.events.value import Kind
from fyke.filters.algebra.intervals import is_point
from fyke.filters.covering_index.claims import Claim, Interval, any_of
from fyke.filters.covering_index.columns import ColumnBlock, Mask, Rows
from fyke.filters.covering_index.footprint import Corner, Footprint, Key, key_corner
from fyke.filters.covering_index.multimap import Multimap
from fyke.filters.covering_index.need_index import banning
from fyke.filters.covering_index.needs import AtSpan, AtType, AtValue, Ban, Need, Needs
from fyke.filters.covering_index.weak_code import Code, code


class _Layout(NamedTuple):
    """The layout that the footprints of one block share."""

    columns: tuple[tuple[str, Kind, bool], ...]
    """A corner each; an attribute may have several."""
    names: frozenset[str]
    """The attributes that are wanted."""
    vague: frozenset[str]
    types: frozenset[str]


class _Group:
    """A block, with the columns in which the corners of an attribute stand."""

    __slots__ = ("block", "bucketed", "columns", "known")

    def __init__(self, layout: _Layout) -> None:
        self.known = layout.names | layout.vague
        self.block = ColumnBlock([column[1:] for column in layout.columns])
        self.columns: dict[str, list[tuple[int, Kind, bool]]] = {}
        for at, (name, kind, is_single) in enumerate(layout.columns):
            self.columns.setdefault(name, []).append((at, kind, is_single))
        self.bucketed = [
            (name, each[0][1])
            for name, each in self.columns.items()
            if len(each) == 1 and each[0][2]
        ]
        """Attributes with a single value, by which rows lie in buckets."""


class FootprintIndex:
    """Slots by their footprints."""

    def __init__(self) -> None:
        self._groups: dict[_Layout, _Group] = {}
        self._bans: dict[str, Multimap[Key | None, int]] = {}

    def add(self, footprint: Footprint, slot: int) -> None:
        layout, corners = _layout_of(footprint)
        group = self._groups.get(layout)
        if group is None:
            group = self._groups[layout] = _Group(layout)
        bounds = [(code(kind, low), code(kind, high)) for kind, low, high in corners]
        group.block.add(slot, bounds, _bucket(group, corners))
        for name, keys in footprint.bans.items():
            banned = self._bans.setdefault(name, Multimap())
            for key in (None,) if keys is None else keys:
                banned.add(key, slot)

    def remove(self, footprint: Footprint, slot: int) -> None:
        layout, corners = _layout_of(footprint)
        group = self._groups[layout]
        group.block.remove(slot, _bucket(group, corners))
        if not group.block:
            del self._groups[layout]
        for name, keys in footprint.bans.items():
            for key in (None,) if keys is None else keys:
                self._bans[name].remove(key, slot)
            if not self._bans[name]:
                del self._bans[name]

    def meeting(self, claim: Claim) -> Iterator[int]:
        """Yield the slots whose footprint has all of a claim."""
        asked = [
            (each, code(each.kind, each.low), code(each.kind, each.high))
            for each in claim.intervals
        ]
        wanted = claim.present.union(each.attribute for each in claim.intervals)
        for layout, group in self._groups.items():
            if wanted <= group.known and claim.types <= layout.types:
                yield from group.block.slots(_within(layout, group, claim, asked))

    def count(self, need: Need) -> float:
        """Return the number of footprints that may meet a need."""
        return sum(1 for _ in self.meeting_one([need]))

    def meeting_one(self, needs: Needs) -> Iterator[int]:
        """Yield the slots whose footprint may meet one of some needs."""
        for need in needs:
            if isinstance(need, Ban) and need.attribute in self._bans:
                keys = None if need.key is None else (need.key,)
                yield from banning(self._bans[need.attribute], keys)
        for layout, group in self._groups.items():
            found: set[int] = set()
            for need in needs:
                found.update(group.block.slots(_rows_met(layout, group, need)))
            yield from found

    @property
    def nbytes(self) -> int:
        return sum(group.block.nbytes for group in self._groups.values())


def _within(
    layout: _Layout, group: _Group, claim: Claim, asked: list[tuple[Interval, Code, Code]]
) -> Rows:
    block = group.block
    values = {each.attribute: each for each in claim.intervals if each.is_point}
    if all(name in values and values[name].kind is kind for name, kind in group.bucketed):
        rows = block.at(tuple(values[name].low[1] for name, _ in group.bucketed))
    else:
        rows = block.all()
    for each, low, high in asked:
        if not rows.size:
            break
        if each.attribute in layout.vague:
            continue
        columns = group.columns.get(each.attribute, [])
        rows = _keep_rows(
            rows,
            columns,
            lambda kind, is_single, each=each: (  # type: ignore[misc]
                kind is each.kind and (is_single or not each.is_point)
            ),
            lambda rows, at, low=low, high=high: block.within(rows, at, low, high),  # type: ignore[misc]
        )
    return rows


def _rows_met(layout: _Layout, group: _Group, need: Need) -> Rows:
    """Return the rows that may meet a need."""
    block = group.block
    if isinstance(need, AtType):
        return block.all() if need.name in layout.types else block.none()
    if isinstance(need, Ban):
        return block.none()
    if need.attribute in layout.vague:
        return block.all()
    if isinstance(need, AtValue):
        kind, low, high = key_corner(need.key)
    elif isinstance(need, AtSpan):
        _, kind, low, high = need
    else:
        return block.all() if need.attribute in layout.names else block.none()
    first, last = code(kind, low), code(kind, high)
    return _keep_rows(
        block.all(),
        group.columns.get(need.attribute, []),
        lambda each, _: each is kind,
        lambda rows, at: block.beginning(rows, at, first, last),
    )


def _keep_rows(
    rows: Rows,
    columns: list[tuple[int, Kind, bool]],
    is_asked: Callable[[Kind, bool], bool],
    compare: Callable[[Rows, int], Mask],
) -> Rows:
    masks = [compare(rows, at) for at, kind, is_single in columns if is_asked(kind, is_single)]
    return rows[any_of(masks)]


def _layout_of(footprint: Footprint) -> tuple[_Layout, list[Corner]]:
    placed = [
        ((name, corner[0], is_point(corner[1:])), corner)
        for name, corners in footprint.corners.items()
        for corner in corners
    ]
    placed.sort(key=lambda each: each[0])
    layout = _Layout(
        tuple(column for column, _ in placed),
        frozenset(footprint.corners),
        footprint.vague,
        footprint.types,
    )
    return layout, [corner for _, corner in placed]


def _bucket(group: _Group, corners: list[Corner]) -> tuple[object, ...]:
    return tuple(corners[group.columns[name][0][0]][1][1] for name, _ in group.bucketed)
