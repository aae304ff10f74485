"""Deriving: from a closure to the filter that covers it (MSF-10).

derived(BuyFilter("Foo", 10.0, 0.95), Stock).filter
    type is Stock and symbol = 'Foo' and not price >= 10
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from fyke.errors import FykeError, shown
from fyke.filters.algebra.normal_form import simplify
from fyke.filters.filter import TRUE, Filter, conjunction, walk
from fyke.filters.predicate import TypeIs
from fyke.typed.closures.captured import Watch
from fyke.typed.closures.frame import GiveUp, Notes, Unread
from fyke.typed.closures.reading import read, unbound
from fyke.typed.closures.values import Own
from fyke.typed.registry import described
from fyke.typed.source import definition
from fyke.typed.stability import changes

_SIZE_MAX = 2_000
FAILED = "reading it failed"


@dataclass(frozen=True, slots=True)
class Derived:
    """The filter that covers a closure, and what was not understood on the way.

    `relies` are the attributes and methods that the closure looks at, `watches` the captured values
    that may change. `has_source` is False where nothing could be read at all.
    """

    filter: Filter
    unread: tuple[Unread, ...]
    relies: frozenset[str]
    watches: tuple[Watch, ...]
    has_source: bool = True

    def __str__(self) -> str:
        return "\n".join([str(self.filter), *(f"  {each}" for each in self.unread)])


def derived(where: object, cls: type) -> Derived:
    """Return the filter that covers a closure on objects of an event class; nothing is run."""
    description = described(cls)
    predicate(where)
    function, holder = unbound(where)
    node = definition(function) if function is not None else None
    top = TypeIs(description.name)
    if function is None or node is None:
        return Derived(
            top, (Unread(0, shown(where), "there is no source"),), frozenset(), (), False
        )
    notes = Notes(description)
    own = None if holder is None else Own(holder, changing(type(holder)))
    try:
        body = simplify(read(notes, function, node, own))
        if sum(1 for _ in walk(body)) > _SIZE_MAX:
            raise GiveUp("its filter is too large")
    except Exception as failed:  # whatever it is, the closure itself is served by all events
        reason = str(failed) if isinstance(failed, GiveUp | FykeError) else f"{FAILED}: {failed!r}"
        line = Unread(node.lineno, ast.unparse(node).partition("\n")[0][:80], reason)
        body, notes.unread = TRUE, [*notes.unread, line]
    filter = top if body == TRUE else conjunction((top, body))
    watches = tuple(notes.watches.values())
    return Derived(filter, tuple(notes.unread), frozenset(notes.relies), watches)


def predicate(where: object) -> Callable[[Any], Any]:
    """Return the function that is called with an object; FykeError if there is none."""
    call: Any = where if callable(where) else getattr(where, "match", None)
    if not callable(call) or isinstance(where, type):
        raise FykeError(
            "where= is a function of the object, or an object with match(object); "
            f"not {shown(where)}"
        )
    if inspect.iscoroutinefunction(call):
        raise FykeError("where= decides at once; a coroutine function cannot")
    try:
        inspect.signature(call).bind(None)
    except ValueError:  # a builtin that does not say
        pass
    except TypeError as refused:
        raise FykeError(f"where= is called with the object alone: {refused}") from None
    made: Callable[[Any], Any] = call
    return made


def changing(cls: type) -> frozenset[str] | None:
    """Return the attributes that methods other than `__init__` may set; None if any may be."""
    found: set[str] = set()
    for base in cls.__mro__[:-1]:
        for name, each in vars(base).items():
            function = getattr(each, "fget", None) or getattr(each, "__func__", each)
            if name == "__init__" or not isinstance(function, FunctionType):
                continue
            node = definition(function)
            if node is None:
                if function.__code__.co_filename.startswith("<string>"):
                    continue  # generated for a dataclass; it sets nothing
                return None
            if node.args.args:
                set_here = _set_in(node, node.args.args[0].arg)
                if set_here is None:
                    return None
                found |= set_here
    return frozenset(found)


_known_sets: WeakKeyDictionary[ast.AST, set[str] | None] = WeakKeyDictionary()


def _set_in(node: Any, own: str) -> set[str] | None:
    """Return the attributes that a method sets. They are found once for a class."""
    if node not in _known_sets:
        _known_sets[node] = _read_sets(node, own)
    return _known_sets[node]


def _read_sets(node: Any, own: str) -> set[str] | None:
    """Return the attributes that a method sets, by itself and by other methods of self."""
    found = changes(node, own)
    if found is not None:
        return found
    stores: set[str] = set()
    for e in ast.walk(node):
        if isinstance(e, ast.Attribute) and isinstance(e.value, ast.Name) and e.value.id == own:
            if e.attr == "__dict__":
                return None
            if not isinstance(e.ctx, ast.Load):
                stores.add(e.attr)
    held = {id(e.value) for e in ast.walk(node) if isinstance(e, ast.Attribute)}
    bare = [e for e in ast.walk(node) if isinstance(e, ast.Name) and e.id == own]
    if any(id(e) not in held for e in bare):
        return None
    return stores
