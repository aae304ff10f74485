"""The native language as a lark LALR grammar with a transformer: the reference for parsing."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from lark import Lark, Token, Transformer, v_args

from fyke.events.value import canonical, parse_duration, parse_timestamp
from fyke.filters.comparison import Compare
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction, disjunction, negation
from fyke.filters.predicate import Exists, In, NotIn, Range, TypeIs, compare
from fyke.filters.text_predicate import Matches, contains, ends_with, in_network, like, starts_with
from fyke.filters.texts.glob import from_like

GRAMMAR = r"""
?start: disjunction
?disjunction: conjunct ("or"i conjunct)*
?conjunct: term ("and"i term)*
?term: "not"i term                              -> negated
     | "(" disjunction ")"
     | "true"i                                  -> everything
     | "false"i                                 -> nothing
     | "exists"i name                           -> exists
     | "missing"i name                          -> missing
     | name "is"i (name | string)               -> type_is
     | name COMPARISON literal                  -> comparison
     | name COMPARISON name                     -> comparison_of_two
     | name "is"i "null"i                       -> is_null
     | name "is"i "not"i "null"i                -> is_not_null
     | name "in"i "(" literal ("," literal)* ")"        -> is_in
     | name "not"i "in"i "(" literal ("," literal)* ")" -> is_not_in
     | name "in"i "cidr"i string                -> in_cidr
     | name "between"i literal [EXCLUSIVE] "and"i literal [EXCLUSIVE] -> between
     | name "like"i string                      -> like
     | name "ilike"i string                     -> ilike
     | name "contains"i string                  -> contains
     | name "matches"i string                   -> matches
     | name "starts"i "with"i string            -> starts_with
     | name "ends"i "with"i string              -> ends_with
?literal: NUMBER                                -> number
     | string
     | "true"i                                  -> yes
     | "false"i                                 -> no
     | "null"i                                  -> null
     | "timestamp"i string                      -> timestamp
     | "interval"i string                       -> interval
string: STRING
name: NAME | QUOTED
COMPARISON: "=" | "!=" | "<=" | ">=" | "<" | ">"
EXCLUSIVE: "exclusive"i
NUMBER: /[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?/
STRING: /'[^']*(''[^']*)*'/
QUOTED: /"[^"]*(""[^"]*)*"/
NAME: /[^\W\d]\w*(\.[^\W\d]\w*)*/
%ignore /\s+/
"""


@v_args(inline=True)
class _Trees(Transformer[Token, Filter]):
    """Builds the same trees as the hand-written parser."""

    def disjunction(self, *children: Filter) -> Filter:
        return disjunction(children)

    def conjunct(self, *children: Filter) -> Filter:
        return conjunction(children)

    def negated(self, child: Filter) -> Filter:
        return negation(child)

    def everything(self) -> Filter:
        return TRUE

    def nothing(self) -> Filter:
        return FALSE

    def exists(self, name: str) -> Filter:
        return Exists(name)

    def missing(self, name: str) -> Filter:
        return negation(Exists(name))

    def type_is(self, attribute: str, name: str) -> Filter:
        if attribute.lower() != "type":
            raise ValueError(f"{attribute} is no type")
        return TypeIs(name)

    def comparison(self, name: str, operator: Token, value: Any) -> Filter:
        return compare(name, str(operator), value)

    def comparison_of_two(self, name: str, operator: Token, other: str) -> Filter:
        return Compare(name, str(operator), other)

    def is_null(self, name: str) -> Filter:
        return In(name, (None,))

    def is_not_null(self, name: str) -> Filter:
        return NotIn(name, (None,))

    def is_in(self, name: str, *values: Any) -> Filter:
        return In(name, values)

    def is_not_in(self, name: str, *values: Any) -> Filter:
        return NotIn(name, values)

    def in_cidr(self, name: str, network: str) -> Filter:
        return in_network(name, network)

    def between(self, name: str, low: Any, low_open: Any, high: Any, high_open: Any) -> Filter:
        return Range(name, low, high, low_open is not None, high_open is not None)

    def like(self, name: str, pattern: str) -> Filter:
        return like(name, from_like(pattern))

    def ilike(self, name: str, pattern: str) -> Filter:
        return like(name, from_like(pattern), ignore_case=True)

    def contains(self, name: str, inner: str) -> Filter:
        return contains(name, inner)

    def matches(self, name: str, expression: str) -> Filter:
        return Matches(name, expression)

    def starts_with(self, name: str, prefix: str) -> Filter:
        return starts_with(name, prefix)

    def ends_with(self, name: str, suffix: str) -> Filter:
        return ends_with(name, suffix)

    def number(self, token: Token) -> Any:
        return canonical(Decimal(token))

    def yes(self) -> bool:
        return True

    def no(self) -> bool:
        return False

    def null(self) -> None:
        return None

    def timestamp(self, text: str) -> Any:
        return parse_timestamp(text)

    def interval(self, text: str) -> Any:
        return canonical(parse_duration(text).total_seconds())

    def string(self, token: Token) -> str:
        return token[1:-1].replace("''", "'")

    def name(self, token: Token) -> str:
        return token[1:-1].replace('""', '"') if token.startswith('"') else str(token)


def lark_parser() -> Callable[[str], Filter]:
    """Native text to a tree, the transformer built into the parser as lark advises."""
    parse = Lark(GRAMMAR, parser="lalr", transformer=_Trees()).parse
    return parse  # type: ignore[return-value]
