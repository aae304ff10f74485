"""Captured values: what a closure knows besides its argument, and noticing that it changed.

A name of a module, a variable of an enclosing function, an attribute of a filter object: each has a
value now, which the filter is derived from, and may have another one later. Those that may change
are watched: a hub looks at them before it matches an event, and derives the filter anew. A variable
of an enclosing function that is bound once, outside of a loop, cannot change and is not watched.

A list, a set or a dictionary is watched by its elements, each of which must be the same object: an
equal one of another class (`True` for 1, text with its own `==`) may compare otherwise. What holds
containers that change, at any depth, is not used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from inspect import getattr_static
from operator import is_
from types import CellType, FunctionType, ModuleType
from typing import Any, Final

from fyke.typed.shapes import compares_alike, has_plain_members

SCALARS: Final = (bool, int, float, str, bytes, type(None), Decimal, datetime, date, timedelta)
_MUTABLE: Final = (list, set, dict)
_SIZE_MAX: Final = 1_000
"""Elements of a container that may change; it is compared with its copy at every event."""
_MISSING: Final = object()


def is_plain(value: Any) -> bool:
    """Return True if a value and its parts are of the standard library: looking at it is pure."""
    if type(value) in SCALARS:
        return True
    if type(value) in (tuple, frozenset, list, set):
        return len(value) <= 50_000 and all(map(is_plain, value))
    if type(value) is dict:
        return all(is_plain(k) and is_plain(v) for k, v in value.items())
    return type(value) is range or (isinstance(value, Enum) and compares_alike(type(value)))


def is_fixed(value: Any) -> bool:
    """Return True if no part of a value may change: it holds no list, set or dictionary."""
    if type(value) is tuple:
        return all(map(is_fixed, value))
    return type(value) not in _MUTABLE


def _elements(container: Any) -> tuple[Any, ...]:
    """Return the elements of a list, a set or a dictionary, in their order."""
    if type(container) is dict:
        return (*container, *container.values())
    return tuple(container)


class Watch:
    """A value that was captured from somewhere, and whether it is still the same there.

    `scope` is the dictionary that holds it, where there is one: a look into it is all it takes.
    """

    __slots__ = ("_content", "_read", "key", "name", "scope", "value")

    def __init__(
        self, holder: Any, name: str, read: Callable[[], Any], value: Any, scope: Any
    ) -> None:
        self.key = (id(holder), name)
        self.name = name
        self.value = value
        self._read = read
        self._content = _elements(value) if type(value) in _MUTABLE else None
        is_there = type(scope) is dict and scope.get(name) is value
        self.scope = scope if is_there and self._content is None else None

    def changed(self) -> bool:
        if self.scope is not None and self.scope.get(self.name) is self.value:
            return False
        try:
            now = self._read()
        except Exception:
            return True
        if now is not self.value:
            return (
                type(now) is not type(self.value) or type(now) not in SCALARS or now != self.value
            )
        if self._content is None:
            return False
        elements = _elements(now)
        return len(elements) != len(self._content) or not all(map(is_, elements, self._content))


class Captured:
    """The values that one function captures. `watches` grow with every value that is asked for."""

    def __init__(self, function: FunctionType, watches: dict[tuple[int, str], Watch]) -> None:
        self.function = function
        self.watches = watches

    def value(self, name: str) -> Any:
        """Return the value of a free name; LookupError if it has none that can be watched."""
        function = self.function
        if name in function.__code__.co_freevars:
            cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
            return self._cell(name, cell)
        scope = function.__globals__
        value = scope.get(name, _builtins(function).get(name, _MISSING))
        if value is _MISSING:
            raise LookupError(name)
        return self.watch(scope, name, lambda: scope.get(name, value), value)

    def _cell(self, name: str, cell: CellType) -> Any:
        try:
            value = cell.cell_contents
        except ValueError:
            raise LookupError(name) from None
        if is_fixed(value) and is_bound_once(self.function, name):
            return value
        return self.watch(cell, name, lambda: cell.cell_contents, value)

    def member(self, holder: Any, name: str) -> Any:
        """Return an attribute of a module, a class or an object that simply has it."""
        if isinstance(holder, ModuleType):
            scope = vars(holder)
            if name not in scope:
                raise LookupError(name)
            return self.watch(scope, name, lambda: scope[name], scope[name])
        if isinstance(holder, type):
            value = next((vars(b)[name] for b in holder.__mro__ if name in vars(b)), _MISSING)
            if issubclass(holder, Enum):
                value = holder.__members__.get(name, _MISSING)
                if value is not _MISSING:
                    return value
            if value is _MISSING or not is_plain(value):
                raise LookupError(name)
            return self.watch(holder, name, lambda: getattr(holder, name), value)
        if isinstance(holder, Enum) and name in ("value", "name"):
            if has_plain_members(type(holder)) and is_fixed(holder.value):
                return getattr(holder, name)
            raise LookupError(name)
        cls = type(holder)
        if any("__getattr__" in vars(b) or "__getattribute__" in vars(b) for b in cls.__mro__[:-1]):
            raise LookupError(name)
        on_class = next((vars(b)[name] for b in cls.__mro__ if name in vars(b)), _MISSING)
        is_slot = type(on_class).__name__ == "member_descriptor"
        if hasattr(type(on_class), "__set__") and not is_slot:
            raise LookupError(name)
        scope = getattr(holder, "__dict__", {})
        if name in scope or is_slot:
            value = getattr(holder, name, _MISSING)
        elif on_class is not _MISSING and not hasattr(type(on_class), "__get__"):
            value = on_class
        else:
            raise LookupError(name)
        is_frozen = is_dataclass(cls) and cls.__dataclass_params__.frozen  # type: ignore[attr-defined]
        if is_frozen and is_plain(value) and is_fixed(value):
            return value
        return self.watch(holder, name, lambda: getattr(holder, name), value)

    def method(self, holder: Any, name: str) -> FunctionType:
        """Return a method of an object; it may be replaced, in the object or in its class."""
        cls = type(holder)
        function = getattr_static(cls, name, None)
        own = getattr(holder, "__dict__", None)
        if not isinstance(function, FunctionType) or name in (own or ()):
            raise LookupError(name)
        self.watch(cls, name, lambda: getattr_static(cls, name), function)
        if own is not None:
            self.watch(own, name, lambda: own.get(name), None)
        return function

    def watch(self, holder: Any, name: str, read: Callable[[], Any], value: Any) -> Any:
        if type(value) in _MUTABLE and len(value) > _SIZE_MAX:
            raise LookupError(name)
        if not all(map(is_fixed, _elements(value) if type(value) in _MUTABLE else (value,))):
            raise LookupError(name)
        key = (id(holder), name)
        if key not in self.watches:
            scope = holder if type(holder) is dict else getattr(holder, "__dict__", None)
            self.watches[key] = Watch(holder, name, read, value, scope)
        return value


def _builtins(function: Any) -> dict[str, Any]:
    found = function.__builtins__
    return vars(found) if isinstance(found, ModuleType) else found


def is_bound_once(function: FunctionType, name: str) -> bool:
    """Return True if a variable of an enclosing function is bound once, outside of loops."""
    from fyke.typed.source import enclosing

    for scope in enclosing(function):
        arguments = scope.args
        given = [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            *(each for each in (arguments.vararg, arguments.kwarg) if each is not None),
        ]
        stores = _stores(scope).get(name, [])
        if any(each.arg == name for each in given):
            return not stores
        if stores:
            return stores == [False]
    return False


_stored: dict[ast.AST, dict[str, list[bool]]] = {}


def _stores(scope: Any) -> dict[str, list[bool]]:
    """Return the names that a function binds; per binding, True if it is in a loop."""
    found = _stored.get(scope)
    if found is not None:
        return found
    found = {}
    todo: list[tuple[ast.AST, bool]] = [(each, False) for each in ast.iter_child_nodes(scope)]
    loops = (ast.For, ast.While, ast.AsyncFor, ast.comprehension, ast.FunctionDef, ast.Lambda)
    while todo:
        node, repeated = todo.pop()
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(repeated)
        named = getattr(node, "name", None)
        if isinstance(named, str):  # def, class, except ... as, case ... as
            found.setdefault(named, []).append(True)
        repeated = repeated or isinstance(node, loops)
        todo.extend((each, repeated) for each in ast.iter_child_nodes(node))
    if len(_stored) > 4_096:
        _stored.clear()
    _stored[scope] = found
    return found


# --- regular expressions --------------------------------------------------------------------------

_LITERAL: Final = re.compile(r"[A-Za-z0-9 _@:/-]+")


def literal_prefix(pattern: object, flags: int = 0) -> str:
    """Return the text that whatever a regular expression finds begins with; empty if unknown.

    Beyond that Python and RE2 differ (`\\d`, `$`), so nothing more is made of it.
    """
    if isinstance(pattern, re.Pattern):
        flags, pattern = pattern.flags & ~re.UNICODE, pattern.pattern
    if type(pattern) is not str or flags or "|" in pattern or "(?" in pattern:
        return ""
    body = pattern.removeprefix("^")
    found = _LITERAL.match(body)
    if found is None:
        return ""
    text, rest = found[0], body[found.end() :]
    return text[:-1] if rest[:1] in ("*", "?", "{", "+") else text
