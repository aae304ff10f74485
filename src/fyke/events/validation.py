"""Events against a schema: what `Schema.validate` does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from fyke.errors import SchemaError, shown
from fyke.events.event import Document, Event
from fyke.events.value import Scalar, Value

if TYPE_CHECKING:
    from fyke.events.schema import Attribute, Schema

_ENVELOPE: Final = frozenset({"id", "source", "type", "time"})


def validate(schema: Schema, event: Event, closed: bool, complete: bool, typed: bool) -> Event:
    """The event as the schema knows it, or SchemaError."""
    name = event.type
    known = name is not None and schema.type(name) is not None
    if typed and not known:
        raise SchemaError("the event's type is not declared", type_name=name)
    _check_presence(schema, event, closed, complete)
    changed = _check_values(schema, event)
    supertypes = _supertypes(schema, event)
    if not changed and supertypes == event.supertypes:
        return event
    document = _read(schema, event.document, "", changed) if changed else event.document
    return Event(document, supertypes=supertypes, payload=event.payload)


def _supertypes(schema: Schema, event: Event) -> tuple[str, ...]:
    """All that the event's types and the supertypes it carries are kinds of."""
    declared = event.attributes.get("type")
    types = declared if isinstance(declared, tuple) else (declared,)
    carried = [*(each for each in types if isinstance(each, str)), *event.supertypes]
    above = (each for name in carried for each in schema.supertypes(name))
    return tuple(dict.fromkeys((*event.supertypes, *above)))


def _check_presence(schema: Schema, event: Event, closed: bool, complete: bool) -> None:
    name = event.type
    possible = schema.attributes_of(name or "")
    for declared in possible:
        if (complete or declared.required) and declared.name not in event.attributes:
            raise SchemaError("missing", attribute=declared.name, type_name=name)
    if closed:
        names = _ENVELOPE.union(declared.name for declared in possible)
        for attribute in event.attributes:
            if attribute not in names:
                raise SchemaError("not declared", attribute=attribute, type_name=name)


def _check_values(schema: Schema, event: Event) -> set[str]:
    """The names of the attributes whose values the schema reads as something else."""
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


def _read(schema: Schema, document: Document, prefix: str, changed: set[str]) -> dict[str, object]:
    """The document with the values of some attributes as their domains read them."""
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
