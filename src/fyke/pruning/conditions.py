"""Conditions that make no difference on a sample of events: what can go without any harm, and why.

A condition is a child of an And. On the sample it may

    never hold      no event satisfies it, so nothing matches as long as it is required: a field
                    that your events do not have, a value that was misspelt
    always hold     every event satisfies it: it could go from every subscription
    never decide    whatever satisfies the rest of the subscription satisfies it too

What never decides is only asked of subscriptions that accept some event: of the others, the sample
says nothing. Each condition is looked at alone; of two that say the same, both are named. What a
dialect adds of its own, that a value is a number or a time, is nobody's condition and left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

import numpy as np

from fyke.filters.filter import Filter
from fyke.filters.predicate import Range
from fyke.matching.batch import batches
from fyke.matching.matcher import Matcher
from fyke.pruning.measuring import accepts, number_leaves
from fyke.pruning.predicate_statistics import leaves_of
from fyke.pruning.shape import Shape, Shapes, read
from fyke.pruning.truth import every, truth

_LEAST: Final = (-sys.float_info.max, datetime.min.replace(tzinfo=UTC))
"""The least number and the least time."""


class Difference(StrEnum):
    """The way in which a condition makes no difference."""

    NEVER_HOLDS = "never holds"
    ALWAYS_HOLDS = "always holds"
    NEVER_DECIDES = "never decides"


@dataclass(frozen=True, slots=True)
class Idle:
    """A condition that makes no difference, and the subscriptions in which it does not."""

    difference: Difference
    condition: Filter
    subscriptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """One condition of one subscription."""

    id: str
    shape: Shape
    leaves: list[int]
    node: int
    condition: Filter


def idle_conditions(matcher: Matcher, sample: Any) -> list[Idle]:
    """Return the conditions of a matcher's subscriptions that make no difference on the sample.

    The sample is given as for `Matcher.match_batch`. Conditions that are in most subscriptions
    come first.
    """
    known: dict[Filter, int] = {}
    asked = list(_conditions(matcher.items(), known))
    distinct = list(known)
    events = 0
    counts = np.zeros((len(asked), 3), np.int64)
    for _, columns in batches(sample, matcher.schema):
        bits, whole = truth(columns, distinct), every(columns.rows)
        events += columns.rows
        for at, each in enumerate(asked):
            shape, leaves = each.shape, each.leaves
            rest = shape.whole & ~shape.leaves[each.node]
            versions = (
                accepts(shape, shape.whole, leaves, bits, whole, each.node),
                accepts(shape, shape.whole, leaves, bits, whole),
                accepts(shape, rest, leaves, bits, whole),
            )
            counts[at] += [int(np.bitwise_count(part).sum()) for part in versions]
    found: dict[tuple[Difference, Filter], list[str]] = {}
    for each, (alone, full, without) in zip(asked, counts.tolist(), strict=True):
        if events and (difference := _difference(events, alone, full, without)):
            found.setdefault((difference, each.condition), []).append(each.id)
    idle = [Idle(*kind, tuple(dict.fromkeys(ids))) for kind, ids in found.items()]
    order = list(Difference)
    return sorted(idle, key=lambda one: (order.index(one.difference), -len(one.subscriptions)))


def _difference(events: int, alone: int, full: int, without: int) -> Difference | None:
    if not alone:
        return Difference.NEVER_HOLDS
    if alone == events:
        return Difference.ALWAYS_HOLDS
    return Difference.NEVER_DECIDES if full and full == without else None


def _is_kind(leaf: Filter) -> bool:
    """Return True if it says of a value only that it is a number or a time."""
    return isinstance(leaf, Range) and leaf.high is None and leaf.low in _LEAST


def _conditions(
    subscriptions: Iterable[tuple[str, Filter]], known: dict[Filter, int]
) -> Iterable[_Asked]:
    shapes = Shapes()
    for id, filter in subscriptions:
        key, literals = read(filter)
        shape, leaves = shapes.of(key), number_leaves(literals, known)
        for node in shape.candidates(shape.whole):
            condition = shape.filter(shape.whole, literals, node)
            if not all(map(_is_kind, leaves_of([condition]))):
                yield _Asked(id, shape, leaves, node, condition)
