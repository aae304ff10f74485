"""The text that every match of a regular expression holds, as far as it is plain to see.

    (?i)cmd\\.exe\\s+/c (whoami|ver)     "cmd"
    ab*c                               "c"
    a|b                                none

Read from left to right: characters that stand for themselves, outside of groups and classes and
not repeated, are required; the longest run of them is the answer. Whatever is not understood ends
a run, or the search. The answer is folded, because an expression may ignore case.
"""

from __future__ import annotations

import re
from typing import Final

from fyke.filters.texts.glob import fold

LENGTH_MIN: Final = 3
"""A shorter text would be in too many strings to be worth looking for."""

_TOKEN: Final = re.compile(
    r"""
    (?P<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\\\]])*\])
  | (?P<flags>\(\?[a-zA-Z-]+\))
  | (?P<quantifier>[*+?]\??|\{\d*,?\d*\}\??)
  | (?P<escape>\\[dDsSwWbBtnrfv.\-\\/^$|()\[\]{}*+?"'\ ])
  | (?P<plain>[a-zA-Z0-9 _\-/:,;<>=!@\#%&'"~`])
  | (?P<edge>[.^$])
  | (?P<open>\((?:\?:|\?P?<\w+>)?)
  | (?P<close>\))
  | (?P<or>\|)
    """,
    re.VERBOSE,
)


def required_text(pattern: str) -> str | None:
    """Return a folded text that is in every folded string with a match; None if none is known."""
    runs, run, depth, at = [""], "", 0, 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return None
        at = token.end()
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        elif kind == "or" and depth == 0:
            return None
        if kind == "plain" and depth == 0:
            run += token.group()
            continue
        if kind == "quantifier":
            run = run[:-1]
        runs.append(run)
        run = ""
    best = fold(max([*runs, run], key=len))
    return best if depth == 0 and len(best) >= LENGTH_MIN else None
