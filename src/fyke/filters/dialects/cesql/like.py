"""CESQL's LIKE patterns: `%` any string, `_` any character, a backslash takes either literally.

In front of anything else, another backslash included, a backslash is a character like any other.
"""

from __future__ import annotations

import re
from functools import lru_cache

from fyke.filters.texts.glob import ONE, Glob, glob

_PIECE = re.compile(r"\\[%_]|[%_]|[^\\%_]+|\\", re.DOTALL)


@lru_cache(maxsize=1024)
def pattern_glob(pattern: str) -> Glob:
    segments: list[list[str]] = [[]]
    for piece in _PIECE.findall(pattern):
        if piece == "%":
            segments.append([])
        else:
            segments[-1].append(
                ONE if piece == "_" else piece[1] if piece in ("\\%", "\\_") else piece
            )
    return glob(["".join(segment) for segment in segments])
