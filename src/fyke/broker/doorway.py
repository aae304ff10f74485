"""The doorway: what clients may bring in.

As long as no type is declared, events and filters are free. Then every event has a declared type
and fits it, and a filter that asks for a type asks for a declared one: a misspelt type would wait
for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fyke.errors import SchemaError
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter, walk
from fyke.filters.predicate import In, TypeIs


def check_filter(filter: Filter, schema: Schema) -> None:
    """SchemaError if it asks for a type that there is not."""
    if not schema.types:
        return
    for name in types_named(filter):
        if schema.type(name) is None:
            known = ", ".join(each.name for each in schema.types[:10])
            raise SchemaError(f"no event has this type; declared are {known}", type_name=name)


def admitted(event: Event, schema: Schema) -> Event:
    """The event as the schema knows it; SchemaError if it does not fit."""
    if not schema.types and not schema.attributes:
        return event
    return schema.validate(event, typed=bool(schema.types))


def types_named(filter: Filter) -> Iterator[str]:
    """The types that a filter speaks of."""
    for part in walk(filter):
        if isinstance(part, TypeIs):
            yield part.name
        elif isinstance(part, In) and part.attribute == "type":
            yield from (value for value in part.values if isinstance(value, str))


def check_announced(event: Event, advertised: Iterable[Filter]) -> None:
    """SchemaError if a client that has said what it publishes publishes something else."""
    filters = list(advertised)
    if filters and not any(filter.matches(event) for filter in filters):
        raise SchemaError("the event is not among what its publisher has advertised")
