"""Estimating: the share of a predicate that nobody counted, from values, patterns and lists.

Where values of the attribute are known (`Statistics`), the share of them that the predicate
accepts. Where nothing is known, a guess by its form: an equality is rarer than an interval, a long
pattern rarer than a short one, a list as common as all it lists. All of these are guesses of ours;
what matters is their order, because pruning begins with what seems most common.
"""

from __future__ import annotations

from typing import Final

from fyke.filters.comparison import Compare
from fyke.filters.filter import Filter
from fyke.filters.predicate import Exists, In, NotIn, Predicate, Range, TypeIs, ValuePredicate
from fyke.filters.text_predicate import Like
from fyke.matching.statistics import AttributeCounts, Statistics

EQUAL: Final = 0.01
BOUND: Final = 0.35
"""Of an interval that is open to one side; of one with two ends, its square."""
LETTER: Final = 0.7
"""Each letter of a pattern makes it so much rarer."""
RARE: Final = 1e-4
PRESENT: Final = 0.9
OTHER: Final = 0.3
VALUES_MAX: Final = 1_000
"""At most this many values of an attribute are tried against a predicate."""


def estimate(leaf: Filter, known: Statistics) -> float:
    """Return the share of events that a predicate or a residual is expected to accept."""
    if not isinstance(leaf, Predicate):
        return OTHER
    if known.events:
        if isinstance(leaf, TypeIs) and known.types:
            return _share(known.types.get(leaf.name, 0), known.events)
        counts = known.attributes.get(leaf.attribute)
        if counts is not None and isinstance(leaf, ValuePredicate):
            return _share(_count_accepted(leaf, counts), known.events)
        if isinstance(leaf, Exists):
            return _share(0 if counts is None else counts.present, known.events)
    return _guess(leaf)


def _share(count: float, events: int) -> float:
    return min(count / events, 1.0) if count else 0.5 / (events + 1)


def _count_accepted(leaf: ValuePredicate, counts: AttributeCounts) -> float:
    """Return how many events of those with the attribute are expected to be accepted."""
    from fyke.matching.value_counts import scalar

    accepts = leaf.accepts()
    tried = list(counts.values.items())[:VALUES_MAX]
    total = sum(count for _, count in tried)
    accepted = sum(count for key, count in tried if accepts(scalar(key)))
    return counts.present * accepted / total if total else 0.0


def _guess(leaf: Predicate) -> float:
    match leaf:
        case In():
            return min(EQUAL * len(leaf.values), 0.5)
        case NotIn():
            return PRESENT * (1 - min(EQUAL * len(leaf.values), 0.5))
        case Range():
            return BOUND if leaf.low is None or leaf.high is None else BOUND**2
        case Like():
            letters = sum(map(len, leaf.pattern.segments))
            return max(PRESENT * LETTER**letters, RARE)
        case Exists():
            return PRESENT
        case Compare(operator="="):
            return EQUAL
    return OTHER
