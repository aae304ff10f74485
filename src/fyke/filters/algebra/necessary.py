"""Necessary predicates: what every event that a filter accepts must satisfy.

An index stores a filter under one of them and looks at the filter only when that predicate holds.
A conjunction needs whatever a child needs. A disjunction needs what all its children need; where
they all speak of one attribute, the union of what they say about it. Negations need nothing: they
hold where attributes are missing.

Example. "a = 1 and (b = 2 or b > 5 and c = 1)" needs a = 1, and one of b = 2, b > 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from fyke.filters.comparison import Compare
from fyke.filters.filter import And, Constant, Filter, Or
from fyke.filters.predicate import Predicate


@dataclass(frozen=True, slots=True)
class Necessary:
    """Alternatives on one attribute, of which at least one holds for every accepted event."""

    attribute: str
    alternatives: tuple[Predicate, ...]


def necessary(filter: Filter) -> tuple[Necessary, ...]:
    """Return the necessary predicates that are found; empty if there are none."""
    match filter:
        case And():
            found = (each for child in filter.children for each in necessary(child))
            return tuple(dict.fromkeys(found))
        case Or():
            return _of_alternatives([child for child in filter.children if not _is_false(child)])
        case Compare(attribute, _, other):
            return Necessary(attribute, (filter,)), Necessary(other, (filter,))
        case Predicate():
            return (Necessary(filter.attribute, (filter,)),)
    return ()


def _of_alternatives(children: list[Filter]) -> tuple[Necessary, ...]:
    needs = [{each.attribute: each for each in reversed(necessary(child))} for child in children]
    if not needs:
        return ()
    shared = [name for name in needs[0] if all(name in each for each in needs[1:])]
    return tuple(
        Necessary(
            name,
            tuple(dict.fromkeys(leaf for each in needs for leaf in each[name].alternatives)),
        )
        for name in shared
    )


def _is_false(filter: Filter) -> bool:
    return isinstance(filter, Constant) and not filter.value
