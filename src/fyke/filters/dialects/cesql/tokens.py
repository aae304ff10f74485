"""CESQL text to tokens: words, keywords in capitals, strings in their quotes, symbols, the end."""

from __future__ import annotations

import re
from typing import Final, NamedTuple, NoReturn

from fyke.errors import FilterError, shown

LOGIC: Final = frozenset({"AND", "OR", "XOR"})
_RESERVED: Final = frozenset({*LOGIC, "NOT", "LIKE", "EXISTS", "IN", "TRUE", "FALSE"})

_TOKEN = re.compile(
    r"""[ \t\r\n]*+(?:
      (?P<word>[A-Za-z0-9_]++)
    | (?P<string>'[^'\\]*+(?:\\.[^'\\]*+)*+' | "[^"\\]*+(?:\\.[^"\\]*+)*+")
    | (?P<symbol><>|!=|<=|>=|[=<>()+\-*/%,])
    | (?P<end>\Z)
    | (?P<bad>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens_of(text: str) -> list[Token]:
    tokens = []
    for found in _TOKEN.finditer(text):
        kind = found.lastgroup
        assert kind is not None
        word = found[kind]
        if kind == "bad":
            _refuse_character(text, word, found.start(kind))
        if kind == "word" and word.upper() in _RESERVED:
            kind, word = "reserved", word.upper()
        tokens.append(Token(kind, word, found.end() - len(word)))
        if kind == "end":
            break
    return tokens


def _refuse_character(text: str, char: str, position: int) -> NoReturn:
    if char in "'\"":
        problem, expected = f"the quote {char} is never closed", f"a closing {char}"
    else:
        problem, expected = f"the character {shown(char)} means nothing in CESQL", None
    raise FilterError(problem, text=text, position=position, expected=expected)


def content(literal: str) -> str:
    """Return the text between the quotes, with escaped quotes as they are meant."""
    quote, inner = literal[0], literal[1:-1]
    if "\\" not in inner:
        return inner
    return _ESCAPE.sub(lambda found: quote if found[0][1] == quote else found[0], inner)


_ESCAPE = re.compile(r"\\.", re.DOTALL)
