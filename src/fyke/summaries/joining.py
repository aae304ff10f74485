"""Joining: fewer and wider rows, by mappings from rows to rows that cover them.

Coarse (the paper's). Sub-ranges that overlap become their hull (SUM-Q3); an equality value inside
of one is absorbed, so that no range hides it (SUM-Q5); a pattern that another one covers lies in
that one's row (SUM-9, SUM-Q1). What rows there are does not depend on the order in which
subscriptions came.
Example. (1, 5), [3, 8] and 4 are one row, (1, 8]; 9 stays by itself. `= 'OTE'` lies in `OT%`.
Law. Each row lies in the row that it is mapped to; so boxes only grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fyke.filters.algebra.intervals import BEFORE, EMPTY_TEXT, Span, is_point
from fyke.filters.algebra.value_set import ValueSet, without
from fyke.filters.text_predicate import Like
from fyke.summaries.line import Ints, Line
from fyke.summaries.rows import LINES, STRINGS, Key, Rows, language_of

TESTS_MAX: Final = 100_000
"""Pairs of patterns, or of a pattern and a string, that are compared for one attribute. Patterns
that were not compared keep rows of their own."""


def coarsen(rows: Rows) -> tuple[Rows, Ints]:
    """Return the rows of coarse mode, and the new row of each."""
    joined = [hulls(rows.lines[which]) if which != STRINGS else None for which in LINES]
    strings, in_strings, languages, in_languages = _covering(rows)
    made = [each[0] if each is not None else strings for each in joined]
    coarse = Rows(rows.flags, tuple(made), languages, rows.order)  # type: ignore[arg-type]
    moved = [np.arange(len(rows.flags))]
    for which in LINES:
        each = joined[which]
        if each is not None:
            moved.append(coarse.starts[which] + each[1])
        else:
            moved.append(_place(in_strings, coarse))
    moved.append(_place(in_languages, coarse))
    return coarse, np.concatenate(moved)


def hulls(line: Line) -> tuple[Line, Ints]:
    """Return the line with overlapping ranges joined and the points in them absorbed."""
    is_point = line.is_point
    lows, highs = line.lows.copy(), line.highs.copy()
    ranges = np.flatnonzero(~is_point)
    if len(ranges):
        reach = np.maximum.accumulate(highs[ranges])
        starts = np.ones(len(ranges), bool)
        starts[1:] = lows[ranges][1:] >= reach[:-1]
        which = np.cumsum(starts) - 1
        first = np.flatnonzero(starts)
        last = np.append(first[1:], len(ranges)) - 1
        hull_lows, hull_highs = lows[ranges][first], reach[last]
        lows[ranges], highs[ranges] = hull_lows[which], hull_highs[which]
        points = np.flatnonzero(is_point)
        at = np.searchsorted(hull_lows, lows[points], side="right") - 1
        inside = (at >= 0) & (lows[points] < hull_highs[np.maximum(at, 0)])
        lows[points[inside]] = hull_lows[at[inside]]
        highs[points[inside]] = hull_highs[at[inside]]
    return line.with_codes(lows, highs)


# --- strings --------------------------------------------------------------------------------------


def _place(places: Sequence[tuple[bool, int]], coarse: Rows) -> Ints:
    """Return rows of (is a language, number)."""
    starts = coarse.starts[STRINGS], coarse.starts[-1]
    return np.array([starts[is_language] + at for is_language, at in places], np.int64)


def _covering(
    rows: Rows,
) -> tuple[Line, list[tuple[bool, int]], tuple[Key, ...], list[tuple[bool, int]]]:
    """Return the spans and languages that no other covers, and where each lies now."""
    line = rows.lines[STRINGS]
    container = _containers(line)
    spans = [(EMPTY_TEXT if low == BEFORE else low, high) for low, high in line.spans()]
    patterns = _Patterns(rows.languages)
    top = patterns.tops()
    for at in np.flatnonzero(container == np.arange(len(line))).tolist():
        patterns.meet(at, spans[at], top)
    kept = [at for at in range(len(line)) if container[at] == at and at not in patterns.span_in]
    new_line, numbers = line.with_codes(line.lows[kept], line.highs[kept])
    row_of = {at: (False, int(number)) for at, number in zip(kept, numbers, strict=True)}
    keys = tuple(
        key for at, key in enumerate(rows.languages) if top[at] == at and at not in patterns.in_span
    )
    new_key = {key: at for at, key in enumerate(keys)}

    def of_language(at: int) -> tuple[bool, int]:
        up = top[at]
        if up in patterns.in_span:
            return of_span(patterns.in_span[up])
        return True, new_key[rows.languages[up]]

    def of_span(at: int) -> tuple[bool, int]:
        up = int(container[at])
        return of_language(patterns.span_in[up]) if up in patterns.span_in else row_of[up]

    in_spans = [of_span(at) for at in range(len(line))]
    return new_line, in_spans, keys, [of_language(at) for at in range(len(top))]


def _containers(line: Line) -> Ints:
    """Return for each span the first of the largest spans that hold it, perhaps itself."""
    count = len(line)
    order = np.lexsort((-line.highs, line.lows))
    highs = line.highs[order]
    reach = np.concatenate([[-2], np.maximum.accumulate(highs)[:-1]]) if count else highs
    largest = np.flatnonzero(highs > reach)
    holds = largest[np.searchsorted(highs[largest], highs)] if count else highs
    found = np.empty(count, np.int64)
    found[order] = order[holds]
    return found


class _Patterns:
    """Languages, and the spans that they hold or that hold them."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self._languages = [language_of(key) for key in keys]
        self._sets = [ValueSet(languages=(each,)) for each in self._languages]
        self._accepts = [each.accepts() for each in self._languages]
        self._tests = 0
        self.span_in: dict[int, int] = {}
        self.in_span: dict[int, int] = {}

    def tops(self) -> list[int]:
        """Return for each language the first that covers it and that nothing covers."""
        order = sorted(range(len(self._sets)), key=self._length)
        tops = list(range(len(self._sets)))
        largest: list[int] = []
        for at in order:
            found = next((up for up in largest if self._covers(up, at)), None)
            if found is None:
                largest.append(at)
            else:
                tops[at] = found
        self._largest = largest
        return tops

    def _length(self, at: int) -> tuple[int, int]:
        """Put short patterns first: a pattern is covered by none that is longer."""
        language = self._languages[at]
        return (language.pattern.length_min if isinstance(language, Like) else 1 << 30), at

    def _covers(self, wide: int, narrow: int) -> bool:
        self._tests += 1
        if self._tests > TESTS_MAX:
            return False
        return without(self._sets[narrow], self._sets[wide]).is_empty

    def meet(self, at: int, span: Span, tops: Sequence[int]) -> None:
        """Look whether a span and a language hold each other."""
        if self._tests > TESTS_MAX:
            return
        values = ValueSet(strings=(span,))
        for up in self._largest:
            if up in self.in_span:
                continue
            self._tests += 1
            if is_point(span):
                if self._accepts[up](span[0][1]):
                    self.span_in[at] = up
                    return
            elif without(self._sets[up], values).is_empty:
                self.in_span[up] = at
            elif without(values, self._sets[up]).is_empty:
                self.span_in[at] = up
                return
