"""A rule's condition over its detections, to a Filter: one method per rule of the grammar.

    condition   = conjunct { "or" conjunct }
    conjunct    = negation { "and" negation }
    negation    = { "not" } term
    term        = "(" condition ")" | ( "1" | "any" | "all" ) "of" ( "them" | pattern ) | name

Operators are read in any case. `them` is every detection whose name does not begin with an
underscore; a pattern, in which `*` stands for any characters, selects among the same, unless it
begins with an underscore itself. A pattern without a star is a whole name; where there is no such
detection, it is the beginning of names, as in pySigma. A pattern that selects nothing is refused,
and so is a pipe: aggregations (`| count() > 5`) need more than one event. Every use of a detection
is charged with its size, so a short condition cannot make a huge tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NoReturn

from fyke.errors import FilterError, shown
from fyke.filters.filter import Filter, conjunction, disjunction, negation, walk
from fyke.filters.texts.glob import glob, matcher
from fyke.limits import Limits

_TOKEN = re.compile(r"[()|]|[^\s()|]+")
_OPERATORS: Final = frozenset({"and", "or", "not"})
_QUANTIFIERS: Final = {"1": disjunction, "any": disjunction, "all": conjunction}


class Conditions:
    """Reads conditions over named detections; the budget of nodes is shared by all of them."""

    def __init__(self, detections: Mapping[str, Filter], limits: Limits) -> None:
        self.detections = detections
        self.limits = limits
        self.left = limits.nodes_max
        self.sizes: dict[str, int] = {}

    def read(self, text: str) -> Filter:
        return _Parser(text, self).whole()

    def named(self, name: str) -> Filter:
        """Return a detection, charged with its size."""
        if name not in self.sizes:
            self.sizes[name] = sum(1 for _ in walk(self.detections[name]))
        self.charge(self.sizes[name])
        return self.detections[name]

    def selected(self, pattern: str) -> list[Filter]:
        """Return the detections that a pattern or `them` selects."""
        if pattern.lower() == "them":
            pattern = "*"
        names = self._fitting(pattern)
        if not names and "*" not in pattern:
            names = self._fitting(pattern + "*")
        return list(map(self.named, names))

    def _fitting(self, pattern: str) -> list[str]:
        self.charge(len(self.detections))
        fits = matcher(glob(pattern.split("*")))
        hidden = not pattern.startswith("_")
        return [
            name for name in self.detections if fits(name) and not (hidden and name.startswith("_"))
        ]

    def charge(self, nodes: int) -> None:
        self.left -= nodes
        if self.left < 0:
            raise FilterError(
                f"the condition makes more than {self.limits.nodes_max} predicates and operators"
            )


class _Parser:
    def __init__(self, text: str, conditions: Conditions) -> None:
        self.text = text
        self.conditions = conditions
        found = list(_TOKEN.finditer(text))
        self.words = [token[0] for token in found] + [""]
        self.starts = [token.start() for token in found] + [len(text)]
        self.at = 0
        self.depth = 0

    def fail(self, problem: str, at: int, expected: str | None = None) -> NoReturn:
        raise FilterError(
            f"condition: {problem}", text=self.text, position=self.starts[at], expected=expected
        )

    def is_word(self, word: str, ahead: int = 0) -> bool:
        at = self.at + ahead
        return at < len(self.words) and self.words[at].lower() == word

    def skip(self, word: str) -> bool:
        if self.is_word(word):
            self.at += 1
            return True
        return False

    def whole(self) -> Filter:
        if "|" in self.words:
            at = self.words.index("|")
            aggregation = self.text[self.starts[at] :].strip()
            self.fail(
                f"the aggregation {shown(aggregation)} is not supported",
                at,
                "a condition on single events (aggregations are Sigma correlations now)",
            )
        filter = self.condition()
        if self.words[self.at]:
            self.unexpected("and, or, or the end of the condition")
        return filter

    def unexpected(self, expected: str) -> NoReturn:
        word = self.words[self.at]
        self.fail(f"found {shown(word)}" if word else "it ends here", self.at, expected)

    def condition(self) -> Filter:
        children = [self.conjunct()]
        while self.skip("or"):
            children.append(self.conjunct())
        return disjunction(children)

    def conjunct(self) -> Filter:
        children = [self.negation()]
        while self.skip("and"):
            children.append(self.negation())
        return conjunction(children)

    def negation(self) -> Filter:
        negated = False
        while self.skip("not"):
            negated = not negated
        filter = self.term()
        return negation(filter) if negated else filter

    def term(self) -> Filter:
        if self.skip("("):
            return self.parenthesised()
        word = self.words[self.at]
        if self.is_word("of", ahead=1) and word not in self.conditions.detections:
            return self.quantified(word)
        if not word or word == ")" or word.lower() in _OPERATORS:
            self.unexpected("the name of a detection, 1 of, all of, not or (")
        if word not in self.conditions.detections:
            self.fail(f"there is no detection {shown(word)}", self.at, self.names())
        self.at += 1
        return self.conditions.named(word)

    def names(self) -> str:
        return "one of " + ", ".join(list(self.conditions.detections)[:10])

    def parenthesised(self) -> Filter:
        if self.depth >= self.conditions.limits.depth_max:
            self.fail(f"nested deeper than {self.conditions.limits.depth_max} levels", self.at - 1)
        self.depth += 1
        filter = self.condition()
        self.depth -= 1
        if not self.skip(")"):
            self.unexpected("and, or or )")
        return filter

    def quantified(self, word: str) -> Filter:
        if word.lower() not in _QUANTIFIERS:
            self.fail(f"the quantifier {shown(word)} is not supported", self.at, "1, any or all")
        self.at += 2
        pattern = self.words[self.at]
        if not pattern or pattern in "()":
            self.unexpected("them or a pattern of names")
        filters = self.conditions.selected(pattern)
        if not filters:
            self.fail(f"{shown(pattern)} selects no detection", self.at, self.names())
        self.at += 1
        return _QUANTIFIERS[word.lower()](filters)
