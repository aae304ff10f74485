"""Sizes as people write them: 65536, "64 kB", "4MB"."""

from __future__ import annotations

import re
from typing import Final

from fyke.errors import shown
from fyke.summaries.encoding import SummaryError

_UNITS: Final = {"": 1, "b": 1, "kb": 1_000, "mb": 10**6, "gb": 10**9}
_UNITS_BINARY: Final = {"kib": 2**10, "mib": 2**20, "gib": 2**30}
_SIZE: Final = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", re.ASCII)


def read_size(size: int | str) -> int:
    """Return a number of bytes; SummaryError if there is none."""
    found = _SIZE.fullmatch(str(size)) if not isinstance(size, bool) else None
    factor = (_UNITS | _UNITS_BINARY).get(found[2].lower()) if found else None
    if found is None or factor is None:
        raise SummaryError(f"{shown(size)} is no size; expected bytes such as 65536 or 64 kB")
    return int(float(found[1]) * factor)


def written_size(size: float) -> str:
    """Return a size to be read: 512 B, 64.0 kB, 4.2 MB."""
    for factor, unit in ((10**9, "GB"), (10**6, "MB"), (1_000, "kB")):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size:,.0f} B"
