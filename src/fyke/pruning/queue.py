"""PruningQueue: the least harmful pruning first, while shares change (PRU-21, PRU-22).

Idea. A queue of (cost of the best pruning, id). Costs come from counters that go on counting, so a
cost that was true when it was pushed may be wrong when it is popped. Then it is computed again, and
goes back into the queue where it has drifted beyond `tolerance` and is no longer the least.
Example. a waits with 0.1 and b with 0.2. Meanwhile a's predicate has become common: 0.9. Popped, a
is looked at again, goes back with 0.9, and b is pruned first.
Invariant. With shares that stand still, the order is that of `steps.in_order`.
Cost. O(log n) per pruning and as many tree evaluations as costs that drifted.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from fyke.filters.filter import Filter
from fyke.pruning.selectivity import SCALAR
from fyke.pruning.shape import Shape, Shapes, read
from fyke.pruning.steps import REFUSED, UNIT, Rules, choose

ShareOf: TypeAlias = Callable[[Filter], float]
"""The share of the events that satisfy a literal, as far as is known now."""
Key: TypeAlias = tuple[float, int, int, str]
"""Cost in the units of `steps`, predicates removed, node, id."""
TOLERANCE: Final = 0.1


@dataclass(slots=True)
class Standing:
    """A subscription in a queue, with the leaves that are left."""

    id: str
    shape: Shape
    literals: Sequence[Filter]
    kept: int

    @classmethod
    def of(cls, id: str, filter: Filter, shapes: Shapes) -> Standing:
        key, literals = read(filter)
        shape = shapes.of(key)
        return cls(id, shape, literals, shape.whole)

    @property
    def filter(self) -> Filter:
        return self.shape.filter(self.kept, self.literals)

    def best(self, share_of: ShareOf, rules: Rules) -> Key | None:
        """Return the cost of the best pruning now, with what decides ties; None if none is left."""
        shares = [share_of(literal) for literal in self.literals]
        whole = self.shape.whole
        origin = self.shape.share(whole, shares, SCALAR) if rules.is_cumulative else None
        best = choose(self.shape, self.kept, shares, [1.0] * len(shares), origin, rules, SCALAR)
        if best is None or best.cost == REFUSED:
            return None
        return best.cost, best.removed, best.node, self.id  # type: ignore[return-value]

    def prune(self, node: int) -> None:
        """Take a node away."""
        self.kept = self.shape.without(self.kept, node)


@dataclass(frozen=True, slots=True)
class Pruned:
    """One pruning that was done. `cost` is the degradation as a share of the events."""

    id: str
    filter: Filter
    dropped: Filter
    cost: float


@dataclass(slots=True)
class PruningQueue:
    """Subscriptions by the cost of their best pruning."""

    share_of: ShareOf
    rules: Rules = field(default_factory=Rules)
    tolerance: float = TOLERANCE
    """A cost that has changed by at most this part of itself is still believed."""
    reinserted: int = 0
    _shapes: Shapes = field(default_factory=Shapes)
    _standing: dict[str, Standing] = field(default_factory=dict)
    _heap: list[Key] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._standing)

    def __contains__(self, id: object) -> bool:
        return id in self._standing

    def add(self, id: str, filter: Filter) -> bool:
        """Add a subscription, or give it another filter. Return True if it can be pruned."""
        self._standing[id] = Standing.of(id, filter, self._shapes)
        return self._push(self._standing[id])

    def discard(self, id: str) -> None:
        """Forget a subscription. What waits of it in the heap is passed over."""
        self._standing.pop(id, None)

    def pop(self) -> Pruned | None:
        """Do the least harmful pruning; None if nothing can be pruned."""
        while self._heap:
            key = heapq.heappop(self._heap)
            standing = self._standing.get(key[3])
            now = None if standing is None else standing.best(self.share_of, self.rules)
            if standing is None or now is None:
                continue
            if self._has_drifted(key, now) and self._heap and self._heap[0] < now:
                heapq.heappush(self._heap, now)
                self.reinserted += 1
                continue
            return self._prune(standing, now)
        return None

    def _has_drifted(self, key: Key, now: Key) -> bool:
        return now[2] != key[2] or abs(now[0] - key[0]) > self.tolerance * abs(key[0])

    def _prune(self, standing: Standing, key: Key) -> Pruned:
        cost, _, node, _ = key
        gone = standing.shape.leaves[node] & standing.kept
        dropped = standing.shape.filter(gone, standing.literals, node)
        standing.prune(node)
        self._push(standing)
        return Pruned(standing.id, standing.filter, dropped, cost / UNIT)

    def _push(self, standing: Standing) -> bool:
        key = standing.best(self.share_of, self.rules)
        if key is not None:
            heapq.heappush(self._heap, key)
        return key is not None
