"""Frames: the variables of a function while it is read, and what must reach the closure.

The readers of comparisons, attributes, calls, expressions, patterns and statements each add their
part to this one. Two obligations hold for all of them:

    effect      something may happen here that the filter must not prevent: every event of the path
                is let through, whatever the closure answers (MSF-Q2)
    store       a name that is declared global or nonlocal is not a variable: to set it is an effect
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from fyke.filters.filter import TRUE
from fyke.typed.closures.captured import Captured, Watch
from fyke.typed.closures.truth import UNKNOWN, Truth
from fyke.typed.closures.values import FOREIGN, PLAIN, Abstract, Known, Path, is_looked_at
from fyke.typed.description import Description

NODES_MAX: Final = 5_000


@dataclass(frozen=True, slots=True)
class Unread:
    """A place that was taken for true, and why."""

    line: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}: {self.reason}"


class GiveUp(Exception):
    """The closure is too large to be read."""


@dataclass(slots=True)
class Notes:
    """The findings about one closure, from all functions that are read for it.

    `accepted` are the paths whose events must reach it, `relies` the attributes and methods of the
    event that it looks at.
    """

    description: Description
    watches: dict[tuple[int, str], Watch] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    relies: set[str] = field(default_factory=set)
    accepted: list[Path] = field(default_factory=list)
    nodes: int = 0

    def note(self, node: ast.AST, reason: str) -> None:
        text = ast.unparse(node).partition("\n")[0]
        found = Unread(getattr(node, "lineno", 0), text[:80], reason)
        if all((each.line, each.text) != (found.line, found.text) for each in self.unread):
            self.unread.append(found)

    def count(self) -> None:
        """Count an expression; GiveUp where there were too many."""
        self.nodes += 1
        if self.nodes > NODES_MAX:
            raise GiveUp("it is too long")


@dataclass(slots=True)
class Frame:
    """The variables of one function."""

    notes: Notes
    captured: Captured
    names: dict[str, Abstract]
    depth: int = 0
    outer: frozenset[str] = frozenset()
    """Names that are declared global or nonlocal: setting them is a change of state."""

    def evaluate(self, node: ast.expr, path: Path) -> Abstract:
        """Return the abstract value of an expression."""
        raise NotImplementedError

    def truth_of(self, value: Abstract, node: ast.AST, path: Path) -> Truth:
        """Return when a value is true."""
        raise NotImplementedError

    def truth(self, node: ast.expr, path: Path) -> Truth:
        """Return when an expression is true."""
        return self.truth_of(self.evaluate(node, path), node, path)

    # --- variables

    def name(self, name: str) -> Abstract:
        if name in self.names:
            return self.names[name]
        code = self.captured.function.__code__
        if name in code.co_varnames or name in code.co_cellvars:
            return FOREIGN
        try:
            return Known(self.captured.value(name))
        except LookupError:
            return FOREIGN

    def store(self, name: str, value: Abstract, node: ast.AST, path: Path) -> None:
        """Bind a variable; one that is not of this function changes something outside."""
        if name in self.outer:
            self.effect(node, path, "it changes something")
            value = FOREIGN
        self.names = {**self.names, name: value}

    def forget(self, names: Iterable[str]) -> None:
        """Take variables for anything: whether they were bound again cannot be said."""
        self.names = {**self.names, **{name: FOREIGN for name in names if name in self.names}}

    # --- what is not read

    def effect(self, node: ast.AST, path: Path, reason: str) -> Truth:
        """Let every event of a path reach the closure: something may happen there."""
        self.notes.note(node, reason)
        self.notes.accepted.append(path)
        return UNKNOWN

    def operation(self, values: list[Abstract], node: ast.AST, path: Path) -> Abstract:
        """Return the result of an operation. Only values of the standard library are pure."""
        if any(not is_looked_at(value) for value in values):
            self.effect(node, path, "it may call code that is not read")
            return FOREIGN
        if any(not isinstance(value, Known) for value in values):
            self.notes.note(node, "what comes of it is not known")
        return PLAIN

    def note_unknown(self, found: Truth, node: ast.AST) -> Truth:
        """Note the node if its truth is unknown. Return the truth."""
        if found.can == TRUE and found.cannot == TRUE:
            self.notes.note(node, "filters do not compare so")
        return found


def bound_in(*nodes: ast.AST | None) -> set[str]:
    """Return the names that expressions and patterns may bind: `:=`, `case x`, `as x`, `*x`."""
    found: set[str] = set()
    for node in nodes:
        for each in ast.walk(node) if node is not None else ():
            match each:
                case ast.NamedExpr(ast.Name(name)):
                    found.add(name)
                case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)):
                    found.add(name)
                case ast.MatchMapping(rest=str(name)):
                    found.add(name)
    return found
