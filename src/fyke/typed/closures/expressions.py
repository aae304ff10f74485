"""Expressions: from a node of the syntax tree to what it stands for.

`and`, `or` and conditional expressions do not run all of their parts: each part is read on the path
that leads to it, so that what happens there is expected of those events only. An operand that was
not run cannot have raised; that is why a part never says anything about the others.
"""

from __future__ import annotations

import ast
import operator
import re
from types import FunctionType, ModuleType
from typing import Any, Final

from fyke.filters.filter import conjunction, disjunction
from fyke.typed.closures import truth
from fyke.typed.closures.calling import Calling
from fyke.typed.closures.captured import is_fixed, is_plain
from fyke.typed.closures.truth import UNKNOWN, Read, Truth, all_of, any_of
from fyke.typed.closures.values import (
    FOREIGN,
    PLAIN,
    Abstract,
    Foreign,
    Known,
    Own,
    Path,
    Plain,
    Subject,
    Verdict,
    is_looked_at,
    join,
)

_ARITHMETIC: Final[dict[type, Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Expressions(Calling):
    """A frame that reads expressions."""

    __slots__ = ()

    def truth_of(self, value: Abstract, node: ast.AST, path: Path) -> Truth:
        match value:
            case Verdict(found):
                return found
            case Known(constant) if is_plain(constant):
                return truth.known(constant)
            case Known(constant) if isinstance(constant, type | FunctionType | ModuleType):
                return UNKNOWN
            case Read():
                found = truth.truthy(value)
                if found == UNKNOWN:
                    self.notes.note(node, "whether it is true is no question to a filter")
                return found
            case Plain():
                return UNKNOWN
        return self.effect(node, path, "whether it is true is decided by code that is not read")

    def evaluate(self, node: ast.expr, path: Path) -> Abstract:
        self.notes.count()
        match node:
            case ast.Constant(value):
                return Known(value)
            case ast.Name(name):
                return self.name(name)
            case ast.Attribute(inner, name):
                return self.attribute(self.evaluate(inner, path), name, node, path)
            case ast.BoolOp(op, values):
                return Verdict(self.connect(isinstance(op, ast.And), values, path))
            case ast.UnaryOp(ast.Not(), operand):
                return Verdict(~self.truth(operand, path))
            case ast.UnaryOp(ast.USub(), operand):
                inner_ = self.evaluate(operand, path)
                if isinstance(inner_, Known) and type(inner_.value) in (int, float):
                    return Known(-inner_.value)
                return self.operation([inner_], node, path)
            case ast.Compare(left, ops, comparators):
                return Verdict(self.chain(left, ops, comparators, path))
            case ast.IfExp(test, body, orelse):
                return self.conditional(test, body, orelse, path)
            case ast.NamedExpr(ast.Name(name), value):
                return self.walrus(name, self.evaluate(value, path), node, path)
            case ast.Call():
                return self.call(node, path)
            case ast.Tuple(elts) | ast.List(elts) | ast.Set(elts):
                return self.collect(node, [self.evaluate(each, path) for each in elts], path)
            case ast.BinOp(left, op, right):
                one, other = self.evaluate(left, path), self.evaluate(right, path)
                return self.arithmetic(node, op, one, other, path)
            case ast.JoinedStr(values):
                return self.operation([self.evaluate(each, path) for each in values], node, path)
            case ast.FormattedValue(value, _, how):
                parts = [value] if how is None else [value, how]
                return self.operation([self.evaluate(each, path) for each in parts], node, path)
            case ast.Subscript(value, ast.Slice(lower, upper, step)):
                parts = [value, *(each for each in (lower, upper, step) if each is not None)]
                return self.operation([self.evaluate(each, path) for each in parts], node, path)
            case ast.Subscript(value, index):
                return self.element(self.evaluate(value, path), self.evaluate(index, path), node,
                                    path)  # fmt: skip
        self.effect(node, path, f"a {kind(node)} is not read")
        return FOREIGN

    def walrus(self, name: str, value: Abstract, node: ast.expr, path: Path) -> Abstract:
        """Read `(name := value)`. It may not run; then the name keeps its value."""
        before = self.names.get(name)
        self.store(name, value if before is None else join(value, before), node, path)
        return value

    def connect(self, is_and: bool, values: list[ast.expr], path: Path) -> Truth:
        parts = []
        for value in values:
            part = self.truth(value, path)
            parts.append(part)
            path = (*path, part.can if is_and else part.cannot)
        return all_of(*parts) if is_and else any_of(*parts)

    def conditional(self, test: ast.expr, body: ast.expr, orelse: ast.expr, path: Path) -> Abstract:
        condition = self.truth(test, path)
        one = self.evaluate(body, (*path, condition.can))
        other = self.evaluate(orelse, (*path, condition.cannot))
        if isinstance(one, Subject | Own | Foreign) or isinstance(other, Subject | Own | Foreign):
            return FOREIGN
        a = self.truth_of(one, body, (*path, condition.can))
        b = self.truth_of(other, orelse, (*path, condition.cannot))
        return Verdict(_chosen(condition, a, b))

    def arithmetic(
        self, node: ast.AST, op: ast.operator, one: Abstract, other: Abstract, path: Path
    ) -> Abstract:
        both = [each.value for each in (one, other) if isinstance(each, Known)]
        is_sum = type(op) in _ARITHMETIC and len(both) == 2
        if is_sum and all(type(each) in (int, float) for each in both):
            try:
                return Known(_ARITHMETIC[type(op)](*both))
            except (ArithmeticError, ValueError):
                return PLAIN
        return self.operation([one, other], node, path)

    def collect(self, node: ast.expr, parts: list[Abstract], path: Path) -> Abstract:
        if all(isinstance(part, Known) and is_plain(part.value) for part in parts):
            values = tuple(part.value for part in parts if isinstance(part, Known))
            try:
                return Known(frozenset(values) if isinstance(node, ast.Set) else values)
            except TypeError:
                return PLAIN
        if isinstance(node, ast.Set):
            return self.operation(parts, node, path)
        return PLAIN if all(map(is_looked_at, parts)) else FOREIGN

    def element(self, value: Abstract, index: Abstract, node: ast.AST, path: Path) -> Abstract:
        match value, index:
            case Known(dict() as table), Known(key) if is_plain(table) and is_plain(key):
                try:
                    found = table[key]
                except (KeyError, TypeError):
                    return PLAIN
                return Known(found) if is_fixed(found) else FOREIGN
        return self.operation([value, index], node, path)


def _chosen(condition: Truth, a: Truth, b: Truth) -> Truth:
    """Return the truth of `a if condition else b`."""
    return Truth(
        disjunction((conjunction((condition.can, a.can)), conjunction((condition.cannot, b.can)))),
        disjunction(
            (conjunction((condition.can, a.cannot)), conjunction((condition.cannot, b.cannot)))
        ),
    )


def kind(node: ast.AST) -> str:
    """Return the name of a node: `an if exp`, `a while`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()
