"""The first byte of a node: what it is, and as much about it as fits."""

from __future__ import annotations

from typing import Final

FALSE, TRUE, NOT, IN, NOT_IN, RANGE, LIKE, ILIKE = range(8)
COMPARE: Final = 12
"""The codes from 8 to 31 that are not here stand above classes of predicates (`declaration`)."""

EQUAL: Final = 0x20
UNEQUAL: Final = 0x30
"""With the tag of the one value."""

AND: Final = 0x40
OR: Final = 0x50
"""With the number of children; with 0 the number follows."""
OPERATORS_END: Final = 0x60
INLINE_MAX: Final = 15

INTERVAL: Final = 0x80
"""With the tag that both ends share; above it, which ends there are and which are open:"""
BOTH: Final = 0x40
LOW_OPEN: Final = 0x10
HIGH_OPEN: Final = 0x20
"""where there are both, and where there is one end only:"""
HIGH_ONLY: Final = 0x20
ONLY_OPEN: Final = 0x10

COMPARISONS: Final = ("=", "!=", "<", "<=", ">", ">=")
STAR: Final = b"\xff"
ONE: Final = b"\xfe"
"""Between the literals of a pattern: no text has these bytes."""
