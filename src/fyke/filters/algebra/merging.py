"""Merging: several filters replaced by one that covers them all.

Idea. First drop what another filter covers. Then take out what all have in common, and join what
remains attribute by attribute: sets by union, intervals by their hull, patterns by a common prefix
or suffix, anything else by `exists`. An attribute that some filter leaves free is left free.
Example. merge("s = 'A' and p < 10", "s = 'A' and p < 12") is "s = 'A' and p < 12", perfect;
merge("p between 1 and 2", "p between 5 and 6") is "p between 1 and 6" and `excess` says what it
accepts too much: that, and neither of the two.
Invariant. The merged filter covers every input. `is_perfect` is claimed only on proof.
Source. MSF-12a, PRU-27.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fyke.events.value import Kind, kind
from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.intervals import EVERYWHERE, hull, is_point, point, span, union
from fyke.filters.algebra.normal_form import from_span, simplify
from fyke.filters.filter import FALSE, And, Filter, conjunction, disjunction, negation
from fyke.filters.predicate import Exists, In, Predicate, Range, TypeIs, ValuePredicate, equals
from fyke.filters.resolution import resolve_values
from fyke.filters.text_predicate import Like, ends_with, starts_with
from fyke.filters.texts.glob import Glob

if TYPE_CHECKING:
    from fyke.events.schema import Schema


_COVERING_TESTS_MAX = 20_000


@dataclass(frozen=True, slots=True)
class Merged:
    """`filter` covers all inputs.

    `excess` accepts exactly what it accepts too much; FALSE for a perfect merge.
    """

    filter: Filter
    excess: Filter

    @property
    def is_perfect(self) -> bool:
        return self.excess == FALSE


def merge(filters: Iterable[Filter], *, schema: Schema | None = None) -> Merged:
    """Merge filters into one that covers all; it is perfect if a single conjunction can be.

    Attributes are compared without the order that a schema declares: `resolve` the result before it
    is evaluated.
    """
    resolved = (simplify(resolve_values(each, schema)) for each in filters)
    kept = maximal(resolved, schema=schema)
    if len(kept) < 2:
        return Merged(kept[0] if kept else FALSE, FALSE)
    candidate = _shared_conjunction(kept)
    whole = disjunction(kept)
    if covers(whole, candidate, schema=schema):
        return Merged(candidate, FALSE)
    return Merged(candidate, conjunction((candidate, negation(whole))))


def maximal(filters: Iterable[Filter], *, schema: Schema | None = None) -> list[Filter]:
    """Return the filters that no other one covers; of equivalent ones, the first.

    After a number of tests the rest is kept as it is.
    """
    kept: list[Filter] = []
    tests = 0
    for each in filters:
        tests += 2 * len(kept)
        if tests > _COVERING_TESTS_MAX:
            kept.append(each)
        elif not any(covers(other, each, schema=schema) for other in kept):
            kept = [other for other in kept if not covers(each, other, schema=schema)]
            kept.append(each)
    return kept


def _shared_conjunction(filters: Sequence[Filter]) -> Filter:
    """Return a conjunction that all the filters imply."""
    parts = [each.children if isinstance(each, And) else (each,) for each in filters]
    common = [part for part in parts[0] if all(part in other for other in parts[1:])]
    loose = [
        [part for part in each if part not in common and isinstance(part, Predicate)]
        for each in parts
    ]
    return simplify(conjunction((*common, *_joined_attributes(loose))))


def _joined_attributes(loose: Sequence[Sequence[Predicate]]) -> Iterable[Filter]:
    names = dict.fromkeys(
        part.attribute for part in loose[0] if isinstance(part, ValuePredicate | Exists)
    )
    for name in names:
        choices = [
            [part for part in each if part.attribute == name and not isinstance(part, Exists)]
            for each in loose
        ]
        if all(choices):
            yield _hull(name, [each[0] for each in choices])
        elif all(any(_needs_presence(part, name) for part in each) for each in loose):
            yield Exists(name)


def _needs_presence(part: Predicate, name: str) -> bool:
    """Return True if the predicate holds only for a present attribute.

    A type may be known without its attribute.
    """
    return part.attribute == name and not isinstance(part, TypeIs)


def _hull(name: str, predicates: Sequence[Predicate]) -> Filter:
    """Return one predicate on an attribute that each of the given ones implies."""
    if all(isinstance(each, In) for each in predicates):
        return In(name, tuple(value for each in predicates for value in each.values))  # type: ignore[attr-defined]
    for attempt in (_interval_hull, _pattern_hull):
        joined = attempt(name, predicates)
        if joined is not None:
            return joined
    if all(isinstance(each, ValuePredicate) for each in predicates):
        return Exists(name)
    return simplify(disjunction(predicates))


def _interval_hull(name: str, predicates: Sequence[Predicate]) -> Filter | None:
    spans, kinds = [], set()
    for each in predicates:
        if isinstance(each, Range):
            spans.append(span(each))
            kinds.add(each.kind)
        elif isinstance(each, In):
            spans.extend(map(point, each.values))
            kinds.update(map(kind, each.values))
        else:
            return None
    if len(kinds) != 1 or not (joined := union(spans)):
        return None
    around = hull(joined)
    if around == EVERYWHERE:
        return None
    return equals(name, around[0][1]) if is_point(around) else from_span(name, around)


def _pattern_hull(name: str, predicates: Sequence[Predicate]) -> Filter | None:
    patterns: list[Glob] = []
    ignore_case = any(isinstance(each, Like) and each.ignore_case for each in predicates)
    for each in predicates:
        if isinstance(each, Like):
            patterns.append(each.pattern.folded() if ignore_case else each.pattern)
        elif isinstance(each, In) and all(kind(value) is Kind.STRING for value in each.values):
            exact = (Glob((str(value),)) for value in each.values)
            patterns.extend(pattern.folded() if ignore_case else pattern for pattern in exact)
        else:
            return None
    prefix = _shared_start([pattern.literal_prefix for pattern in patterns])
    if prefix:
        return starts_with(name, prefix, ignore_case)
    suffix = _shared_start([pattern.literal_suffix[::-1] for pattern in patterns])[::-1]
    return ends_with(name, suffix, ignore_case) if suffix else starts_with(name, "")


def _shared_start(texts: Sequence[str]) -> str:
    """Return the longest prefix of all texts. Only the least and the greatest are compared."""
    least, greatest = min(texts), max(texts)
    for at, char in enumerate(least):
        if greatest[at] != char:
            return least[:at]
    return least
