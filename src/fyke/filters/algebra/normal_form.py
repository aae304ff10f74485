"""Normal forms that keep the meaning: simplification, negation normal form, boxes.

Lists forbid the textbook's shortcuts. `a > 1 and a < 5` accepts [0, 9], so conjunctions of bounds
do not fold, and `not (a >= 10)` is not `a < 10`, so negation stops in front of a predicate. What
does hold: "some element is in P, or some element is in Q" is "some element is in P or Q"; so
disjunctions of sets and intervals on one attribute fold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from fyke.filters.algebra.intervals import (
    AFTER,
    BEFORE,
    EMPTY_TEXT,
    EVERYWHERE,
    Span,
    is_point,
    point,
    span,
    union,
)
from fyke.filters.filter import (
    FALSE,
    TRUE,
    And,
    Constant,
    Filter,
    Not,
    Or,
    conjunction,
    disjunction,
    negation,
)
from fyke.filters.predicate import In, Range

if TYPE_CHECKING:
    from fyke.events.schema import Schema
from fyke.events.value import Kind, Scalar, kind

Box: TypeAlias = tuple[Filter, ...]
"""A conjunction of literals, each a leaf or the negation of one."""

BOXES_MAX = 256


def rebuilt(operator: Filter, children: Iterable[Filter]) -> Filter:
    """Return the same operator over other children."""
    match operator:
        case And():
            return conjunction(children)
        case Or():
            return disjunction(children)
        case Not():
            return negation(*children)
    raise TypeError(f"{type(operator).__name__} has no children")


# --- simplification ------------------------------------------------------------------------------


def simplify(filter: Filter) -> Filter:
    """Return an equivalent filter that is never larger.

    Constants, duplicates and contradictions go; alternatives fold. simplify("a = 1 and (b = 2 or
    true)") is "a = 1" (PRU-X6).
    """
    match filter:
        case And():
            return _simple_and([simplify(child) for child in filter.children])
        case Or():
            return _simple_or([simplify(child) for child in filter.children])
        case Not():
            return negation(simplify(filter.child))
        case Range():
            return _simple_range(filter)
    return filter


def _simple_and(children: Sequence[Filter]) -> Filter:
    kept = _distinct(And, children)
    if FALSE in kept or any(negation(child) in kept for child in kept):
        return FALSE
    return conjunction(child for child in kept if child != TRUE)


def _simple_or(children: Sequence[Filter]) -> Filter:
    kept = _distinct(Or, children)
    folded = dict.fromkeys(_fold_alternatives([child for child in kept if child != FALSE]))
    for each in (kept, folded):  # what has become one may meet its negation only then
        if TRUE in each or any(negation(child) in each for child in each):
            return TRUE
    return disjunction(folded)


def _distinct(operator: type[Filter], children: Sequence[Filter]) -> dict[Filter, None]:
    """Return the children without duplicates, in order.

    Children that became the same operator are merged in.
    """
    return {
        part: None
        for child in children
        for part in (child.children if type(child) is operator else (child,))
    }


def _simple_range(range_: Range) -> Filter:
    low, high = span(range_)
    if low >= high:
        return FALSE
    return In(range_.attribute, (low[1],)) if is_point((low, high)) else range_


def _fold_alternatives(alternatives: Sequence[Filter]) -> list[Filter]:
    """Return the alternatives with sets and intervals on one attribute united.

    The union stands at the place of the first.
    """
    groups: dict[str, list[In | Range]] = {}
    for child in alternatives:
        if isinstance(child, In | Range):
            groups.setdefault(child.attribute, []).append(child)
    folded: list[Filter] = []
    for child in alternatives:
        if not isinstance(child, In | Range):
            folded.append(child)
        elif group := groups.pop(child.attribute, None):
            folded.extend(unite(child.attribute, group))
    return folded


def unite(attribute: str, alternatives: Sequence[In | Range]) -> list[Filter]:
    """Return the fewest sets and intervals that accept what the alternatives accept."""
    if len(alternatives) == 1:
        return [*alternatives]
    points = {
        value: None for each in alternatives if isinstance(each, In) for value in _with_kinds(each)
    }
    ranges = [each for each in alternatives if isinstance(each, Range)]
    united: list[Filter] = []
    for shared in sorted({each.kind for each in ranges}):
        spans = [span(each) for each in ranges if each.kind is shared]
        ours = [tagged for tagged in points if tagged[0] is shared]
        spans += [point(value) for _, value in ours]
        merged = union(spans)
        if EVERYWHERE in merged:
            united.extend(each for each in ranges if each.kind is shared)
            continue
        for tagged in ours:
            del points[tagged]
        for low, high in merged:
            if is_point((low, high)):
                points[(shared, low[1])] = None
            else:
                united.append(from_span(attribute, (low, high)))
    if points:
        united.insert(0, In(attribute, tuple(value for _, value in points)))
    return united


def _with_kinds(member: In) -> Iterable[tuple[Kind, Scalar]]:
    return ((kind(value), value) for value in member.values)


def from_span(attribute: str, bounds: Span) -> Range:
    """Return the interval predicate of a span that has at least one end."""
    low, high = bounds
    if low == EMPTY_TEXT and high != AFTER:
        low = BEFORE
    return Range(
        attribute,
        low[1] if low[0] == 0 else None,
        high[1] if high[0] == 0 else None,
        low_open=low[0] == 0 and low[2] == 1,
        high_open=high[0] == 0 and high[2] == 0,
    )


# --- single-valued attributes --------------------------------------------------------------------


def fold(filter: Filter, schema: Schema) -> Filter:
    """Join sets and intervals below an And on an attribute with a single value by schema.

    The result is equivalent for every event that fits the schema: "a > 1 and a < 5" becomes "a
    between 1 and 5", ends excluded.
    """
    if not filter.children:
        return filter
    children = [fold(child, schema) for child in filter.children]
    return rebuilt(filter, _met(children, schema) if isinstance(filter, And) else children)


def _met(conjuncts: Sequence[Filter], schema: Schema) -> list[Filter]:
    groups: dict[str, list[In | Range]] = {}
    for child in conjuncts:
        if isinstance(child, In | Range) and schema.is_single(child.attribute):
            groups.setdefault(child.attribute, []).append(child)
    met: list[Filter] = []
    for child in conjuncts:
        if not isinstance(child, In | Range) or not schema.is_single(child.attribute):
            met.append(child)
        elif group := groups.pop(child.attribute, None):
            met.append(_intersection(group))
    return met


def _intersection(group: Sequence[In | Range]) -> Filter:
    """Return the one set or interval that all of a group have in common."""
    if len(group) == 1:
        return group[0]
    attribute = group[0].attribute
    listed = [each for each in group if isinstance(each, In)]
    if listed:
        tests = [each.accepts() for each in group]
        common = tuple(value for value in listed[0].values if all(test(value) for test in tests))
        return In(attribute, common) if common else FALSE
    ranges = [each for each in group if isinstance(each, Range)]
    if len({each.kind for each in ranges}) > 1:
        return FALSE
    lows, highs = zip(*map(span, ranges), strict=True)
    low, high = max(lows), min(highs)
    if low >= high:
        return FALSE
    return In(attribute, (low[1],)) if is_point((low, high)) else from_span(attribute, (low, high))


# --- negation normal form ------------------------------------------------------------------------


def negation_normal_form(filter: Filter, *, negated: bool = False) -> Filter:
    """Return an equivalent filter in which `not` stands in front of leaves only."""
    match filter:
        case And() | Or():
            children = [negation_normal_form(child, negated=negated) for child in filter.children]
            is_and = isinstance(filter, And) != negated
            return conjunction(children) if is_and else disjunction(children)
        case Not():
            return negation_normal_form(filter.child, negated=not negated)
    return negation(filter) if negated else filter


# --- boxes ---------------------------------------------------------------------------------------


def boxes(filter: Filter, budget: int = BOXES_MAX) -> tuple[Box, ...] | None:
    """Return the filter as a disjunction of boxes; None if it needs more than `budget` of them.

    No box means FALSE, an empty box means TRUE. The boxes are counted before any is made.
    """
    normal = negation_normal_form(simplify(filter))
    if box_count(normal) > budget:
        return None
    return tuple(_expand(normal))


def box_count(normal: Filter) -> int:
    """Return the number of boxes to which a filter in negation normal form expands."""
    match normal:
        case Or():
            return sum(map(box_count, normal.children))
        case And():
            count = 1
            for child in normal.children:
                count *= box_count(child)
            return count
        case Constant(False):
            return 0
    return 1


def _expand(normal: Filter) -> list[Box]:
    match normal:
        case Or():
            return [box for child in normal.children for box in _expand(child)]
        case And():
            product: list[Box] = [()]
            for child in normal.children:
                product = [left + right for left in product for right in _expand(child)]
            return product
        case Constant(value):
            return [()] if value else []
    return [(normal,)]
