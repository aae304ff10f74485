"""The options `--schema`, `--types` and `--timestamps`, by which events and filters are read."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass

from fyke.cli.reading.inputs import read_schema
from fyke.cli.writing.problems import Unusable
from fyke.errors import SchemaError
from fyke.events.event import Event
from fyke.events.json import decode_event
from fyke.events.schema import Schema
from fyke.filters.dialects import read
from fyke.filters.filter import Filter
from fyke.typed import schema_of
from fyke.typed.registry import is_event_class


@dataclass(frozen=True, slots=True)
class Declared:
    """A schema that events must fit, attributes that are timestamps, and both as one schema."""

    schema: Schema | None
    times: Schema
    whole: Schema

    def decode(self, text: str | bytes) -> Event:
        """Return the event of a JSON text, as it is declared; FykeError if it does not fit."""
        event = self.times.read(decode_event(text, decimals=self.whole.decimals))
        return event if self.schema is None else self.schema.validate(event)

    def filter(self, source: object, dialect: str) -> Filter:
        """Read a filter; FykeError where it cannot be read, or has no order to go by."""
        return read(source, dialect, schema=self.whole)


def read_types(module: str) -> Schema:
    """Import a module of the user's; return the schema of the event classes in it."""
    if "" not in sys.path:
        sys.path.insert(0, "")  # a module beside the files, as with `python -m`
    try:
        found = importlib.import_module(module)
    except Exception as refused:
        raise Unusable(f"--types: {module} cannot be imported: {refused}") from None
    classes = [each for each in vars(found).values() if is_event_class(each)]
    if not classes:
        raise Unusable(f"--types: {module} has no event classes; @fyke.event makes them")
    return schema_of(*classes)


def read_declared(
    schema_file: str | None, timestamps: str | None, types: str | None = None
) -> Declared:
    """Read the options; `timestamps` is a list of names with commas between."""
    names = [] if timestamps is None else [name.strip() for name in timestamps.split(",")]
    if not all(names):
        raise Unusable("--timestamps: expected names of attributes, with commas between")
    if schema_file is not None and types is not None:
        raise Unusable("--types and --schema: give one of them")
    schema = read_schema(schema_file) if types is None else read_types(types)
    times = Schema().with_timestamps(names)
    try:
        return Declared(schema, times, (schema or Schema()).with_timestamps(names))
    except SchemaError as refused:
        raise Unusable(f"--timestamps: {refused}") from None
