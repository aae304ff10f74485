"""Budget: sizes as people write them."""

from __future__ import annotations

import re
from typing import Final

from fyke.errors import FykeError, shown

_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b", re.ASCII | re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class BudgetWarning(UserWarning):
    """A budget that cannot be met: what can be pruned is."""


def in_bytes(size: int | str) -> int:
    """Return a size such as `64 MB` (of 1000 x 1000 bytes) or `64 MiB` in bytes."""
    if type(size) is int and size >= 0:
        return size
    found = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
    if found is None:
        raise FykeError(f"{shown(size)} is no size; expected bytes, as in 64000 or '64 kB'")
    return int(float(found[1]) * (1024 if found[3] else 1000) ** _POWERS[found[2].lower()])


def written(size: float) -> str:
    """Return a number of bytes as people write it."""
    for unit, power in (("GB", 3), ("MB", 2), ("kB", 1)):
        if size >= 1000**power:
            return f"{size / 1000**power:.3g} {unit}"
    return f"{size:.0f} B"
