"""Sizes as people write them: 65536, "64 kB", "4MB", "1 GiB"."""

from __future__ import annotations

import re
from typing import Final

from fyke.errors import FykeError, shown

_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt]?)(i?)b)?\s*", re.ASCII | re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def read_size(size: int | str, *, needs_unit: bool = False) -> int:
    """Return a number of bytes: 64 MB are 64 x 1000 x 1000 of them, 64 MiB 64 x 1024 x 1024.

    A text without a unit is refused where it might be meant as something else.
    """
    if type(size) is int and size >= 0:
        return size
    found = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if found is None or (found[2] is None and (needs_unit or "." in found[1])):
        raise FykeError(f"{shown(size)} is no size; expected bytes, as in 64000 or '64 kB'")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** _POWERS[(found[2] or "").lower()])


def written_size(size: float) -> str:
    """Return a number of bytes as people write it: 512 B, 64 kB, 4.2 MB."""
    for unit, power in (("GB", 3), ("MB", 2), ("kB", 1)):
        if size >= 1000**power:
            return f"{size / 1000**power:.3g} {unit}"
    return f"{size:.0f} B"
