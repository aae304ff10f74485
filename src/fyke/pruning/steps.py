"""Steps: the whole path of each subscription, and one order for the steps of all.

Idea. A subscription's best pruning (PRU-20) depends on its own leaves alone, so its path is known
from the start, down to where nothing can be pruned any more (PRU-23). All that the priority queue
of the paper (PRU-21) does is to merge these paths. Subscriptions of one shape go through them
together: those with the same leaves left are one state, and a state decides for all its rows at
once, in arrays.
Degradation (PRU-18). The greatest of the differences in the three shares, in units of 1e-12 of the
events: what differs by less counts as equal. Ties go to the fewest predicates, then to the first
node, then to the first id. A step after which no index could find the subscription costs one more:
it would be tried on every event, so it comes after all others. A step after which a subscription
would accept all events, as far as is known, is refused unless it is allowed.
Order. A queue that always takes the least first takes a step that costs less than the one before it
right after that one: nothing else that waits costs less than that did. So the queue's order is that
of the running maximum of each path; `queue.PruningQueue` is the paper's own way to it.
Cost. For S shapes with C candidates each, some C * S array operations per state; no state is
visited twice. Rows that are alone in their state are computed with plain numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from fyke.pruning.selectivity import SCALAR, Arithmetic, Triple
from fyke.pruning.shape import Candidate, Shape

Order: TypeAlias = Literal["accuracy", "bytes"]
Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]

VECTOR: Final = Arithmetic(np.minimum, np.maximum, np.rint)
UNIT: Final = 1e12
"""Degradations are counted in parts of an event that are so small."""
UNGUARDED: Final = UNIT
"""The additional cost of a step that leaves nothing for an index to go by."""
REFUSED: Final = float("inf")
FEW: Final = 12
"""Rows that are computed one by one: fewer than an array pays for."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules by which steps are chosen."""

    order: Order = "accuracy"
    """By accuracy (the paper's), or by what a freed byte costs."""
    is_cumulative: bool = False
    """Degradation against the original instead of the current subscription (PRU-Q3)."""
    allow_all: bool = False
    """True if a subscription may come to accept all events."""


@dataclass(frozen=True, slots=True)
class Group:
    """Subscriptions of one shape: the share and the bytes of each leaf, a column each."""

    shape: Shape
    rows: Whole
    """Their numbers among all subscriptions."""
    shares: Floats
    sizes: Floats

    def likely(self) -> Floats:
        """Return the likely share of each subscription as it is."""
        found: Floats = self.shape.share(self.shape.whole, self.shares, VECTOR)[1]
        return found


@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of many subscriptions, an element each; in the order of the plan once it is made."""

    row: Whole
    number: Whole
    """The number of steps that the subscription had before."""
    node: Whole
    cost: Floats
    """The cost by which steps are ordered, in units."""
    removed: Whole
    before: Floats
    """The likely share of the subscription before it."""
    after: Floats
    """The likely share of the subscription after it."""
    worst: Floats
    """The most it may let through in addition (PRU-19)."""

    def __len__(self) -> int:
        return len(self.row)

    def take(self, order: Whole) -> Steps:
        return Steps(*(getattr(self, name)[order] for name in Steps.__slots__))

    @classmethod
    def joined(cls, parts: list[Steps]) -> Steps:
        if not parts:
            whole, floats = np.empty(0, np.int64), np.empty(0)
            return cls(whole, whole, whole, floats, whole, floats, floats, floats)
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in cls.__slots__))


# --- the path of each subscription ----------------------------------------------------------------


def paths(group: Group, rules: Rules) -> Steps:
    """Return all steps of a group's subscriptions, to exhaustion, in no particular order."""
    shape, count = group.shape, len(group.rows)
    made = np.zeros(count, np.int64)
    origin = np.array(shape.share(shape.whole, group.shares, VECTOR))
    waiting: list[dict[int, list[Whole]]] = [{} for _ in range(shape.size + 1)]
    waiting[shape.size][shape.whole] = [np.arange(count)]
    parts: list[Steps] = []
    for states in reversed(waiting):
        for kept, met in states.items():
            at = np.concatenate(met)
            best = _best(group, kept, at, origin, rules)
            if best is None:
                continue
            chosen = best.cost < REFUSED
            at, best = at[chosen], best.take(chosen)
            parts.append(Steps(group.rows[at], made[at].copy(), *best.columns()))
            made[at] += 1
            for node in np.unique(best.node).tolist():
                left = kept & ~shape.leaves[node]
                there = waiting[left.bit_count()].setdefault(left, [])
                there.append(at[best.node == node])
    return Steps.joined(parts)


@dataclass(frozen=True, slots=True)
class Best:
    """The best pruning of each of some rows."""

    node: Whole
    cost: Floats
    removed: Whole
    before: Floats
    after: Floats
    worst: Floats

    def columns(self) -> Iterator[Any]:
        return (getattr(self, name) for name in Best.__slots__)

    def take(self, chosen: Any) -> Best:
        return Best(*(column[chosen] for column in self.columns()))


def _best(group: Group, kept: int, at: Whole, origin: Any, rules: Rules) -> Best | None:
    shares, sizes = group.shares[:, at], group.sizes[:, at]
    if len(at) >= FEW:
        return choose(group.shape, kept, shares, sizes, origin[:, at], rules, VECTOR)
    columns = (numbers.T.tolist() for numbers in (shares, sizes, origin[:, at]))
    found = [
        choose(group.shape, kept, share, size, first, rules, SCALAR)
        for share, size, first in zip(*columns, strict=True)
    ]
    rows = [tuple(each.columns()) for each in found if each is not None]
    if not rows:
        return None
    types: tuple[Any, ...] = (np.int64, np.float64, np.int64, *[np.float64] * 3)
    return Best(*(np.array(c, t) for c, t in zip(zip(*rows, strict=True), types, strict=True)))


def choose(
    shape: Shape,
    kept: int,
    shares: Any,
    sizes: Any,
    origin: Any,
    rules: Rules,
    arithmetic: Arithmetic,
) -> Best | None:
    """Return the best candidate: of one row, given numbers; of many, given arrays."""
    share, candidates = shape.shares(kept, shares, arithmetic)
    base = origin if rules.is_cumulative else share
    is_guarded = shape.is_guarded(kept)
    best: Best | None = None
    for each in candidates:
        gone = shape.leaves[each.node] & kept
        cost = degradation(each, base, arithmetic)
        if rules.order == "bytes":
            freed = sum(sizes[leaf] for leaf in range(shape.size) if gone >> leaf & 1)
            cost = arithmetic.rounded((each.share[1] - base[1]) * UNIT) / freed
        if is_guarded and not shape.is_guarded(kept & ~gone):
            cost = cost + UNGUARDED
        if not rules.allow_all:
            cost = cost + _refusal(share, each.share, arithmetic)
        shares_then = share[1], each.share[1], each.share[2] - share[0]
        offered = Best(each.node, cost, gone.bit_count(), *shares_then)  # type: ignore[arg-type]
        if best is None:
            best = offered if arithmetic is SCALAR else _spread(offered, len(cost))
        elif arithmetic is SCALAR:
            best = min(best, offered, key=lambda one: (one.cost, one.removed))
        else:
            tie = (offered.cost == best.cost) & (offered.removed < best.removed)
            wins = (offered.cost < best.cost) | tie
            pairs = zip(offered.columns(), best.columns(), strict=True)
            best = Best(*(np.where(wins, one, other) for one, other in pairs))
    return best


def _spread(best: Best, rows: int) -> Best:
    return Best(*(np.broadcast_to(column, rows) for column in best.columns()))


def degradation(candidate: Candidate, base: Triple, arithmetic: Arithmetic) -> Any:
    """Return the degradation in units."""
    least, likely, most = (new - old for new, old in zip(candidate.share, base, strict=True))
    return arithmetic.rounded(arithmetic.greater(arithmetic.greater(least, likely), most) * UNIT)


def _refusal(before: Triple, after: Triple, arithmetic: Arithmetic) -> Any:
    """Return infinity where all events would be accepted that were not before."""
    if arithmetic is SCALAR:
        return REFUSED if after[0] >= 1.0 > before[0] else 0.0
    return np.where((after[0] >= 1.0) & (before[0] < 1.0), REFUSED, 0.0)


# --- the order of all -----------------------------------------------------------------------------


def in_order(steps: Steps, rank: Whole) -> Steps:
    """Return the steps as a priority queue would take them; `rank` orders subscriptions by id."""
    if not len(steps):
        return steps
    by_cost = np.lexsort((steps.number, rank[steps.row], steps.node, steps.removed, steps.cost))
    place = np.empty(len(steps), np.int64)
    place[by_cost] = np.arange(len(steps))
    by_path = np.lexsort((steps.number, steps.row))
    apart = steps.row[by_path] * len(steps)
    place[by_path] = np.maximum.accumulate(place[by_path] + apart) - apart
    return steps.take(np.lexsort((steps.number, place)))
