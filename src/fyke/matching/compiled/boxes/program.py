"""Programs: trees that a kernel can decide about a candidate, as jump code.

Idea. A program is a list of steps. A step tests one leaf and says where to go on if it holds and
where if not; negation swaps the two, so there are no other operators. A step has six words:

    kind, axis, two operands, the step if it holds, the step if not

INSIDE      some element's code is in the interval          operands: low, high
AMONG       some element's code is one of a sorted list     operands: place and size of the list
OUTSIDE     some element's code is none of the list             (OTHER counts, MISSING does not)
ACCEPTED    some pattern that accepts an element is in the list
OPAQUE      only the filter can tell                        operand: its number among `opaque_parts`

A program ends in ACCEPT or REFUSE, or in UNKNOWN where a code leaves a doubt. At an opaque part
it pauses, and goes on when the caller has evaluated that; such parts come last among their
siblings, all opaque leaves of one operator together. Lists follow the steps; places are relative to
the start of the program, so programs can be moved.

Cost. A step is a few nanoseconds; a list is searched by halving.
Source. PRU-5 evaluates candidates' trees, too; here a tree is a list of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fyke.filters.filter import And, Constant, Filter, Not, Or, conjunction, disjunction
from fyke.filters.predicate import Exists, In, NotIn, Range, TypeIs, ValuePredicate
from fyke.filters.text_predicate import Like, Matches
from fyke.filters.texts.required_text import required_text
from fyke.matching.compiled.coding.codes import MISSING, interval
from fyke.matching.compiled.coding.vocabulary import Vocabulary
from fyke.matching.compiled.kernels.frames import EventBases
from fyke.matching.compiled.kernels.kernel import inlined
from fyke.matching.compiled.kernels.lanes import word

INSIDE: Final = 0
AMONG: Final = 1
OUTSIDE: Final = 2
ACCEPTED: Final = 3
OPAQUE: Final = 4

_LISTED: Final = (AMONG, OUTSIDE, ACCEPTED)

REFUSE: Final = -2
ACCEPT: Final = -1
UNKNOWN: Final = -3
PAUSED: Final = -4
"""PAUSED - step is the verdict of a program that waits at an opaque part."""
STEP: Final = 6
"""Words of a step."""


def program(filter: Filter, vocabulary: Vocabulary) -> list[int]:
    """Return the program of a filter."""
    writer = _Writer(filter, vocabulary)
    return writer.finished(writer.write(filter, ACCEPT, REFUSE))


class _Writer:
    """Writes steps backwards: a leaf is written when both its successors are known."""

    def __init__(self, filter: Filter, vocabulary: Vocabulary) -> None:
        self._words = vocabulary
        self._steps: list[tuple[int, int, int, int, int, int]] = []
        self._lists: list[list[int]] = []
        self._opaque = {place: number for number, (place, _) in enumerate(_opaque(filter))}

    def write(self, filter: Filter, holds: int, fails: int) -> int:
        """Return the number of the step that starts the decision, counted from the end."""
        match filter:
            case Constant(value):
                return holds if value else fails
            case Not():
                return self.write(filter.child, fails, holds)
            case And():
                if id(filter) in self._opaque:
                    holds = self._step((OPAQUE, 0, self._opaque[id(filter)], 0), holds, fails)
                for child in _transparent(filter):
                    holds = self.write(child, holds, fails)
                return holds
            case Or():
                if id(filter) in self._opaque:
                    asked = self._step((OPAQUE, 0, self._opaque[id(filter)], 0), holds, fails)
                    fails = self._guarded(_opaque_leaves(filter), asked, fails)
                patterns, others = _apart(_transparent(filter))
                for child in others:
                    fails = self.write(child, holds, fails)
                for likes in patterns.values():
                    fails = self._step(self._accepted(likes), holds, fails)
                return fails
        asked = self._step(self._leaf(filter), holds, fails)
        return self._guarded([filter], asked, fails) if _is_opaque(filter) else asked

    def _guarded(self, leaves: list[Filter], asked: int, fails: int) -> int:
        """Ask opaque leaves, of which one is enough, only of events for which one may hold.

        That is where a text is that one of them requires, if all require one of one attribute; or
        else where one of their attributes is.
        """
        if (test := self._required(leaves)) is not None:
            return self._step(test, asked, fails)
        known = [leaf.attribute for leaf in leaves if isinstance(leaf, ValuePredicate)]
        if len(known) < len(leaves):
            return asked
        for attribute in dict.fromkeys(known):
            axis, symbol = self._words.presence(attribute)
            fails = self._step((INSIDE, axis, symbol, symbol), asked, fails)
        return fails

    def _required(self, leaves: list[Filter]) -> tuple[int, int, int, int] | None:
        """Return the test for the texts that leaves require; None if it cannot be made."""
        pairs = []
        for leaf in leaves:
            text = required_text(leaf.pattern) if isinstance(leaf, Matches) else None
            if text is None:
                return None
            assert isinstance(leaf, Matches)
            pairs.append(self._words.holding(leaf.attribute, text))
        if len({axis for axis, _ in pairs}) > 1:
            return None
        symbols = sorted({symbol for _, symbol in pairs})
        return ACCEPTED, pairs[0][0], self._list(symbols), len(symbols)

    def _step(self, test: tuple[int, int, int, int], holds: int, fails: int) -> int:
        self._steps.append((*test, holds, fails))
        return len(self._steps) - 1

    def _leaf(self, leaf: Filter) -> tuple[int, int, int, int]:
        words = self._words
        match leaf:
            case In(attribute, (value,)):
                axis, symbol = words.value(attribute, value)
                return INSIDE, axis, symbol, symbol
            case In(attribute, values):
                return AMONG, *self._listed(attribute, values)
            case NotIn(attribute, values):
                return OUTSIDE, *self._listed(attribute, values)
            case Range():
                span = interval(leaf)
                if span is not None:
                    return INSIDE, words.order(leaf.attribute, leaf.kind), *span
                return AMONG, 0, self._list([]), 0
            case Exists(attribute):
                axis, symbol = words.presence(attribute)
                return INSIDE, axis, symbol, symbol
            case TypeIs(name):
                axis, symbol = words.type(name)
                return INSIDE, axis, symbol, symbol
            case Like():
                return self._accepted([leaf])
        return OPAQUE, 0, self._opaque[id(leaf)], 0

    def _accepted(self, likes: list[Like]) -> tuple[int, int, int, int]:
        """Return the test for patterns of one attribute, of which one must accept."""
        pairs = [
            self._words.pattern(each.attribute, each.pattern, each.ignore_case) for each in likes
        ]
        symbols = sorted(symbol for _, symbol in pairs)
        return ACCEPTED, pairs[0][0], self._list(symbols), len(symbols)

    def _listed(self, attribute: str, values: Any) -> tuple[int, int, int]:
        pairs = [self._words.value(attribute, value) for value in values]
        symbols = sorted(symbol for _, symbol in pairs)
        return pairs[0][0], self._list(symbols), len(symbols)

    def _list(self, symbols: list[int]) -> int:
        self._lists.append(symbols)
        return len(self._lists) - 1

    def finished(self, start: int) -> list[int]:
        """Return the words: the steps, first step first, then the lists.

        Steps that were written after the first one are dead, and left out.
        """
        if start < 0:
            self._steps = [(AMONG, 0, self._list([]), 0, start, start)]
        last = max(start, 0)
        del self._steps[last + 1 :]
        places: list[int] = []
        tail: list[int] = []
        for symbols in self._lists:
            places.append((last + 1) * STEP + len(tail))
            tail.extend(symbols)
        flat: list[int] = []
        for kind, axis, one, other, holds, fails in reversed(self._steps):
            place = places[one] if kind in _LISTED else one
            flat += (kind, axis, place, other, _target(holds, last), _target(fails, last))
        return flat + tail


def _target(step: int, last: int) -> int:
    return step if step < 0 else last - step


def opaque_parts(filter: Filter) -> list[Filter]:
    """Return the parts that only they themselves can decide, in the order of the tree.

    The opaque leaves of an operator are one part.
    """
    return [part for _, part in _opaque(filter)]


def _opaque(filter: Filter) -> Iterator[tuple[int, Filter]]:
    """Yield opaque parts, each with the identity of the node where it is asked for."""
    if not filter.children:
        if _is_opaque(filter):
            yield id(filter), filter
        return
    if not isinstance(filter, Not):
        leaves = _opaque_leaves(filter)
        if leaves:
            join = conjunction if isinstance(filter, And) else disjunction
            yield id(filter), join(leaves)
        for child in filter.children:
            if child.children:
                yield from _opaque(child)
        return
    yield from _opaque(filter.children[0])


def _opaque_leaves(filter: Filter) -> list[Filter]:
    return [child for child in filter.children if not child.children and _is_opaque(child)]


def _transparent(filter: Filter) -> list[Filter]:
    """Return the children of an operator without its opaque leaves.

    Those with opaque leaves deeper down come first.
    """
    children = [child for child in filter.children if child.children or not _is_opaque(child)]
    return sorted(children, key=_is_opaque, reverse=True)


def _apart(children: list[Filter]) -> tuple[dict[str, list[Like]], list[Filter]]:
    """Return the patterns by attribute, and all other children."""
    patterns: dict[str, list[Like]] = {}
    others: list[Filter] = []
    for child in children:
        if isinstance(child, Like):
            patterns.setdefault(child.attribute, []).append(child)
        else:
            others.append(child)
    return patterns, others


def _is_opaque(filter: Filter) -> bool:
    """Return True if some leaf can be decided by the filter alone."""
    if filter.children:
        return any(map(_is_opaque, filter.children))
    return not isinstance(filter, In | NotIn | Range | Exists | TypeIs | Like | Constant)


# --- running -------------------------------------------------------------------------------------


@inlined
def is_listed(words: Any, at: int, size: int, code: int) -> bool:
    """Return True if a sorted list of words holds the code."""
    end = at + size
    while at < end:
        middle = (at + end) // 2
        found = word(words, middle)
        if found == code:
            return True
        if found < code:
            at = middle + 1
        else:
            end = middle
    return False


@inlined
def element_verdict(words: Any, start: int, step: int, code: int, events: EventBases) -> int:
    """Return what a step says about one element: 1, 0, or -1 where the code leaves a doubt."""
    kind = word(words, step)
    one, other = word(words, step + 2), word(words, step + 3)
    if kind == INSIDE:
        if code < one or code > other:
            return 0
        if code & 1 and code in (one, other):
            return -1
        return 1
    if code == MISSING:
        return 0
    if kind == AMONG:
        return 1 if is_listed(words, start + one, other, code) else 0
    if kind == OUTSIDE:
        return 0 if is_listed(words, start + one, other, code) else 1
    for place in range(word(events.accepted_at, code), word(events.accepted_at, code + 1)):
        if is_listed(words, start + one, other, word(events.accepted, place)):
            return 1
    return 0


@inlined
def step_verdict(words: Any, start: int, step: int, events: EventBases, event: int) -> int:
    """Return the verdict of a step on an event: 1, 0, or -1 where a code leaves a doubt.

    Of a list, one element that holds is enough, whatever others leave in doubt.
    """
    axis = word(words, step + 1)
    place = word(events.wide, event)
    if place >= 0:
        lists = events.lists
        while word(lists, place) >= 0:
            size = word(lists, place + 1)
            if word(lists, place) == axis:
                verdict = 0
                for element in range(place + 2, place + 2 + size):
                    code = word(lists, element)
                    found = element_verdict(words, start, step, code, events)
                    if found == 1:
                        return 1
                    if found == -1:
                        verdict = -1
                return verdict
            place += 2 + size
    code = word(events.lows, event * events.axes + axis)
    return element_verdict(words, start, step, code, events)


@inlined
def run(words: Any, start: int, step: int, events: EventBases, event: int) -> int:
    """Run a program from a step on, for one event."""
    while step >= 0:
        here = start + step * STEP
        if word(words, here) == OPAQUE:
            return PAUSED - step
        verdict = step_verdict(words, start, here, events, event)
        if verdict < 0:
            return UNKNOWN
        step = word(words, here + (4 if verdict == 1 else 5))
    return step
