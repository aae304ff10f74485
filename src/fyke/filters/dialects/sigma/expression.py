r"""Regular expressions of rules, which are written for PCRE, in the words of RE2.

    \Z        the end, or a line feed before it     (?:\n?\z)
    \h        a horizontal space                    its characters
    \uXXXX    a character by its number             \x{XXXX}

Everything else stays as it is, quotations (`\Q...\E`) included, and is left to RE2 to read or to
refuse. So is `\Z` where more follows it, since the line feed would be consumed. One pass over the
text.
"""

from __future__ import annotations

import re
from typing import Final

_REWRITTEN = re.compile(r"\\[Zhu]")
_OUTSIDE = re.compile(
    r"(?P<end>\\Z(?=[)|]|\Z))|(?P<space>\\h)|\\u(?P<number>[0-9A-Fa-f]{4})"
    r"|\\Q.*?(?:\\E|\Z)|\\.|(?P<opened>\[\^?\]?)|[^\\\[]+|.",
    re.DOTALL,
)
_INSIDE = re.compile(
    r"(?P<closed>\])|(?P<space>\\h)|\\u(?P<number>[0-9A-Fa-f]{4})"
    r"|\[:\^?[a-z]+:\]|\\.|[^\]\\\[]+|.",
    re.DOTALL,
)
_SPACES: Final = r"\t \x{a0}\x{1680}\x{180e}\x{202f}\x{205f}\x{3000}\x{2000}-\x{200a}"
"""In a class, a dash after it makes no range, since one ends it; a range up to it is refused."""


def in_re2(expression: str) -> str:
    """Rewrite the escapes of an expression that RE2 does not know."""
    if not _REWRITTEN.search(expression):
        return expression
    pieces, at, inside = [], 0, False
    while at < len(expression):
        found = (_INSIDE if inside else _OUTSIDE).match(expression, at)
        assert found is not None
        pieces.append(_rewritten(found, inside))
        inside = found.lastgroup == "opened" or (inside and found.lastgroup != "closed")
        at = found.end()
    return "".join(pieces)


def _rewritten(found: re.Match[str], inside: bool) -> str:
    match found.lastgroup:
        case "end":
            return r"(?:\n?\z)"
        case "number":
            return rf"\x{{{found['number']}}}"
        case "space":
            return _SPACES if inside else f"[{_SPACES}]"
    return found[0]
