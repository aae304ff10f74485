"""Events against a schema: what `Schema.validate` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from fyke.errors import EventError, SchemaError, shown
from fyke.events.event import Document, Event
from fyke.events.spelling import nearest
from fyke.events.value import Scalar, Value, parse_timestamp

if TYPE_CHECKING:
    from fyke.events.schema import Attribute, Schema

ENVELOPE: Final = frozenset({"id", "source", "type", "time"})
"""Attributes that every event may have."""


def validate(schema: Schema, event: Event, closed: bool, complete: bool, typed: bool) -> Event:
    """Return the event as the schema knows it, or raise SchemaError."""
    name = event.type
    known = name is not None and schema.type(name) is not None
    if typed and not known:
        meant = None if name is None else schema.nearest_type(name)
        raise SchemaError("the event's type is not declared", type_name=name, meant=meant)
    _check_presence(schema, event, closed, complete)
    changed = _check_values(schema, event)
    supertypes = _supertypes(schema, event)
    if not changed and supertypes == event.supertypes:
        return event
    if not changed:
        return event.copied(event.attributes, event.document, supertypes)
    return _changed(schema, event, changed, supertypes)


def read(schema: Schema, event: Event) -> Event:
    """Return the event with its text read as timestamps, where the schema declares them."""
    names = {name for name in schema.timestamps if _check_moments(event, name)}
    return _changed(schema, event, names, event.supertypes) if names else event


def _check_moments(event: Event, name: str) -> bool:
    """Return True if an attribute holds text; EventError where that is no timestamp."""
    value = event.attributes.get(name)
    texts = [each for each in (value if type(value) is tuple else (value,)) if type(each) is str]
    for text in texts:
        try:
            parse_timestamp(text)
        except ValueError as refused:
            raise EventError(f"{shown(text)} is no timestamp; {refused}", attribute=name) from None
    return bool(texts)


def _changed(schema: Schema, event: Event, names: set[str], supertypes: tuple[str, ...]) -> Event:
    """Return the event with the values of some attributes as their domains read them."""
    attributes = {
        name: _read_attribute(schema, name, value) if name in names else value
        for name, value in event.attributes.items()
    }
    return event.copied(attributes, _read(schema, event.document, "", names), supertypes)


def _supertypes(schema: Schema, event: Event) -> tuple[str, ...]:
    """Return the supertypes that the event carries, and those of all its types."""
    above = (each for name in _carried(event) for each in schema.supertypes(name))
    return tuple(dict.fromkeys((*event.supertypes, *above)))


def _carried(event: Event) -> list[str]:
    """Return the types that the event says it has, its own first."""
    declared = event.attributes.get("type")
    types = declared if isinstance(declared, tuple) else (declared,)
    return [*(each for each in types if isinstance(each, str)), *event.supertypes]


def _check_presence(schema: Schema, event: Event, closed: bool, complete: bool) -> None:
    """Raise SchemaError where an event lacks an attribute that one of its types requires.

    An event is of a type however it says so. With `complete`, it needs all attributes that its type
    has; with `closed`, it may have no others, except for the envelope.
    """
    name = event.type
    for carried in (name, *_carried(event)):
        for required in schema.required_of(carried):
            if required not in event.attributes:
                raise _missing(schema, event, required, carried)
    if not (closed or complete):
        return
    possible = schema.attributes_of(name or "")
    for declared in possible:
        if complete and declared.name not in event.attributes:
            raise _missing(schema, event, declared.name, name)
    if closed:
        names = ENVELOPE.union(declared.name for declared in possible)
        for attribute in event.attributes:
            if attribute not in names:
                meant = nearest(attribute, sorted(names - event.attributes.keys()))
                raise SchemaError("not declared", attribute=attribute, type_name=name, meant=meant)


def _missing(schema: Schema, event: Event, attribute: str, type_name: str | None) -> SchemaError:
    """Return the error; it names the attribute that was probably meant to be the missing one."""
    others = (name for name in event.attributes if schema.attribute(name) is None)
    written = nearest(attribute, others)
    problem = "missing" if written is None else f"missing; the event has {shown(written)}"
    return SchemaError(problem, attribute=attribute, type_name=type_name)


def _check_values(schema: Schema, event: Event) -> set[str]:
    """Check all values; return the attributes whose values the schema reads as something else."""
    changed = set()
    for attribute, value in event.attributes.items():
        declared = schema.attribute(attribute)
        if declared is not None and _check_value(declared, value, event.type):
            changed.add(attribute)
    return changed


def _check_value(declared: Attribute, value: Value, type_name: str | None) -> bool:
    if not isinstance(value, tuple):
        return _check_scalar(declared, value, type_name)
    if not declared.multiple:
        problem = f"a list of {len(value)} where the schema declares a single value"
        raise SchemaError(problem, attribute=declared.name, type_name=type_name)
    changes = [_check_scalar(declared, element, type_name) for element in value]
    return any(changes)


def _check_scalar(declared: Attribute, value: Scalar, type_name: str | None) -> bool:
    read = declared.domain.read(value)
    if not declared.domain.contains(read):
        problem = f"{shown(value)} is not in the domain {declared.domain}"
        raise SchemaError(problem, attribute=declared.name, type_name=type_name)
    return read is not value


def _read_attribute(schema: Schema, name: str, value: Value) -> Value:
    declared = schema.attribute(name)
    assert declared is not None
    read = declared.domain.read
    return tuple(map(read, value)) if isinstance(value, tuple) else read(value)


def _read(schema: Schema, document: Document, prefix: str, changed: set[str]) -> dict[str, object]:
    """Return the document with the values of some attributes as their domains read them."""
    return {
        name: _read_value(schema, value, prefix + name, changed) for name, value in document.items()
    }


def _read_value(schema: Schema, value: object, path: str, changed: set[str]) -> object:
    if isinstance(value, Mapping):
        return _read(schema, value, path + ".", changed)
    if isinstance(value, (list, tuple)):
        return [_read_value(schema, element, path, changed) for element in value]
    declared = schema.attribute(path) if path in changed else None
    return value if declared is None else declared.domain.read(value)  # type: ignore[arg-type]
