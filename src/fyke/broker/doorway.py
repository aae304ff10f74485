"""The doorway: what clients may bring in. All that can be refused is refused here, at once.

Whatever comes in has bytes that every other broker can read. As long as no type is declared, events
and filters are free. Then every event has a declared type and fits it, and a filter that asks for a
type asks for a declared one: a misspelt type would wait for ever. A filter that compares text with
an attribute that is an enumeration compares it with a member.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from fyke.errors import FilterError, FykeError, SchemaError, shown
from fyke.events import binary
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import DEPTH_MAX, Filter, walk
from fyke.filters.predicate import In, NotIn, TypeIs
from fyke.filters.resolution import GROWTH, check_order, resolve
from fyke.limits import DEFAULT_LIMITS
from fyke.nodes.message import Declare

ID_LENGTH_MAX: Final = 1_000
"""Characters of the id of an event, a subscription or an advertisement."""


def check_id(id: str) -> None:
    """Raise FykeError if an id is too long, or cannot be encoded."""
    if len(id) > ID_LENGTH_MAX:
        raise FykeError(f"an id of {len(id)} characters; expected at most {ID_LENGTH_MAX}")
    if not id.isascii():
        try:
            id.encode()
        except UnicodeEncodeError:
            raise FykeError(f"the id {shown(id)} holds half a character") from None


def check_declared(declared: Declare) -> None:
    """Raise FykeError if a declaration cannot be encoded."""
    check_id(declared.name)
    try:
        msgspec.msgpack.encode(declared.document)
    except (ValueError, TypeError, OverflowError, RecursionError) as refused:
        raise SchemaError(f"cannot be written: {refused}", type_name=declared.name) from None


def check_filter(filter: Filter, schema: Schema) -> None:
    """Raise FykeError if the filter is too large, or names an unknown type or order."""
    for nodes, part in enumerate(walk(filter), 1):
        values = len(part.values) if isinstance(part, In | NotIn) else 0
        if nodes > DEFAULT_LIMITS.nodes_max or values > DEFAULT_LIMITS.list_size_max:
            raise FilterError("the filter is too large")
    if filter.depth > DEPTH_MAX - GROWTH:
        raise FilterError("the filter is nested too deep")
    check_order(filter, schema)
    if not schema.types:
        return
    for name in types_named(filter):
        if schema.type(name) is None:
            known = ", ".join(each.name for each in schema.types[:10])
            problem = f"no event has this type; declared are {known}"
            raise SchemaError(problem, type_name=name, meant=schema.nearest_type(name))


def admitted(event: Event, schema: Schema) -> Event:
    """Return the event as the schema reads it. FykeError if it does not fit, or has no bytes."""
    if schema.types or schema.attributes:
        event = schema.validate(event, typed=bool(schema.types))
    if event.payload is not None:
        binary.decode(binary.encode(event))  # nobody has looked at a payload yet
    return event


def types_named(filter: Filter) -> Iterator[str]:
    """Yield the types that a filter names."""
    for part in walk(filter):
        if isinstance(part, TypeIs):
            yield part.name
        elif isinstance(part, In) and part.attribute == "type":
            yield from (value for value in part.values if isinstance(value, str))


def check_announced(event: Event, advertised: Iterable[Filter], schema: Schema) -> None:
    """Raise SchemaError if a publisher has advertised, and the event is not among that."""
    filters = [resolve(filter, schema) for filter in advertised]
    if filters and not any(filter.matches(event) for filter in filters):
        raise SchemaError("the event is not among what its publisher has advertised")
