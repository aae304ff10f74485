"""Patterns: when a `case` fits, and what it binds.

A pattern binds its names even if its guard then refuses, and Python does not say which of them are
bound when it fails half-way. So behind a case that was not taken they may be anything.
"""

from __future__ import annotations

import ast
from typing import Any

from fyke.typed.closures.expressions import Expressions
from fyke.typed.closures.frame import bound_in
from fyke.typed.closures.truth import ALWAYS, UNKNOWN, Read, Truth, all_of, any_of
from fyke.typed.closures.values import FOREIGN, Abstract, Known, Path, Subject
from fyke.typed.registry import described, is_event_class


class Patterns(Expressions):
    """A frame that reads patterns."""

    __slots__ = ()

    def pattern(self, pattern: ast.pattern, value: Abstract, path: Path) -> Truth:
        match pattern:
            case ast.MatchAs(None, None):
                return ALWAYS
            case ast.MatchAs(inner, name):
                fits = ALWAYS if inner is None else self.pattern(inner, value, path)
                if name is not None:
                    self.store(name, value, pattern, path)
                return fits
            case ast.MatchOr(patterns):
                return self.alternatives(patterns, value, path)
            case ast.MatchValue(expected):
                return self.compared(value, "==", self.evaluate(expected, path), pattern, path)
            case ast.MatchSingleton(expected):
                return self.identical(value, Known(expected), pattern, path)
            case ast.MatchClass(cls, positional, names, keyword):
                found = self.evaluate(cls, path)
                if isinstance(found, Known) and isinstance(value, Subject) and not value.prefix:
                    return self.class_pattern(found.value, positional, names, keyword, value, path)
        for name in bound_in(pattern):
            self.store(name, FOREIGN, pattern, path)
        self.effect(pattern, path, "the pattern is not read")
        return UNKNOWN

    def alternatives(self, patterns: list[ast.pattern], value: Abstract, path: Path) -> Truth:
        """Read `case a | b`. A bound name is known only if all alternatives bind the same value."""
        parts, seen = [], []
        for each in patterns:
            parts.append(self.pattern(each, value, path))
            seen.append(self.names)
        self.forget(
            name
            for name in bound_in(*patterns)
            if not all(_is_same(names.get(name), self.names.get(name)) for names in seen)
        )
        return any_of(*parts)

    def class_pattern(
        self,
        cls: Any,
        positional: list[ast.pattern],
        names: list[str],
        keyword: list[ast.pattern],
        value: Subject,
        path: Path,
    ) -> Truth:
        if not is_event_class(cls):
            for name in bound_in(*positional, *keyword):
                self.store(name, FOREIGN, ast.Name(name), path)
            return self.effect(ast.Name(str(cls)), path, "the class is no event class")
        known = tuple(getattr(cls, "__match_args__", ()))[: len(positional)]
        narrow = Subject(described(cls))
        parts = [self.conforms(cls)]
        for name, each in zip((*known, *names), (*positional, *keyword), strict=False):
            parts.append(self.pattern(each, self.attribute(narrow, name, each, path), path))
        return all_of(*parts)


def _is_same(one: Abstract | None, other: Abstract | None) -> bool:
    return one is other or (isinstance(one, Read | Subject) and one == other)
