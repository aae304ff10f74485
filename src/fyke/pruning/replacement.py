"""Replacement: a predicate gives way to one that covers it and is used already (PRU-10, PRU-24).

Idea. The engine `boolean` stores a predicate once, however many subscriptions use it. If all users
of `price < 10` take `price < 15` instead, which others use, one predicate less is stored. Trees
keep their size. A negated leaf is replaced by one that it covers: `not a < 5` by `not a < 3`.
Example. PRU-X5: in s1, price < 10 becomes price < 15; six predicates, five of them distinct.
Order. The replacement that is expected to let in least, over all subscriptions that share the
predicate, comes first. What a replacement costs changes when others are done, so a cost is computed
again when it is popped (as in `queue`).
Invariant. What comes out covers what went in; the number of distinct predicates falls by one a
step. A predicate that stands both plain and negated is left alone: it would grow and shrink.
Cost. `NEAREST` covering tests a predicate, and an evaluation of each tree that uses it.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.normal_form import rebuilt
from fyke.filters.filter import Filter, Not, negation
from fyke.filters.predicate import Predicate
from fyke.matching.matcher import Matcher
from fyke.pruning.predicate_statistics import PredicateStatistics
from fyke.pruning.selectivity import SCALAR
from fyke.pruning.shape import Shape, read

NEAREST: Final = 16
"""At most this many predicates of an attribute are tried, the nearest in selectivity first."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """One step: `old` is gone from all subscriptions, which have `new` instead."""

    old: Predicate
    new: Predicate
    subscriptions: tuple[str, ...]
    cost: float
    """The likely shares of these subscriptions, together, grow by this much."""


@dataclass(slots=True)
class Replacing:
    """Subscriptions in which predicates are replaced, the cheapest first."""

    statistics: PredicateStatistics
    filters: dict[str, Filter]
    _users: dict[Predicate, dict[str, None]] = field(default_factory=dict)
    _signs: dict[Predicate, set[bool]] = field(default_factory=dict)
    """Holds True if a predicate stands negated somewhere, and False if it stands plain."""
    _by_attribute: dict[str, list[tuple[float, str, Predicate]]] = field(default_factory=dict)

    @classmethod
    def of(cls, matcher: Matcher, statistics: PredicateStatistics) -> Replacing:
        made = cls(statistics, dict(matcher.items()))
        for id, filter in made.filters.items():
            for literal in read(filter)[1]:
                leaf = literal.child if isinstance(literal, Not) else literal
                if isinstance(leaf, Predicate):
                    made._users.setdefault(leaf, {})[id] = None
                    made._signs.setdefault(leaf, set()).add(isinstance(literal, Not))
        for leaf in made._users:
            place = made._share(leaf), str(leaf), leaf
            made._by_attribute.setdefault(leaf.attribute, []).append(place)
        for places in made._by_attribute.values():
            places.sort(key=lambda place: place[:2])
        return made

    @property
    def predicates(self) -> int:
        """The number of distinct predicates that are left."""
        return len(self._users)

    def run(self) -> Iterator[Replacement]:
        """Do one replacement after the other, until none is left; yield each."""
        waiting: list[tuple[float, str, Predicate]] = []
        for leaf in list(self._users):
            if (step := self._best(leaf)) is not None:
                waiting.append((step.cost, str(leaf), leaf))
        heapq.heapify(waiting)
        while waiting:
            cost, text, leaf = heapq.heappop(waiting)
            step = self._best(leaf)
            if step is None:
                continue
            if step.cost > cost and waiting and waiting[0][0] < step.cost:
                heapq.heappush(waiting, (step.cost, text, leaf))
                continue
            self._do(step)
            yield step

    def _share(self, leaf: Filter) -> float:
        return self.statistics.share(leaf).value

    def _best(self, old: Predicate) -> Replacement | None:
        if old not in self._users or len(self._signs[old]) > 1:
            return None
        (is_negated,) = self._signs[old]
        new = self._nearest(old, is_negated)
        if new is None:
            return None
        users = tuple(self._users[old])
        return Replacement(old, new, users, sum(self._growth(id, old, new) for id in users))

    def _nearest(self, old: Predicate, is_negated: bool) -> Predicate | None:
        """Return the nearest predicate in use that covers this one; if negated, is covered."""
        places = self._by_attribute[old.attribute]
        at = bisect_left(places, (self._share(old), str(old)), key=lambda place: place[:2])
        below, above = places[max(at - NEAREST, 0) : at][::-1], places[at : at + NEAREST]
        for _, _, new in below if is_negated else above:
            wide, narrow = (old, new) if is_negated else (new, old)
            if new != old and self._signs[new] == self._signs[old] and covers(wide, narrow):
                return new
        return None

    def _growth(self, id: str, old: Predicate, new: Predicate) -> float:
        key, literals = read(self.filters[id])
        shape, shares = Shape(key), [self._share(each) for each in literals]
        swapped = {old: new, negation(old): negation(new)}
        then = [self._share(swapped.get(each, each)) for each in literals]
        before, after = (shape.share(shape.whole, each, SCALAR)[1] for each in (shares, then))
        return max(float(after - before), 0.0)

    def _do(self, step: Replacement) -> None:
        for id in step.subscriptions:
            self.filters[id] = substitute(self.filters[id], step.old, step.new)
        self._users[step.new].update(self._users.pop(step.old))
        places = self._by_attribute[step.old.attribute]
        places.remove((self._share(step.old), str(step.old), step.old))


def substitute(filter: Filter, old: Filter, new: Filter) -> Filter:
    """Return the filter with one leaf in place of another."""
    if not filter.children:
        return new if filter == old else filter
    return rebuilt(filter, [substitute(child, old, new) for child in filter.children])
