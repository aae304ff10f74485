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

MUCH: Final = 100_000
"""Who built a segment of so many subscriptions gives memory back."""


def give_back() -> None:
    """Returns free memory; does nothing where the C library knows no such call."""
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], Any] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc; Windows takes no None
        return None
