"""Shape: a filter as boxes around it and boxes within it.

Idea. Boxes *around* a filter have every event that it accepts: they say who may want an event.
Boxes *within* it have only such events: they say who certainly wants one. For a conjunction of
ranges the two are the same box. What no axis knows (a text, a residual, a list) makes the box
around wider and leaves nothing within; the exact filter decides there.

    a between 1 and 5                       around [1, 5], within [1, 5]
    a between 1 and 5 and name like 'x%'    around [1, 5], within nothing
    a < 3 or not exists a                   two boxes, around and within

Budget. A Boolean filter becomes several boxes. Where it would need more than the budget, boxes
around are replaced by hulls and boxes within are left out: still safe, less exact. `note` says
which part it was.
Law. within <= filter <= around, as sets of the events that fit the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Final

from fyke.errors import shown
from fyke.events.domain import Enumeration
from fyke.filters.algebra.domain import within_domain
from fyke.filters.algebra.normal_form import negation_normal_form, simplify
from fyke.filters.algebra.value_set import accepted
from fyke.filters.filter import And, Constant, Filter, Not, Or
from fyke.filters.predicate import Exists, TypeIs, ValuePredicate
from fyke.filters.resolution import resolve_values
from fyke.peers.geometry.axis import Axis, Side, united
from fyke.peers.geometry.space import TYPE, Box, Space

BUDGET: Final = 16


@dataclass(frozen=True, slots=True)
class Shape:
    """None around: the filter accepts nothing. `note` is empty unless the budget was too small."""

    around: tuple[Box, ...]
    within: tuple[Box, ...]
    note: str = ""


def shape_of(filter: Filter, space: Space, budget: int = BUDGET) -> Shape:
    """Return the boxes of a filter, at most `budget` of each kind."""
    normal = negation_normal_form(simplify(resolve_values(filter, space.schema)))
    return _Shaping(space, budget).shape(normal)


def box_of_point(point: Iterable[int]) -> Box:
    return tuple((code, code) for code in point)


class _Shaping:
    def __init__(self, space: Space, budget: int) -> None:
        self._space = space
        self._budget = budget

    def shape(self, normal: Filter) -> Shape:
        match normal:
            case And():
                return reduce(self._met(normal), map(self.shape, normal.children))
            case Or():
                return reduce(self._joined(normal), map(self.shape, normal.children))
            case Constant(value):
                whole = (self._space.whole,) if value else ()
                return Shape(whole, whole)
            case Not():
                return self._leaf(normal.child, is_negated=True)
        return self._leaf(normal, is_negated=False)

    def _met(self, part: Filter) -> Callable[[Shape, Shape], Shape]:
        def meet(one: Shape, other: Shape) -> Shape:
            around = [_meet(a, b) for a in one.around for b in other.around]
            within = [_meet(a, b) for a in one.within for b in other.within]
            notes = one.note or other.note
            return self._kept([b for b in around if b], [b for b in within if b], part, notes)

        return meet

    def _joined(self, part: Filter) -> Callable[[Shape, Shape], Shape]:
        def join(one: Shape, other: Shape) -> Shape:
            around, within = (*one.around, *other.around), (*one.within, *other.within)
            return self._kept(around, within, part, one.note or other.note)

        return join

    def _kept(
        self, around: Iterable[Box], within: Iterable[Box], part: Filter, note: str = ""
    ) -> Shape:
        """Return a shape of the boxes that are not within others, as many as the budget allows."""
        outer, inner = _maximal(around), _maximal(within)
        if max(len(outer), len(inner)) > self._budget and not note:
            count = max(len(outer), len(inner))
            note = f"{shown(str(part))} takes {count} boxes, more than {self._budget}"
        return Shape(_hulls(outer, self._budget), _largest(inner, self._budget), note)

    def _leaf(self, leaf: Filter, is_negated: bool) -> Shape:
        found = self._sides(leaf)
        if found is None:
            return Shape((self._space.whole,), ())
        axis, around, within = found
        if is_negated:
            around, within = axis.complement(within), axis.complement(around)
        return self._kept(self._boxes(axis, around), self._boxes(axis, within), leaf)

    def _sides(self, leaf: Filter) -> tuple[Axis, tuple[Side, ...], tuple[Side, ...]] | None:
        """Return the codes around and within a leaf; None if it is about no axis."""
        at = self._space.places.get(getattr(leaf, "attribute", ""))
        if at is None:
            return None
        axis = self._space.axes[at]
        match leaf:
            case Exists():
                return axis, (axis.values,), (axis.values,)
            case TypeIs(name):
                conforming = (name, *self._space.schema.subtypes(name))
                return self._of_types(axis, lambda each: each in conforming)
            case ValuePredicate() if axis.name == TYPE:
                return self._of_types(axis, leaf.accepts())
            case ValuePredicate():
                values = within_domain(accepted(leaf), axis.name, self._space.schema)
                return axis, axis.around(values), axis.within(values)
        return None

    def _of_types(
        self, axis: Axis, accepts: Callable[[str], bool]
    ) -> tuple[Axis, tuple[Side, ...], tuple[Side, ...]] | None:
        if not isinstance(axis.domain, Enumeration):
            return None
        codes = united((n, n) for n, name in enumerate(axis.domain.values) if accepts(name))
        return axis, codes, codes

    def _boxes(self, axis: Axis, sides: Iterable[Side]) -> list[Box]:
        at, whole = self._space.places[axis.name], self._space.whole
        return [(*whole[:at], side, *whole[at + 1 :]) for side in sides]


def _meet(one: Box, other: Box) -> Box | None:
    met = tuple((max(a[0], b[0]), min(a[1], b[1])) for a, b in zip(one, other, strict=True))
    return met if all(low <= high for low, high in met) else None


def _maximal(boxes: Iterable[Box]) -> list[Box]:
    """Return the boxes that are not within another one."""
    kept: list[Box] = []
    for box in sorted(set(boxes), key=_volume, reverse=True):
        if not any(_meet(box, other) == box for other in kept):
            kept.append(box)
    return sorted(kept)


def _hulls(boxes: list[Box], budget: int) -> tuple[Box, ...]:
    """Return at most `budget` boxes around all of them; neighbours in order share a hull."""
    size = -(-len(boxes) // budget) if boxes else 1
    groups = (boxes[at : at + size] for at in range(0, len(boxes), size))
    return tuple(
        tuple(
            (min(s[0] for s in sides), max(s[1] for s in sides)) for sides in zip(*g, strict=True)
        )
        for g in groups
    )


def _largest(boxes: list[Box], budget: int) -> tuple[Box, ...]:
    return tuple(sorted(sorted(boxes, key=_volume, reverse=True)[:budget]))


def _volume(box: Box) -> int:
    return prod(high - low + 1 for low, high in box)
