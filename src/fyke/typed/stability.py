"""Stability: which attributes have, after a journey, the value that they had before it.

An object travels as the arguments of its constructor. An attribute is *stable* if the object that
the constructor makes from them has it with the same value; only then may a filter that was read
from a closure ask for it. It is read, never tried:

    self._price = price                 in __init__, as it came: `_price` is stable
    def getPrice(self): return self._price          a function of stable values: stable
    def __post_init__(self): self.price = round(self.price, 1)      price is not
    def age(self): return time.time() - self.at     nor is age: the clock goes on

Whatever cannot be read is not stable, unless the class declares it: `@fyke.event(stable=["age"])`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import cached_property
from types import FunctionType
from typing import Any, Final

from fyke.typed.source import Definition, definition

PURE_BUILTINS: Final = frozenset(
    {"abs", "all", "any", "bool", "float", "int", "len", "max", "min", "round", "str", "sum"}
)
"""Functions that only look at their arguments, if these are plain values."""

PURE_METHODS: Final = frozenset(
    [
        "lower",
        "upper",
        "casefold",
        "title",
        "capitalize",
        "swapcase",
        "strip",
        "lstrip",
        "rstrip",
        "startswith",
        "endswith",
        "find",
        "rfind",
        "index",
        "rindex",
        "count",
        "replace",
        "split",
        "rsplit",
        "splitlines",
        "partition",
        "rpartition",
        "removeprefix",
        "removesuffix",
        "isdigit",
        "isalpha",
        "isalnum",
        "isdecimal",
        "isnumeric",
        "isupper",
        "islower",
        "isspace",
        "isidentifier",
        "istitle",
        "isascii",
        "zfill",
        "join",
        "date",
        "time",
        "timestamp",
        "isoformat",
        "weekday",
        "isoweekday",
        "toordinal",
        "total_seconds",
        "is_integer",
        "bit_length",
        "hex",
        "as_tuple",
        "is_finite",
        "is_nan",
    ]
)
"""Methods of plain values that only look."""


def stored(function: FunctionType | None) -> dict[str, str]:
    """Return, by parameter, the attribute in which an `__init__` stores it unchanged."""
    node = function and definition(function)
    if function is None or not isinstance(node, ast.FunctionDef) or not node.args.args:
        return {}
    own, *parameters = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    parameters += [each.arg for each in node.args.kwonlyargs]
    if changes(node, own) is None:
        return {}
    rebound = {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store | ast.Del)
    }
    found: dict[str, str] = {}
    for statement in node.body:
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(ast.Name(first), name)], value=ast.Name(given)
            ) | ast.AnnAssign(ast.Attribute(ast.Name(first), name), value=ast.Name(given)) if (
                first == own and given in parameters
            ):
                found[given] = name
    times = list(_stores(node, own))
    return {
        given: name
        for given, name in found.items()
        if given not in rebound and times.count(name) == 1
    }


def handed_on(function: FunctionType | None) -> dict[str, str | int] | None:
    """Return which parameters `super().__init__` gets as they are: by name, theirs or their place.

    None if it is not called so, plainly and once.
    """
    node = function and definition(function)
    if node is None or isinstance(node, ast.Lambda):
        return None
    for statement in node.body:
        match statement:
            case ast.Expr(
                ast.Call(ast.Attribute(ast.Call(ast.Name("super"), []), "__init__"), given, named)
            ):
                found: dict[str, str | int] = {}
                for place, each in enumerate(given):
                    if isinstance(each, ast.Name):
                        found[each.id] = place
                for keyword in named:
                    if keyword.arg is not None and isinstance(keyword.value, ast.Name):
                        found[keyword.value.id] = keyword.arg
                return found
    return None


def changes(node: Definition, own: str) -> set[str] | None:
    """Return the attributes of self that a function may set; None if these may be any.

    Self that is handed to somebody else may change in whatever way; reading from it does not count.
    """
    harmless = set()
    changed = set(_stores(node, own))
    for each in ast.walk(node):
        match each:
            case ast.Call(
                ast.Attribute(ast.Name("object"), "__setattr__"),
                [ast.Name(first) as given, ast.Constant(str() as name), _],
            ) if first == own:
                harmless.add(given)
                changed.add(name)
            case ast.Attribute(ast.Name(first) as given) if first == own:
                harmless.add(given)
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id == own and each not in harmless:
            return None
        match each:  # a method of self may set anything, unless it only reads
            case ast.Call(ast.Attribute(ast.Name(first), method)) if first == own:
                if method not in PURE_METHODS:
                    return None
            case ast.Attribute(ast.Name(first), "__dict__") if first == own:
                return None
    return changed


def _stores(node: Definition, own: str) -> Iterator[str]:
    for each in ast.walk(node):
        match each:
            case ast.Attribute(ast.Name(first), name, ast.Store() | ast.Del()) if first == own:
                yield name


def is_stable(member: Any, stable: Collection[str]) -> bool:
    """Return True if a property or accessor is a pure function of stable attributes."""
    function = member
    if isinstance(member, property):
        function = member.fget
    elif isinstance(member, cached_property):
        function = member.func
    node = definition(function) if isinstance(function, FunctionType) else None
    if not isinstance(node, ast.FunctionDef) or len(node.args.args) != 1:
        return False
    if set(function.__code__.co_names) & PURE_BUILTINS & set(function.__globals__):
        return False  # a function of this module that is called `round`
    body = [each for each in node.body if not _is_docstring(each)]
    match body:
        case [ast.Return(ast.expr() as result)]:
            return _is_pure(result, node.args.args[0].arg, stable)
    return False


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


_PLAIN: Final = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr),
    *(ast.FormattedValue, ast.Tuple, ast.Subscript, ast.Slice),
)


def _is_pure(node: ast.expr, own: str, stable: Collection[str]) -> bool:
    """Return True if an expression has one value for one set of stable attributes.

    It has it wherever it runs.
    """
    match node:
        case ast.Constant():
            return True
        case ast.Attribute(ast.Name(first), name) if first == own:
            return name in stable
        case ast.Call(ast.Name(function), arguments, []) if function in PURE_BUILTINS:
            return all(_is_pure(each, own, stable) for each in arguments)
        case ast.Call(ast.Attribute(receiver, method), arguments, []) if method in PURE_METHODS:
            return all(_is_pure(each, own, stable) for each in (receiver, *arguments))
        case _ if isinstance(node, _PLAIN):
            children = [e for e in ast.iter_child_nodes(node) if isinstance(e, ast.expr)]
            return all(_is_pure(each, own, stable) for each in children)
    return False
