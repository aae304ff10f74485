"""A pattern as a filter: predicates on dotted paths, and residuals for what these cannot tell.

Where a branch has one field below a top-level key, the field's predicates are exact, with one
exception: `anything-but` of string patterns needs "some element that is not like", and the negation
of `like` says "no element is like". Two fields below one key may meet in an array of objects; their
predicates then cover the pattern, and a residual with just these fields makes them exact:
    {"a": {"x": [1], "y": [2]}}     a.x = 1 and a.y = 2 and residual {"a.x":[1],"a.y":[2]}
The residual is cheap: it reads flat attributes unless the event has a list at one of its paths.
Law. The part without residuals covers the pattern. Hence an `exists: false` after another field of
its group asks for nothing: it speaks of one element, which the predicate cannot see.
"""

from __future__ import annotations

from collections.abc import Iterable

from fyke.events.json import encode
from fyke.filters.dialects.eventbridge.field import Field
from fyke.filters.dialects.eventbridge.interpreter import groups
from fyke.filters.dialects.eventbridge.operators import Refusing
from fyke.filters.dialects.eventbridge.pattern import Branch, Pattern
from fyke.filters.dialects.eventbridge.source import write_source
from fyke.filters.filter import TRUE, Filter, conjunction, disjunction, negation
from fyke.filters.predicate import Exists, In, NotIn, ValuePredicate
from fyke.filters.residual import Residual

DIALECT = "eventbridge"


def compile_pattern(pattern: Pattern) -> Filter:
    """Return the filter that accepts exactly what the pattern matches."""
    if len(pattern.branches) == 1:
        branch = pattern.branches[0]
        return conjunction([*_covers(branch), *_residuals(branch)])
    cover = _factor([_covers(branch) for branch in pattern.branches])
    if all(_is_exact(group) for branch in pattern.branches for group in groups(branch)):
        return cover
    return conjunction([cover, Residual(DIALECT, write_source(pattern.source))])


def _factor(branches: list[list[Filter]]) -> Filter:
    """Return the Or of Ands, with what all branches share in front."""
    shared = dict.fromkeys(branches[0])
    for branch in branches[1:]:
        kept = set(branch)
        shared = {filter: None for filter in shared if filter in kept}
    rests = [[filter for filter in branch if filter not in shared] for branch in branches]
    if not all(rests):
        return conjunction(shared)
    return conjunction([*shared, disjunction(map(conjunction, rests))])


def _residuals(branch: Branch) -> list[Filter]:
    return [Residual(DIALECT, _text(group)) for group in groups(branch) if not _is_exact(group)]


def _text(fields: Iterable[Field]) -> str:
    return "{" + ",".join(f"{encode(field.path)}:{field.text}" for field in fields) + "}"


def _is_exact(group: Branch) -> bool:
    """Return True if the predicates of a group say everything that its fields say."""
    return len(group) == 1 and (
        group[0].accepts_any or not any(isinstance(c, Refusing) for c in group[0].conditions)
    )


# --- one field ------------------------------------------------------------------------------------


def _covers(branch: Branch) -> list[Filter]:
    covers = [_cover(field, first=field is group[0]) for group in groups(branch) for field in group]
    return [cover for cover in covers if cover is not TRUE]


def _cover(field: Field, first: bool) -> Filter:
    """Return the predicates of a field.

    For the first of a group, absence is absence from the event.
    """
    if field.accepts_none and (field.accepts_any or not first):
        return TRUE
    if field.accepts_any:
        return _some_value(field.path)
    alternatives: list[Filter] = [c for c in field.conditions if isinstance(c, ValuePredicate)]
    if any(isinstance(c, Refusing) for c in field.conditions):
        alternatives.append(Exists(field.path))
    if field.accepts_none:
        alternatives.append(negation(_some_value(field.path)))
    return disjunction(alternatives)


def _some_value(path: str) -> Filter:
    """Accept a present attribute that is not an empty list, which `exists` alone would accept."""
    return disjunction([In(path, (None,)), NotIn(path, (None,))])
