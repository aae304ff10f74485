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
it pauses, and goes on when somebody has evaluated that; such parts come last among their siblings,
all opaque leaves of one operator together. Lists follow the steps; places are relative to the start
of the program, so programs can be moved.

Cost. A step is a few nanoseconds; a list is searched by halving.
Source. PRU-5 evaluates candidates' trees, too; here a tree is a list of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from fyke.filters.filter import And, Constant, Filter, Not, Or, conjunction, disjunction
from fyke.filters.predicate import Exists, In, NotIn, Range, TypeIs
from fyke.filters.required_text import required_text
from fyke.filters.text_predicate import Like, Matches
from fyke.matching.compiled.codes import MISSING, interval
from fyke.matching.compiled.kernel import inlined
from fyke.matching.compiled.lanes import word
from fyke.matching.compiled.vocabulary import Vocabulary

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
    """The program of a filter."""
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
        """The number of the step that starts the decision, counted from the end."""
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
        """Asks opaque leaves, of which one is enough, only where a text that one requires is there.

        Without such texts for all of them, on one attribute, they are asked anyway.
        """
        pairs = []
        for leaf in leaves:
            text = required_text(leaf.pattern) if isinstance(leaf, Matches) else None
            if text is None:
                return asked
            assert isinstance(leaf, Matches)
            pairs.append(self._words.holding(leaf.attribute, text))
        if len({axis for axis, _ in pairs}) > 1:
            return asked
        symbols = sorted({symbol for _, symbol in pairs})
        test = ACCEPTED, pairs[0][0], self._list(symbols), len(symbols)
        return self._step(test, asked, fails)

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
        """One step for patterns of one attribute, of which some accepts."""
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
        """The words, first step first, lists behind. Steps written after the first one are dead."""
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
    """The parts that only they themselves can decide, in the order of the tree.

    The opaque leaves of an operator are one part.
    """
    return [part for _, part in _opaque(filter)]


def _opaque(filter: Filter) -> Iterator[tuple[int, Filter]]:
    """Opaque parts, each with the identity of the node where it is asked for."""
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
    """The children of an operator without its opaque leaves, those with some deeper down first."""
    children = [child for child in filter.children if child.children or not _is_opaque(child)]
    return sorted(children, key=_is_opaque, reverse=True)


def _apart(children: list[Filter]) -> tuple[dict[str, list[Like]], list[Filter]]:
    """Patterns by attribute, and whatever else there is."""
    patterns: dict[str, list[Like]] = {}
    others: list[Filter] = []
    for child in children:
        if isinstance(child, Like):
            patterns.setdefault(child.attribute, []).append(child)
        else:
            others.append(child)
    return patterns, others


def _is_opaque(filter: Filter) -> bool:
    """Whether some leaf can be decided by the filter alone."""
    if filter.children:
        return any(map(_is_opaque, filter.children))
    return not isinstance(filter, In | NotIn | Range | Exists | TypeIs | Like | Constant)


# --- running -------------------------------------------------------------------------------------


@inlined
def is_listed(words: Any, at: int, size: int, code: int) -> bool:
    """Whether a sorted list of words holds the code."""
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
def element_verdict(
    programs: Any, start: int, step: int, code: int, accepted_at: Any, accepted: Any
) -> int:
    """What a step says about one element: 1, 0, or -1 where the code leaves a doubt."""
    kind = word(programs, step)
    one, other = word(programs, step + 2), word(programs, step + 3)
    if kind == INSIDE:
        if code < one or code > other:
            return 0
        if code & 1 and code in (one, other):
            return -1
        return 1
    if code == MISSING:
        return 0
    if kind == AMONG:
        return 1 if is_listed(programs, start + one, other, code) else 0
    if kind == OUTSIDE:
        return 0 if is_listed(programs, start + one, other, code) else 1
    for place in range(word(accepted_at, code), word(accepted_at, code + 1)):
        if is_listed(programs, start + one, other, word(accepted, place)):
            return 1
    return 0


@inlined
def step_verdict(
    programs: Any,
    start: int,
    step: int,
    codes: Any,
    at: int,
    lists: Any,
    wide: int,
    accepted_at: Any,
    accepted: Any,
) -> int:
    """What a step says about an event: some element decides it, whatever others leave in doubt."""
    axis = word(programs, step + 1)
    if wide >= 0:
        place = wide
        while word(lists, place) >= 0:
            size = word(lists, place + 1)
            if word(lists, place) == axis:
                verdict = 0
                for element in range(place + 2, place + 2 + size):
                    code = word(lists, element)
                    found = element_verdict(programs, start, step, code, accepted_at, accepted)
                    if found == 1:
                        return 1
                    if found == -1:
                        verdict = -1
                return verdict
            place += 2 + size
    code = word(codes, at + axis)
    return element_verdict(programs, start, step, code, accepted_at, accepted)


@inlined
def run(
    programs: Any,
    start: int,
    step: int,
    codes: Any,
    at: int,
    lists: Any,
    wide: int,
    accepted_at: Any,
    accepted: Any,
) -> int:
    """Runs a program from a step on, for the event whose codes start at `at`.

    `wide` is where its lists start, or -1: runs of (axis, size, codes) that end with an axis of -1.
    """
    while step >= 0:
        here = start + step * STEP
        if word(programs, here) == OPAQUE:
            return PAUSED - step
        verdict = step_verdict(programs, start, here, codes, at, lists, wide, accepted_at, accepted)
        if verdict < 0:
            return UNKNOWN
        step = word(programs, here + (4 if verdict == 1 else 5))
    return step
