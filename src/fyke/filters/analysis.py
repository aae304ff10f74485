"""Static analysis of a set of subscriptions: what is wrong, redundant or expensive before any event
arrives.

Never true, always true, duplicate, subsumed by another one, unguarded (no predicate that an index
could use, so evaluated for every event). Each finding is proved, except the estimated cost, which
is a rank.

Cost. A subscription can only be subsumed by one whose necessary predicates it implies, so
candidates are looked up by attribute and value instead of comparing all pairs; the number of
covering tests is bounded and the report says so when the bound was reached.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from fyke.events.value import sort_key
from fyke.filters.covering import covers, is_always_true, is_never_true
from fyke.filters.filter import And, Filter, Not, Or, walk
from fyke.filters.necessary import Necessary, necessary
from fyke.filters.normal_form import negation_normal_form, rebuilt, simplify
from fyke.filters.predicate import Exists, In, InNetwork, Like, Matches
from fyke.filters.residual import Residual
from fyke.filters.subscription import Subscription

if TYPE_CHECKING:
    from fyke.events.schema import Schema

COVERING_TESTS_MAX = 1_000_000
"""Covering tests that one analysis may make."""


class Problem(StrEnum):
    """What a finding is about, worst first."""

    NEVER_TRUE = "never true"
    ALWAYS_TRUE = "always true"
    DUPLICATE = "duplicate"
    SUBSUMED = "subsumed"
    UNGUARDED = "unguarded"


@dataclass(frozen=True, slots=True)
class Finding:
    """One problem of one subscription; `other` is the one it repeats or is covered by."""

    problem: Problem
    subscription: str
    other: str | None = None


@dataclass(frozen=True, slots=True)
class Analysis:
    """Findings in the order of the subscriptions.

    The estimated cost of each; whether all pairs were judged.
    """

    findings: tuple[Finding, ...]
    costs: dict[str, float]
    is_complete: bool


def analyse(
    subscriptions: Iterable[Subscription],
    *,
    schema: Schema | None = None,
    covering_tests_max: int = COVERING_TESTS_MAX,
) -> Analysis:
    """Looks at each subscription alone, then at duplicates, then at coverings."""
    everything = list(subscriptions)
    findings: dict[str, Finding] = {}
    first_with: dict[Filter, str] = {}
    for each in everything:
        finding = _alone(each, schema) or _repeated(each, first_with)
        if finding is not None:
            findings[each.id] = finding
    distinct = [
        each
        for each in everything
        if each.id not in findings or findings[each.id].problem is Problem.UNGUARDED
    ]
    search = _Subsumption(distinct, schema, covering_tests_max)
    for each in distinct:
        finding = search.finding(each)
        if finding is not None:
            findings[each.id] = finding
    return Analysis(
        findings=tuple(findings[each.id] for each in everything if each.id in findings),
        costs={each.id: estimated_cost(each.filter) for each in everything},
        is_complete=search.left > 0,
    )


def _alone(subscription: Subscription, schema: Schema | None) -> Finding | None:
    if is_never_true(subscription.filter, schema=schema):
        return Finding(Problem.NEVER_TRUE, subscription.id)
    if is_always_true(subscription.filter, schema=schema):
        return Finding(Problem.ALWAYS_TRUE, subscription.id)
    return None


def _repeated(subscription: Subscription, first_with: dict[Filter, str]) -> Finding | None:
    key = canonical_form(subscription.filter)
    first = first_with.setdefault(key, subscription.id)
    if first != subscription.id:
        return Finding(Problem.DUPLICATE, subscription.id, first)
    if not necessary(key):
        return Finding(Problem.UNGUARDED, subscription.id)
    return None


def canonical_form(filter: Filter) -> Filter:
    """Equal for filters that differ only in the order of operands, repetition or where `not`
    stands.
    """
    return _sorted(negation_normal_form(simplify(filter)))


def _sorted(filter: Filter) -> Filter:
    if isinstance(filter, And | Or):
        return rebuilt(filter, sorted(map(_sorted, filter.children), key=str))
    return filter


# --- subsumption ---------------------------------------------------------------------------------


class _Subsumption:
    """Who may cover whom.

    Each filter waits under one of its necessary predicates for those that imply it.
    """

    def __init__(
        self, subscriptions: Sequence[Subscription], schema: Schema | None, budget: int
    ) -> None:
        self.schema = schema
        self.left = budget
        self.order = {each.id: place for place, each in enumerate(subscriptions)}
        self.waiting: dict[object, list[Subscription]] = defaultdict(list)
        for each in subscriptions:
            self.waiting[_place(necessary(simplify(each.filter)))].append(each)

    def finding(self, subscription: Subscription) -> Finding | None:
        """Whether another subscription makes this one redundant.

        Of two equivalent ones the first stays.
        """
        for other in self._candidates(subscription):
            if other.id == subscription.id or not self._covers(other, subscription):
                continue
            if not self._covers(subscription, other):
                return Finding(Problem.SUBSUMED, subscription.id, other.id)
            if self.order[other.id] < self.order[subscription.id]:
                return Finding(Problem.DUPLICATE, subscription.id, other.id)
        return None

    def _covers(self, wide: Subscription, narrow: Subscription) -> bool:
        self.left -= 1
        return self.left > 0 and covers(wide.filter, narrow.filter, schema=self.schema)

    def _candidates(self, subscription: Subscription) -> Iterator[Subscription]:
        yield from self.waiting.get(None, ())
        for attribute, places in _implied(subscription.filter).items():
            for place in (attribute, *places):
                yield from self.waiting.get(place, ())


def _place(needs: Sequence[Necessary]) -> object:
    """Under its equality where it has one, else under an attribute, else under None."""
    for each in needs:
        if all(isinstance(leaf, In) for leaf in each.alternatives) and len(each.alternatives) == 1:
            leaf = each.alternatives[0]
            if isinstance(leaf, In) and len(leaf.values) == 1:
                return each.attribute, sort_key(leaf.values[0])
    return needs[0].attribute if needs else None


def _implied(filter: Filter) -> dict[str, set[tuple[str, object]]]:
    """Per attribute that the filter speaks of, the equalities it names."""
    implied: dict[str, set[tuple[str, object]]] = defaultdict(set)
    for node in walk(filter):
        attribute = getattr(node, "attribute", None)
        if attribute is None:
            continue
        implied[attribute]
        if isinstance(node, In):
            implied[attribute].update((attribute, sort_key(value)) for value in node.values)
    return implied


# --- cost ----------------------------------------------------------------------------------------

_UNGUARDED_FACTOR = 100.0


def estimated_cost(filter: Filter) -> float:
    """A rank, not a time: equality costs 1; what no index guards is evaluated for every event."""
    work = sum(_leaf_cost(node) for node in walk(filter))
    return work if necessary(simplify(filter)) else work * _UNGUARDED_FACTOR


def _leaf_cost(node: Filter) -> float:
    match node:
        case And() | Or() | Not():
            return 0.1
        case Residual():
            return 20.0
        case Matches():
            return 10.0
        case Like() | InNetwork():
            return 3.0
        case Exists():
            return 0.5
    return 1.0
