"""Construction: how objects of a class are made again from their attributes.

An object travels as the arguments of its constructor, so each parameter must be an attribute that
still has the value it was given. Who generated the constructor says which: dataclasses and msgspec
store what they get, pydantic unless there is a validator; one that somebody wrote is read.

    def __init__(self, price): self._price = price      `price` is taken from `_price`
    def __init__(self, secret): self.hash = f(secret)   nobody can make it again: a `problem`
"""

from __future__ import annotations

import dataclasses
import inspect
import typing
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from fyke.errors import shown
from fyke.typed.members import accessed, is_of_library, public_members
from fyke.typed.source import definition
from fyke.typed.stability import changes, handed_on, stored


@dataclass(frozen=True, slots=True)
class Construction:
    """The way to call a constructor: each parameter, with the attribute from which it is taken.

    `stable` are the attributes that the new object has as the old one had them; `problem` says why
    objects cannot be made from their attributes.
    """

    sources: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, Any] = field(default_factory=dict)
    stable: frozenset[str] = frozenset()
    problem: str | None = None


def construction_of(cls: type, hints: dict[str, Any]) -> Construction:
    if _has_own(cls, "__setattr__", "__getattribute__", "__getattr__", "__new__"):
        made = _of_any(cls, hints)
        return dataclasses.replace(made, stable=frozenset())
    if hasattr(cls, "__struct_fields__"):
        names = list(cls.__struct_fields__)
        return _of_fields(cls, names, hints, "__post_init__")
    if hasattr(cls, "model_fields"):
        return _of_model(cls, hints)
    if dataclasses.is_dataclass(cls) and not _has_own(cls, "__init__"):
        names = [each.name for each in dataclasses.fields(cls) if each.init]
        return _of_fields(cls, names, hints, "__post_init__")
    return _of_any(cls, hints)


def _of_fields(cls: type, names: list[str], hints: dict[str, Any], after: str) -> Construction:
    """Return the way to call a generated constructor. It stores its arguments unchanged."""
    computed = {each for each in names if isinstance(getattr(cls, each, None), property)}
    stable = frozenset(names) - _changed_by(cls, after, names) - computed
    shapes = {each: hints.get(each, Any) for each in names}
    return Construction({each: each for each in names}, shapes, stable)


def _of_model(cls: Any, hints: dict[str, Any]) -> Construction:
    """Return the way to make a pydantic model. Validators may change fields on the way."""
    sources = {field.alias or name: name for name, field in cls.model_fields.items()}
    decorators = cls.__pydantic_decorators__
    names = set(cls.model_fields)
    checked: set[str] = set()
    if decorators.model_validators or decorators.root_validators or _has_own(cls, "__init__"):
        checked = names
    for kind in (decorators.field_validators, decorators.validators):
        for each in kind.values():
            checked |= names if "*" in each.info.fields else set(each.info.fields)
    if _has_own(cls, "model_post_init"):
        checked |= _changed_by(cls, "model_post_init", list(names))
    shapes = {given: hints.get(name, Any) for given, name in sources.items()}
    return Construction(sources, shapes, frozenset(names - checked))


def _of_any(cls: type, hints: dict[str, Any]) -> Construction:
    """Return the way to call a hand-written constructor whose parameters are attributes."""
    try:
        parameters = list(inspect.signature(cls).parameters.values())
    except (TypeError, ValueError):
        return Construction(problem="its constructor cannot be read")
    kept = kept_by(cls)
    public = dict(public_members(cls))
    known = {*public, *hints, *_slots(cls)}
    accessors = {
        found: member
        for member, each in public.items()
        if isinstance(each, FunctionType) and (found := accessed(member, each))
    }
    sources: dict[str, str] = {}
    shapes: dict[str, Any] = {}
    for each in parameters:
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        source = kept.get(each.name) or (each.name if each.name in known else None)
        source = source or accessors.get(each.name)
        if source is None:
            if each.default is not each.empty:
                continue
            problem = f"its constructor wants {shown(each.name)}, which is no attribute of it"
            return Construction(problem=problem)
        sources[each.name] = source
        shapes[each.name] = parameter_hint(cls, source) if source in kept.values() else Any
        if shapes[each.name] is Any:
            shapes[each.name] = hints.get(source, Any)
    stable = frozenset(kept[each] for each in sources if each in kept)
    return Construction(sources, shapes, stable)


def _slots(cls: type) -> set[str]:
    return {name for base in cls.__mro__ for name in vars(base).get("__slots__", ())}


def kept_by(cls: type) -> dict[str, str]:
    """Return, by parameter, the attribute in which a plain class stores it unchanged."""
    for at, base in enumerate(cls.__mro__):
        function = vars(base).get("__init__")
        if isinstance(function, FunctionType):
            kept = stored(function)
            handed = handed_on(function)
            return {**_kept_above(cls.__mro__[at + 1 :], handed), **kept} if handed else kept
        if base is object or dataclasses.is_dataclass(base):
            break
    return {}


def _kept_above(bases: tuple[type, ...], handed: dict[str, str | int]) -> dict[str, str]:
    """Return the arguments that the constructor of the next ancestor stores, and where."""
    for base in bases:
        if dataclasses.is_dataclass(base) and not _has_own(base, "__init__"):
            names = [each.name for each in dataclasses.fields(base) if each.init]
            changed = _changed_by(base, "__post_init__", names)
            kept = {each: each for each in names if each not in changed}
        else:
            function = vars(base).get("__init__")
            if not isinstance(function, FunctionType):
                continue
            kept = kept_by(base)
            names = list(inspect.signature(function).parameters)[1:]
        found = {}
        for given, place in handed.items():
            target = place if isinstance(place, str) else dict(enumerate(names)).get(place)
            if target in kept:
                found[given] = kept[target]
        return found
    return {}


def parameter_hint(cls: type, member: str) -> Any:
    """Return the annotation of the parameter that an attribute of a plain class is set from."""
    given = next((p for p, kept in kept_by(cls).items() if kept == member), None)
    try:
        hints = typing.get_type_hints(inspect.getattr_static(cls, "__init__"), include_extras=True)
    except Exception:
        return Any
    return hints.get(given, Any) if given is not None else Any


def _changed_by(cls: type, method: str, names: list[str]) -> set[str]:
    """Return the fields that a method which runs after the constructor may set."""
    function = getattr(cls, method, None)
    if function is None:
        return set()
    node = definition(function) if isinstance(function, FunctionType) else None
    if node is None or not node.args.args:
        return set(names)
    changed = changes(node, node.args.args[0].arg)
    return set(names) if changed is None else changed


def _has_own(cls: type, *methods: str) -> bool:
    """Return True if one of the methods was written by hand: neither in a library nor generated."""
    for base in cls.__mro__:
        if is_of_library(base):
            continue
        for method in methods:
            each = getattr(vars(base).get(method), "__func__", vars(base).get(method))
            if each is not None and not _is_generated(each):
                return True
    return False


def _is_generated(function: Any) -> bool:
    return not isinstance(function, FunctionType) or (
        function.__code__.co_filename.startswith("<string>")
        or function.__code__.co_filename == dataclasses.__file__
    )
