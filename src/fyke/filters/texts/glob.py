"""String patterns with stars: prefix, suffix, contains and everything `like` can say, as one value.

Idea. A pattern is a tuple of segments with a star between each two: `N%SE` is ("N", "SE"), the
prefix `OT%` is ("OT", ""), `%x%` is ("", "x", ""), and a lone segment has no star at all. The
first segment is anchored at the start, the last at the end. `ONE` inside a segment stands for any
one character; it is a lone surrogate, which no event and no filter text can hold.
Canonical. No empty inner segment, and `%_` is written `_%`, so equal languages of the common
shapes are equal values.
Matching. Leftmost placement of each inner segment is always right, so matching never backtracks.
Patterns with `_` are left to RE2.
Covering. Q covers P when Q matches P's own text with each star of P treated as a character that
only a star of Q can absorb: `N%SE` covers `NY%SE`, not conversely. This is exact where Q has no
`_`: the alphabet always holds a character that Q never mentions. Where Q has `_` and P a star, the
answer is computed on automata, under a budget.
Source. SUM-10; overlap of head and tail as in SUM-Q4 (`ab%bc` refuses `abc`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import re2

from fyke.errors import FilterError
from fyke.filters.texts.regular_expression import regular_expression

ONE: Final = "\ud800"
_STAR: Final = "\ud801"
_AUTOMATON_STATES_MAX = 20_000
_COVERING_WORK_MAX = 2_000_000
WILDCARDS_MAX = 100
"""Single wildcards in one pattern. A pattern with any is matched by an automaton, so both the
wildcards and its length are bounded."""
WILDCARD_PATTERN_LENGTH_MAX = 10_000


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern: segments with a star between each two. Build it with `glob` or `from_like`."""

    segments: tuple[str, ...]

    @property
    def is_exact(self) -> bool:
        """Accepts exactly one string."""
        return len(self.segments) == 1 and ONE not in self.segments[0]

    @property
    def is_prefix(self) -> bool:
        return len(self.segments) == 2 and self.segments[1] == "" and ONE not in self.segments[0]

    @property
    def is_suffix(self) -> bool:
        return len(self.segments) == 2 and self.segments[0] == "" and ONE not in self.segments[1]

    @property
    def is_contains(self) -> bool:
        return (
            len(self.segments) == 3
            and self.segments[0] == self.segments[2] == ""
            and ONE not in self.segments[1]
        )

    @property
    def accepts_all(self) -> bool:
        return self.segments == ("", "")

    @property
    def literal_prefix(self) -> str:
        """The text with which every accepted string starts."""
        return self.segments[0].partition(ONE)[0]

    @property
    def literal_suffix(self) -> str:
        """The text with which every accepted string ends."""
        return self.segments[-1].rpartition(ONE)[2]

    @property
    def length_min(self) -> int:
        """The length of the shortest accepted string."""
        return sum(map(len, self.segments))

    def folded(self) -> Glob:
        return Glob(tuple(map(fold, self.segments)))

    def tokens(self) -> str:
        return _STAR.join(self.segments)


def glob(segments: Sequence[str]) -> Glob:
    """Return the canonical pattern of some segments: `_` stands before the `%` that it touches."""
    if len(segments) == 1:
        return Glob((segments[0],))
    canonical = [segments[0]]
    for number, segment in enumerate(segments[1:], start=1):
        bare = segment.lstrip(ONE)
        canonical[-1] += ONE * (len(segment) - len(bare))
        if bare or number == len(segments) - 1:
            canonical.append(bare)
    return Glob(tuple(canonical))


def from_like(pattern: str) -> Glob:
    """Read the notation of SQL: `%` is any string, `_` is any character.

    A backslash takes the next character literally. Raise ValueError if the pattern ends in a single
    backslash.
    """
    if "\\" not in pattern:
        return glob(pattern.replace("_", ONE).split("%"))
    segments, current, at = [], [], 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "\\":
            if at == len(pattern):
                raise ValueError("the pattern ends in a single backslash; write \\\\")
            current.append(pattern[at])
            at += 1
        elif char == "%":
            segments.append("".join(current))
            current = []
        else:
            current.append(ONE if char == "_" else char)
    segments.append("".join(current))
    return glob(segments)


_TO_LIKE: Final = str.maketrans({"%": "\\%", "_": "\\_", "\\": "\\\\", ONE: "_"})


def to_like(pattern: Glob) -> str:
    """Return the pattern in the notation of SQL."""
    return "%".join(segment.translate(_TO_LIKE) for segment in pattern.segments)


def check_size(pattern: Glob) -> None:
    """Raise FilterError if a pattern with single wildcards is too large for its automaton."""
    wildcards = sum(segment.count(ONE) for segment in pattern.segments)
    if wildcards > WILDCARDS_MAX or (
        wildcards and pattern.length_min > WILDCARD_PATTERN_LENGTH_MAX
    ):
        raise FilterError(
            "the pattern is too large",
            expected=f"at most {WILDCARDS_MAX} single wildcards in"
            f" {WILDCARD_PATTERN_LENGTH_MAX} characters",
        )


# --- case ----------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _fold_character(char: str) -> str:
    for folded in (char.casefold(), char.lower()):
        if len(folded) == 1:
            return folded
    return char


def fold(text: str) -> str:
    """Fold the case, character by character, so that lengths and positions stay."""
    if text.isascii():
        return text.lower()
    return "".join(map(_fold_character, text))


def is_caseless(char: str) -> bool:
    """Return True if no other character folds to the same one."""
    return char == char.lower() == char.upper() == char.casefold()


_LAST_CASED: Final = 0x1E943


@lru_cache(maxsize=1)
def _classes() -> dict[str, tuple[str, ...]]:
    """Return, by folded character, all characters that fold to it, if these are several.

    The table is built on first use.
    """
    classes: dict[str, list[str]] = {}
    for code in range(_LAST_CASED + 1):
        char = chr(code)
        if not is_caseless(char):
            classes.setdefault(fold(char), []).append(char)
    return {folded: tuple(chars) for folded, chars in classes.items()}


def case_variants(folded: str) -> tuple[str, ...]:
    """Return all characters that fold to a folded one, itself included, in order."""
    return _classes().get(folded, (folded,))


# --- matching ------------------------------------------------------------------------------------


def matcher(pattern: Glob) -> Callable[[str], bool]:
    """Return a function that tests if a string fits the pattern."""
    if pattern.is_exact:
        only = pattern.segments[0]
        return lambda text: text == only
    if pattern.is_prefix:
        head = pattern.segments[0]
        return lambda text: text.startswith(head)
    if pattern.is_suffix:
        tail = pattern.segments[-1]
        return lambda text: text.endswith(tail)
    if pattern.is_contains:
        inner = pattern.segments[1]
        return lambda text: inner in text
    if any(ONE in segment for segment in pattern.segments):
        fullmatch = regular_expression(_expression(pattern)).fullmatch
        return lambda text: fullmatch(text) is not None
    return lambda text: _absorbs(pattern.segments, text, _same)


def _expression(pattern: Glob) -> str:
    parts = (
        ".".join(re2.escape(literal) for literal in segment.split(ONE))
        for segment in pattern.segments
    )
    return "(?s)" + ".*".join(parts)


def _same(ours: str, theirs: str) -> bool:
    return ours == theirs


def _absorbs(segments: tuple[str, ...], text: str, same: Callable[[str, str], bool]) -> bool:
    """Place the segments in `text`, leftmost first. A star within `text` fits no segment."""
    head, tail = segments[0], segments[-1]
    if len(segments) == 1:
        return len(head) == len(text) and _fits(head, text, 0, same)
    end = len(text) - len(tail)
    if len(head) > end or not (_fits(head, text, 0, same) and _fits(tail, text, end, same)):
        return False
    at = len(head)
    for segment in segments[1:-1]:
        at = _find(segment, text, at, end, same)
        if at < 0:
            return False
        at += len(segment)
    return True


def _find(segment: str, text: str, at: int, end: int, same: Callable[[str, str], bool]) -> int:
    if same is _same and ONE not in segment:
        return text.find(segment, at, end)
    while at + len(segment) <= end:
        if _fits(segment, text, at, same):
            return at
        at += 1
    return -1


def _fits(segment: str, text: str, at: int, same: Callable[[str, str], bool]) -> bool:
    if same is _same and ONE not in segment:
        return text.startswith(segment, at)
    return all(
        text[at + offset] != _STAR if char == ONE else same(char, text[at + offset])
        for offset, char in enumerate(segment)
    )


# --- covering ------------------------------------------------------------------------------------


def covers(wide: Glob, narrow: Glob, *, wide_folds: bool, narrow_folds: bool) -> bool:
    """Return True if `wide` accepts every string that `narrow` accepts.

    A pattern that folds ignores case.
    """
    if wide.accepts_all:
        return True
    if wide.length_min * (narrow.length_min + len(narrow.segments)) > _COVERING_WORK_MAX:
        return wide == narrow and wide_folds == narrow_folds
    if wide_folds and not narrow_folds:
        narrow, narrow_folds = narrow.folded(), True
    if narrow_folds and not wide_folds:
        return covers(wide, _any_case(narrow), wide_folds=False, narrow_folds=False)
    if _absorbs(wide.segments, narrow.tokens(), _same):
        return True
    if len(narrow.segments) == 1 or not any(ONE in segment for segment in wide.segments):
        return False
    return _includes(narrow.tokens(), wide.tokens())


def _any_case(folded: Glob) -> Glob:
    """Return a pattern that covers a folded one without folding.

    Every character that has cases becomes a wildcard.
    """
    return glob(
        ["".join(char if is_caseless(char) else ONE for char in each) for each in folded.segments]
    )


def overlap(one: Glob, other: Glob) -> bool:
    """Return False only if no string is accepted by both. Give folded patterns for both."""
    left, right = one.tokens(), other.tokens()
    if len(left) * len(right) > _AUTOMATON_STATES_MAX:
        return True
    alphabet = _alphabet(left, right)
    seen, todo = {(0, 0)}, [(0, 0)]
    work = 0
    while todo:
        at_left, at_right = todo.pop()
        lefts, rights = _closure({at_left}, left), _closure({at_right}, right)
        if len(left) in lefts and len(right) in rights:
            return True
        work += len(alphabet) * (len(lefts) + len(rights))
        if len(seen) > _AUTOMATON_STATES_MAX or work > _COVERING_WORK_MAX:
            return True
        for char in alphabet:
            for pair in (
                (i, j) for i in _step(lefts, left, char) for j in _step(rights, right, char)
            ):
                if pair not in seen:
                    seen.add(pair)
                    todo.append(pair)
    return False


def _includes(narrow: str, wide: str) -> bool:
    """Return True if one language includes the other; False too if the budget ends.

    The search walks `narrow` beside the determinised `wide`.
    """
    alphabet = _alphabet(narrow, wide)
    start = (0, _closure({0}, wide))
    seen, todo = {start}, [start]
    work = 0
    while todo:
        at, states = todo.pop()
        places = _closure({at}, narrow)
        if len(narrow) in places and len(wide) not in states:
            return False
        work += len(alphabet) * (1 + len(states))
        if len(seen) > _AUTOMATON_STATES_MAX or work > _COVERING_WORK_MAX:
            return False
        for char in alphabet:
            following = _closure(_step(states, wide, char), wide)
            for place in _step(places, narrow, char):
                if (place, following) not in seen:
                    seen.add((place, following))
                    todo.append((place, following))
    return True


def _alphabet(one: str, other: str) -> list[str]:
    """Return the characters that the patterns mention, and one that stands for all others."""
    return [char for char in {*one, *other} if char not in (ONE, _STAR)] + [ONE]


def _closure(states: set[int] | frozenset[int], tokens: str) -> frozenset[int]:
    """Return the positions that can be reached without reading: a star may stand for nothing."""
    reached = set(states)
    for state in states:
        while state < len(tokens) and tokens[state] == _STAR:
            state += 1
            reached.add(state)
    return frozenset(reached)


def _step(states: frozenset[int], tokens: str, char: str) -> frozenset[int]:
    return frozenset(_following(states, tokens, char))


def _following(states: frozenset[int], tokens: str, char: str) -> Iterator[int]:
    for state in states:
        if state < len(tokens):
            token = tokens[state]
            if token == _STAR:
                yield state
            elif token in (ONE, char):
                yield state + 1
