"""Cut: a plan for subscriptions that nobody holds at once.

Idea. The order of all steps is that of the running maximum of each path (`steps`). So "the first so
many steps of the plan" is the same as "of each subscription, all steps up to the first that costs
more than this": one number, the cut, which a plan of a sample gives. Each subscription is then
pruned alone, anywhere.
Example. A plan of 10,000 out of ten million subscriptions bends after a step that costs 3e-5. Every
worker prunes its share of the ten million as long as a step costs no more than that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fyke.filters.filter import Filter
from fyke.pruning.predicate_statistics import PredicateStatistics
from fyke.pruning.selectivity import SCALAR
from fyke.pruning.shape import Shapes, read
from fyke.pruning.steps import Rules, choose


@dataclass(frozen=True, eq=False)
class Cut:
    """The cost that a step may have, and what is known of predicates."""

    cost: float
    """In the units of `steps`."""
    statistics: PredicateStatistics
    rules: Rules = field(default_factory=Rules)
    _shapes: Shapes = field(default_factory=Shapes)

    def prune(self, filter: Filter) -> Filter:
        """Return a filter that covers the given one; the same where no step is cheap enough."""
        key, literals = read(filter)
        shape = self._shapes.of(key)
        shares = [self.statistics.share(each).value for each in literals]
        sizes = [1.0] * shape.size
        origin = shape.share(shape.whole, shares, SCALAR)
        kept = shape.whole
        while True:
            best = choose(shape, kept, shares, sizes, origin, self.rules, SCALAR)
            if best is None or not best.cost <= self.cost:
                break
            kept = shape.without(kept, int(best.node))
        return filter if kept == shape.whole else shape.filter(kept, literals)
