"""Regular expressions: RE2 only, so that none takes more than linear time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import re2

from fyke.errors import FilterError, shown

_ANYWHERE: Final = re2._Anchor.UNANCHORED
_NOWHERE: Final = (-1, -1)


@lru_cache(maxsize=4096)
def regular_expression(pattern: str) -> re2._Regexp:
    """The compiled RE2 expression; FilterError with RE2's reason where it refuses.

    It captures no groups: what matched is never asked.
    """
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(pattern, options)
    except re2.error as refused:
        reason = refused.args[0].decode() if isinstance(refused.args[0], bytes) else refused
        raise FilterError(
            f"RE2 refuses the regular expression {shown(pattern)}: {reason}",
            expected="an expression in RE2 syntax (no look-around, no back-references)",
        ) from None


def finder(pattern: str) -> Callable[[str], bool]:
    """A function that says whether RE2 finds the expression in a text.

    It asks RE2 itself, below the layer that would say where.
    """
    match: Any = regular_expression(pattern)._regexp.Match

    def is_found(text: str) -> bool:
        data = text.encode()
        return bool(match(_ANYWHERE, data, 0, len(data))[0] != _NOWHERE)

    return is_found
