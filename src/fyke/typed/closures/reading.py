"""Reading: from a closure's syntax tree to the filter that covers it.

Idea. The tree is walked once, with `values` that stand for all events at once. What must have been
true to come to a place is a *path*; where a result is returned, the path is added with what makes
the result true; where something may happen, the path itself is added (MSF-Q2). The filter is the
disjunction of all that was added.

Law. Every event that the closure accepts, or that changes something, is accepted by the filter.
Whatever is not understood is true, and `unread` says where and why.

    truth           when a comparison in Python can be true, and when false
    values, frame   what expressions stand for; the variables of a function
    attributes, comparing, calling, expressions, patterns, statements       parts of the language
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from types import FunctionType, MethodType
from typing import Any, Final

from fyke.filters.filter import FALSE, TRUE, And, Filter, conjunction, disjunction
from fyke.typed.closures.calling import bound
from fyke.typed.closures.captured import Captured
from fyke.typed.closures.frame import Notes
from fyke.typed.closures.statements import Statements
from fyke.typed.closures.values import Abstract, Own, Path, Subject
from fyke.typed.source import Definition

_SUSPENDS: Final = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def read(notes: Notes, function: FunctionType, node: Definition, own: Own | None) -> Filter:
    """Return the filter that covers a function of one event; `own` is its self."""
    subject = Subject(notes.description)
    given: list[Abstract] = [subject] if own is None else [own, subject]
    frame = Statements(notes, Captured(function, notes.watches), bound(function, node, given))
    if isinstance(node, ast.Lambda):
        notes.accepted.append((frame.truth(node.body, ()).can,))
    elif function.__code__.co_flags & _SUSPENDS:
        frame.effect(node, (), "it is no plain function")
    else:
        frame.run(node.body, ())
    return _disjunction(notes.accepted)


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


def unbound(where: Any) -> tuple[FunctionType | None, Any]:
    """Return the function behind a closure, and the object that it is a method of."""
    if isinstance(where, FunctionType):
        return where, None
    if isinstance(where, MethodType):
        function = where.__func__
        return (function if isinstance(function, FunctionType) else None), where.__self__
    name = "__call__" if callable(where) else "match"
    method = inspect.getattr_static(type(where), name, None)
    if isinstance(method, FunctionType) and name not in getattr(where, "__dict__", ()):
        return method, where
    return None, None
