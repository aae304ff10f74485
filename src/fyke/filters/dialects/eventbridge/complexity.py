"""Complexity of a field's wildcards: the number of prefixes that one value can fit at a time.

EventBridge refuses wildcards above a limit. We match without backtracking and need no limit, but a
pattern should be valid here exactly where it is valid there.

Idea. Follow a value through the wildcards: once a star is reached it stays reached, and after each
star the text may stand at several places of the segment that follows.
Example. `*:*:*:*:*:event-bus/*` reaches six stars, and a colon may be any of its five: 11.
Cost. Stars (at most the limit) squared times the length.
Source. MachineComplexityEvaluator of aws/event-ruler, which judges the wildcards of a field
together: one of `*:stack/X/*` counts 3, four of them 12.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

COMPLEXITY_MAX: Final = 10

_END: Final = "\ud800"


def too_complex(wildcards: Iterable[Sequence[str]]) -> bool:
    """Return True if EventBridge refuses wildcards, each with a star between each two segments."""
    followers: list[str] = []
    for segments in wildcards:
        if len(segments) > 1:
            followers += [*segments[1:-1], segments[-1] + _END]
        if len(followers) >= COMPLEXITY_MAX:
            return True
    if not followers:
        return False
    counts = [[0] * len(follower) for follower in followers]
    for seen, follower in zip(counts, followers, strict=True):
        for pattern in followers:
            for at, places in enumerate(_places(pattern, follower)):
                seen[at] += places
    return len(followers) + max(max(seen, default=0) for seen in counts) > COMPLEXITY_MAX


def _places(pattern: str, text: str) -> Iterator[int]:
    """Yield, per character of `text`, the number of prefixes of `pattern` that end there.

    This is the algorithm of Knuth, Morris and Pratt.
    """
    borders, depths = _borders(pattern)
    length = 0
    for char in text:
        while length and (length == len(pattern) or pattern[length] != char):
            length = borders[length]
        if length < len(pattern) and pattern[length] == char:
            length += 1
        yield depths[length]


def _borders(pattern: str) -> tuple[list[int], list[int]]:
    """Return, per prefix, the length of its longest border and how many prefixes end it."""
    borders, depths = [0, 0], [0, 1]
    for at in range(1, len(pattern)):
        length = borders[at]
        while length and pattern[length] != pattern[at]:
            length = borders[length]
        borders.append(length + (pattern[length] == pattern[at]))
        depths.append(depths[borders[-1]] + 1)
    return borders, depths
