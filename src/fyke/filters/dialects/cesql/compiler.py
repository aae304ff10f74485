"""Expressions compiled to filters, by two sets per operator: where it is true, where it is false.

Idea. CESQL's logic has a third outcome, the error, which an event must not have to be accepted.
Errors are not symmetric: `a = 'x' OR b = 'y'` is an error where `a` is missing, whatever `b` is,
but not where `b` is missing and `a` is x. So each operator becomes the events that make it true
and those that make it false; what is left are the errors.

    NOT p      true:  p false                             false: p true
    p AND q    true:  p true and q true                   false: p false, or p no error and q false
    p OR q     true:  p true, or p no error and q true    false: p false and q false
    p XOR q    true:  one true and one false              false: both true or both false

Example. a = 'x' OR b = 'y'  is  a = 'x' or (a is not null and b = 'y').
Invariant. Both sets are exact; residuals stand only in the leaves (see `atoms`).
Cost. An operand may occur in several places, n operands of AND and OR in n log n. An operator
that outgrows its expression becomes one residual, behind the presence of what it surely reads.
Source. CloudEvents SQL 1.0, sections 1.2 and 3.2 to 3.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from fyke.filters.algebra.normal_form import rebuilt, simplify
from fyke.filters.dialects.cesql.atoms import negated, operand
from fyke.filters.dialects.cesql.meaning import Meaning, Pending, checked, type_of
from fyke.filters.dialects.cesql.syntax import (
    NOT_AN_ATTRIBUTE,
    Expression,
    Logic,
    LogicNot,
    Variable,
)
from fyke.filters.dialects.cesql.text_forms import present
from fyke.filters.filter import FALSE, TRUE, And, Filter, Or, conjunction, disjunction, walk
from fyke.filters.predicate import In, NotIn, Predicate

_DEPTH_MAX: Final = 80
_NODES_FREE: Final = 256
_NODES_PER_LEAF: Final = 32
_NODES_MAX: Final = 20_000
"""Below what the native language reads by default: every filter reads back from its text."""


def compile_expression(expression: Expression) -> Filter:
    """Return the filter of exactly the events on which the expression is true without an error."""
    if isinstance(expression, Variable):
        return FALSE if expression.name == NOT_AN_ATTRIBUTE else In(expression.name, (True,))
    if type_of(expression) is not bool:
        return FALSE
    return simplify(_settle(_meaning(expression).true))


def _settle(filter: Filter) -> Filter:
    if filter.children:
        return rebuilt(filter, map(_settle, filter.children))
    return filter.settled() if isinstance(filter, Pending) else filter


def _meaning(expression: Expression) -> Meaning:
    match expression:
        case Logic(operator, operands):
            return _logic(expression, operator, [_meaning(each) for each in operands])
        case LogicNot(Logic() | LogicNot() as inner):
            return _meaning(inner).inverse()
        case LogicNot(inner):
            return negated(inner).inverse()
    return operand(expression)


def _logic(expression: Expression, operator: str, parts: Sequence[Meaning]) -> Meaning:
    leaves = sum(part.leaves for part in parts)
    nodes_max = min(_NODES_FREE + _NODES_PER_LEAF * leaves, _NODES_MAX)
    match operator:
        case "AND":
            meaning = _and(parts)
        case "OR":
            meaning = _and([part.inverse() for part in parts]).inverse()
        case _:
            meaning = _xor(parts, nodes_max)
    if _outgrows(meaning.true, nodes_max) or _outgrows(meaning.false, nodes_max):
        meaning = checked(expression)
    return replace(meaning, leaves=leaves)


def _and(parts: Sequence[Meaning]) -> Meaning:
    return Meaning(_all(part.true for part in parts), _some_false(parts), _shared_needs(parts))


def _some_false(parts: Sequence[Meaning]) -> Filter:
    """Accept if some operand is false, and the operands before it are not errors."""
    if len(parts) == 1:
        return parts[0].false
    middle = len(parts) // 2
    before, later = parts[:middle], _some_false(parts[middle:])
    needed = frozenset[str]().union(*(part.needs for part in before if part.needs is not None))
    there = [present(name) for name in sorted(needed - _implied(later))]
    undecided = [part.true for part in before if part.needs is None]
    return _any([_some_false(before), _all([*there, *undecided, later])])


def _shared_needs(parts: Sequence[Meaning]) -> frozenset[str] | None:
    """Return the needs of the first operand, if no other operand needs more."""
    first = parts[0].needs
    if first is None or any(part.needs is None or not part.needs <= first for part in parts):
        return None
    return first


def _xor(parts: Sequence[Meaning], nodes_max: int) -> Meaning:
    left = parts[0]
    for right in parts[1:]:
        needs = None if left.needs is None or right.needs is None else left.needs | right.needs
        left = Meaning(
            _any([_all([left.true, right.false]), _all([left.false, right.true])]),
            _any([_all([left.true, right.true]), _all([left.false, right.false])]),
            needs,
        )
        if _outgrows(left.true, nodes_max):
            break
    return left


# --- small trees ----------------------------------------------------------------------------------


def _all(filters: Iterable[Filter]) -> Filter:
    kept = list(dict.fromkeys(filter for filter in filters if filter != TRUE))
    return FALSE if FALSE in kept else conjunction(kept)


def _any(filters: Iterable[Filter]) -> Filter:
    kept = list(dict.fromkeys(filter for filter in filters if filter != FALSE))
    return TRUE if TRUE in kept else disjunction(kept)


def _outgrows(filter: Filter, nodes_max: int) -> bool:
    if filter.depth > _DEPTH_MAX:
        return True
    return any(count >= nodes_max for count, _ in enumerate(walk(filter)))


def _implied(filter: Filter) -> frozenset[str]:
    """Return the attributes that are present, and not null, on every accepted event."""
    match filter:
        case And():
            return frozenset[str]().union(*map(_implied, filter.children))
        case Or():
            return frozenset.intersection(*map(_implied, filter.children))
        case NotIn(attribute, values) if None in values:
            return frozenset({attribute})
        case In(attribute, values) if None in values:
            return frozenset()
        case Predicate() if not isinstance(filter, NotIn):
            return frozenset({filter.attribute})
    return frozenset()
