"""Statements: a function's body on *paths*.

A path is what must have been true to come here, with the variables as they are there. An `if`
splits it, a `return` ends it and adds it with what makes the result true. A statement that is not
read (`while`, `try`, `with`) ends it, too: all of its events reach the closure.

    def match(self, stock):
        if stock.symbol != self.symbol: return False        symbol = 'Foo'
        if stock.price >= self.max: return False            symbol = 'Foo' and not price >= 10
        self.last = stock.price                             a change: this path is added

Cost. The statements times the paths, of which there are at most 64.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final, TypeAlias

from fyke.filters.filter import FALSE
from fyke.typed.closures.captured import is_fixed
from fyke.typed.closures.expressions import kind
from fyke.typed.closures.frame import GiveUp, bound_in
from fyke.typed.closures.patterns import Patterns
from fyke.typed.closures.truth import ALWAYS, Read, all_of
from fyke.typed.closures.values import FOREIGN, Abstract, Known, Path, Verdict

PATHS_MAX: Final = 64
States: TypeAlias = list[tuple[dict[str, Abstract], Path]]
"""The paths that go on, with their variables."""


class Statements(Patterns):
    """A frame that reads statements."""

    __slots__ = ()

    def run(self, body: list[ast.stmt], path: Path) -> None:
        """Run statements to the end of the function, over all paths."""
        self.through(body, [(self.names, path)])

    def block(self, body: list[ast.stmt], names: dict[str, Abstract], path: Path) -> States:
        """Run statements inside of another one, unless the path is impossible."""
        return [] if FALSE in path else self.through(body, [(dict(names), path)])

    def through(self, body: list[ast.stmt], states: States) -> States:
        for statement in body:
            following: States = []
            for names, here in states:
                self.names = names
                following += self.step(statement, here)
            states = following
            if len(states) + len(self.notes.accepted) > PATHS_MAX:
                raise GiveUp("it has too many paths")
        return states

    def step(self, statement: ast.stmt, path: Path) -> States:
        """Run one statement; return the paths that go on behind it."""
        match statement:
            case ast.Return(value):
                if value is not None:
                    self.notes.accepted.append((*path, self.truth(value, path).can))
                return []
            case ast.Expr(value):
                self.evaluate(value, path)
            case ast.Pass():
                pass
            case ast.If(test, body, orelse):
                found = self.truth(test, path)
                names = self.names
                return [
                    *self.block(body, names, (*path, found.can)),
                    *self.block(orelse, names, (*path, found.cannot)),
                ]
            case ast.Assign(targets, value):
                return self.assign(statement, targets, value, path)
            case ast.AnnAssign(target, _, value):
                if value is not None:
                    return self.assign(statement, [target], value, path)
            case ast.AugAssign(ast.Name(name), op, value):
                self.add_to(name, op, self.evaluate(value, path), statement, path)
            case ast.Raise():
                for each in (statement.exc, statement.cause):
                    if each is not None and not isinstance(each, ast.Name):
                        self.evaluate(each, path)
                return []
            case ast.Assert(test):
                if __debug__:
                    return [(self.names, (*path, self.truth(test, path).can))]
            case ast.Global(names_) | ast.Nonlocal(names_):
                self.outer = self.outer | set(names_)
            case ast.For(ast.Name(name), iterated, body, []) if not _leaves(body):
                return self.unroll(statement, name, iterated, body, path)
            case ast.Match(subject, cases):
                return self.match(subject, cases, path)
            case _:
                return self.stop(statement, path, f"a {kind(statement)} is not read")
        return [(self.names, path)]

    def stop(self, statement: ast.stmt, path: Path, reason: str) -> States:
        """Leave the rest of the function to the closure itself."""
        self.effect(statement, path, reason)
        return []

    # --- variables

    def assign(
        self, statement: ast.stmt, targets: list[ast.expr], value: ast.expr, path: Path
    ) -> States:
        if isinstance(value, ast.IfExp) and all(isinstance(t, ast.Name) for t in targets):
            test = self.truth(value.test, path)
            names = self.names
            found: States = []
            for part, condition in ((value.body, test.can), (value.orelse, test.cannot)):
                self.names = dict(names)
                found += self.assign(statement, targets, part, (*path, condition))
            return found
        if isinstance(value, ast.Tuple) and all(isinstance(t, ast.Tuple) for t in targets):
            parts = [self.evaluate(each, path) for each in value.elts]
            is_whole = not any(isinstance(each, ast.Starred) for each in value.elts)
            for target in targets:
                self.spread(target, parts if is_whole else [], statement, path)
            return [(self.names, path)]
        result = self.evaluate(value, path)
        for target in targets:
            self.bind(target, result, statement, path)
        return [(self.names, path)]

    def bind(self, target: ast.expr, value: Abstract, at: ast.stmt, path: Path) -> None:
        match target:
            case ast.Name(name):
                self.store(name, value, at, path)
            case ast.Tuple():
                self.effect(at, path, "it takes apart what is not known")
                self.spread(target, [], at, path)
            case _:
                self.effect(at, path, "it changes something")

    def spread(self, target: ast.expr, parts: Iterable[Abstract], at: ast.stmt, path: Path) -> None:
        """Read `a, b = c, d`. The right side is evaluated before a name is bound."""
        places = target.elts if isinstance(target, ast.Tuple) else []
        known = list(parts)
        for place, each in enumerate(places):
            if isinstance(each, ast.Starred):
                each, known = each.value, []
            self.bind(each, known[place] if len(known) == len(places) else FOREIGN, at, path)

    def add_to(
        self, name: str, op: ast.operator, value: Abstract, at: ast.stmt, path: Path
    ) -> None:
        """Read `name += value`. It changes a list in place, for every holder of the list."""
        before = self.names.get(name, FOREIGN)
        is_number = isinstance(value, Known) and type(value.value) in (int, float)
        match before:
            case Known(held):
                is_new = is_fixed(held)
            case Read(_, shape):
                is_new = shape.is_scalar
            case _:
                is_new = isinstance(before, Verdict) or (
                    is_number and isinstance(op, ast.Add | ast.Sub)
                )
        if not is_new:
            self.effect(at, path, "it may change something in place")
        self.store(name, self.arithmetic(at, op, before, value, path), at, path)

    # --- loops and cases

    def unroll(
        self, at: ast.stmt, name: str, iterated: ast.expr, body: list[ast.stmt], path: Path
    ) -> States:
        items = self.items(iterated, path)
        if items is None or name in self.outer:
            return self.stop(at, path, "what it goes over is not known")
        states: States = [(self.names, path)]
        for item in items:
            following: States = []
            for names, here in states:
                following += self.block(body, {**names, name: Known(item)}, here)
            states = following
        return states

    def match(self, subject: ast.expr, cases: list[ast.match_case], path: Path) -> States:
        value = self.evaluate(subject, path)
        found: States = []
        for case in cases:
            before = self.names
            fits = self.pattern(case.pattern, value, path)
            guard = ALWAYS
            if case.guard is not None:
                guard = self.truth(case.guard, (*path, fits.can))
            both = all_of(fits, guard)
            found += self.block(case.body, self.names, (*path, both.can))
            self.names = before
            self.forget(bound_in(case.pattern, case.guard))
            path = (*path, both.cannot)
        return found if FALSE in path else [*found, (self.names, path)]


def _leaves(body: list[ast.stmt]) -> bool:
    return any(isinstance(e, ast.Break | ast.Continue) for s in body for e in ast.walk(s))
