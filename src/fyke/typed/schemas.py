"""Schemas of classes: `schema_of(Stock)` is what `covers`, `lint` and a Matcher know about a Stock.

A name that two classes give different domains is left out: nothing is folded or assumed about it.
A subtype that narrows an attribute is known by what its supertype declares.

Evolution. A new version of a class may have more optional fields. A changed domain, a field that is
gone and a new field without a default are refused: those who subscribed rely on them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from fyke.errors import SchemaError
from fyke.events.schema import Attribute, EventType, Schema
from fyke.typed.description import Description
from fyke.typed.registry import described, is_event_class, nested_description
from fyke.typed.shapes import Shape

_DEPTH_MAX = 8


def schema_of(*classes: type) -> Schema:
    """Return the schema of some event classes and their supertypes."""
    found: dict[str, Description] = {}
    for cls in classes:
        for base in reversed(cls.__mro__ if isinstance(cls, type) else (cls,)):
            if base is cls or is_event_class(base):
                each = described(base)
                found.setdefault(each.name, each)
    return _schema(list(found.values()))


def schema_of_description(description: Description) -> Schema:
    """Return the schema of one class alone, without those above it."""
    own = EventType(description.name, tuple(_attributes(description)))
    return Schema(types=[own])


def _schema(described_: list[Description]) -> Schema:
    declared: dict[str, Attribute] = {}
    conflicts: set[str] = set()
    owned: dict[str, list[Attribute]] = {}
    for each in described_:  # supertypes come first
        ours = owned.setdefault(each.name, [])
        inherited = {a.name for above in each.supertypes for a in owned.get(above, ())}
        for attribute in _attributes(each):
            if attribute.name in inherited:
                continue
            ours.append(attribute)
            known = declared.setdefault(attribute.name, attribute)
            if (known.domain, known.multiple) != (attribute.domain, attribute.multiple):
                conflicts.add(attribute.name)
    types = [
        EventType(
            each.name,
            [a for a in owned[each.name] if a.name not in conflicts],
            [above for above in each.supertypes if above in owned],
        )
        for each in described_
    ]
    return Schema(types=types)


def _attributes(description: Description) -> Iterator[Attribute]:
    required = _required(description)
    for each in description.attributes:
        if each.is_shown:
            must = each.member in required and not each.shape.is_optional
            yield from _declare(each.name, each.shape, False, must, 1)


def _required(description: Description) -> set[str]:
    """Return the fields without which no object can be made."""
    try:
        parameters = inspect.signature(description.cls).parameters
    except (TypeError, ValueError):
        return set()
    sources = description.construction.sources.items()
    return {
        source
        for given, source in sources
        if given in parameters and parameters[given].default is inspect.Parameter.empty
    }


def _declare(
    path: str, shape: Shape, multiple: bool, required: bool, depth: int
) -> Iterator[Attribute]:
    if depth > _DEPTH_MAX or shape.is_tree or shape.is_hidden:
        return
    if shape.nested is not None:
        for each in nested_description(shape.nested).attributes:
            if each.is_shown:
                inner = f"{path}.{each.name.removeprefix('data.')}"
                yield from _declare(inner, each.shape, multiple, False, depth + 1)
    elif shape.elements is not None:
        yield from _declare(path, shape.elements, True, False, depth + 1)
    elif shape.domain is not None:
        yield Attribute(path, shape.domain, multiple, required and not multiple)


def check_evolution(old: Schema, new: Schema) -> None:
    """Raise SchemaError if a new version of a schema breaks what was built on the old one."""
    for before in old.types:
        now = new.type(before.name)
        if now is None:
            raise SchemaError("declared before and not any more", type_name=before.name)
        known = {each.name: each for each in before.attributes}
        ours = {each.name: each for each in now.attributes}
        for name, each in known.items():
            if name not in ours:
                _refuse("is gone", name, before, now)
            mine = ours[name]
            if (mine.domain, mine.multiple) != (each.domain, each.multiple):
                _refuse(f"was {_said(each)} and is now {_said(mine)}", name, before, now)
        for name, each in ours.items():
            if name not in known and each.required:
                _refuse("is new and has no default", name, before, now)


def _said(attribute: Attribute) -> str:
    return f"{'a list of ' if attribute.multiple else ''}{attribute.domain}"


def _refuse(problem: str, name: str, before: EventType, now: EventType) -> None:
    def shown(version: EventType) -> str:
        return ", ".join(f"{each.name}: {_said(each)}" for each in version.attributes)

    raise SchemaError(
        f"{problem}; before ({shown(before)}), now ({shown(now)}); give the new version another "
        "name, or fyke.typed.forget the old one",
        attribute=name,
        type_name=before.name,
    )
