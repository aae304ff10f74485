"""Sets of scalars of one ordered kind, as sorted disjoint spans between cuts.

A cut is a place between values: (0, v, 0) lies just before v, (0, v, 1) just after it, and two
more lie before and after everything. A span is a pair of cuts; the closed [1, 5] is ((0, 1, 0),
(0, 5, 1)), the open (1, 5) is ((0, 1, 1), (0, 5, 0)). Open and closed ends thus need no cases: a
span is empty iff its first cut is not before the second, and spans are compared as tuples.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from fyke.events.value import Kind, Scalar
from fyke.filters.predicate import Range

Cut: TypeAlias = tuple[int, Any, int]
Span: TypeAlias = tuple[Cut, Cut]
Spans: TypeAlias = tuple[Span, ...]

BEFORE: Final[Cut] = (-1, None, 0)
AFTER: Final[Cut] = (1, None, 0)
EVERYWHERE: Final[Span] = (BEFORE, AFTER)
EMPTY_TEXT: Final[Cut] = (0, "", 0)
_LAST_CHARACTER: Final = 0x10FFFF


def span(range_: Range) -> Span:
    """Return the span of an interval predicate. Nothing lies before the empty string."""
    low: Cut = BEFORE if range_.low is None else (0, range_.low, int(range_.low_open))
    high: Cut = AFTER if range_.high is None else (0, range_.high, int(not range_.high_open))
    if range_.kind is Kind.STRING and low == BEFORE:
        low = EMPTY_TEXT
    return low, high


def point(value: Scalar) -> Span:
    return (0, value, 0), (0, value, 1)


def prefix_span(prefix: str) -> Span:
    """Return the span of all strings that start with `prefix`.

    They lie together in the order of code points.
    """
    bare = prefix.rstrip(chr(_LAST_CHARACTER))
    if not bare:
        return (0, prefix, 0), AFTER
    following = ord(bare[-1]) + 1
    if following == 0xD800:
        following = 0xE000
    return (0, prefix, 0), (0, bare[:-1] + chr(following), 0)


def common_prefix(bounds: Span) -> str:
    """Return the longest prefix that all strings of a span share."""
    low, high = bounds
    for length in range(len(low[1]), 0, -1):
        if high <= prefix_span(low[1][:length])[1]:
            return str(low[1][:length])
    return ""


ALL_TEXT: Final[Span] = (EMPTY_TEXT, AFTER)


def is_point(bounds: Span) -> bool:
    low, high = bounds
    return low[0] == 0 == high[0] and low[1] == high[1] and low[2] < high[2]


def union(spans: Iterable[Span]) -> Spans:
    """Return the spans sorted and disjoint. Empty ones are dropped and neighbours are joined."""
    merged: list[Span] = []
    for low, high in sorted(each for each in spans if each[0] < each[1]):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(spans: Spans, within: Span = EVERYWHERE) -> Spans:
    """Return the parts of a span that lie in none of the given spans."""
    gaps: list[Span] = []
    at, end = within
    for low, high in spans:
        gaps.append((at, min(low, end)))
        at = max(at, high)
    gaps.append((at, end))
    return tuple(gap for gap in gaps if gap[0] < gap[1])


def subtract(spans: Spans, removed: Spans) -> Spans:
    """Return the parts of `spans` outside of `removed`. Linear, plus one search per span."""
    return tuple(part for each in spans for part in complement(_touching(removed, each), each))


def intersect(one: Spans, other: Spans) -> Spans:
    """Return the parts that lie in both."""
    return tuple(
        (max(low, other_low), min(high, other_high))
        for low, high in one
        for other_low, other_high in _touching(other, (low, high))
    )


def _touching(spans: Spans, bounds: Span) -> Spans:
    """Return the spans that share a value with `bounds`."""
    first = bisect_right(spans, bounds[0], key=lambda each: each[1])
    last = bisect_left(spans, bounds[1], key=lambda each: each[0])
    return spans[first:last]


def hull(spans: Spans) -> Span:
    """Return the smallest span around all of them; there must be one."""
    return spans[0][0], spans[-1][1]
