"""Reading: a closure's syntax tree, walked with values that stand for all events at once.

Idea. Statements run on *paths*: a path is what must have been true to come here, as a conjunction
of covers. An `if` splits it. A `return` adds the path with what makes the result true. A call that
is not proven pure, or a change of state, adds the path itself, because such an event must reach the
closure whatever it answers (MSF-Q2). The filter is the disjunction of all that was added.

    def match(self, stock):
        if stock.symbol != self.symbol: return False        symbol = 'Foo'
        if stock.price >= self.max: return False            symbol = 'Foo' and not price >= 10
        self.last = stock.price                             a change: this path is added

Law. Every event that the closure accepts, or that changes something, is accepted by the filter.
Whatever is not understood is true, and `unread` says where and why.
Cost. Linear in the closure, times the paths, of which there are at most 64.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from types import FunctionType, MethodType, ModuleType
from typing import Any, Final, TypeAlias

from fyke.filters.filter import FALSE, TRUE, And, Filter, conjunction, disjunction
from fyke.filters.predicate import TypeIs
from fyke.filters.text_predicate import contains, starts_with
from fyke.typed.closures import truth
from fyke.typed.closures.captured import Captured, Watch, is_plain, literal_prefix
from fyke.typed.closures.truth import ALWAYS, FLIPPED, NEVER, UNKNOWN, Read, Truth, all_of, any_of
from fyke.typed.description import Description
from fyke.typed.registry import described, is_event_class, nested_description
from fyke.typed.source import Definition, definition
from fyke.typed.stability import PURE_BUILTINS, PURE_METHODS

PATHS_MAX: Final = 64
_NODES_MAX: Final = 5_000
_DEPTH_MAX: Final = 6
_ITEMS_MAX: Final = 64


# --- what an expression stands for ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Known:
    """A value that is the same for all events."""

    value: Any


@dataclass(frozen=True, slots=True)
class Subject:
    """The event's object, or a record inside of it."""

    description: Description
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Own:
    """The filter object itself, and the attributes that its methods change."""

    value: Any
    changing: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a test; nothing but its truth is known."""

    truth: Truth


class _Plain:
    """A value of the standard library that is not known; looking at it is pure."""


class _Foreign:
    """Anything; even to compare it may call code that is not known."""


PLAIN: Final = _Plain()
FOREIGN: Final = _Foreign()
Abstract: TypeAlias = Known | Subject | Own | Verdict | Read | _Plain | _Foreign
Path: TypeAlias = tuple[Filter, ...]


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
class Reader:
    """One closure, as it is read."""

    description: Description
    watches: dict[tuple[int, str], Watch] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    relies: set[str] = field(default_factory=set)
    """The attributes and methods that the closure looks at."""
    accepted: list[Path] = field(default_factory=list)
    nodes: int = 0

    def read(self, function: FunctionType, node: Definition, own: Own | None) -> Filter:
        """Return what covers a function of one event; `own` is its self."""
        subject = Subject(self.description)
        self.call(function, node, [subject] if own is None else [own, subject], ())
        return _disjunction(self.accepted)

    def call(
        self,
        function: FunctionType,
        node: Definition,
        given: list[Abstract],
        path: Path,
    ) -> None:
        frame = Frame(self, Captured(function, self.watches), _bound(function, node, given), 0)
        if isinstance(node, ast.Lambda):
            self.accepted.append((*path, frame.truth(node.body, path).can))
            return
        if any(isinstance(e, ast.Yield | ast.YieldFrom | ast.Await) for e in ast.walk(node)):
            frame.skip(node, path, "it is no plain function")
            self.accepted.append(path)
            return
        frame.run(node.body, path)

    def note(self, node: ast.AST, reason: str) -> None:
        text = ast.unparse(node).partition("\n")[0]
        found = Unread(getattr(node, "lineno", 0), text[:80], reason)
        if all((each.line, each.text) != (found.line, found.text) for each in self.unread):
            self.unread.append(found)


def _bound(function: FunctionType, node: Definition, given: list[Abstract]) -> dict[str, Abstract]:
    """Return the parameters with what they get; those with defaults keep them."""
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    found: dict[str, Abstract] = dict.fromkeys(names, FOREIGN)
    defaults = function.__defaults__ or ()
    for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True):
        found[name] = _value(value)
    for name, default in (function.__kwdefaults__ or {}).items():
        found[name] = _value(default)
    found.update(zip(names, given, strict=False))
    for each in (node.args.vararg, node.args.kwarg):
        if each is not None:
            found[each.arg] = FOREIGN
    return found


def _value(value: Any) -> Abstract:
    return Known(value) if type(value) not in (list, set, dict) else FOREIGN


def _disjunction(paths: Iterable[Path]) -> Filter:
    """Return the disjunction; a path that asks for more than another one adds nothing."""
    sets: list[dict[Filter, None]] = []
    for path in paths:
        parts = {
            part: None
            for each in path
            for part in (each.children if isinstance(each, And) else (each,))
            if part != TRUE
        }
        if FALSE in parts or any(other.keys() <= parts.keys() for other in sets):
            continue
        sets = [other for other in sets if not parts.keys() <= other.keys()]
        sets.append(parts)
    return disjunction(conjunction(parts) for parts in sets)


# --- one function ---------------------------------------------------------------------------------

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
_ARITHMETIC: Final[dict[type, Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(slots=True)
class Frame:
    """The variables of a function while it is read."""

    reader: Reader
    captured: Captured
    names: dict[str, Abstract]
    depth: int
    outer: frozenset[str] = frozenset()
    """Names that are declared global or nonlocal: setting them is a change of state."""

    # --- statements

    def run(self, body: list[ast.stmt], path: Path) -> None:
        """Run statements to the end of the function, over all paths."""
        states: list[tuple[dict[str, Abstract], Path]] = [(self.names, path)]
        for statement in body:
            following: list[tuple[dict[str, Abstract], Path]] = []
            for names, here in states:
                self.names = names
                following += self.step(statement, here)
            states = following
            if len(states) + len(self.reader.accepted) > PATHS_MAX:
                raise GiveUp("it has too many paths")

    def step(self, statement: ast.stmt, path: Path) -> list[tuple[dict[str, Abstract], Path]]:
        """Run one statement; return the paths that go on behind it."""
        here = [(self.names, path)]
        match statement:
            case ast.Return(value):
                if value is not None:
                    self.reader.accepted.append((*path, self.truth(value, path).can))
                return []
            case ast.Expr(value):
                self.evaluate(value, path)
                return here
            case ast.Pass():
                return here
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
                return here if value is None else self.assign(statement, [target], value, path)
            case ast.AugAssign(ast.Name(name), _, value) if name not in self.outer:
                result = self.operation([self.names.get(name, FOREIGN), self.evaluate(value, path)],
                                        statement, path)  # fmt: skip
                self.names = {**self.names, name: result}
                return [(self.names, path)]
            case ast.Raise():
                for each in (statement.exc, statement.cause):
                    if each is not None and not isinstance(each, ast.Name):
                        self.evaluate(each, path)
                return []
            case ast.Assert(test):
                if not __debug__:
                    return here
                return [(self.names, (*path, self.truth(test, path).can))]
            case ast.Global(names) | ast.Nonlocal(names):
                self.outer = self.outer | set(names)
                return here
            case ast.For(ast.Name(name), iterated, body, []) if not _leaves(body):
                return self.unroll(statement, name, iterated, body, path)
            case ast.Match(subject, cases):
                return self.match(subject, cases, path)
        self.skip(statement, path, f"a {_kind(statement)} is not read")
        self.reader.accepted.append(path)
        return []

    def block(
        self, body: list[ast.stmt], names: dict[str, Abstract], path: Path
    ) -> list[tuple[dict[str, Abstract], Path]]:
        if FALSE in path:
            return []
        states = [(dict(names), path)]
        for statement in body:
            following = []
            for each, here in states:
                self.names = each
                following += self.step(statement, here)
            states = following
            if len(states) > PATHS_MAX:
                raise GiveUp("it has too many paths")
        return states

    def assign(
        self, statement: ast.stmt, targets: list[ast.expr], value: ast.expr, path: Path
    ) -> list[tuple[dict[str, Abstract], Path]]:
        if isinstance(value, ast.IfExp) and all(isinstance(t, ast.Name) for t in targets):
            test = self.truth(value.test, path)
            names = self.names
            found = []
            for part, condition in ((value.body, test.can), (value.orelse, test.cannot)):
                self.names = dict(names)
                found += self.assign(statement, targets, part, (*path, condition))
            return found
        result = self.evaluate(value, path)
        for target in targets:
            self.bind(target, value, result, path, statement)
        return [(self.names, path)]

    def bind(
        self, target: ast.expr, value: ast.expr, result: Abstract, path: Path, at: ast.stmt
    ) -> None:
        match target:
            case ast.Name(name) if name not in self.outer:
                self.names = {**self.names, name: result}
            case ast.Tuple(elts) if all(isinstance(each, ast.Name) for each in elts):
                inner: list[ast.expr] = value.elts if isinstance(value, ast.Tuple) else []
                for place, each in enumerate(elts):
                    if len(inner) == len(elts) and not isinstance(inner[place], ast.Starred):
                        part = self.evaluate(inner[place], path)
                    else:
                        part = FOREIGN
                    self.bind(each, value, part, path, at)
                if not inner:
                    self.effect(at, path, "it takes apart what is not known")
            case _:
                self.effect(at, path, "it changes something")

    def unroll(
        self, at: ast.stmt, name: str, iterated: ast.expr, body: list[ast.stmt], path: Path
    ) -> list[tuple[dict[str, Abstract], Path]]:
        items = self.items(iterated, path)
        if items is None:
            self.skip(at, path, "what it goes over is not known")
            self.reader.accepted.append(path)
            return []
        states = [(self.names, path)]
        for item in items:
            following = []
            for names, here in states:
                following += self.block(body, {**names, name: Known(item)}, here)
            states = following
        return states

    def match(
        self, subject: ast.expr, cases: list[ast.match_case], path: Path
    ) -> list[tuple[dict[str, Abstract], Path]]:
        value = self.evaluate(subject, path)
        names, found = self.names, []
        for case in cases:
            self.names = dict(names)
            fits = self.pattern(case.pattern, value, path)
            guard = ALWAYS
            if case.guard is not None:
                guard = self.truth(case.guard, (*path, fits.can))
            both = all_of(fits, guard)
            found += self.block(case.body, self.names, (*path, both.can))
            path = (*path, both.cannot)
        return found if FALSE in path else [*found, (names, path)]

    def pattern(self, pattern: ast.pattern, value: Abstract, path: Path) -> Truth:
        match pattern:
            case ast.MatchAs(None, None):
                return ALWAYS
            case ast.MatchAs(inner, name):
                fits = ALWAYS if inner is None else self.pattern(inner, value, path)
                if name is not None:
                    self.names = {**self.names, name: value}
                return fits
            case ast.MatchOr(patterns):
                return any_of(*(self.pattern(each, value, path) for each in patterns))
            case ast.MatchValue(expected):
                return self.compared(value, "==", self.evaluate(expected, path), pattern, path)
            case ast.MatchSingleton(expected):
                return self.identical(value, Known(expected), pattern, path)
            case ast.MatchClass(cls, positional, names, keyword):
                found = self.evaluate(cls, path)
                if isinstance(found, Known) and isinstance(value, Subject) and not value.prefix:
                    return self.class_pattern(found.value, positional, names, keyword, value, path)
        for each in ast.walk(pattern):
            if isinstance(each, ast.MatchAs | ast.MatchStar) and each.name is not None:
                self.names = {**self.names, each.name: FOREIGN}
        self.effect(pattern, path, "the pattern is not read")
        return UNKNOWN

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
            return self.effect(ast.Name(str(cls)), path, "the class is no event class")
        known = tuple(getattr(cls, "__match_args__", ()))[: len(positional)]
        narrow = Subject(described(cls))
        parts = [self.conforms(cls)]
        for name, each in zip((*known, *names), (*positional, *keyword), strict=False):
            parts.append(self.pattern(each, self.attribute(narrow, name, each, path), path))
        return all_of(*parts)

    # --- expressions

    def truth(self, node: ast.expr, path: Path) -> Truth:
        """Return when an expression is true."""
        return self.truth_of(self.evaluate(node, path), node, path)

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
                    self.reader.note(node, "whether it is true is no question to a filter")
                return found
            case _Plain():
                return UNKNOWN
        return self.effect(node, path, "whether it is true is decided by code that is not read")

    def evaluate(self, node: ast.expr, path: Path) -> Abstract:
        self.reader.nodes += 1
        if self.reader.nodes > _NODES_MAX:
            raise GiveUp("it is too long")
        match node:
            case ast.Constant(value):
                return Known(value)
            case ast.Name(name):
                return self.name(name)
            case ast.Attribute(inner, name):
                return self.attribute(self.evaluate(inner, path), name, node, path)
            case ast.BoolOp(op, values):
                return Verdict(self.connected(isinstance(op, ast.And), values, path))
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
                found = self.evaluate(value, path)
                joined = found if name not in self.names else self.joined(found, self.names[name])
                self.names = {**self.names, name: joined}
                return found
            case ast.Call():
                return self.called(node, path)
            case ast.Tuple(elts) | ast.List(elts) | ast.Set(elts):
                return self.collected(node, [self.evaluate(each, path) for each in elts], path)
            case ast.BinOp(left, op, right):
                return self.arithmetic(node, op, left, right, path)
            case ast.JoinedStr(values):
                return self.operation([self.evaluate(each, path) for each in values], node, path)
            case ast.FormattedValue(value):
                return self.operation([self.evaluate(value, path)], node, path)
            case ast.Subscript(value, ast.Slice(lower, upper, step)):
                parts = [value, *(each for each in (lower, upper, step) if each is not None)]
                return self.operation([self.evaluate(each, path) for each in parts], node, path)
            case ast.Subscript(value, index):
                return self.element(self.evaluate(value, path), self.evaluate(index, path), node,
                                    path)  # fmt: skip
        self.effect(node, path, f"a {_kind(node)} is not read")
        return FOREIGN

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

    def joined(self, one: Abstract, other: Abstract) -> Abstract:
        alike = all(isinstance(each, Read | Verdict | _Plain) for each in (one, other))
        return PLAIN if alike else FOREIGN

    def attribute(self, value: Abstract, name: str, node: ast.AST, path: Path) -> Abstract:
        match value:
            case Subject(description, prefix):
                return self.field(description, prefix, name, False, node, path)
            case Own(holder, changing):
                if changing is None or name in changing:
                    current = getattr(holder, "__dict__", {}).get(name, FOREIGN)
                    if changing is None or not is_plain(current):
                        return FOREIGN
                    self.reader.note(node, "it changes")
                    return PLAIN
                return self.member(holder, name, node, path)
            case Known(holder):
                return self.member(holder, name, node, path)
            case Read(_, shape) if name == "value" and shape.members is not None:
                return PLAIN
            case Read() | _Plain() if name in ("year", "month", "day", "hour", "minute", "real"):
                return PLAIN
        self.effect(node, path, "what this attribute does is not known")
        return FOREIGN

    def member(self, holder: Any, name: str, node: ast.AST, path: Path) -> Abstract:
        try:
            return Known(self.captured.member(holder, name))
        except LookupError:
            self.effect(node, path, "what this attribute does is not known")
            return FOREIGN

    def field(
        self, description: Description, prefix: str, name: str, is_call: bool, node: ast.AST,
        path: Path,
    ) -> Abstract:  # fmt: skip
        """Return an attribute of the event, if an event shows what the closure will see."""
        found = description.members.get(name)
        if found is None or found.is_call != is_call:
            if not is_call:
                method = getattr(description.cls, name, None)
                if isinstance(method, FunctionType):
                    return FOREIGN
            self.effect(node, path, f"{description.name} has no stable attribute {name!r}")
            return FOREIGN
        shown = found.name.removeprefix("data.") if prefix else found.name
        self.reader.relies.add(prefix + shown)
        if not found.is_stable:
            is_field = not is_call and not hasattr(type(vars(description.cls).get(name)), "__get__")
            if is_field:
                self.reader.note(node, "it may be another value after a journey")
                return PLAIN if found.shape.is_scalar else FOREIGN
            self.effect(node, path, "it may be another value after a journey; see stable=")
            return FOREIGN
        if found.shape.nested is not None:
            return Subject(nested_description(found.shape.nested), f"{prefix}{shown}.")
        if not found.is_shown or (found.shape.elements and found.shape.elements.nested):
            self.reader.note(node, "events do not show it")
            return PLAIN if found.shape.is_scalar else FOREIGN
        return Read(prefix + shown, found.shape)

    def connected(self, is_and: bool, values: list[ast.expr], path: Path) -> Truth:
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
        if isinstance(one, Subject | Own | _Foreign) or isinstance(other, Subject | Own | _Foreign):
            return FOREIGN
        a = self.truth_of(one, body, (*path, condition.can))
        b = self.truth_of(other, orelse, (*path, condition.cannot))
        return Verdict(_chosen(condition, a, b))

    def chain(
        self, left: ast.expr, ops: list[ast.cmpop], comparators: list[ast.expr], path: Path
    ) -> Truth:
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
                except TypeError:
                    return UNKNOWN
            case Read(), Known(b) if is_plain(b):
                return self.asked(truth.compare(one, sign, b), node)
            case Known(a), Read() if is_plain(a):
                return self.asked(truth.compare(other, FLIPPED[sign], a), node)
            case Read(), Read():
                return self.asked(truth.compare_both(one, sign, other), node)
        self.operation([one, other], node, path)
        return UNKNOWN

    def asked(self, found: Truth, node: ast.AST) -> Truth:
        if found.can == TRUE and found.cannot == TRUE:
            self.reader.note(node, "filters do not compare so")
        return found

    def within(self, one: Abstract, other: Abstract, node: ast.AST, path: Path) -> Truth:
        match one, other:
            case Read(), Known(values) if is_plain(values) and hasattr(values, "__contains__"):
                return self.asked(truth.among(one, values), node)
            case Known(value), Read() if is_plain(value):
                return self.asked(truth.holding(other, value), node)
        self.operation([one, other], node, path)
        return UNKNOWN

    def identical(self, one: Abstract, other: Abstract, node: ast.AST, path: Path) -> Truth:
        if isinstance(one, Known) and not isinstance(other, Known):
            one, other = other, one
        match one, other:
            case Subject(_, ""), Known(None):
                return NEVER
            case Read(), Known(None):
                return truth.is_none(one)
            case Read(_, shape), Known(bool(value)) if one.classes == {bool} and shape.is_scalar:
                return truth.equal(one, value)
            case Read(_, shape), Known(value) if shape.members and isinstance(value, shape.members):
                return truth.equal(one, value)
        self.reader.note(node, "identity is no question to a filter")
        return UNKNOWN

    def operation(self, values: list[Abstract], node: ast.AST, path: Path) -> Abstract:
        """Return what comes of values of the standard library; of others, anything may."""
        if any(not _is_looked_at(value) for value in values):
            self.effect(node, path, "it may call code that is not read")
            return FOREIGN
        if any(not isinstance(value, Known) for value in values):
            self.reader.note(node, "what comes of it is not known")
        return PLAIN

    def arithmetic(
        self, node: ast.expr, op: ast.operator, left: ast.expr, right: ast.expr, path: Path
    ) -> Abstract:
        one, other = self.evaluate(left, path), self.evaluate(right, path)
        both = [each.value for each in (one, other) if isinstance(each, Known)]
        is_sum = type(op) in _ARITHMETIC and len(both) == 2
        if is_sum and all(type(each) in (int, float) for each in both):
            try:
                return Known(_ARITHMETIC[type(op)](*both))
            except (ArithmeticError, ValueError):
                return PLAIN
        return self.operation([one, other], node, path)

    def collected(self, node: ast.expr, parts: list[Abstract], path: Path) -> Abstract:
        if all(isinstance(part, Known) and is_plain(part.value) for part in parts):
            values = tuple(part.value for part in parts if isinstance(part, Known))
            try:
                return Known(frozenset(values) if isinstance(node, ast.Set) else values)
            except TypeError:
                return PLAIN
        return self.operation(parts, node, path) if isinstance(node, ast.Set) else (
            PLAIN if all(map(_is_looked_at, parts)) else FOREIGN
        )  # fmt: skip

    def element(self, value: Abstract, index: Abstract, node: ast.AST, path: Path) -> Abstract:
        match value, index:
            case Known(dict() as table), Known(key) if is_plain(table) and is_plain(key):
                try:
                    return Known(table[key])
                except (KeyError, TypeError):
                    return PLAIN
        return self.operation([value, index], node, path)

    # --- calls

    def called(self, node: ast.Call, path: Path) -> Abstract:
        function = node.func
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            return self.unknown_call(node, path)
        if isinstance(function, ast.Attribute):
            receiver = self.evaluate(function.value, path)
            return self.method(node, receiver, function.attr, path)
        target = self.evaluate(function, path)
        if not isinstance(target, Known):
            return self.unknown_call(node, path)
        if (target.value is any or target.value is all) and len(node.args) == 1:
            found = self.quantified(target.value is any, node.args[0], path)
            if found is not None:
                return Verdict(found)
        if target.value is isinstance and len(node.args) == 2:
            return Verdict(self.instance(node, path))
        arguments = [self.evaluate(each, path) for each in node.args]
        return self.applied(node, target.value, arguments, path)

    def applied(
        self, node: ast.Call, target: Any, arguments: list[Abstract], path: Path
    ) -> Abstract:
        if target is bool and len(arguments) == 1:
            return Verdict(self.truth_of(arguments[0], node, path))
        match arguments:
            case [Subject() as subject, Known(str() as member)] if target is getattr:
                return self.attribute(subject, member, node, path)
        name = getattr(target, "__name__", "")
        if name in PURE_BUILTINS and getattr(builtins, name, None) is target:
            return self.operation(arguments, node, path)
        if arguments and any(target is each for each in (set, frozenset, tuple, list, range)):
            return self.container(node, target, arguments, path)
        if isinstance(target, FunctionType):
            return self.helper(node, target, arguments, path)
        return self.unknown_call(node, path)

    def container(
        self, node: ast.Call, target: Any, arguments: list[Abstract], path: Path
    ) -> Abstract:
        values = [each.value for each in arguments if isinstance(each, Known)]
        if len(values) == len(arguments) and all(map(is_plain, values)):
            try:
                made = target(*values)
            except (TypeError, ValueError):
                return PLAIN
            return Known(made if isinstance(made, range) else tuple(made))
        return self.unknown_call(node, path)

    def method(self, node: ast.Call, receiver: Abstract, name: str, path: Path) -> Abstract:
        match receiver:
            case Subject(description, prefix):
                if not node.args and name in description.members:
                    return self.field(description, prefix, name, True, node, path)
                method = getattr(description.cls, name, None)
                self.reader.relies.add(f"{name}()")
                if prefix or not isinstance(method, FunctionType):
                    return self.unknown_call(node, path)
                given = [self.evaluate(each, path) for each in node.args]
                return self.helper(node, method, [receiver, *given], path)
            case Own(holder):
                method = getattr(type(holder), name, None)
                given = [self.evaluate(each, path) for each in node.args]
                if isinstance(method, FunctionType) and name not in vars(holder):
                    return self.helper(node, method, [receiver, *given], path)
                return self.unknown_call(node, path)
        arguments = [self.evaluate(each, path) for each in node.args]
        match receiver:
            case Read() if receiver.is_text and name in PURE_METHODS:
                return self.text_method(node, receiver, name, arguments, path)
            case Known(re.Pattern() as pattern) if name in ("match", "fullmatch", "search"):
                return self.expression(node, name, pattern, arguments, path)
            case Known(module) if module is re and name in ("match", "fullmatch", "search"):
                if arguments and isinstance(arguments[0], Known):
                    return self.expression(node, name, arguments[0].value, arguments[1:], path)
            case Known(module) if module is math:
                return self.operation(arguments, node, path)
            case Known(constant) if is_plain(constant) and name in {*PURE_METHODS, "get"}:
                return self.operation(arguments, node, path)
            case Read() | _Plain() if name in PURE_METHODS:
                return self.operation([receiver, *arguments], node, path)
            case Known(module) if isinstance(module, ModuleType):
                found = self.member(module, name, node, path)
                if isinstance(found, Known):
                    return self.applied(node, found.value, arguments, path)
        return self.unknown_call(node, path)

    def text_method(
        self, node: ast.Call, read: Read, name: str, arguments: list[Abstract], path: Path
    ) -> Abstract:
        if name in ("lower", "upper", "casefold") and not arguments and read.case is None:
            case = "lower" if name == "lower" else "upper"
            return Read(read.name, read.shape, case, read.is_stripped)
        if name in ("strip", "lstrip", "rstrip") and not arguments:
            return Read(read.name, read.shape, read.case, True)
        if name in ("startswith", "endswith") and len(arguments) == 1:
            given = arguments[0]
            if isinstance(given, Known) and is_plain(given.value):
                found = truth.starting(read, given.value, name == "endswith")
                return Verdict(self.asked(found, node))
        return self.operation([read, *arguments], node, path)

    def expression(
        self, node: ast.Call, name: str, pattern: Any, arguments: list[Abstract], path: Path
    ) -> Abstract:
        if len(arguments) != 1:
            return self.operation(arguments, node, path)
        prefix = literal_prefix(pattern)
        read = arguments[0]
        self.reader.note(node, "of an expression only the text that it begins with is used")
        if not isinstance(read, Read) or not read.is_text or not read.is_plain or not prefix:
            return self.operation(arguments, node, path)
        anchored = name != "search" or str(getattr(pattern, "pattern", pattern)).startswith("^")
        leaf = starts_with(read.name, prefix) if anchored else contains(read.name, prefix)
        return Verdict(Truth(leaf, TRUE))

    def helper(
        self, node: ast.Call, function: FunctionType, given: list[Abstract], path: Path
    ) -> Abstract:
        """Read a function with one return in the place of its call."""
        found = definition(function)
        if found is None or self.depth >= _DEPTH_MAX:
            return self.unknown_call(node, path)
        if isinstance(found, ast.Lambda):
            result: ast.expr | None = found.body
        else:
            body = [e for e in found.body if not isinstance(getattr(e, "value", 0), ast.Constant)]
            only = body[0] if len(body) == 1 else None
            result = only.value if isinstance(only, ast.Return) else None
            if isinstance(found, ast.AsyncFunctionDef) or found.decorator_list:
                result = None
        positional = len(found.args.posonlyargs) + len(found.args.args)
        if result is None or len(given) > positional:
            return self.unknown_call(node, path)
        captured = Captured(function, self.reader.watches)
        names = _bound(function, found, given)
        frame = Frame(self.reader, captured, names, self.depth + 1)
        return frame.evaluate(result, path)

    def quantified(self, is_any: bool, node: ast.expr, path: Path) -> Truth | None:
        """`any(... for x in constants)`, and all."""
        if not isinstance(node, ast.GeneratorExp | ast.ListComp) or len(node.generators) != 1:
            return None
        generator = node.generators[0]
        if not isinstance(generator.target, ast.Name) or generator.is_async:
            return None
        items = self.items(generator.iter, path)
        if items is None:
            return None
        names, parts = self.names, []
        for item in items:
            self.names = {**names, generator.target.id: Known(item)}
            chosen = all_of(*(self.truth(each, path) for each in generator.ifs))
            part = self.truth(node.elt, path)
            parts.append(all_of(chosen, part) if is_any else any_of(~chosen, part))
        self.names = names
        return any_of(*parts) if is_any else all_of(*parts)

    def items(self, node: ast.expr, path: Path) -> list[Any] | None:
        """Return the elements of a container that is known; None if it is not, or is long."""
        value = self.evaluate(node, path)
        if not isinstance(value, Known) or not is_plain(value.value):
            return None
        if not isinstance(value.value, tuple | list | set | frozenset | range | dict):
            return None
        return list(value.value) if len(value.value) <= _ITEMS_MAX else None

    def instance(self, node: ast.Call, path: Path) -> Truth:
        value, cls = (self.evaluate(each, path) for each in node.args)
        if not isinstance(cls, Known):
            self.effect(node, path, "the class is not known")
            return UNKNOWN
        classes = cls.value if isinstance(cls.value, tuple) else (cls.value,)
        if isinstance(value, Subject) and not value.prefix:
            return any_of(*(self.conforms(each) for each in classes))
        if all(type(each) is type for each in classes):
            self.reader.note(node, "the class of a value is no question to a filter")
            return UNKNOWN
        self.effect(node, path, "the class decides itself what is of it")
        return UNKNOWN

    def conforms(self, cls: Any) -> Truth:
        """Return when the event is of a class."""
        if isinstance(cls, type) and issubclass(self.reader.description.cls, cls):
            return ALWAYS
        if is_event_class(cls):
            leaf = TypeIs(described(cls).name)
            return Truth(leaf, conjunction([~leaf]))
        return UNKNOWN

    # --- what is not read

    def unknown_call(self, node: ast.Call, path: Path) -> Abstract:
        self.effect(node, path, "the call is not proven pure")
        return FOREIGN

    def effect(self, node: ast.AST, path: Path, reason: str) -> Truth:
        """Let every event of a path reach the closure: something may happen there."""
        self.skip(node, path, reason)
        self.reader.accepted.append(path)
        return UNKNOWN

    def skip(self, node: ast.AST, path: Path, reason: str) -> None:
        self.reader.note(node, reason)


def _is_looked_at(value: Abstract) -> bool:
    """Whether operators and functions of the standard library do nothing but look at a value."""
    if isinstance(value, Known):
        return is_plain(value.value)
    return isinstance(value, Read | Verdict | _Plain)


def _chosen(condition: Truth, a: Truth, b: Truth) -> Truth:
    """`a if condition else b`."""
    return Truth(
        disjunction((conjunction((condition.can, a.can)), conjunction((condition.cannot, b.can)))),
        disjunction(
            (conjunction((condition.can, a.cannot)), conjunction((condition.cannot, b.cannot)))
        ),
    )


def _leaves(body: list[ast.stmt]) -> bool:
    return any(isinstance(e, ast.Break | ast.Continue) for s in body for e in ast.walk(s))


def _kind(node: ast.AST) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(node).__name__).lower()


def unbound(where: Any) -> tuple[FunctionType | None, Any]:
    """Return the function behind a closure, and the object that it is a method of."""
    if isinstance(where, FunctionType):
        return where, None
    if isinstance(where, MethodType):
        function = where.__func__
        return (function if isinstance(function, FunctionType) else None), where.__self__
    name = "__call__" if callable(where) else "match"
    method = getattr(type(where), name, None)
    if isinstance(method, FunctionType) and name not in getattr(where, "__dict__", ()):
        return method, where
    return None, None
