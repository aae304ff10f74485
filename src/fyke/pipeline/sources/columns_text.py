"""Columns as Spark writes them, `id string, price decimal(10, 2)`, read before Spark starts.

    columns   column ("," column)*
    column    name ":"? type ("not" "null")? ("comment" text)?
    type      "array" "<" type ">" | "map" "<" type "," type ">" | "struct" "<" columns? ">"
              | word ("(" numbers ")")? more words

Whether the numbers make sense is left to Spark.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final, NoReturn

from fyke.errors import FykeError, shown

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)+`)|(?P<word>\w+)|(?P<sign>[<>(),:])"
    r"|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|(?P<end>$)|(?P<other>.))",
    re.DOTALL,
)
_TYPES: Final = (
    *(
        "array",
        "bigint",
        "binary",
        "boolean",
        "byte",
        "char",
        "character",
        "date",
        "dec",
        "decimal",
    ),
    *("double", "float", "geography", "geometry", "int", "integer", "interval", "long", "map"),
    *("numeric", "real", "short", "smallint", "string", "struct", "time", "timestamp"),
    *("timestamp_ltz", "timestamp_ntz", "tinyint", "varchar", "variant", "void"),
)
_MORE: Final = (
    *("collate", "day", "hour", "local", "minute", "month", "not", "null", "second", "time", "to"),
    *("with", "without", "year", "zone"),
)
"""Words after the name of a type: `interval day to second`, `string collate unicode`."""


def columns(text: str) -> list[str]:
    """Return the names of the columns; FykeError says what was expected where."""
    return _Columns(text).whole()


class _Columns:
    def __init__(self, text: str) -> None:
        self._tokens = [(found.lastgroup, found[0].strip()) for found in _TOKEN.finditer(text)]
        self._at = 0

    def whole(self) -> list[str]:
        names = self._list()
        if self._kind != "end":
            self._fail("a comma before the next column")
        return names

    def _list(self) -> list[str]:
        names = [self._column()]
        while self._skip(","):
            names.append(self._column())
        return names

    def _column(self) -> str:
        if self._kind not in ("quoted", "word"):
            self._fail("the name of a column")
        name = self._next()
        self._skip(":")
        self._type()
        if self._skip("comment") and (self._kind != "text" or not self._next()):
            self._fail("a text in quotes")
        return name[1:-1].replace("``", "`") if name.startswith("`") else name

    def _type(self) -> None:
        name = self._token.lower()
        if name not in _TYPES:
            near = get_close_matches(name, _TYPES, 1)
            self._fail("a type of Spark" + (f"; did you mean {near[0]}?" if near else ""))
        self._next()
        if name in ("array", "map", "struct"):
            self._parts(name)
        elif self._skip("("):
            while not self._skip(")"):
                if self._kind not in ("word", "sign"):
                    self._fail("a closing parenthesis")
                self._next()
        while self._token.lower() in _MORE:
            if self._next().lower() == "collate":
                self._next()

    def _parts(self, name: str) -> None:
        self._need("<")
        if name == "struct":
            if self._token != ">":
                self._list()
        else:
            self._type()
            if name == "map":
                self._need(",")
                self._type()
        self._need(">")

    @property
    def _kind(self) -> str | None:
        return self._tokens[self._at][0]

    @property
    def _token(self) -> str:
        return self._tokens[self._at][1]

    def _next(self) -> str:
        token = self._token
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _skip(self, token: str) -> bool:
        found = self._token.lower() == token
        if found:
            self._next()
        return found

    def _need(self, sign: str) -> None:
        if not self._skip(sign):
            self._fail(sign)

    def _fail(self, expected: str) -> NoReturn:
        found = shown(self._token) if self._token else "its end"
        raise FykeError(f"{found} instead of {expected}")
