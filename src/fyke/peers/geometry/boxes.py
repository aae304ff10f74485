"""Boxes, exactly: the algebra that the fast kernels are held against (S2S-9, S2S-11, S2S-12).

A box is a side (lowest and highest code, both included) per axis. What is left of a box after a
subtraction is boxes again, closed and disjoint: whole numbers have no half-open parts (S2S-Q3).

Distance counts gaps only (S2S-Q1): axes on which two boxes overlap add nothing, and the distance is
0 iff the boxes have a point in common.

`select_peers` is the heart of the paper (S2S-11): who j has to know so that for every event that j
may want the next wanting peer in either direction is among them. Law: let k be the first peer, in
order of sequence ids, that accepts an event of j. Nobody before k accepts it, so nobody's *inner*
boxes have it, so it is still left when k's turn comes, and k is selected. Subtracting the boxes
*around* a filter would break this: a peer that does not want the event hides k.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from math import sqrt
from typing import TypeAlias

from fyke.peers.geometry.shape import Shape
from fyke.peers.geometry.space import Box, Point, Space

Place: TypeAlias = tuple[int, int]
"""A sequence id, and a second number that tells equal ones apart."""


def holds(box: Box, point: Point) -> bool:
    return all(low <= code <= high for (low, high), code in zip(box, point, strict=True))


def intersects(one: Box, other: Box) -> bool:
    return all(a[0] <= b[1] and b[0] <= a[1] for a, b in zip(one, other, strict=True))


def contains(wide: Box, narrow: Box) -> bool:
    return all(a[0] <= b[0] and b[1] <= a[1] for a, b in zip(wide, narrow, strict=True))


def subtract(box: Box, removed: Box) -> list[Box]:
    """Return disjoint boxes that have exactly the points of a box outside of another one."""
    if not intersects(box, removed):
        return [box]
    parts: list[Box] = []
    left = box
    for at, ((low, high), (first, last)) in enumerate(zip(box, removed, strict=True)):
        if low < first:
            parts.append((*left[:at], (low, first - 1), *left[at + 1 :]))
        if last < high:
            parts.append((*left[:at], (last + 1, high), *left[at + 1 :]))
        left = (*left[:at], (max(low, first), min(high, last)), *left[at + 1 :])
    return parts


def subtract_all(boxes: Iterable[Box], removed: Iterable[Box]) -> list[Box]:
    left = list(boxes)
    for each in removed:
        left = [part for box in left for part in subtract(box, each)]
    return left


def some_intersect(ones: Iterable[Box], others: Sequence[Box]) -> bool:
    return any(intersects(one, other) for one in ones for other in others)


def distance(one: Box, other: Box, space: Space) -> float:
    """Return the length of the gap between two boxes; every axis is from 0 to 1 long."""
    if intersects(one, other):
        return 0.0
    pairs = zip(space.positions(one), space.positions(other), strict=True)
    gaps = (max(0.0, b[0] - a[1], a[0] - b[1]) for a, b in pairs)
    return max(sqrt(sum(gap * gap for gap in gaps)), 5e-324)


def shape_distance(one: Shape, other: Shape, space: Space) -> float:
    return min(
        (distance(a, b, space) for a in one.around for b in other.around), default=float("inf")
    )


def select_peers(target: Place, shape: Shape, others: Iterable[tuple[Place, Shape]]) -> set[Place]:
    """Return the ring links that the target needs, of all others that are known."""
    ordered = sorted((each for each in others if each[0] != target), key=lambda each: each[0])
    after = [each for each in ordered if each[0] > target]
    ascending = after + ordered[: len(ordered) - len(after)]
    selected: set[Place] = set()
    for direction in (ascending, ascending[::-1]):
        space = list(shape.around)
        for place, other in direction:
            if some_intersect(other.around, space):
                selected.add(place)
                space = subtract_all(space, other.within)
    return selected


def regions(boxes: Sequence[Box]) -> dict[frozenset[int], list[Box]]:
    """Return the partition of S2S-5: for each set of boxes that some point has, where it has it.

    For tests: cells between all ends of all boxes, exponential in the number of axes.
    """
    axes = range(len(boxes[0])) if boxes else range(0)
    cuts = [sorted({cut for box in boxes for cut in (box[at][0], box[at][1] + 1)}) for at in axes]
    cells = [[(a, b - 1) for a, b in pairwise(each)] for each in cuts]
    found: dict[frozenset[int], list[Box]] = {}
    for cell in product(*cells):
        owners = frozenset(n for n, box in enumerate(boxes) if contains(box, cell))
        if owners:
            found.setdefault(owners, []).append(cell)
    return found
