"""boolean: two steps, the satisfied predicates first, then the trees that can be true.

Idea. Trees are not expanded. The index finds the predicates that the event satisfies; the
association table leads to the trees that use them. A tree is a candidate if the event satisfies at
least as many of its predicates as it takes to make it true; only candidates are evaluated, on the
numbers of satisfied predicates, so that no predicate is tried twice.
Example. "a = 1 and (b = 2 or c = 3 and d = 4)" takes 2: a = 1 and b = 2. The event {a: 1, c: 0}
satisfies one of its predicates, so the tree is not looked at. {a: 1, c: 3} satisfies two; the tree
is evaluated and refused.
Fewest. A leaf takes 1, a negated leaf or a residual 0, Or the minimum, And the sum of its children.
A predicate that stands k times as a positive leaf weighs 1/k at each: one event satisfies them all
at once, and the sum must not exceed the number of distinct predicates that are satisfied. "(a = 1
or b = 2) and (a = 1 or c = 3)" takes 1/2 + 1/2, and a = 1 alone does make it true.
Invariant. A tree that accepts an event has its fewest predicates satisfied. A tree that takes 0 can
be true with none: it is unguarded and evaluated for every event. A conjunction, or a disjunction,
of positive predicates alone is decided by the count and never evaluated (PRU-3).
Cost. Per event: the index, one increment for each pair of a satisfied predicate and a tree that
uses it, and the candidates' trees. Memory is linear in the leaves, where boxes can explode.
Source. PRU-5; S. Bittner and A. Hinze, the filtering algorithm for arbitrary Boolean subscriptions
that pruning builds on. Differs: negations and residuals are allowed (the paper's trees have And and
Or only); trees are closures over sets of numbers, not byte codes; shared leaves weigh as above.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TypeAlias

from fyke.events.event import Event
from fyke.filters.algebra.normal_form import negation_normal_form, simplify
from fyke.filters.filter import And, Constant, Filter, Not, Or
from fyke.filters.predicate import Predicate
from fyke.matching.engines.association import Association
from fyke.matching.engines.contract import Work
from fyke.matching.engines.predicate_index import PredicateIndex

_Tree: TypeAlias = Callable[[set[int], Event], bool]
"""The verdict on an event, of which the satisfied predicates are known by number."""


@dataclass(slots=True, eq=False)
class _Subscription:
    """A tree, and how to come to it."""

    slot: int
    counted: tuple[int, ...]
    """The predicates that stand as positive leaves."""
    negated: tuple[int, ...]
    """The predicates that stand below a negation."""
    fewest: int
    tree: _Tree | None
    """None where the count decides."""
    place: int = -1
    """In the association table."""


class BooleanEngine:
    """Predicate index, association table, trees of candidates."""

    def __init__(self) -> None:
        self.work = Work()
        self._index = PredicateIndex(self.work)
        self._users: Association[_Subscription] = Association()
        self._subscriptions: dict[int, _Subscription] = {}
        self._unguarded: dict[int, _Subscription] = {}

    @property
    def unguarded(self) -> int:
        return len(self._unguarded)

    def add(self, slot: int, filter: Filter) -> None:
        normal = negation_normal_form(simplify(filter))
        added = self._subscription(slot, normal)
        self._subscriptions[slot] = added
        if added.fewest:
            added.place = self._users.add(added, added.counted, added.fewest)
        else:
            self._unguarded[slot] = added

    def remove(self, slot: int) -> None:
        removed = self._subscriptions.pop(slot)
        if removed.fewest:
            self._users.remove(removed.place, removed.counted)
        else:
            del self._unguarded[slot]
        for number in removed.counted + removed.negated:
            self._index.release(number)

    def match(self, event: Event) -> list[int]:
        satisfied = self._index.satisfied(event)
        candidates = self._users.reached(satisfied)
        candidates += self._unguarded.values()
        self.work.candidates += len(candidates)
        return self._accepted(candidates, set(satisfied), event)

    def _accepted(
        self, candidates: list[_Subscription], satisfied: set[int], event: Event
    ) -> list[int]:
        found = []
        for each in candidates:
            if each.tree is not None:
                self.work.checks += 1
                if not each.tree(satisfied, event):
                    continue
            found.append(each.slot)
        found.sort()
        return found

    def _subscription(self, slot: int, normal: Filter) -> _Subscription:
        uses: Counter[Predicate] = Counter()
        negated: dict[Predicate, None] = {}
        for literal in _literals(normal):
            if isinstance(literal, Predicate):
                uses[literal] += 1
            elif isinstance(literal, Not) and isinstance(literal.child, Predicate):
                negated[literal.child] = None
        counted_numbers = {each: self._index.acquire(each) for each in uses}
        negated_numbers = {each: self._index.acquire(each) for each in negated}
        tree = None if _is_counted(normal) else _tree(normal, counted_numbers | negated_numbers)
        return _Subscription(
            slot,
            tuple(counted_numbers.values()),
            tuple(negated_numbers.values()),
            ceil(_fewest(normal, uses)),
            tree,
        )


def _literals(normal: Filter) -> Iterator[Filter]:
    """Yield the leaves of a tree in negation normal form, with their negation."""
    if isinstance(normal, And | Or):
        for child in normal.children:
            yield from _literals(child)
    else:
        yield normal


def _is_counted(normal: Filter) -> bool:
    """Return True if having the fewest predicates satisfied is enough."""
    children = normal.children if isinstance(normal, And | Or) else (normal,)
    return all(isinstance(child, Predicate) for child in children)


def _fewest(normal: Filter, uses: Counter[Predicate]) -> Fraction:
    """Return a number of distinct predicates without which the tree is never true."""
    match normal:
        case And():
            return sum((_fewest(child, uses) for child in normal.children), Fraction(0))
        case Or():
            return min(_fewest(child, uses) for child in normal.children)
        case Predicate():
            return Fraction(1, uses[normal])
        case Constant(False):
            return Fraction(1)
    return Fraction(0)


# --- trees ---------------------------------------------------------------------------------------


def _tree(normal: Filter, numbers: dict[Predicate, int]) -> _Tree:
    """Return the function of a tree; leaves of one operator are one operation on sets.

    Subtrees come after the leaves, residuals last.
    """
    children = normal.children if isinstance(normal, And | Or) else (normal,)
    present: set[int] = set()
    absent: set[int] = set()
    subtrees: list[_Tree] = []
    residuals: list[_Tree] = []
    for child in children:
        if isinstance(child, Predicate):
            present.add(numbers[child])
        elif isinstance(child, Not) and isinstance(child.child, Predicate):
            absent.add(numbers[child.child])
        elif isinstance(child, And | Or):
            subtrees.append(_tree(child, numbers))
        else:
            residuals.append(_evaluated(child))
    if isinstance(normal, Or):
        return _some(frozenset(present), frozenset(absent), (*subtrees, *residuals))
    return _every(frozenset(present), frozenset(absent), (*subtrees, *residuals))


def _every(present: frozenset[int], absent: frozenset[int], rest: tuple[_Tree, ...]) -> _Tree:
    def every(satisfied: set[int], event: Event) -> bool:
        if not present <= satisfied or not absent.isdisjoint(satisfied):
            return False
        for tree in rest:
            if not tree(satisfied, event):
                return False
        return True

    return every


def _some(present: frozenset[int], absent: frozenset[int], rest: tuple[_Tree, ...]) -> _Tree:
    def some(satisfied: set[int], event: Event) -> bool:
        if not present.isdisjoint(satisfied) or not absent <= satisfied:
            return True
        for tree in rest:
            if tree(satisfied, event):
                return True
        return False

    return some


def _evaluated(leaf: Filter) -> _Tree:
    """Return a function that asks the event about a residual, its negation, or a constant."""
    test = leaf.test()
    return lambda satisfied, event: test(event.attributes, event)
