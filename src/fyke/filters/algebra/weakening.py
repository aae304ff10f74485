"""Weakening: a filter replaced by one that covers it and reads less.

Both functions replace leaves by what cannot lose an event: TRUE where the leaf stands under an
even number of negations, FALSE where it stands under an odd one. The result therefore accepts
whatever the filter accepts.

Example. weaken("symbol = 'DEF' and price < 10", {"symbol"}) is "symbol = 'DEF'".
Source. MSF-12b, MSF-20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fyke.filters.algebra.normal_form import rebuilt, simplify
from fyke.filters.comparison import Compare
from fyke.filters.filter import FALSE, TRUE, Filter, Not
from fyke.filters.predicate import Predicate
from fyke.filters.residual import Residual


def weaken(filter: Filter, attributes: Iterable[str]) -> Filter:
    """Weaken a filter to the predicates on `attributes` alone. The result covers the filter."""
    kept = frozenset(attributes)
    return simplify(_relax(filter, lambda leaf: reads(leaf, kept), positive=True))


def indexable(filter: Filter) -> Filter:
    """Return the filter without residuals, as an index sees it. The result covers the filter."""
    return _relax(filter, lambda leaf: not isinstance(leaf, Residual), positive=True)


def reads(leaf: Filter, attributes: frozenset[str]) -> bool:
    """Return True if a leaf reads nothing but these attributes."""
    match leaf:
        case Compare(attribute, _, other):
            return attribute in attributes and other in attributes
        case Residual():
            return leaf.attributes is not None and leaf.attributes <= attributes
        case Predicate():
            return leaf.attribute in attributes
    return True


def _relax(filter: Filter, keeps: Callable[[Filter], bool], positive: bool) -> Filter:
    if filter.children:
        inner = positive != isinstance(filter, Not)
        return rebuilt(filter, [_relax(child, keeps, inner) for child in filter.children])
    if keeps(filter):
        return filter
    return TRUE if positive else FALSE
