"""Description: what Fyke knows of a class: its name, its attributes, how its objects are made.

Attributes come from fields, from properties and from accessors `get_x()` and `getX()`, with or
without a field behind them. Names that the envelope of an event has (`id`, `source`, `type`,
`time`) become `data.id` and so on, as in CloudEvents.
"""

from __future__ import annotations

import dataclasses
import typing
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import FunctionType
from typing import Any

from fyke.errors import FykeError, SchemaError, shown
from fyke.events.validation import ENVELOPE
from fyke.typed.construction import Construction, construction_of, kept_by, parameter_hint
from fyke.typed.members import accessed, public_members
from fyke.typed.shapes import ANY, HIDDEN, Shape, compares_alike, shape_of
from fyke.typed.stability import is_stable


@dataclass(frozen=True, slots=True)
class TypedAttribute:
    """An attribute of an event, and the member of the class that it is read from."""

    name: str
    member: str
    shape: Shape
    is_call: bool = False
    is_stable: bool = False
    is_shown: bool = True


@dataclass(frozen=True, eq=False)
class Description:
    """A class as events know it.

    `doubts` are what a subscriber to a supertype would think wrongly: attributes that are stable
    there and not here, and methods that are redefined. `unknown` counts attributes that raised.
    """

    cls: type
    name: str
    supertypes: tuple[str, ...]
    attributes: tuple[TypedAttribute, ...]
    construction: Construction
    encode: Callable[[Any], bytes] | None = None
    decode: Callable[[bytes], Any] | None = None
    doubts: frozenset[str] = frozenset()
    unknown: Counter[str] = field(default_factory=Counter)
    readers: list[Any] = field(default_factory=list)
    """The readers that `showing` has made for the attributes."""

    @cached_property
    def members(self) -> dict[str, TypedAttribute]:
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
    """Return the description of a class; SchemaError if it contradicts itself or a supertype."""
    hints = _hints(cls, name)
    construction = Construction() if encode else construction_of(cls, hints)
    stable_here = construction.stable | stable  # who encodes decides what comes back
    found: dict[str, TypedAttribute] = {}
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
    kept = kept_by(cls).values()
    return list(dict.fromkeys([*declared, *(each for each in kept if not each.startswith("_"))]))


def _attributes(
    cls: type, hints: dict[str, Any], stable: frozenset[str], name: str, show: frozenset[str] | None
) -> Iterator[TypedAttribute]:
    for member in fields_of(cls, hints):
        if not member.startswith("_"):
            annotation = hints.get(member, parameter_hint(cls, member))
            yield _attribute(member, member, annotation, member in stable, False, name, show)
    known = set(stable)
    for member, each in public_members(cls):
        if isinstance(each, property | cached_property):
            function = each.fget if isinstance(each, property) else each.func
            is_kept = member in known or is_stable(each, known)
            if is_kept:
                known.add(member)
            yield _attribute(member, member, _result_hint(function), is_kept, False, name, show)
    for member, each in public_members(cls):
        if isinstance(each, FunctionType) and (found := accessed(member, each)):
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
) -> TypedAttribute:
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
    return TypedAttribute(name, member, shape, is_call, is_kept, is_shown and not shape.is_hidden)


def _result_hint(function: Any) -> Any:
    try:
        return typing.get_type_hints(function, include_extras=True).get("return", Any)
    except Exception:
        return Any


# --- against supertypes ---------------------------------------------------------------------------


def _check_redefined(name: str, attributes: tuple[TypedAttribute, ...], above: Description) -> None:
    """Refuse a subtype that changes an attribute.

    It may narrow it: subscribers of the supertype rely on it.
    """
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
    attributes: tuple[TypedAttribute, ...],
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
    """Raise FykeError if objects of the class can neither be encoded nor made."""
    if described.construction.problem and described.encode is None:
        raise FykeError(
            f"{described.name} cannot travel as bytes: {described.construction.problem}; "
            "give @fyke.event encode= and decode="
        )
