"""Calling: methods of text, accessors, helpers, any and all, regular expressions.

A call is read if it is one of the standard library that only looks, or a function with one return,
which is read in the place of its call. Every other may do something, and the event reaches it.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
from types import FunctionType, ModuleType
from typing import Any, Final

from fyke.filters.filter import TRUE
from fyke.filters.text_predicate import contains, starts_with
from fyke.typed.closures import truth
from fyke.typed.closures.attributes import Attributes
from fyke.typed.closures.captured import Captured, is_fixed, is_plain, literal_prefix
from fyke.typed.closures.comparing import Comparing
from fyke.typed.closures.frame import bound_in
from fyke.typed.closures.truth import Read, Truth, all_of, any_of
from fyke.typed.closures.values import (
    FOREIGN,
    PLAIN,
    Abstract,
    Known,
    Own,
    Path,
    Plain,
    Subject,
    Verdict,
)
from fyke.typed.source import Definition, definition
from fyke.typed.stability import PURE_BUILTINS, PURE_METHODS

_DEPTH_MAX: Final = 6
_ITEMS_MAX: Final = 64


class Calling(Attributes, Comparing):
    """A frame that reads calls."""

    __slots__ = ()

    def call(self, node: ast.Call, path: Path) -> Abstract:
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
            found = self.quantify(target.value is any, node.args[0], path)
            if found is not None:
                return Verdict(found)
        if target.value is isinstance and len(node.args) == 2:
            return Verdict(self.instance(node, path))
        arguments = [self.evaluate(each, path) for each in node.args]
        return self.apply(node, target.value, arguments, path)

    def apply(self, node: ast.Call, target: Any, arguments: list[Abstract], path: Path) -> Abstract:
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

    def unknown_call(self, node: ast.Call, path: Path) -> Abstract:
        self.effect(node, path, "the call is not proven pure")
        return FOREIGN

    # --- methods

    def method(self, node: ast.Call, receiver: Abstract, name: str, path: Path) -> Abstract:
        match receiver:
            case Subject(description, prefix):
                if not node.args and name in description.members:
                    return self.field(description, prefix, name, True, node, path)
                method = getattr(description.cls, name, None)
                self.notes.relies.add(f"{name}()")
                if prefix or not isinstance(method, FunctionType):
                    return self.unknown_call(node, path)
                given = [self.evaluate(each, path) for each in node.args]
                return self.helper(node, method, [receiver, *given], path)
            case Own(holder):
                given = [self.evaluate(each, path) for each in node.args]
                try:
                    method = self.captured.method(holder, name)
                except LookupError:
                    return self.unknown_call(node, path)
                return self.helper(node, method, [receiver, *given], path)
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
            case Read() | Plain() if name in PURE_METHODS:
                return self.operation([receiver, *arguments], node, path)
            case Known(module) if isinstance(module, ModuleType):
                found = self.member(module, name, node, path)
                if isinstance(found, Known):
                    return self.apply(node, found.value, arguments, path)
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
                return Verdict(self.note_unknown(found, node))
        return self.operation([read, *arguments], node, path)

    def expression(
        self, node: ast.Call, name: str, pattern: Any, arguments: list[Abstract], path: Path
    ) -> Abstract:
        """Read a call such as `re.match(pattern, text)`: only the pattern's first text is used."""
        if len(arguments) != 1:
            return self.operation(arguments, node, path)
        prefix = literal_prefix(pattern)
        read = arguments[0]
        self.notes.note(node, "of an expression only the text that it begins with is used")
        if not isinstance(read, Read) or not read.is_text or not read.is_plain or not prefix:
            return self.operation(arguments, node, path)
        anchored = name != "search" or str(getattr(pattern, "pattern", pattern)).startswith("^")
        leaf = starts_with(read.name, prefix) if anchored else contains(read.name, prefix)
        return Verdict(Truth(leaf, TRUE))

    # --- functions

    def helper(
        self, node: ast.Call, function: FunctionType, given: list[Abstract], path: Path
    ) -> Abstract:
        """Read a function with one return in the place of its call."""
        found = definition(function)
        if found is None or self.depth >= _DEPTH_MAX:
            return self.unknown_call(node, path)
        result = _only_result(found)
        positional = len(found.args.posonlyargs) + len(found.args.args)
        if result is None or len(given) > positional:
            return self.unknown_call(node, path)
        captured = Captured(function, self.notes.watches)
        names = bound(function, found, given)
        return type(self)(self.notes, captured, names, self.depth + 1).evaluate(result, path)

    def container(
        self, node: ast.Call, target: Any, arguments: list[Abstract], path: Path
    ) -> Abstract:
        """Read a call such as `set(values)`, of values that are known."""
        values = [each.value for each in arguments if isinstance(each, Known)]
        if len(values) == len(arguments) and all(map(is_plain, values)):
            try:
                made = target(*values)
            except (TypeError, ValueError):
                return PLAIN
            return Known(made if isinstance(made, range) else tuple(made))
        return self.unknown_call(node, path)

    def quantify(self, is_any: bool, node: ast.expr, path: Path) -> Truth | None:
        """Read `any(... for x in constants)`, and `all` likewise."""
        if not isinstance(node, ast.GeneratorExp | ast.ListComp) or len(node.generators) != 1:
            return None
        generator = node.generators[0]
        if not isinstance(generator.target, ast.Name) or generator.is_async:
            return None
        items = self.items(generator.iter, path)
        if items is None:
            return None
        self.forget(bound_in(node))
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


def _only_result(node: Definition) -> ast.expr | None:
    """Return the expression that a function returns, if it does nothing else."""
    if isinstance(node, ast.Lambda):
        return node.body
    if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list:
        return None
    match node.body:
        case [ast.Return(result)] | [ast.Expr(ast.Constant()), ast.Return(result)]:
            return result
    return None


def bound(function: FunctionType, node: Definition, given: list[Abstract]) -> dict[str, Abstract]:
    """Return the parameters with what they get; those with defaults keep them."""
    names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    found: dict[str, Abstract] = dict.fromkeys(names, FOREIGN)
    defaults = function.__defaults__ or ()
    for name, value in zip(names[len(names) - len(defaults) :], defaults, strict=True):
        found[name] = _default(value)
    for name, default in (function.__kwdefaults__ or {}).items():
        found[name] = _default(default)
    found.update(zip(names, given, strict=False))
    for each in (node.args.vararg, node.args.kwarg):
        if each is not None:
            found[each.arg] = FOREIGN
    return found


def _default(value: Any) -> Abstract:
    return Known(value) if is_fixed(value) else FOREIGN
