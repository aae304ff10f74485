"""Memory that a large build leaves behind, given back to the system.

Building a segment takes several times its memory in passing. The C library keeps what was freed
for later use, glibc up to 200 bytes a subscription where live arrays lie above it; a matcher that
is built once would hold it for good. `give_back` asks for its return, where that can be asked for.
Cost. Some 10 ms for 100 MB, without the interpreter's lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Final

RELEASE_SIZE_MIN: Final = 100_000
"""Subscriptions of a segment from which on memory is given back after it was built."""


def give_back() -> None:
    """Give free memory back; do nothing where the C library knows no such call."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], Any] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc; Windows takes no None
        return None
