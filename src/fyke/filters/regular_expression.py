"""Regular expressions: RE2 only, so that none takes more than linear time."""

from __future__ import annotations

from functools import lru_cache

import re2

from fyke.errors import FilterError, shown


@lru_cache(maxsize=1024)
def regular_expression(pattern: str) -> re2._Regexp:
    """The compiled RE2 expression; FilterError with RE2's reason where it refuses."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as refused:
        reason = refused.args[0].decode() if isinstance(refused.args[0], bytes) else refused
        raise FilterError(
            f"RE2 refuses the regular expression {shown(pattern)}: {reason}",
            expected="an expression in RE2 syntax (no look-around, no back-references)",
        ) from None
