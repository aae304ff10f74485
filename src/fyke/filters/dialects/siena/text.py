"""The text notation; its grammar stands in the package's docstring."""

from __future__ import annotations

import re
from typing import Final

from fyke.events.value import Scalar
from fyke.filters.dialects.siena.constraint import (
    OPERATOR,
    OPERATORS,
    TYPES,
    Constraint,
    predicate,
)
from fyke.filters.filter import Filter, conjunction
from fyke.filters.language.tokens import Tokens
from fyke.limits import Limits

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<word>[^\W\d][\w/]*(?:\.[\w/]+)*)
    | (?P<number>[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))
    | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')
    | (?P<symbol>!=|<=|>=|>\*|\*<|[=<>*~{};&,])
    | (?P<bad>\S)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r"}
_CONSTANTS: Final = {"true": True, "false": False}


def from_text(text: str, limits: Limits) -> Filter:
    return _Reading(text, limits).filter()


class _Reading:
    """One pass over a filter's text."""

    def __init__(self, text: str, limits: Limits) -> None:
        self.tokens = Tokens(text, _TOKEN, limits)
        self.limits = limits

    def filter(self) -> Filter:
        tokens = self.tokens
        if tokens.word == "filter" and tokens.following == ("symbol", "{"):
            tokens.take()
        if tokens.skip("{"):
            predicates = [] if self.at_symbol("}") else self.constraints()
            tokens.need("}", "a constraint or }")
        else:
            predicates = self.constraints()
        if tokens.kind != "end":
            tokens.fail("the end of the text")
        return conjunction(predicates)

    def constraints(self) -> list[Filter]:
        """Read at least one constraint. A separator may stand after each."""
        predicates: list[Filter] = []
        while not predicates or not self.at_end():
            predicates.append(self.constraint())
            if self.at_symbol(";", "&", ","):
                self.tokens.take()
            if len(predicates) > self.limits.nodes_max:
                self.tokens.fail(f"no more than {self.limits.nodes_max} constraints")
        return predicates

    def at_end(self) -> bool:
        return self.tokens.kind == "end" or self.at_symbol("}")

    def constraint(self) -> Filter:
        at = self.tokens.at
        declared = self.declared_type()
        name = self.name()
        operator = self.operator()
        value = None if operator == "any" else self.value()
        constraint = Constraint(name, operator, value, declared)
        return self.tokens.build(lambda: predicate(constraint), at)

    def declared_type(self) -> str | None:
        """Read a type if a name follows; so an attribute may be called `date`."""
        kind, word = self.tokens.following
        if kind == "symbol" or word == "any" or self.tokens.kind != "word":
            return None
        if kind not in ("word", "string"):
            return None
        if self.tokens.word not in TYPES:
            self.tokens.fail(f"one of the types {', '.join(TYPES)}, or an operator after the name")
        return self.tokens.take()

    def name(self) -> str:
        if self.tokens.kind == "string":
            return self.string()
        if self.tokens.kind != "word":
            self.tokens.fail("the name of an attribute")
        return self.tokens.take()

    def operator(self) -> str:
        if self.tokens.kind not in ("symbol", "word") or self.tokens.word not in OPERATORS:
            self.tokens.fail(OPERATOR)
        return self.tokens.take()

    def value(self) -> Scalar:
        tokens = self.tokens
        if tokens.kind == "string":
            return self.string()
        if tokens.kind == "number":
            return tokens.number()
        if tokens.kind == "word" and tokens.word in _CONSTANTS:
            return _CONSTANTS[tokens.take()]
        tokens.fail('a "string" in quotes, a number, true or false')

    def string(self) -> str:
        return _ESCAPE.sub(
            lambda found: _CONTROLS.get(found[1], found[1]), self.tokens.take()[1:-1]
        )

    def at_symbol(self, *symbols: str) -> bool:
        return self.tokens.kind == "symbol" and self.tokens.word in symbols
