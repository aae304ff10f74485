"""Reads: the attributes of an event on which a filter's verdict may depend."""

from __future__ import annotations

from fyke.filters.comparison import Compare
from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import Predicate
from fyke.filters.residual import Residual


def reads(filter: Filter) -> frozenset[str] | None:
    """Return the attributes that a filter reads; None if it may read anything."""
    found: set[str] = set()
    for node in walk(filter):
        if isinstance(node, Residual):
            if node.attributes is None:
                return None
            found |= node.attributes
        elif isinstance(node, Predicate):
            found.add(node.attribute)
            if isinstance(node, Compare):
                found.add(node.other)
    return frozenset(found)
