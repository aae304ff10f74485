"""ValueSet: the scalars that a predicate accepts, in a form in which inclusion can be decided.

Null and the booleans are listed; numbers, strings and timestamps are spans; a prefix is a span of
strings. What is no span (other patterns, regular expressions, networks) stays as the predicate it
came from: a language. Inclusion is exact for everything but languages, and for two languages as
exact as `_language_covers` is; where it cannot tell, it says no, which is the safe answer.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from fyke.events.value import Kind, Scalar, kind
from fyke.filters.algebra.intervals import (
    ALL_TEXT,
    EVERYWHERE,
    Span,
    Spans,
    common_prefix,
    complement,
    intersect,
    is_point,
    point,
    prefix_span,
    span,
    subtract,
    union,
)
from fyke.filters.predicate import In, NotIn, Range, ValuePredicate
from fyke.filters.text_predicate import Like, TextPredicate
from fyke.filters.texts import glob as globs
from fyke.filters.texts.glob import Glob


@dataclass(frozen=True, slots=True)
class ValueSet:
    """A set of scalars: the union of its parts."""

    null: bool = False
    booleans: frozenset[bool] = frozenset()
    numbers: Spans = ()
    strings: Spans = ()
    timestamps: Spans = ()
    languages: tuple[ValuePredicate, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Certainly empty; a language counts as something."""
        return self == NOTHING

    @property
    def size(self) -> int:
        """The number of spans and languages."""
        spans = len(self.numbers) + len(self.strings) + len(self.timestamps)
        return spans + len(self.languages)


_VARIANTS_MAX = 256
"""Strings as which a pattern without case is listed."""

NOTHING: Final = ValueSet()
ANYTHING: Final = ValueSet(
    null=True,
    booleans=frozenset({False, True}),
    numbers=(EVERYWHERE,),
    strings=(ALL_TEXT,),
    timestamps=(EVERYWHERE,),
)


@lru_cache(maxsize=4096)
def accepted(predicate: ValuePredicate) -> ValueSet:
    """Return the scalars that satisfy a predicate."""
    match predicate:
        case In(_, values):
            return _listed(values)
        case NotIn(_, values):
            return _unlisted(_listed(values))
        case Range():
            return _of_kind(predicate.kind, union([span(predicate)]))
        case Like(_, pattern, ignore_case) if pattern.is_prefix:
            if not ignore_case or pattern.accepts_all:
                return ValueSet(strings=(prefix_span(pattern.segments[0]),))
        case Like(_, pattern, True) if pattern.is_exact:
            return _cased(predicate, pattern.segments[0])
    return ValueSet(languages=(predicate,))


def _cased(predicate: ValuePredicate, folded: str) -> ValueSet:
    """Return the strings that fold to one; a language if they are many."""
    variants = [globs.case_variants(char) for char in folded]
    if math.prod(map(len, variants)) > _VARIANTS_MAX:
        return ValueSet(languages=(predicate,))
    return _listed(map("".join, itertools.product(*variants)))


def _listed(values: Iterable[Scalar]) -> ValueSet:
    by_kind: dict[Kind, list[Scalar]] = {}
    for value in values:
        by_kind.setdefault(kind(value), []).append(value)
    return ValueSet(
        null=Kind.NULL in by_kind,
        booleans=frozenset(value is True for value in by_kind.get(Kind.BOOL, ())),
        numbers=_points(by_kind.get(Kind.NUMBER, ())),
        strings=_points(by_kind.get(Kind.STRING, ())),
        timestamps=_points(by_kind.get(Kind.TIMESTAMP, ())),
    )


def _points(values: Sequence[Scalar]) -> Spans:
    return union(map(point, values)) if len(values) > 1 else tuple(map(point, values))


def _unlisted(listed: ValueSet) -> ValueSet:
    return ValueSet(
        null=not listed.null,
        booleans=ANYTHING.booleans - listed.booleans,
        numbers=complement(listed.numbers),
        strings=complement(listed.strings, ALL_TEXT),
        timestamps=complement(listed.timestamps),
    )


def _of_kind(shared: Kind, spans: Spans) -> ValueSet:
    match shared:
        case Kind.NUMBER:
            return ValueSet(numbers=spans)
        case Kind.STRING:
            return ValueSet(strings=spans)
    return ValueSet(timestamps=spans)


def unite(sets: Iterable[ValueSet]) -> ValueSet:
    """Return the union of sets."""
    parts = tuple(each for each in sets if each is not NOTHING)
    if len(parts) == 1:
        return parts[0]
    return ValueSet(
        null=any(each.null for each in parts),
        booleans=frozenset().union(*(each.booleans for each in parts)),
        numbers=union(bounds for each in parts for bounds in each.numbers),
        strings=union(bounds for each in parts for bounds in each.strings),
        timestamps=union(bounds for each in parts for bounds in each.timestamps),
        languages=tuple(language for each in parts for language in each.languages),
    )


def without(taken: ValueSet, removed: ValueSet) -> ValueSet:
    """Return a set that holds every value of `taken` that is not in `removed`.

    It is empty only if inclusion is proved.
    """
    strings = subtract(taken.strings, removed.strings)
    if removed.languages:
        strings = tuple(_unspoken(strings, removed.languages))
    return ValueSet(
        null=taken.null and not removed.null,
        booleans=taken.booleans - removed.booleans,
        numbers=subtract(taken.numbers, removed.numbers),
        strings=strings,
        timestamps=subtract(taken.timestamps, removed.timestamps),
        languages=tuple(each for each in taken.languages if not _is_covered(each, removed)),
    )


def shared(one: ValueSet, other: ValueSet) -> ValueSet:
    """Return a set that holds every value in both. It is empty only if there is none."""
    strings = list(intersect(one.strings, other.strings))
    whole: list[ValuePredicate] = []
    for languages, spans in ((one.languages, other.strings), (other.languages, one.strings)):
        for each in languages:
            if spans and _is_covered(each, ValueSet(strings=spans)):
                whole.append(each)
            else:
                strings += _spoken_in(each, spans)
    return ValueSet(
        null=one.null and other.null,
        booleans=one.booleans & other.booleans,
        numbers=intersect(one.numbers, other.numbers),
        strings=union(strings),
        timestamps=intersect(one.timestamps, other.timestamps),
        languages=(
            *whole,
            *(
                _narrower(left, right)
                for left in one.languages
                for right in other.languages
                if _may_meet(left, right)
            ),
        ),
    )


# --- languages -----------------------------------------------------------------------------------


def _unspoken(spans: Spans, languages: tuple[ValuePredicate, ...]) -> Iterable[Span]:
    """Yield the spans that no single language certainly holds."""
    speaks = [language.accepts() for language in languages]
    for bounds in spans:
        if is_point(bounds):
            if not any(accepts(bounds[0][1]) for accepts in speaks):
                yield bounds
        else:
            prefix = common_prefix(bounds)
            if bounds[0] > (0, prefix, 0):  # the prefix itself is not in the span
                prefix += globs.ONE
            around = Like("", Glob((prefix, "")))
            if not any(_language_covers(language, around) for language in languages):
                yield bounds


def _is_covered(language: ValuePredicate, removed: ValueSet) -> bool:
    """Return True only if every string of the language is in `removed`.

    Either a wider language is there, or the spans hold all but strings that the language refuses.
    """
    if any(_language_covers(wide, language) for wide in removed.languages):
        return True
    left = subtract((_language_hull(language),), removed.strings)
    if not all(map(is_point, left)):
        return False
    accepts = language.accepts()
    return not any(accepts(bounds[0][1]) for bounds in left)


def _spoken_in(language: ValuePredicate, spans: Spans) -> Iterable[Span]:
    """Yield the parts of the spans that may hold strings of the language."""
    accepts = language.accepts()
    for bounds in intersect((_language_hull(language),), spans):
        if not is_point(bounds) or accepts(bounds[0][1]):
            yield bounds


def _language_hull(language: ValuePredicate) -> Span:
    """Return a span that holds every string of the language."""
    if not isinstance(language, Like):
        return ALL_TEXT
    prefix = language.pattern.literal_prefix
    if not language.ignore_case:
        return prefix_span(prefix)
    for at, char in enumerate(prefix):
        if not globs.is_caseless(char):
            variants = globs.case_variants(char)
            low, _ = prefix_span(prefix[:at] + min(variants))
            _, high = prefix_span(prefix[:at] + max(variants))
            return low, high
    return prefix_span(prefix)


def _language_covers(wide: ValuePredicate, narrow: ValuePredicate) -> bool:
    match wide, narrow:
        case Like(), Like():
            return globs.covers(
                wide.pattern,
                narrow.pattern,
                wide_folds=wide.ignore_case,
                narrow_folds=narrow.ignore_case,
            )
        case TextPredicate(), TextPredicate() if type(wide) is type(narrow):
            return wide.covers(narrow)
    return False


def _may_meet(one: ValuePredicate, other: ValuePredicate) -> bool:
    match one, other:
        case Like(), Like():
            return globs.overlap(one.pattern.folded(), other.pattern.folded())
        case TextPredicate(), TextPredicate() if type(one) is type(other):
            return one.overlaps(other)
    return True


def _narrower(one: ValuePredicate, other: ValuePredicate) -> ValuePredicate:
    """Return the narrower of two languages; either may stand for the strings in both."""
    return other if _language_covers(one, other) else one
