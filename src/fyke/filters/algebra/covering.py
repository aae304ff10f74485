"""covers, overlaps, equivalent: inclusion of filters as sets of events.

Idea. a covers b iff nothing satisfies "b and not a". That formula, in negation normal form, is
searched for a consistent branch: conjunctions are laid open, disjunctions are tried one child at a
time, and a branch closes as soon as its literals on one attribute contradict each other.
Contradiction. An attribute is missing, or holds a set of scalars. A positive predicate P needs an
element in P, a negated one N forbids all elements in N; so the literals contradict iff some P lies
within the union of the Ns. Where a schema says that the attribute is single-valued, all Ps must
meet in one element, outside of the Ns.
Schema. Filters are resolved first: an enumeration compares in its own order.
Required. What a schema requires of a type is there wherever a branch names the type, and what it
requires of every event is there from the start. So "a between 0 and 100" covers "type is T" where
`a` is required of T and declared from 0 to 100.
Parts. A conjunction covers b iff each of its parts does, so they are asked one by one.
Example. covers("price < 10", "price < 5"): the branch { price < 5, not price < 10 } closes, so yes.
Invariant. A branch is closed only on proof and the search gives up open when its budget ends:
`covers` may miss a yes, and never says a wrong one, which would lose events. `overlaps` errs to
the other side: its no is proved.
Dense. Between two different numbers, strings or timestamps there is taken to be another one, unless
a schema declares a finite domain; so "later than noon" is not seen to mean "from a microsecond
after noon on".
Cost. About linear in predicates for conjunctions; exponential in disjunctions at worst, cut off by
the budget.
Source. SUM-10, MSF-4, DAS-16, DAS-17, PRU-12.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from fyke.filters.algebra.domain import within_domain
from fyke.filters.algebra.normal_form import negation_normal_form, simplify
from fyke.filters.algebra.value_set import (
    ANYTHING,
    NOTHING,
    ValueSet,
    accepted,
    shared,
    unite,
    without,
)
from fyke.filters.comparison import Compare
from fyke.filters.filter import TRUE, And, Constant, Filter, Not, Or, negation, walk
from fyke.filters.predicate import Exists, In, Predicate, TypeIs, ValuePredicate
from fyke.filters.resolution import resolve_values

if TYPE_CHECKING:
    from fyke.events.schema import Schema

BUDGET = 100_000
"""Literals that one question may look at."""


def covers(
    wide: Filter, narrow: Filter, *, schema: Schema | None = None, budget: int = BUDGET
) -> bool:
    """Return True if it is proved that `wide` accepts every event that `narrow` accepts."""
    if wide == narrow:
        return True
    wide, narrow = resolve_values(wide, schema), resolve_values(narrow, schema)
    search = _Search(schema, budget)
    known = frozenset(_conjuncts(_normal(narrow)))
    return all(
        part in known or not search.is_satisfiable([narrow, negation(part)])
        for part in _conjuncts(_normal(wide))
    )


def _conjuncts(normal: Filter) -> tuple[Filter, ...]:
    return normal.children if isinstance(normal, And) else (normal,)


def overlaps(
    one: Filter, other: Filter, *, schema: Schema | None = None, budget: int = BUDGET
) -> bool:
    """Return False if it is proved that no event is accepted by both filters."""
    filters = [resolve_values(one, schema), resolve_values(other, schema)]
    return _Search(schema, budget).is_satisfiable(filters)


def equivalent(
    one: Filter, other: Filter, *, schema: Schema | None = None, budget: int = BUDGET
) -> bool:
    """Return True if it is proved that both filters accept the same events."""
    return covers(one, other, schema=schema, budget=budget) and covers(
        other, one, schema=schema, budget=budget
    )


def is_never_true(filter: Filter, *, schema: Schema | None = None, budget: int = BUDGET) -> bool:
    """Return True if it is proved that no event is accepted."""
    return not _Search(schema, budget).is_satisfiable([resolve_values(filter, schema)])


def is_always_true(filter: Filter, *, schema: Schema | None = None, budget: int = BUDGET) -> bool:
    """Return True if it is proved that every event is accepted."""
    return not _Search(schema, budget).is_satisfiable([negation(resolve_values(filter, schema))])


def open_branch(
    filter: Filter, *, schema: Schema | None = None, budget: int = BUDGET
) -> Branch | None:
    """Return one way in which a filter may hold.

    What `covers` cannot refute, it cannot prove covered.

    Return None if every way is refuted, or if the budget ends before one is found.
    """
    return _Search(schema, budget).first_open([resolve_values(filter, schema)])


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that a branch holds about one attribute."""

    present: bool = False
    missing: bool = False
    some_in: tuple[ValueSet, ...] = ()
    """Each needs an element of the attribute. With a single-valued attribute the first stands for
    all, and those with languages follow: what they share with a span is known as a span only."""
    none_in: ValueSet = NOTHING


@dataclass(frozen=True, slots=True)
class Branch:
    """The literals taken so far.

    Facts per attribute, and leaves that are only compared as they are.
    """

    facts: dict[str, Facts]
    opaque: frozenset[Filter]


_EMPTY = Branch({}, frozenset())


@dataclass(frozen=True, slots=True)
class _Laid:
    """A branch with all literals of a filter, and the disjunctions still to choose from."""

    branch: Branch
    alternatives: tuple[Or, ...]


class _Exhausted(Exception):
    pass


# One filter is often held against many others, so what is known of it alone is kept for a while.


@lru_cache(maxsize=4096)
def _normal(filter: Filter) -> Filter:
    return negation_normal_form(simplify(filter))


@lru_cache(maxsize=1024)
def _laid(normal: Filter, schema: Schema | None, budget: int) -> _Laid | None:
    search = _Search(schema, budget)
    start = _EMPTY if schema is None else search.with_required(_EMPTY, schema.required_of(None))
    return None if start is None else search.lay(start, [normal])


@lru_cache(maxsize=4096)
def _attributes(alternative: Or) -> frozenset[str]:
    return frozenset(leaf.attribute for leaf in walk(alternative) if isinstance(leaf, Predicate))


def _openness(branch: Branch, alternative: Or) -> tuple[int, int]:
    """Return a sort key: alternatives that are likely to close soon come first.

    These have few children, on attributes that the branch knows already.
    """
    return len(_attributes(alternative) - branch.facts.keys()), len(alternative.children)


class _Search:
    def __init__(self, schema: Schema | None, budget: int) -> None:
        self.schema = schema
        self.budget = budget
        self.left = budget

    def is_satisfiable(self, filters: Sequence[Filter]) -> bool:
        """Return False only if every branch closes before the budget ends."""
        try:
            return self._open(filters) is not None
        except _Exhausted:
            return True

    def first_open(self, filters: Sequence[Filter]) -> Branch | None:
        """Return a branch that stays open; None if none is found before the budget ends."""
        try:
            return self._open(filters)
        except _Exhausted:
            return None

    def _open(self, filters: Sequence[Filter]) -> Branch | None:
        first, *others = (_normal(each) for each in filters)
        laid = _laid(first, self.schema, self.budget)
        if laid is None:
            return None
        return self._through(laid.branch, [*laid.alternatives, *others])

    def _through(self, branch: Branch, todo: Sequence[Filter]) -> Branch | None:
        """Return a consistent branch that takes in all of `todo`; None if there is none."""
        waiting: list[tuple[Branch, Sequence[Filter], Filter]] = [(branch, todo, TRUE)]
        while waiting:
            branch, others, chosen = waiting.pop()
            laid = self.lay(branch, [*others, chosen])
            if laid is None:
                continue
            if not laid.alternatives:
                return laid.branch
            self._spend(len(laid.alternatives))
            first, *others = sorted(laid.alternatives, key=partial(_openness, laid.branch))
            waiting.extend((laid.branch, others, child) for child in reversed(first.children))
        return None

    def lay(self, branch: Branch, todo: Sequence[Filter]) -> _Laid | None:
        """Take all literals of `todo` into the branch; None if that closes it."""
        alternatives: list[Or] = []
        forbidden: dict[str, list[ValuePredicate]] = {}
        pending = list(todo)
        while pending:
            each = pending.pop()
            match each:
                case And():
                    pending.extend(each.children)
                case Or():
                    alternatives.append(each)
                case Constant(value):
                    if not value:
                        return None
                case Not() if isinstance(each.child, ValuePredicate):
                    forbidden.setdefault(each.child.attribute, []).append(each.child)
                case _:
                    following = self._with(branch, each)
                    if following is None:
                        return None
                    branch = following
        for attribute, leaves in forbidden.items():
            following = self._without(branch, attribute, leaves)
            if following is None:
                return None
            branch = following
        return _Laid(branch, tuple(alternatives))

    def _spend(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise _Exhausted

    # --- one literal more; None closes the branch

    def _with(self, branch: Branch, literal: Filter) -> Branch | None:
        self._spend(1 + len(branch.opaque))
        positive = not isinstance(literal, Not)
        leaf = literal if positive else literal.children[0]
        match leaf:
            case ValuePredicate():
                return self._with_value(branch, leaf)
            case Exists(attribute):
                return self._with_presence(branch, attribute, positive)
        return self._with_opaque(branch, leaf, literal, positive)

    def _with_value(self, branch: Branch, leaf: ValuePredicate) -> Branch | None:
        name, values = leaf.attribute, within_domain(accepted(leaf), leaf.attribute, self.schema)
        facts = branch.facts.get(name, Facts())
        self._spend((1 + len(facts.some_in)) * (1 + facts.none_in.size // 8))
        if self._is_single(name) and facts.some_in:
            first, *others = facts.some_in
            apart = [each for each in (*(others or [first]), values) if each.languages]
            facts = replace(facts, present=True, some_in=(shared(first, values), *apart))
        else:
            facts = replace(facts, present=True, some_in=(*facts.some_in, values))
        following = self._with_facts(branch, name, facts)
        if following is None or name != "type":
            return following
        if isinstance(leaf, In) and self._contradicts_type(following, leaf):
            return None
        return self._with_named_types(following)

    def _without(
        self, branch: Branch, name: str, leaves: Sequence[ValuePredicate]
    ) -> Branch | None:
        """Add that no element of the attribute is accepted by one of the leaves."""
        facts = branch.facts.get(name, Facts())
        none_in = unite((facts.none_in, *map(accepted, leaves)))
        self._spend((1 + len(facts.some_in)) * (1 + none_in.size // 8))
        following = self._with_facts(branch, name, replace(facts, none_in=none_in))
        if following is None or name != "type":
            return following
        return self._with_named_types(following)

    def _with_presence(self, branch: Branch, attribute: str, positive: bool) -> Branch | None:
        facts = branch.facts.get(attribute, Facts())
        facts = replace(facts, present=True) if positive else replace(facts, missing=True)
        return self._with_facts(branch, attribute, facts)

    def _with_facts(self, branch: Branch, name: str, facts: Facts) -> Branch | None:
        if facts.missing and facts.present:
            return None
        needed = facts.some_in
        if not needed and facts.present and self._is_single(name):
            needed = (within_domain(ANYTHING, name, self.schema),)
        for values in needed:
            left = without(values, facts.none_in)
            if within_domain(left, name, self.schema).is_empty:
                return None
        return Branch({**branch.facts, name: facts}, branch.opaque)

    def _with_opaque(
        self, branch: Branch, leaf: Filter, literal: Filter, positive: bool
    ) -> Branch | None:
        for taken in branch.opaque:
            narrow, wide = (literal, taken) if positive else (taken, literal)
            if isinstance(narrow, Not) or not isinstance(wide, Not):
                continue
            if self._leaf_covers(wide.child, narrow):
                return None
        following: Branch | None = Branch(branch.facts, branch.opaque | {literal})
        assert following is not None
        if positive and isinstance(leaf, Compare):
            for attribute in (leaf.attribute, leaf.other):
                following = self._with_presence(following, attribute, positive=True)
                if following is None:
                    return None
        if not isinstance(leaf, TypeIs):
            return following
        if positive:
            return self._with_type(following, [leaf.name])
        return None if self._contradicts_type(following) else following

    # --- attributes that a schema requires

    def _with_type(self, branch: Branch, names: Iterable[object]) -> Branch | None:
        """Add the attributes that all of some types require: the event is of one of them."""
        if self.schema is None:
            return branch
        first, *others = (self.schema.required_of(str(name)) for name in names)
        return self.with_required(
            branch, [each for each in first if all(each in required for required in others)]
        )

    def _with_named_types(self, branch: Branch) -> Branch | None:
        """Add the types that the branch names: `type in ('A', 'B') and not type = 'B'` names A."""
        facts = branch.facts["type"]
        left = (without(values, facts.none_in) for values in facts.some_in)
        following: Branch | None = branch
        for names in _names(left):
            following = following and self._with_type(following, names)
        return following

    def with_required(self, branch: Branch, names: Iterable[str]) -> Branch | None:
        following: Branch | None = branch
        for name in names:
            following = following and self._with_presence(following, name, positive=True)
        return following

    # --- leaves that are no sets of values

    def _leaf_covers(self, wide: Filter, narrow: Filter) -> bool:
        match wide, narrow:
            case TypeIs(general), TypeIs(special):
                return self._conforms(special, general)
            case Compare(), Compare():
                return wide in _weaker(narrow)
        return wide == narrow

    def _contradicts_type(self, branch: Branch, leaf: In | None = None) -> bool:
        """Return True if all named types conform to an excluded one.

        An example is `type = 'Stock'` beside `not type is Stock`.
        """
        excluded = [
            each.child.name
            for each in branch.opaque
            if isinstance(each, Not) and isinstance(each.child, TypeIs)
        ]
        named = [leaf.values] if leaf else _names(branch.facts.get("type", Facts()).some_in)
        return any(
            all(
                isinstance(name, str) and any(self._conforms(name, each) for each in excluded)
                for name in names
            )
            for names in named
        )

    def _conforms(self, special: str, general: str) -> bool:
        if special == general:
            return True
        return self.schema is not None and self.schema.conforms(special, general)

    def _is_single(self, attribute: str) -> bool:
        return self.schema is not None and self.schema.is_single(attribute)


def _names(sets: Iterable[ValueSet]) -> Iterable[tuple[object, ...]]:
    """Yield the type names of each set that holds some strings and nothing else."""
    for values in sets:
        if values == ValueSet(strings=values.strings) and all(
            low[1:2] == high[1:2] for low, high in values.strings
        ):
            yield tuple(low[1] for low, _ in values.strings)


def _weaker(compare: Compare) -> set[Filter]:
    """Return the comparisons of two attributes that a comparison implies, written either way."""
    implied = {
        "=": ["="],
        "!=": ["!="],
        "<": ["<", "<=", "!="],
        "<=": ["<="],
        ">": [">", ">=", "!="],
        ">=": [">="],
    }[compare.operator]
    mirrored = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
    return {Compare(compare.attribute, each, compare.other) for each in implied} | {
        Compare(compare.other, mirrored[each], compare.attribute) for each in implied
    }
