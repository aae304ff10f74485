"""Constraints: a filter as a few boxes, each a constraint per attribute that it covers with.

Idea. A subscription is dissolved into its attributes (SUM-3). A conjunction is one box; a Boolean
tree is a few boxes, under a budget; beyond the budget, one box of what every accepted event needs.
A negation, a residual and a comparison of two attributes constrain nothing: they hold for values
of any kind, or for missing ones.
Example. "a > 1 and a < 5 and (b = 1 or b = 2)" is the box { a: (1, 5) or a list, b: 1 or 2 }.
Lists. `[0, 9]` satisfies `a > 1 and a < 5`. Constraints of one attribute are intersected (SUM-8),
and where no schema says that the attribute is single-valued, the result also accepts every list of
two or more elements. A list of one element is its element.
Exact. What an intersection cannot say exactly (two patterns) becomes a second facet of the
attribute: both facets have to be satisfied (SUM-Q6). In coarse mode one is enough.
Invariant. Every event that the filter accepts satisfies all constraints of some box.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from fyke.filters.algebra.intervals import ALL_TEXT, prefix_span
from fyke.filters.algebra.necessary import necessary
from fyke.filters.algebra.normal_form import negation_normal_form
from fyke.filters.algebra.value_set import NOTHING, ValueSet, accepted, shared, unite
from fyke.filters.comparison import Compare
from fyke.filters.filter import And, Constant, Filter, Or
from fyke.filters.predicate import Exists, Predicate, TypeIs, ValuePredicate
from fyke.filters.resolution import resolve
from fyke.filters.text_predicate import InNetwork, Like, Matches
from fyke.filters.texts.glob import glob
from fyke.filters.texts.required_text import required_text

if TYPE_CHECKING:
    from fyke.events.schema import Schema

BOXES_MAX: Final = 16
"""Boxes that a Boolean tree may become."""

AxisKey: TypeAlias = tuple[str, int]
"""An attribute and the number of its facet."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """The values of one attribute that are wanted: the union of all that is named."""

    values: ValueSet = NOTHING
    types: frozenset[str] = frozenset()
    """Satisfied by events that are of one of these types."""
    present: bool = False
    """Satisfied by any value, also by an empty list."""
    lists: bool = False
    """Satisfied by any list of two or more elements."""

    @property
    def is_ordered(self) -> bool:
        """Made of values alone, without languages: intersections are exact."""
        return not (self.types or self.present or self.values.languages)


Box: TypeAlias = dict[AxisKey, Constraint]
_Literals: TypeAlias = tuple[tuple[str, Constraint], ...]


def boxes(filter: Filter, schema: Schema | None = None, *, exact: bool = False) -> list[Box]:
    """Return boxes that cover a filter; an empty box accepts everything, no box nothing."""
    meant = resolve(filter, schema)
    literals = _literals(negation_normal_form(meant))
    if literals is None:
        literals = [_necessary(meant)]
    found = (_box(each, schema, exact) for each in literals)
    return [box for box in found if box is not None]


# --- literals -------------------------------------------------------------------------------------


def _literals(normal: Filter) -> list[_Literals] | None:
    """Return the disjuncts of a filter in negation normal form; None if they are too many."""
    match normal:
        case And():
            product: list[_Literals] = [()]
            for child in normal.children:
                parts = _literals(child)
                if parts is None or len(product) * len(parts) > BOXES_MAX:
                    return None
                product = [left + right for left in product for right in parts]
            return product
        case Or():
            return _alternatives(normal.children)
        case Constant(value):
            return [()] if value else []
    constraint = of_leaf(normal)
    if constraint is None:
        return [()]
    assert isinstance(normal, Predicate)
    return [((normal.attribute, constraint),)]


def _alternatives(children: Sequence[Filter]) -> list[_Literals] | None:
    """Return the disjuncts of an Or; those of one literal on one attribute are one."""
    single: dict[str, list[Constraint]] = {}
    found: list[_Literals] = []
    for child in children:
        parts = _literals(child)
        if parts is None:
            return None
        for part in parts:
            if not part:
                return [()]
            if len(part) == 1:
                single.setdefault(part[0][0], []).append(part[0][1])
            else:
                found.append(part)
    found += [((name, either(some)),) for name, some in single.items()]
    return found if len(found) <= BOXES_MAX else None


def _necessary(filter: Filter) -> _Literals:
    found: list[tuple[str, Constraint]] = []
    for each in necessary(filter):
        some = [of_leaf(leaf) for leaf in each.alternatives]
        if None not in some:
            found.append((each.attribute, either(part for part in some if part is not None)))
    return tuple(found)


def of_leaf(leaf: Filter) -> Constraint | None:
    """Return the constraint of a predicate; None if it constrains no single attribute."""
    match leaf:
        case Compare():
            return None
        case ValuePredicate():
            return Constraint(accepted(leaf))
        case TypeIs(name):
            return Constraint(types=frozenset((name,)))
        case Exists():
            return Constraint(present=True)
    return None


def either(constraints: Iterable[Constraint]) -> Constraint:
    """Return the union of constraints on one attribute."""
    some = tuple(constraints)
    if len(some) == 1:
        return some[0]
    return Constraint(
        unite(each.values for each in some),
        frozenset().union(*(each.types for each in some)),
        any(each.present for each in some),
        any(each.lists for each in some),
    )


# --- boxes ----------------------------------------------------------------------------------------


def _box(literals: _Literals, schema: Schema | None, exact: bool) -> Box | None:
    """Return the box of a conjunction; None if nothing can satisfy it."""
    groups: dict[str, list[Constraint]] = {}
    for name, constraint in literals:
        groups.setdefault(name, []).append(constraint)
    box: Box = {}
    for name, group in groups.items():
        is_single = schema is not None and schema.is_single(name)
        for facet, met in enumerate(_facets(group, is_single, exact)):
            if met == _NEVER:
                return None
            box[name, facet] = met if exact else coarse(met)
    return box


_NEVER: Final = Constraint()


def _facets(group: Sequence[Constraint], is_single: bool, exact: bool) -> list[Constraint]:
    """Return what has to be satisfied: one constraint, in exact mode perhaps several."""
    distinct = list(dict.fromkeys(group)) if len(group) > 1 else list(group)
    if len(distinct) == 1:
        return distinct
    needed = [each for each in distinct if not each.present] or distinct[:1]
    ordered = [each for each in needed if each.is_ordered]
    others = [each for each in needed if not each.is_ordered]
    facets = [_both(ordered, is_single)] if ordered else []
    if exact:
        return facets + others
    typed = [each for each in others if each.types]
    if typed:
        return typed[:1]
    return [_both(facets + others, is_single)]


def _both(some: Sequence[Constraint], is_single: bool) -> Constraint:
    """Return what covers the values that satisfy all; any list does, unless there are none."""
    if len(some) == 1:
        return some[0]
    values = some[0].values
    for each in some[1:]:
        values = shared(values, each.values)
    return Constraint(values, lists=not is_single)


# --- what a coarse row keeps of expressions and networks ------------------------------------------


def coarse(constraint: Constraint) -> Constraint:
    """Return the constraint with what expressions and networks need of a text in their place."""
    languages = constraint.values.languages
    if not languages or all(isinstance(each, Like) for each in languages):
        return constraint
    kept = [each for each in languages if isinstance(each, Like)]
    parts = [replace(constraint.values, languages=tuple(kept))]
    parts += [_required(each) for each in languages if not isinstance(each, Like)]
    return replace(constraint, values=unite(parts))


def _required(language: ValuePredicate) -> ValueSet:
    match language:
        case Matches(_, expression):
            text = required_text(expression)
            if text is not None:
                return ValueSet(languages=(Like("", glob(("", text, "")), ignore_case=True),))
        case InNetwork(_, ipaddress.IPv4Network() as network) if network.prefixlen >= 8:
            whole = network.prefixlen // 8
            head = ".".join(str(network.network_address).split(".")[:whole])
            return ValueSet(strings=(prefix_span(head + ("." if whole < 4 else "")),))
    return ValueSet(strings=(ALL_TEXT,))
