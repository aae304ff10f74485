"""Description: what Fyke knows of a class: its name, its attributes, how its objects are made.

Attributes come from fields, from properties and from accessors `get_x()` and `getX()`, with or
without a field behind them. Names that the envelope of an event has (`id`, `source`, `type`,
`time`) become `data.id` and so on, as in CloudEvents.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType
from typing import Any, Final

from fyke.errors import FykeError, SchemaError, shown
from fyke.events.validation import ENVELOPE
from fyke.typed.shapes import ANY, HIDDEN, Shape, compares_alike, shape_of
from fyke.typed.source import definition
from fyke.typed.stability import changes, handed_on, is_stable, stored

_GET: Final = re.compile(r"get(?:_([A-Za-z]\w*)|([A-Z]\w*))")
_LIBRARIES: Final = ("builtins", "abc", "typing", "enum", "msgspec", "pydantic")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an event, and the member of the class that it is read from."""

    name: str
    member: str
    shape: Shape
    is_call: bool = False
    is_stable: bool = False
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class Construction:
    """How a constructor is called: which attribute of the object each parameter is taken from.

    `stable` are the attributes that the new object has as the old one had them; `problem` says why
    objects cannot be made from their attributes.
    """

    sources: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, Any] = field(default_factory=dict)
    stable: frozenset[str] = frozenset()
    problem: str | None = None


@dataclass(frozen=True, eq=False)
class Description:
    """A class as events know it.

    `doubts` are what a subscriber to a supertype would think wrongly: attributes that are stable
    there and not here, and methods that are redefined. `unknown` counts attributes that raised.
    """

    cls: type
    name: str
    supertypes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    construction: Construction
    encode: Callable[[Any], bytes] | None = None
    decode: Callable[[bytes], Any] | None = None
    doubts: frozenset[str] = frozenset()
    unknown: Counter[str] = field(default_factory=Counter)
    readers: list[Any] = field(default_factory=list)
    """How `packing` reads the attributes, once it has."""

    @cached_property
    def members(self) -> dict[str, Attribute]:
        """The attributes by the member of the class that they are read from."""
        return {each.member: each for each in self.attributes}


def describe(
    cls: type,
    name: str,
    supertypes: tuple[str, ...],
    ancestors: list[Description],
    *,
    show: frozenset[str] | None = None,
    stable: frozenset[str] = frozenset(),
    encode: Callable[[Any], bytes] | None = None,
    decode: Callable[[bytes], Any] | None = None,
) -> Description:
    """Return the description of a class; SchemaError where it contradicts itself or a supertype."""
    hints = _hints(cls, name)
    construction = Construction() if encode else _construction(cls, hints)
    stable_here = construction.stable | stable  # who encodes decides what comes back
    found: dict[str, Attribute] = {}
    for each in _attributes(cls, hints, stable_here, name, show):
        known = found.get(each.name)
        if known is None or known.member == each.member:
            found[each.name] = each
    for wanted in (show or frozenset()) | stable:
        if not any(wanted in (each.member, each.name) for each in found.values()):
            names = ", ".join(each.member for each in found.values())
            raise SchemaError(f"there is no attribute {shown(wanted)}; there are {names}",
                              type_name=name)  # fmt: skip
    hidden = {each.name for above in ancestors for each in above.attributes if not each.is_shown}
    attributes = tuple(
        replace(each, is_shown=False) if show is None and each.name in hidden else each
        for each in found.values()
    )
    for ancestor in ancestors:
        _check_redefined(name, attributes, ancestor)
    doubts = _doubts(cls, attributes, construction, ancestors)
    return Description(cls, name, supertypes, attributes, construction, encode, decode, doubts)


# --- attributes -----------------------------------------------------------------------------------


def _hints(cls: type, name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls, include_extras=True)
    except Exception as refused:
        raise SchemaError(f"its annotations cannot be read: {refused}", type_name=name) from None


def fields_of(cls: type, hints: dict[str, Any]) -> list[str]:
    """Return the names of the fields, in the order in which they were declared."""
    if hasattr(cls, "__struct_fields__"):
        return list(cls.__struct_fields__)
    if hasattr(cls, "model_fields"):
        return list(cls.model_fields)
    if dataclasses.is_dataclass(cls):
        return [each.name for each in dataclasses.fields(cls)]
    declared = [each for each in hints if typing.get_origin(hints[each]) is not typing.ClassVar]
    kept = _kept(cls).values()
    return list(dict.fromkeys([*declared, *(each for each in kept if not each.startswith("_"))]))


def _attributes(
    cls: type, hints: dict[str, Any], stable: frozenset[str], name: str, show: frozenset[str] | None
) -> Iterator[Attribute]:
    for member in fields_of(cls, hints):
        if not member.startswith("_"):
            annotation = hints.get(member, _parameter_hint(cls, member))
            yield _attribute(member, member, annotation, member in stable, False, name, show)
    known = set(stable)
    for member, each in _public(cls):
        if isinstance(each, property | cached_property):
            function = each.fget if isinstance(each, property) else each.func
            is_kept = member in known or is_stable(each, known)
            if is_kept:
                known.add(member)
            yield _attribute(member, member, _result_hint(function), is_kept, False, name, show)
    for member, each in _public(cls):
        if isinstance(each, FunctionType) and (found := _accessed(member, each)):
            is_kept = member in stable or found in stable or is_stable(each, known)
            yield _attribute(found, member, _result_hint(each), is_kept, True, name, show)


def _attribute(
    plain: str,
    member: str,
    annotation: Any,
    is_kept: bool,
    is_call: bool,
    owner: str,
    show: frozenset[str] | None,
) -> Attribute:
    is_shown = show is None or plain in show or member in show
    try:
        shape = shape_of(annotation)
    except SchemaError as refused:
        if is_shown:
            raise SchemaError(refused.problem, attribute=plain, type_name=owner) from None
        shape = HIDDEN
    name = f"data.{plain}" if plain in ENVELOPE else plain
    if shape.members is not None and not compares_alike(shape.members):
        is_kept = False
    return Attribute(name, member, shape, is_call, is_kept, is_shown and not shape.is_hidden)


def _public(cls: type) -> list[tuple[str, Any]]:
    """Return the public members that the class and its own ancestors define, nearest first."""
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] not in _LIBRARIES:
            for member, each in vars(base).items():
                if not member.startswith("_"):
                    found.setdefault(member, each)
    return list(found.items())


def _accessed(member: str, function: FunctionType) -> str | None:
    """Return the attribute that an accessor is for: `getPrice` for `price`, `getURL` for `URL`."""
    found = _GET.fullmatch(member)
    parameters = list(inspect.signature(function).parameters.values())
    if found is None or len(parameters) != 1 or inspect.iscoroutinefunction(function):
        return None
    if parameters[0].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        return None
    if found[1]:
        return found[1]
    plain = found[2]
    return plain if plain[:2].isupper() and len(plain) > 1 else plain[0].lower() + plain[1:]


def _result_hint(function: Any) -> Any:
    try:
        return typing.get_type_hints(function, include_extras=True).get("return", Any)
    except Exception:
        return Any


def _parameter_hint(cls: type, member: str) -> Any:
    """Return the annotation of the parameter that an attribute of a plain class is set from."""
    given = next((p for p, kept in _kept(cls).items() if kept == member), None)
    try:
        hints = typing.get_type_hints(inspect.getattr_static(cls, "__init__"), include_extras=True)
    except Exception:
        return Any
    return hints.get(given, Any) if given is not None else Any


# --- construction ---------------------------------------------------------------------------------


def _construction(cls: type, hints: dict[str, Any]) -> Construction:
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
    """Return how a generated constructor is called: it stores what it gets."""
    computed = {each for each in names if isinstance(getattr(cls, each, None), property)}
    stable = frozenset(names) - _changed_by(cls, after, names) - computed
    shapes = {each: hints.get(each, Any) for each in names}
    return Construction({each: each for each in names}, shapes, stable)


def _of_model(cls: Any, hints: dict[str, Any]) -> Construction:
    """Return how a pydantic model is made; fields with validators may change on the way."""
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
    """Return how a constructor that somebody wrote is called, if its parameters are attributes."""
    try:
        parameters = list(inspect.signature(cls).parameters.values())
    except (TypeError, ValueError):
        return Construction(problem="its constructor cannot be read")
    kept = _kept(cls)
    public = dict(_public(cls))
    known = {*public, *hints, *_slots(cls)}
    accessors = {
        found: member
        for member, each in public.items()
        if isinstance(each, FunctionType) and (found := _accessed(member, each))
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
        shapes[each.name] = _parameter_hint(cls, source) if source in kept.values() else Any
        if shapes[each.name] is Any:
            shapes[each.name] = hints.get(source, Any)
    stable = frozenset(kept[each] for each in sources if each in kept)
    return Construction(sources, shapes, stable)


def _slots(cls: type) -> set[str]:
    return {name for base in cls.__mro__ for name in vars(base).get("__slots__", ())}


def _kept(cls: type) -> dict[str, str]:
    """Return what the constructor of a plain class stores as it came: by parameter, where."""
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
    """Return what the constructor of the next ancestor stores of what it is handed."""
    for base in bases:
        if dataclasses.is_dataclass(base) and not _has_own(base, "__init__"):
            names = [each.name for each in dataclasses.fields(base) if each.init]
            changed = _changed_by(base, "__post_init__", names)
            kept = {each: each for each in names if each not in changed}
        else:
            function = vars(base).get("__init__")
            if not isinstance(function, FunctionType):
                continue
            kept = _kept(base)
            names = list(inspect.signature(function).parameters)[1:]
        found = {}
        for given, place in handed.items():
            target = place if isinstance(place, str) else dict(enumerate(names)).get(place)
            if target in kept:
                found[given] = kept[target]
        return found
    return {}


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
    """Whether somebody wrote one of the methods: not a library, and not generated."""
    for base in cls.__mro__:
        if base.__module__.partition(".")[0] in _LIBRARIES:
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


# --- against supertypes ---------------------------------------------------------------------------


def _check_redefined(name: str, attributes: tuple[Attribute, ...], above: Description) -> None:
    """A subtype may narrow an attribute, not change it: who wants the supertype relies on it."""
    theirs = {each.name: each for each in above.attributes}
    for each in attributes:
        known = theirs.get(each.name)
        if known is not None and not _is_within(each.shape, known.shape):
            raise SchemaError(
                f"declared as {_said(each.shape)}, but {above.name} declares {_said(known.shape)}; "
                "a subtype may only narrow an attribute",
                attribute=each.name,
                type_name=name,
            )


def _is_within(narrow: Shape, wide: Shape) -> bool:
    if wide == ANY or narrow == wide or wide.is_hidden:
        return True
    if narrow.nested and wide.nested:
        return issubclass(narrow.nested, wide.nested)
    if narrow.elements and wide.elements:
        return _is_within(narrow.elements, wide.elements)
    if not (narrow.is_scalar and wide.is_scalar) or narrow.is_hidden:
        return False
    return narrow.classes <= wide.classes


def _said(shape: Shape) -> str:
    if shape.nested is not None:
        return shape.nested.__name__
    if shape.elements is not None:
        return f"list of {_said(shape.elements)}"
    return " or ".join(sorted(cls.__name__ for cls in shape.classes)) or "hidden"


def _doubts(
    cls: type,
    attributes: tuple[Attribute, ...],
    construction: Construction,
    ancestors: list[Description],
) -> frozenset[str]:
    """Return the members of which a subscriber to a supertype would think wrongly."""
    ours = {each.member: each for each in attributes}
    given = set(construction.sources.values())
    doubts: set[str] = set()
    for above in ancestors:
        for each in above.attributes:
            mine = ours.get(each.member)
            is_lost = (
                each.member in above.construction.sources.values() and each.member not in given
            )
            if each.is_stable and (
                mine is None or not mine.is_stable or not mine.is_shown or is_lost
            ):
                doubts.add(each.name)
        for base in cls.__mro__[: cls.__mro__.index(above.cls)]:
            for member, value in vars(base).items():
                is_method = isinstance(value, FunctionType | staticmethod | classmethod)
                is_known = hasattr(above.cls, member) and member not in above.members
                if is_method and is_known and not member.startswith("__"):
                    doubts.add(f"{member}()")
    return frozenset(doubts)


def check_makeable(described: Description) -> None:
    """Raise FykeError where objects of the class can neither be encoded nor made."""
    if described.construction.problem and described.encode is None:
        raise FykeError(
            f"{described.name} cannot travel as bytes: {described.construction.problem}; "
            "give @fyke.event encode= and decode="
        )
