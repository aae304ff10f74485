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
    """Return the compiled RE2 expression; FilterError with RE2's reason if it refuses.

    It captures no groups, because nobody asks which part matched.
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
    """Return a function that tests if RE2 finds the expression in a text.

    It calls RE2 itself, below the layer that reports the position.
    """
    match: Any = regular_expression(pattern)._regexp.Match

    def is_found(text: str) -> bool:
        data = text.encode()
        return bool(match(_ANYWHERE, data, 0, len(data))[0] != _NOWHERE)

    return is_found
