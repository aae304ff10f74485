"""Comparing: `<`, `==`, `in`, `is` and isinstance between what expressions stand for.

Here it is decided who compares with whom; when a comparison is true in Python, and how a filter
asks for it, is `truth`. What is no question to a filter is unknown, and if it may run code that was
not read, it is an effect.
"""

from __future__ import annotations

import ast
import operator
from enum import Enum
from typing import Any, Final

from fyke.filters.filter import conjunction
from fyke.filters.predicate import TypeIs
from fyke.typed.closures import truth
from fyke.typed.closures.captured import is_plain
from fyke.typed.closures.frame import Frame
from fyke.typed.closures.truth import ALWAYS, FLIPPED, NEVER, UNKNOWN, Read, Truth, all_of, any_of
from fyke.typed.closures.values import Abstract, Known, Path, Subject
from fyke.typed.registry import described, is_event_class

_SIGNS: Final[dict[type, str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_COMPARED: Final[dict[str, Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


class Comparing(Frame):
    """A frame that reads comparisons."""

    __slots__ = ()

    def chain(
        self, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr], path: Path
    ) -> Truth:
        """Read `a < b <= c`: `a < b and b <= c`, where b is evaluated once."""
        values = [self.evaluate(each, path) for each in (left, *comparators)]
        nodes = [left, *comparators]
        parts = []
        for place, op in enumerate(ops):
            one, other = values[place], values[place + 1]
            at = ast.Compare(nodes[place], [op], [nodes[place + 1]], lineno=left.lineno)
            match op:
                case ast.In():
                    parts.append(self.within(one, other, at, path))
                case ast.NotIn():
                    parts.append(~self.within(one, other, at, path))
                case ast.Is():
                    parts.append(self.identical(one, other, at, path))
                case ast.IsNot():
                    parts.append(~self.identical(one, other, at, path))
                case _:
                    parts.append(self.compared(one, _SIGNS[type(op)], other, at, path))
        return all_of(*parts)

    def compared(
        self, one: Abstract, sign: str, other: Abstract, node: ast.AST, path: Path
    ) -> Truth:
        match one, other:
            case Known(a), Known(b) if is_plain(a) and is_plain(b):
                try:
                    return truth.known(_COMPARED[sign](a, b))
                except (TypeError, ArithmeticError):
                    return UNKNOWN
            case Read(), Known(b) if is_plain(b):
                return self.note_unknown(truth.compare(one, sign, b), node)
            case Known(a), Read() if is_plain(a):
                return self.note_unknown(truth.compare(other, FLIPPED[sign], a), node)
            case Read(), Read():
                return self.note_unknown(truth.compare_both(one, sign, other), node)
        self.operation([one, other], node, path)
        return UNKNOWN

    def within(self, one: Abstract, other: Abstract, node: ast.AST, path: Path) -> Truth:
        match one, other:
            case Read(), Known(values) if is_plain(values) and hasattr(values, "__contains__"):
                return self.note_unknown(truth.among(one, values), node)
            case Known(value), Read() if is_plain(value):
                return self.note_unknown(truth.holding(other, value), node)
        self.operation([one, other], node, path)
        return UNKNOWN

    def identical(self, one: Abstract, other: Abstract, node: ast.AST, path: Path) -> Truth:
        if isinstance(one, Known) and not isinstance(other, Known):
            one, other = other, one
        match one, other:
            case Known(a), Known(b) if isinstance(b, bool | Enum) or a is None or b is None:
                return truth.known(a is b)
            case Subject(_, ""), Known(None):
                return NEVER
            case Read(), Known(None):
                return truth.is_none(one)
            case Read(_, shape), Known(bool(value)) if one.classes == {bool} and shape.is_scalar:
                return truth.equal(one, value)
            case Read(_, shape), Known(value) if shape.members and isinstance(value, shape.members):
                return truth.equal(one, value)
        self.notes.note(node, "identity is no question to a filter")
        return UNKNOWN

    def instance(self, node: ast.Call, path: Path) -> Truth:
        """Read `isinstance(value, classes)`."""
        value, cls = (self.evaluate(each, path) for each in node.args)
        if not isinstance(cls, Known):
            self.effect(node, path, "the class is not known")
            return UNKNOWN
        classes = cls.value if isinstance(cls.value, tuple) else (cls.value,)
        if isinstance(value, Subject) and not value.prefix:
            return any_of(*(self.conforms(each) for each in classes))
        if all(type(each) is type for each in classes):
            self.notes.note(node, "the class of a value is no question to a filter")
            return UNKNOWN
        self.effect(node, path, "the class decides itself what is of it")
        return UNKNOWN

    def conforms(self, cls: Any) -> Truth:
        """Return when the event is of a class."""
        if isinstance(cls, type) and issubclass(self.notes.description.cls, cls):
            return ALWAYS
        if is_event_class(cls):
            leaf = TypeIs(described(cls).name)
            return Truth(leaf, conjunction([~leaf]))
        return UNKNOWN
