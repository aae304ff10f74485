"""Cases as data: a name, a dialect, a filter, an event, and whether the filter accepts it.

A corpus is a JSON list. The same cases run against the library, every matcher, Spark and the wire.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fyke.events.event import Event
from fyke.events.schema import Schema


@dataclass(frozen=True, slots=True)
class Case:
    """An event and if a filter accepts it. `filter` is text, or an object in JSON dialects."""

    name: str
    dialect: str
    filter: object
    event: dict[str, object]
    expected: bool
    schema: object = None
    """The document of a schema that the verdict is under."""

    def declared(self) -> Schema | None:
        return None if self.schema is None else Schema.from_document(self.schema)

    def read(self) -> Event:
        """Return the event as the schema reads it."""
        declared = self.declared()
        return Event(self.event) if declared is None else declared.read(self.event)


def load(folder: Path) -> Iterator[Case]:
    """Return all cases of a folder's JSON files. The file's name is the default dialect."""
    for path in sorted(folder.glob("*.json")):
        dialect = "fyke" if path.stem == "native" else path.stem
        for entry in json.loads(path.read_text("utf-8")):
            yield Case(**{"dialect": dialect, **entry})
