"""Boxing: a filter as a few boxes that cover it.

Idea. A *box* is a conjunction of constraints (axis, low, high) on codes. A conjunction of
predicates is one box; a tree is expanded to the boxes of its disjunctive form while these are few.
What does not fit (an alternative too many, a regular expression, a residual) is left out of the
box, which then covers more than the filter: it is not *exact*, and its candidates are decided by
the subscription's program or by the filter itself.

    a = 1 and (b < 5 or not c = 2)      two exact boxes: {a, b}, {a, c}
    a = 1 and b matches 'x+'            one box {a, b is there}, not exact
    b matches 'x+abc'                   one box {b holds "abc"}, not exact

Access. A box is found through one of its symbols. One that would have none gets the presence of an
attribute that it needs; a tree too wide to expand is filed under the alternatives of which one must
hold (`filters.necessary`). What is left without any is *unguarded*: looked at for every event.

Law. Every event that the filter accepts, lists included, lies in a box; and an event without lists
that lies in an exact box, without doubt of codes, is accepted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Final, TypeAlias

from fyke.filters.algebra.necessary import Necessary, necessary
from fyke.filters.algebra.normal_form import negation_normal_form
from fyke.filters.filter import And, Constant, Filter, Not, Or, walk
from fyke.filters.predicate import Exists, In, NotIn, Predicate, Range, TypeIs
from fyke.filters.residual import Residual
from fyke.filters.text_predicate import Like, Matches
from fyke.filters.texts.required_text import required_text
from fyke.matching.compiled.coding.axes import KEYED
from fyke.matching.compiled.coding.codes import HIGHEST, OTHER, complement, differs, interval
from fyke.matching.compiled.coding.vocabulary import Vocabulary

Constraint: TypeAlias = tuple[int, int, int]
Box: TypeAlias = tuple[Constraint, ...]

BOXES_MAX: Final = 8
"""Boxes to which a tree is expanded, at most."""
ALTERNATIVES_MAX: Final = 2_000
"""Alternatives under which a filter is filed, at most."""
NEEDLE_MIN: Final = 2
"""Characters of a text to look for, at least: a shorter one is in nearly every event."""
RESIDUAL_COST: Final = 20
"""Cost of a residual, which an interpreter decides, in boxes that are reached."""
EXCLUDED_MAX: Final = 3
"""Excluded values that become constraints, at most."""
_EVERYTHING: Final[tuple[Box, ...]] = ((),)


@dataclass(frozen=True, slots=True)
class Boxes:
    """Boxes that together cover a filter; none at all means that it accepts nothing."""

    boxes: tuple[Box, ...]
    is_exact: bool

    def is_decided(self, vocabulary: Vocabulary) -> bool:
        """Return True if being in a box always means being accepted, whatever its access."""
        if not self.is_exact or not vocabulary.texts:
            return self.is_exact
        return not any(len(box) > 1 and _names_text(box, vocabulary) for box in self.boxes)

    def name_patterns(self, vocabulary: Vocabulary) -> bool:
        """Return True if some box asks for a pattern."""
        if not vocabulary.texts:
            return False
        return any(_names_text(box, vocabulary) for box in self.boxes)


def _names_text(box: Box, vocabulary: Vocabulary) -> bool:
    return any(axis in vocabulary.texts for axis, _, _ in box)


class Boxing:
    """Makes boxes of one filter after the other."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._words = vocabulary
        self._share = vocabulary.frequencies.share
        self._name = vocabulary.frequencies.name

    def run(self, filter: Filter) -> Boxes:
        """Return the boxes of a filter. The vocabulary learns what it mentions."""
        return self._plain(filter) or self._any(filter)

    def _plain(self, filter: Filter) -> Boxes | None:
        """Return the box of a conjunction of equalities and ranges, the most common filter.

        None for any other filter, and where no equality is among them.
        """
        if type(filter) is not And:
            return None
        box: list[Constraint] = []
        has_key = False
        words = self._words
        for child in filter.children:
            if type(child) is In and len(child.values) == 1:
                axis, symbol = words.value(child.attribute, child.values[0])
                self._name(axis, symbol)
                box.append((axis, symbol, symbol))
                has_key = True
            elif type(child) is Range and (span := interval(child)) is not None:
                box.append((words.order(child.attribute, child.kind), *span))
            else:
                return None
        return Boxes((tuple(box),), True) if has_key else None

    def _any(self, filter: Filter) -> Boxes:
        covered = self._boxes(negation_normal_form(filter))
        if covered.is_exact and all(map(self._has_key, covered.boxes)):
            return covered
        filed = Boxes(tuple(map(self._filed, covered.boxes)), covered.is_exact)
        if filed.is_exact and all(map(self._has_key, filed.boxes)):
            return filed
        has_residual = any(isinstance(part, Residual) for part in walk(filter))
        cost = partial(self._cost, RESIDUAL_COST if has_residual else 0)
        return min([filed, *self._alternatives(filter, filed.boxes)], key=cost)

    def is_guarded(self, filter: Filter) -> bool:
        """Return True if every box of the filter has a symbol to be found by."""
        return all(map(self._has_key, self.run(filter).boxes))

    # --- trees

    def _boxes(self, normal: Filter) -> Boxes:
        match normal:
            case And():
                return self._product([self._boxes(child) for child in normal.children])
            case Or():
                return _sum([self._boxes(child) for child in normal.children])
            case Constant(value):
                return Boxes(_EVERYTHING if value else (), True)
            case Not():
                return self._negated(normal.child)
        return self._leaf(normal)

    def _product(self, factors: list[Boxes]) -> Boxes:
        boxes = _EVERYTHING
        is_exact = True
        for factor in sorted(factors, key=lambda each: len(each.boxes)):
            is_exact = is_exact and factor.is_exact
            if len(boxes) * len(factor.boxes) > BOXES_MAX:
                is_exact = False
            elif len(factor.boxes) == 1 == len(boxes):
                boxes = (boxes[0] + factor.boxes[0],)
            else:
                boxes = tuple(left + right for left in boxes for right in factor.boxes)
        return Boxes(boxes, is_exact)

    # --- leaves

    def _leaf(self, leaf: Filter) -> Boxes:
        words = self._words
        match leaf:
            case In():
                return self._in(leaf)
            case Range():
                span = interval(leaf)
                if span is None:
                    return Boxes((), True)
                return _one((words.order(leaf.attribute, leaf.kind), *span))
            case NotIn(attribute, values) if len(values) <= EXCLUDED_MAX:
                pairs = [words.value(attribute, value) for value in values]
                unequal = tuple((axis, *differs(symbol)) for axis, symbol in pairs)
                return Boxes((((pairs[0][0], OTHER, HIGHEST), *unequal),), True)
            case Exists(attribute):
                return _one(_key(words.presence(attribute)))
            case TypeIs(name):
                return _one(_key(words.type(name)))
            case Like(attribute, pattern, ignore_case):
                return _one(_key(words.pattern(attribute, pattern, ignore_case)))
            case Matches(attribute, pattern) if (text := required_text(pattern)) is not None:
                return Boxes(((_key(words.holding(attribute, text)),),), False)
            case Predicate():
                return Boxes(((_key(words.presence(leaf.attribute)),),), False)
            case Residual():
                return Boxes(self._of_needles(leaf, BOXES_MAX) or _EVERYTHING, False)
        return Boxes(_EVERYTHING, False)

    def _of_needles(self, residual: Residual, most: int) -> tuple[Box, ...] | None:
        """Return a box for each text that a residual looks for anywhere.

        None if the texts are unknown or too many, or one is too short.
        """
        needles = residual.needles
        if needles is None or len(needles) > most or min(map(len, needles)) < NEEDLE_MIN:
            return None
        return tuple((_key(self._words.needle(needle)),) for needle in dict.fromkeys(needles))

    def _in(self, leaf: In) -> Boxes:
        keys = [self._words.value(leaf.attribute, value) for value in leaf.values]
        for axis, symbol in keys:
            self._name(axis, symbol)
        if len(keys) <= BOXES_MAX:
            return Boxes(tuple((_key(key),) for key in keys), True)
        symbols = [symbol for _, symbol in keys]
        return Boxes((((keys[0][0], min(symbols), max(symbols)),),), False)

    def _negated(self, leaf: Filter) -> Boxes:
        words = self._words
        match leaf:
            case In(attribute, values) if len(values) <= EXCLUDED_MAX:
                pairs = [words.value(attribute, value) for value in values]
                return Boxes((tuple((axis, *differs(symbol)) for axis, symbol in pairs),), True)
            case Range():
                span = interval(leaf)
                if span is None:
                    return Boxes(_EVERYTHING, True)
                outside = complement(*span)
                if outside is not None:
                    return _one((words.order(leaf.attribute, leaf.kind), *outside))
            case Exists(attribute):
                axis, symbol = words.presence(attribute)
                return _one((axis, *differs(symbol)))
            case TypeIs(name):
                axis, symbol = words.type(name)
                return _one((axis, *differs(symbol)))
        return Boxes(_EVERYTHING, False)

    # --- access

    def _has_key(self, box: Box) -> bool:
        axes = self._words.axes
        return any(low == high and axes[axis][0] in KEYED for axis, low, high in box)

    def _filed(self, box: Box) -> Box:
        """Return the box; one without a symbol gets the presence of the attributes it needs."""
        if self._has_key(box):
            return box
        needed = dict.fromkeys(self._words.axes[axis][1] for axis, low, high in box if low <= high)
        return box + tuple(_key(self._words.presence(name)) for name in needed)

    def _cost(self, check: int, boxes: Boxes) -> float:
        """Return what an event is expected to cost: boxes that it reaches, and checks.

        It reaches a box by the rarest symbol, and is checked if it has the others too.
        """
        return sum(self._box_cost(check, box) for box in boxes.boxes)

    def _box_cost(self, check: int, box: Box) -> float:
        axes = self._words.axes
        shares = [
            self._share(axis, low)
            for axis, low, high in set(box)
            if low == high and axes[axis][0] in KEYED
        ]
        return min(shares, default=1.0) + check * prod(shares)

    def _alternatives(self, filter: Filter, boxes: tuple[Box, ...]) -> Iterable[Boxes]:
        """Yield boxes for each set of alternatives of which one must hold, a box for each.

        If the filter has one box, its constraints are added to each of them.
        """
        common = boxes[0] if len(boxes) == 1 else ()
        for need in necessary(filter):
            found = self._of_necessary(need)
            if found is not None:
                yield Boxes(tuple(box + common for box in found), False)
        for part in filter.children if isinstance(filter, And) else (filter,):
            if isinstance(part, Residual) and part.needles is not None:
                boxes = self._of_needles(part, ALTERNATIVES_MAX) or _EVERYTHING
                yield Boxes(tuple(box + common for box in boxes), False)

    def _of_necessary(self, need: Necessary) -> Iterable[Box] | None:
        boxes: dict[Box, None] = {}
        for alternative in need.alternatives:
            if isinstance(alternative, In):
                keys = [self._words.value(need.attribute, value) for value in alternative.values]
                boxes.update(((_key(key),), None) for key in keys)
            else:
                boxes.update((self._filed(box), None) for box in self._leaf(alternative).boxes)
            if len(boxes) > ALTERNATIVES_MAX:
                return None
        return boxes if all(map(self._has_key, boxes)) else None


def _key(pair: tuple[int, int]) -> Constraint:
    axis, symbol = pair
    return axis, symbol, symbol


def _one(constraint: Constraint) -> Boxes:
    return Boxes(((constraint,),), True)


def _sum(terms: Iterable[Boxes]) -> Boxes:
    boxes: list[Box] = []
    is_exact = True
    for term in terms:
        boxes.extend(term.boxes)
        is_exact = is_exact and term.is_exact
    if not all(boxes) or len(boxes) > BOXES_MAX:
        return Boxes(_EVERYTHING, is_exact and not all(boxes))
    return Boxes(tuple(dict.fromkeys(boxes)), is_exact)
