"""counting: counts the satisfied predicates of each conjunction.

Idea. A filter is a disjunction of boxes, each a conjunction of literals (`normal_form.boxes`). The
index finds the predicates that the event satisfies; each of them adds one to the counter of every
box that needs it. A box whose counter reaches the number of its distinct predicates is complete,
and only then are its negated literals and residuals tried.
Example. "a = 1 and b > 2" needs 2, "a = 1 and not c = 3" needs 1. The event {a: 1, b: 0} satisfies
a = 1: the counters are 1 and 1; the second is complete, c = 3 does not hold, so it matches.
Invariant. A filter accepts an event iff one of its boxes is complete and passes its checks. A box
without positive predicates is complete for every event: its filter is unguarded.
Explosion. A filter of more than `boxes_max` boxes is not expanded. It is one box: the alternatives
of a necessary predicate (`filters.necessary`), of which one is needed, with the whole filter as
the check; where there is no necessary predicate, the filter is unguarded.
Cost. Per event: the index, then one increment for each pair of a satisfied predicate and a box that
uses it (`association`). Popular predicates thus cost as many increments as they have users: that is
the weakness of counting. Updates: the literals of the boxes.
Source. SUM-12, Algorithm 1 of the summaries' paper, step 1 and 2. Differs: distinct predicates are
counted where the paper counts attributes (c3), because a conjunction may have two constraints on
an attribute and lists forbid to intersect them (SUM-8); SUM-Q6; sets of predicates are exact, so
nothing is checked again (SUM-15) but what cannot be counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from fyke.events.event import Event
from fyke.filters.algebra.necessary import Necessary, necessary
from fyke.filters.algebra.normal_form import boxes
from fyke.filters.filter import Filter, Test
from fyke.filters.predicate import Exists, In, NotIn, Predicate, Range, TypeIs
from fyke.matching.engines.association import Association
from fyke.matching.engines.contract import Work
from fyke.matching.engines.predicate_index import PredicateIndex

BOXES_MAX: Final = 64

_RANKS: Final[dict[type[Predicate], int]] = {In: 0, TypeIs: 1, Range: 2, NotIn: 4, Exists: 5}
"""Rank of a kind of predicate as a guard, the best first; one that is not named has rank 3."""


@dataclass(slots=True, eq=False)
class _Box:
    """A conjunction: predicates to count, then tests to run."""

    slot: int
    numbers: tuple[int, ...]
    needed: int
    """The number of them that are needed: all, or one of some alternatives."""
    checks: tuple[Test, ...]
    place: int = -1
    """Among the counters."""


class CountingEngine:
    """Predicate index and counters."""

    def __init__(self, boxes_max: int = BOXES_MAX) -> None:
        self.work = Work()
        self._boxes_max = boxes_max
        self._index = PredicateIndex(self.work)
        self._users: Association[_Box] = Association()
        self._boxes: dict[int, tuple[_Box, ...]] = {}
        self._unguarded: dict[int, tuple[_Box, ...]] = {}

    @property
    def unguarded(self) -> int:
        return len(self._unguarded)

    def add(self, slot: int, filter: Filter) -> None:
        made = tuple(self._made(slot, filter))
        self._boxes[slot] = made
        if always := tuple(box for box in made if not box.needed):
            self._unguarded[slot] = always

    def remove(self, slot: int) -> None:
        for box in self._boxes.pop(slot):
            if box.needed:
                self._users.remove(box.place, box.numbers)
            for number in box.numbers:
                self._index.release(number)
        self._unguarded.pop(slot, None)

    def match(self, event: Event) -> list[int]:
        complete = self._users.reached(self._index.satisfied(event))
        complete += chain.from_iterable(self._unguarded.values())
        self.work.candidates += len({box.slot for box in complete})
        found: set[int] = set()
        for box in complete:
            if box.slot not in found and self._passes(box, event):
                found.add(box.slot)
        return sorted(found)

    def _passes(self, box: _Box, event: Event) -> bool:
        if not box.checks:
            return True
        self.work.checks += 1
        attributes = event.attributes
        for test in box.checks:
            if not test(attributes, event):
                return False
        return True

    def _made(self, slot: int, filter: Filter) -> Iterator[_Box]:
        expanded = boxes(filter, self._boxes_max)
        if expanded is None:
            guards = _guards(filter)
            yield self._box(slot, guards, min(len(guards), 1), (filter,))
            return
        for literals in {frozenset(box) for box in expanded}:
            counted = [literal for literal in literals if isinstance(literal, Predicate)]
            rest = [literal for literal in literals if not isinstance(literal, Predicate)]
            yield self._box(slot, counted, len(counted), rest)

    def _box(
        self, slot: int, counted: Iterable[Predicate], needed: int, rest: Iterable[Filter]
    ) -> _Box:
        checks = tuple(each.test() for each in rest)
        box = _Box(slot, tuple(map(self._index.acquire, counted)), needed, checks)
        if needed:
            box.place = self._users.add(box, box.numbers, needed)
        return box


def _guards(filter: Filter) -> tuple[Predicate, ...]:
    """Return alternatives of which one must hold, the most selective; empty if there are none."""
    needs = necessary(filter)
    return min(needs, key=_width).alternatives if needs else ()


def _width(need: Necessary) -> tuple[int, int]:
    """Return a key that orders necessary predicates, the better guard first."""
    return max(_RANKS.get(type(each), 3) for each in need.alternatives), len(need.alternatives)
