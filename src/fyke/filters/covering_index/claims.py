"""Claims: the values that a conjunction asks for, and filters by them, found by a footprint.

If a conjunction covers a filter, the filter's footprint has all values that single predicates of
the conjunction ask for (`needs`). Conjunctions that ask for the same attributes lie in one block
(`columns`). The index may find too many, never too few.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from fyke.events.value import Kind
from fyke.filters.algebra.intervals import Cut, is_point
from fyke.filters.covering_index.columns import ColumnBlock, Mask, Rows
from fyke.filters.covering_index.footprint import Corner, Footprint, key_corner
from fyke.filters.covering_index.needs import AtSpan, AtType, AtValue, Needs, Present
from fyke.filters.covering_index.weak_code import Code, code


class Interval(NamedTuple):
    """A value of a kind between two cuts is asked for."""

    attribute: str
    kind: Kind
    low: Cut
    high: Cut

    @property
    def is_point(self) -> bool:
        return is_point((self.low, self.high))


class Claim(NamedTuple):
    """The values, kinds and types that single predicates of a conjunction ask for."""

    intervals: tuple[Interval, ...]
    present: frozenset[str]
    types: frozenset[str]


def claim(parts: Sequence[Needs]) -> Claim:
    """Return the claim of some needs. A list of values claims one between its ends."""
    intervals: dict[Interval, None] = {}
    present: set[str] = set()
    types: set[str] = set()
    for needs in parts:
        if len(needs) > 1:
            hull = _hull(needs)
            if hull is not None:
                intervals[hull] = None
            continue
        match needs[0]:
            case AtValue(name, key):
                intervals[Interval(name, *key_corner(key))] = None
            case AtSpan(name, kind, low, high):
                intervals[Interval(name, kind, low, high)] = None
            case AtType(name):
                types.add(name)
            case Present(name):
                present.add(name)
    ordered = sorted(intervals, key=lambda each: (each.attribute, each.kind, each.is_point))
    return Claim(tuple(ordered), frozenset(present), frozenset(types))


def _hull(needs: Needs) -> Interval | None:
    values = [each for each in needs if isinstance(each, AtValue)]
    first, last = values[0].key, values[-1].key
    if len(values) < len(needs) or first[0] is not last[0]:
        return None
    return Interval(values[0].attribute, first[0], (0, first[1], 0), (0, last[1], 1))


class _Layout(NamedTuple):
    """The layout that the filters of one block share."""

    columns: tuple[tuple[str, Kind, bool], ...]
    present: frozenset[str]
    types: frozenset[str]
    wanted: frozenset[str]
    """All attributes that have to be there."""


class ClaimIndex:
    """Slots by their claims."""

    def __init__(self) -> None:
        self._blocks: dict[_Layout, ColumnBlock] = {}

    def add(self, claim: Claim, slot: int) -> None:
        layout = _layout_of(claim)
        block = self._blocks.get(layout)
        if block is None:
            block = self._blocks[layout] = ColumnBlock([column[1:] for column in layout.columns])
        bounds = [
            (code(each.kind, each.low), code(each.kind, each.high)) for each in claim.intervals
        ]
        block.add(slot, bounds, _bucket(claim))

    def remove(self, claim: Claim, slot: int) -> None:
        layout = _layout_of(claim)
        block = self._blocks[layout]
        block.remove(slot, _bucket(claim))
        if not block:
            del self._blocks[layout]

    def met_by(self, footprint: Footprint) -> Iterator[int]:
        """Yield the slots whose whole claim is in a footprint."""
        known = footprint.corners.keys() | footprint.vague
        corners = {
            name: [
                (kind, is_point((low, high)), code(kind, low), code(kind, high))
                for kind, low, high in each
            ]
            for name, each in footprint.corners.items()
        }
        for layout, block in self._blocks.items():
            if layout.wanted <= known and layout.types <= footprint.types:
                yield from block.slots(_rows_met(layout, block, footprint, corners))

    @property
    def nbytes(self) -> int:
        return sum(block.nbytes for block in self._blocks.values())


_Coded: TypeAlias = dict[str, list[tuple[Kind, bool, Code, Code]]]
_NOWHERE: Final = (object(),)
"""A bucket without members."""


def _rows_met(layout: _Layout, block: ColumnBlock, footprint: Footprint, coded: _Coded) -> Rows:
    bucket = _bucket_of(layout, footprint)
    rows = block.all() if bucket is None else block.at(bucket)
    for at, (name, kind, is_value) in enumerate(layout.columns):
        if not rows.size:
            break
        if name in footprint.vague or (is_value and bucket is not None):
            continue
        masks: list[Mask] = [
            block.around(rows, at, low, high)
            for each, is_single, low, high in coded[name]
            if each is kind and (is_single or not is_value)
        ]
        rows = rows[any_of(masks)]
    return rows


def any_of(masks: list[Mask]) -> Mask | slice:
    """Return the rows that are in one of some masks, as an index."""
    if not masks:
        return slice(0)
    found = masks[0]
    for each in masks[1:]:
        found = found | each
    return found


def _layout_of(claim: Claim) -> _Layout:
    columns = tuple((each.attribute, each.kind, each.is_point) for each in claim.intervals)
    wanted = claim.present.union(each.attribute for each in claim.intervals)
    return _Layout(columns, claim.present, claim.types, wanted)


def _bucket(claim: Claim) -> tuple[object, ...]:
    return tuple(each.low[1] for each in claim.intervals if each.is_point)


def _bucket_of(layout: _Layout, footprint: Footprint) -> tuple[object, ...] | None:
    """Return the bucket of claims with a footprint's values; None if it has several."""
    found: list[object] = []
    for name, kind, is_single in layout.columns:
        if not is_single:
            continue
        corners: Sequence[Corner] = footprint.corners.get(name, ())
        if name in footprint.vague or len(corners) != 1:
            return None
        each, low, high = corners[0]
        if each is not kind or not is_point((low, high)):
            return _NOWHERE
        found.append(low[1])
    return tuple(found)
