"""Native text to Filter: one regular expression for the tokens, one method per rule of the grammar.

    filter      = conjunct { "or" conjunct }
    conjunct    = term { "and" term }
    term        = "not" term | "(" filter ")" | "true" | "false"
                | "exists" name | "missing" name
                | "type" "is" name-or-string
                | "residual" word string
                | name condition
    condition   = ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) ( literal | name )
                | "is" [ "not" ] ( "null" | "missing" )
                | [ "not" ] "in" "(" literal { "," literal } ")"
                | "between" literal [ "exclusive" ] "and" literal [ "exclusive" ]
                | ( "like" | "ilike" | "contains" ) string
                | ( "starts" | "ends" ) "with" string
                | words string              the words that a class declares: matches, in cidr
    literal     = number | string | "true" | "false" | "null"
                | "timestamp" string { ( "+" | "-" ) "interval" string } | "interval" string

Keywords are read in any case; a name that is a reserved word is written in double quotes. Errors
carry the position and what was expected there. Time is linear in the text; depth, nodes and sizes
are bounded by `Limits`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from fyke.events.value import Scalar, canonical, parse_duration, parse_timestamp
from fyke.filters.comparison import Compare
from fyke.filters.declaration import BY_FIRST_WORD, Declaration
from fyke.filters.filter import FALSE, TRUE, Filter, conjunction, disjunction, negation
from fyke.filters.language.notation import RESERVED
from fyke.filters.language.tokens import Tokens
from fyke.filters.predicate import Exists, In, NotIn, Range, TypeIs, compare
from fyke.filters.residual import Residual
from fyke.filters.text_predicate import contains, ends_with, like, starts_with
from fyke.filters.texts.glob import from_like
from fyke.limits import DEFAULT_LIMITS, Limits

_NAME = r"[^\W\d]\w*"
_QUOTED = r'"[^"]*(?:""[^"]*)*"'
_TOKEN = re.compile(
    rf"""\s*(?:
      (?P<word>(?>{_NAME}(?:\.{_NAME})*)(?!\.?"))
    | (?P<string>'[^']*(?:''[^']*)*')
    | (?P<symbol>!=|<>|<=|>=|[=<>(),]|[+-](?![\d.]))
    | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<quoted>(?:{_NAME}\.)*{_QUOTED}(?:\.(?:{_NAME}|{_QUOTED}))*)
    | (?P<bad>\S)
    )""",
    re.VERBOSE,
)
_ONE_QUOTED = re.compile(_QUOTED)
_NAME_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')
_COMPARISONS: Final = {"<>": "!="} | {each: each for each in ("=", "!=", "<", "<=", ">", ">=")}
_SPELLINGS: Final = {
    **{"==": "=", "===": "=", "=>": ">=", "=<": "<=", "=~": "matches", "~": "matches"},
    **{"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not", "[": "("},
    **{"startswith": "starts with", "starts_with": "starts with", "begins with": "starts with"},
    **{"endswith": "ends with", "ends_with": "ends with", "includes": "contains"},
    **{"regexp": "matches", "regex": "matches", "rlike": "matches", "isnull": "is null"},
    **{"eq ": "=", "ne ": "!=", "lt ": "<", "le ": "<=", "gt ": ">", "ge ": ">="},
}
"""Words and signs of other languages, and what this one has for them."""
_SHARED_MAX: Final = 4096
_SHARED_LENGTH_MAX: Final = 200
_CONDITIONS: Final = "a comparison, in, between, like, starts with, contains, matches or is null"


def parse_text(text: str, limits: Limits = DEFAULT_LIMITS) -> Filter:
    """Read one filter; FilterError says where the text goes wrong and what was expected there."""
    return _Parser(text, limits).whole()


class _Parser(Tokens):
    """One method per rule; each starts at the next token and leaves behind the last one it read."""

    spellings = _SPELLINGS
    __slots__ = ("depth", "nodes")

    def __init__(self, text: str, limits: Limits) -> None:
        super().__init__(text, _TOKEN, limits, RESERVED)
        self.depth = 0
        self.nodes = 0

    def is_word(self, word: str) -> bool:
        """Return True if the next token is this keyword."""
        return self.words[self.at].lower() == word and self.kinds[self.at] in ("reserved", "word")

    def skip_word(self, word: str) -> bool:
        if self.is_word(word):
            self.at += 1
            return True
        return False

    def need_word(self, word: str) -> None:
        if not self.skip_word(word):
            self.fail(word)

    def string(self, what: str = "a 'string'") -> str:
        if self.kinds[self.at] != "string":
            self.fail(what, meant=self.in_single_quotes())
        self.at += 1
        text = self.words[self.at - 1][1:-1]
        return text.replace("''", "'") if "'" in text else text

    def in_single_quotes(self) -> str | None:
        """Return a name in double quotes as the string that was probably meant."""
        if self.kinds[self.at] != "quoted":
            return None
        return "'" + _unquote(self.words[self.at]).replace("'", "''") + "'"

    def in_front_of_brackets(self) -> str | None:
        """Return the condition that a call such as `startswith(a, 'x')` probably meant."""
        if self.words[self.at] != "(":
            return None
        return _SPELLINGS.get(self.words[self.at - 1].rpartition(".")[2].lower())

    # --- rules

    def whole(self) -> Filter:
        filter = self.filter()
        if self.kinds[self.at] != "end":
            self.fail("and, or, or the end of the filter")
        return filter

    def filter(self) -> Filter:
        first = self.conjunct()
        if self.words[self.at] != "or":
            return first
        children = [first]
        while self.words[self.at] == "or":
            self.at += 1
            children.append(self.conjunct())
        return disjunction(children)

    def conjunct(self) -> Filter:
        first = self.term()
        if self.words[self.at] != "and":
            return first
        children = [first]
        while self.words[self.at] == "and":
            self.at += 1
            children.append(self.term())
        return conjunction(children)

    def term(self) -> Filter:
        self.nodes += 1
        if self.nodes > self.limits.nodes_max:
            self.refuse(
                f"the filter has more than {self.limits.nodes_max} predicates and operators"
            )
        kind = self.kinds[self.at]
        if kind == "word" or kind == "quoted":
            return self.predicate()
        if kind == "reserved":
            return self.keyword()
        if self.words[self.at] == "(":
            return self.nested(self.parenthesised)
        self.fail("a predicate, not or (")

    def nested(self, rule: Callable[[], Filter]) -> Filter:
        if self.depth >= self.limits.depth_max:
            self.refuse(f"the filter is nested deeper than {self.limits.depth_max} levels")
        self.depth += 1
        filter = rule()
        self.depth -= 1
        return filter

    def parenthesised(self) -> Filter:
        self.need("(")
        filter = self.filter()
        if not self.skip(")"):
            self.fail("and, or or )")
        return filter

    def keyword(self) -> Filter:
        word = self.words[self.at]
        if word == "not":
            return self.nested(self.negated)
        self.at += 1
        match word:
            case "true":
                return TRUE
            case "false":
                return FALSE
            case "exists":
                return Exists(self.name())
            case "missing":
                return negation(Exists(self.name()))
            case "residual":
                return self.residual()
        self.fail(f'a predicate, not or ( (put the name in double quotes: "{word}")', self.at - 1)

    def negated(self) -> Filter:
        self.need_word("not")
        return negation(self.term())

    def residual(self) -> Filter:
        if self.kinds[self.at] != "word":
            self.fail("the name of a dialect")
        dialect = self.words[self.at]
        self.at += 1
        at = self.at
        text = self.string("the residual's text in quotes")
        return self.build(lambda: Residual(dialect, text), at)

    def name(self) -> str:
        kind = self.kinds[self.at]
        if kind not in ("word", "quoted"):
            self.fail("the name of an attribute")
        word = self.words[self.at]
        self.at += 1
        return word if kind == "word" else _unquote(word)

    def predicate(self) -> Filter:
        bare = self.kinds[self.at] == "word"
        attribute = self.take() if bare else self.name()
        word = self.words[self.at]
        if word in _COMPARISONS:
            return self.comparison(attribute, _COMPARISONS[word])
        word = word.lower()
        if self.kinds[self.at] not in ("word", "reserved"):
            self.fail(_CONDITIONS, meant=self.in_front_of_brackets())
        self.at += 1
        if word == "is":
            return self.is_condition(attribute, bare)
        return self.condition(attribute, word)

    def comparison(self, attribute: str, operator: str) -> Filter:
        self.at += 1
        at, kind = self.at, self.kinds[self.at]
        if kind == "quoted" or (kind == "word" and not self.starts_literal()):
            is_quoted = kind == "quoted" and _ONE_QUOTED.fullmatch(self.words[at]) is not None
            return Compare(attribute, operator, self.name(), is_quoted)
        if kind == "string":
            return _on_text(attribute, operator, self.string())
        value = self.number() if kind == "number" else self.literal()
        if kind == "number":
            return compare(attribute, operator, value)
        return self.build(lambda: compare(attribute, operator, value), at)

    def is_condition(self, attribute: str, bare: bool) -> Filter:
        negated = self.skip_word("not")
        if self.skip_word("null"):
            return NotIn(attribute, (None,)) if negated else In(attribute, (None,))
        if self.skip_word("missing"):
            return Exists(attribute) if negated else negation(Exists(attribute))
        if bare and attribute.lower() == "type" and not negated:
            if self.kinds[self.at] == "string":
                return TypeIs(self.string())
            if self.kinds[self.at] in ("word", "quoted"):
                return TypeIs(self.name())
            self.fail("the name of a type")
        self.fail("null, missing, not null or not missing")

    def condition(self, attribute: str, word: str) -> Filter:
        at = self.at
        for declaration in BY_FIRST_WORD.get(word, ()):
            if all(map(self.skip_word, declaration.words.split()[1:])):
                return self.declared(attribute, declaration)
            self.at = at
        match word:
            case "in":
                return In(attribute, self.literals())
            case "not":
                if not self.skip_word("in"):
                    self.fail(f"in (to negate something else, write: not ({attribute} ...))")
                return NotIn(attribute, self.literals())
            case "between":
                return self.between(attribute)
            case "like" | "ilike" | "contains":
                pattern = self.string()
                return self.build(lambda: _on_text(attribute, word, pattern), at)
            case "starts" | "ends":
                self.need_word("with")
                return _on_text(attribute, word, self.string())
        self.fail(_CONDITIONS, at - 1)

    def declared(self, attribute: str, declaration: Declaration) -> Filter:
        at = self.at
        text = self.string(declaration.expected)
        return self.build(lambda: declaration.make(attribute, text), at)

    def between(self, attribute: str) -> Filter:
        at = self.at
        low = self.literal()
        low_open = self.skip_word("exclusive")
        self.need_word("and")
        high = self.literal()
        high_open = self.skip_word("exclusive")
        if low is None or high is None:
            self.fail("two numbers, two strings or two timestamps", at)
        return self.build(lambda: Range(attribute, low, high, low_open, high_open), at)

    # --- literals

    def literals(self) -> tuple[Scalar, ...]:
        self.need("(")
        values = [self.literal()]
        while self.skip(","):
            values.append(self.literal())
            if len(values) > self.limits.list_size_max:
                self.refuse(f"the list is longer than {self.limits.list_size_max} values")
        if not self.skip(")"):
            self.fail(", or )")
        return tuple(values)

    def starts_literal(self) -> bool:
        return self.kinds[self.at + 1] == "string" and (
            self.is_word("timestamp") or self.is_word("interval")
        )

    def literal(self) -> Scalar:
        kind, word = self.kinds[self.at], self.words[self.at]
        if kind == "string":
            return self.string()
        if kind == "number":
            return self.number()
        if kind == "reserved" and word in _CONSTANTS:
            self.at += 1
            return _CONSTANTS[word]
        if kind == "word" and self.starts_literal():
            return self.moment() if word.lower() == "timestamp" else self.seconds()
        self.fail(
            "a number, a 'string', true, false, null, timestamp '...' or interval '...'",
            meant=self.in_single_quotes(),
        )

    def moment(self) -> datetime:
        self.at += 1
        at = self.at
        text = self.string()
        moment = self.build(lambda: parse_timestamp(text), at)
        while self.words[self.at] in ("+", "-"):
            sign = 1 if self.take() == "+" else -1
            if not self.is_word("interval"):
                self.fail("interval '...'")
            length = self.duration()
            try:
                moment += sign * length
            except OverflowError:
                self.fail("a timestamp within the years 1 to 9999", at)
        return moment

    def seconds(self) -> Scalar:
        return canonical(self.duration().total_seconds())

    def duration(self) -> timedelta:
        self.at += 1
        at = self.at
        text = self.string()
        return self.build(lambda: parse_duration(text), at)


_CONSTANTS: Final[dict[str, Scalar]] = {"true": True, "false": False, "null": None}


def _on_text(attribute: str, condition: str, text: str) -> Filter:
    """Return a predicate on text. Subscriptions repeat each other, so short ones are shared."""
    if len(attribute) + len(text) > _SHARED_LENGTH_MAX:
        return _text_predicate(attribute, condition, text)
    return _shared_text_predicate(attribute, condition, text)


def _text_predicate(attribute: str, condition: str, text: str) -> Filter:
    match condition:
        case "contains":
            return contains(attribute, text)
        case "starts":
            return starts_with(attribute, text)
        case "ends":
            return ends_with(attribute, text)
        case "like" | "ilike":
            return like(attribute, from_like(text), ignore_case=condition == "ilike")
    return compare(attribute, condition, text)


_shared_text_predicate = lru_cache(maxsize=_SHARED_MAX)(_text_predicate)


def _unquote(name: str) -> str:
    return ".".join(
        found[2] if found[1] is None else found[1].replace('""', '"')
        for found in _NAME_PART.finditer(name)
    )
