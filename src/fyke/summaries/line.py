"""Line: the spans of one ordered kind at one attribute, as arrays of integers.

Idea. The values at which spans begin or end are sorted and numbered. A cut just before value i is
the code 2i, just after it 2i + 1; -1 lies before everything, 2n behind it. A span is a pair of
codes, so open and infinite ends (SUM-Q2) need no cases and joining spans is arithmetic. A value
that is number i has the code 2i, one between i - 1 and i the code 2i - 1; it lies in a span iff
low <= code < high.
Example. (8.30, 8.70) and 8.20: values 8.2, 8.3, 8.7; the spans (0, 1) and (3, 4); 8.4 has code 3.
Equality rows (AACS_E) are the spans (2i, 2i + 1); all others are sub-ranges (AACS_SR).
Order. Rows are sorted by (low, high), and distinct.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from fyke.filters.algebra.intervals import AFTER, BEFORE, Cut, Span

Ints: TypeAlias = npt.NDArray[np.int64]

NONE: Final[Ints] = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Line:
    """Sorted values, and the spans between cuts at them."""

    values: tuple[Any, ...] = ()
    lows: Ints = field(default_factory=lambda: NONE)
    highs: Ints = field(default_factory=lambda: NONE)

    def __len__(self) -> int:
        return len(self.lows)

    @staticmethod
    def of(spans: Iterable[Span]) -> Line:
        """Return the line of some spans."""
        pairs = set(spans)
        if not pairs:
            return EMPTY
        values = tuple(sorted({cut[1] for pair in pairs for cut in pair if cut[0] == 0}))
        places = {value: at for at, value in enumerate(values)}
        ends = len(values)
        coded = sorted((_code(low, places, ends), _code(high, places, ends)) for low, high in pairs)
        codes = np.array(coded, np.int64).reshape(-1, 2)
        return Line(values, codes[:, 0], codes[:, 1])

    def spans(self) -> list[Span]:
        """Return the rows as spans."""
        pairs = zip(self.lows.tolist(), self.highs.tolist(), strict=True)
        return [(self._cut(low), self._cut(high)) for low, high in pairs]

    def _cut(self, code: int) -> Cut:
        if code < 0:
            return BEFORE
        if code >= 2 * len(self.values):
            return AFTER
        return 0, self.values[code // 2], code % 2

    @property
    def is_point(self) -> npt.NDArray[np.bool_]:
        """True for each row that holds one value."""
        inside = (self.lows >= 0) & (self.lows % 2 == 0) & (self.lows < 2 * len(self.values))
        return np.asarray(inside & (self.highs == self.lows + 1))

    # --- searching --------------------------------------------------------------------------------

    def find(self, value: Any) -> Sequence[int]:
        """Return the rows that hold a value."""
        at = bisect_left(self.values, value)
        is_there = at < len(self.values) and self.values[at] == value
        code = 2 * at if is_there else 2 * at - 1
        count = bisect_left(self._low_view, code + 1)
        if self._is_apart:
            return (count - 1,) if count and code < self._high_view[count - 1] else ()
        lows, highs, rows = self._ranges
        count = bisect_left(lows, code + 1)
        found: list[int] = rows[:count][highs[:count] > code].tolist() if count else []
        if is_there:
            at = bisect_left(self._low_view, code)
            if at < len(self) and self._low_view[at] == code and self._high_view[at] == code + 1:
                found.append(at)
        return found

    @cached_property
    def _is_apart(self) -> bool:
        """True if no two rows overlap."""
        return bool((self.lows[1:] >= self.highs[:-1]).all())

    @cached_property
    def _ranges(self) -> tuple[list[int], Ints, Ints]:
        """The beginnings and ends of the rows of more than one value, and their numbers."""
        rows = np.flatnonzero(~self.is_point)
        return self.lows[rows].tolist(), self.highs[rows], rows

    @cached_property
    def _low_view(self) -> memoryview:
        return memoryview(self.lows)  # type: ignore[arg-type]

    @cached_property
    def _high_view(self) -> memoryview:
        return memoryview(self.highs)  # type: ignore[arg-type]

    # --- changing ---------------------------------------------------------------------------------

    def with_codes(self, lows: Ints, highs: Ints) -> tuple[Line, Ints]:
        """Return a line of other codes of the same cuts, and the new row of each given pair."""
        pairs, rows = np.unique(np.stack([lows, highs], 1), axis=0, return_inverse=True)
        return Line(self.values, pairs[:, 0], pairs[:, 1]).trimmed(), rows.reshape(-1)

    def trimmed(self) -> Line:
        """Return the line without values that no row begins or ends at."""
        ends = 2 * len(self.values)
        codes = np.concatenate([self.lows, self.highs])
        used = np.unique(codes[(codes >= 0) & (codes < ends)] // 2)
        if len(used) == len(self.values):
            return self
        values = tuple(self.values[at] for at in used.tolist())
        return Line(values, *(_renumber(each, used, ends) for each in (self.lows, self.highs)))

    def on(self, values: tuple[Any, ...]) -> tuple[Ints, Ints]:
        """Return the codes of the rows at more values, which hold all of this line's."""
        places = {value: at for at, value in enumerate(values)}
        numbers = np.array([places[value] for value in self.values], np.int64)
        ends = 2 * len(self.values)
        return tuple(_move(each, numbers, ends, 2 * len(values)) for each in self._codes)  # type: ignore[return-value]

    @property
    def _codes(self) -> tuple[Ints, Ints]:
        return self.lows, self.highs


EMPTY: Final = Line()


def union(lines: Sequence[Line]) -> tuple[Line, list[Ints]]:
    """Return a line of all rows, and where each row of each line is in it."""
    values = tuple(sorted({value for line in lines for value in line.values}))
    codes = [line.on(values) for line in lines]
    lows = np.concatenate([low for low, _ in codes])
    highs = np.concatenate([high for _, high in codes])
    line, rows = Line(values).with_codes(lows, highs)
    return line, np.split(rows, np.cumsum([len(line) for line in lines])[:-1])


def _code(cut: Cut, places: dict[Any, int], ends: int) -> int:
    if cut[0] == 0:
        return 2 * places[cut[1]] + cut[2]
    return -1 if cut == BEFORE else 2 * ends


def _move(codes: Ints, numbers: Ints, ends: int, new_ends: int) -> Ints:
    """Return codes where value i has become value numbers[i]."""
    inside = np.clip(codes, 0, max(ends - 1, 0))
    moved = 2 * numbers[inside // 2] + inside % 2 if ends else inside
    return np.where(codes < 0, -1, np.where(codes >= ends, new_ends, moved)).astype(np.int64)


def _renumber(codes: Ints, used: Ints, ends: int) -> Ints:
    inside = np.clip(codes, 0, max(ends - 1, 0))
    moved = 2 * np.searchsorted(used, inside // 2) + inside % 2
    return np.where(codes < 0, -1, np.where(codes >= ends, 2 * len(used), moved)).astype(np.int64)
