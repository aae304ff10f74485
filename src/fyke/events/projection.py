"""Projection: an event of which only what is asked for is read, from its whole text.

The definition of what `door` does quickly. Everything that nobody asked for is taken out of the
document before it becomes an event; arrays and objects on the way stay, so that what sat together
in one object still does.

    asked for "a.b":    {"a": [{"b": 1, "c": 2}, 5], "d": 1e400}  →  {"a": [{"b": 1}, null]}

Strictness. What is asked for is checked as everywhere (`Event`). All else must be well-formed JSON
in UTF-8 within the limit of depth, and no more: `1e400` is well-formed. Of a key that occurs twice
in one object the last one counts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from fyke.errors import EventError
from fyke.events.event import Document, Event
from fyke.events.json import LENIENT, LENIENT_EXACT, name_of, parse, rounded
from fyke.events.schema import Schema
from fyke.limits import DEFAULT_LIMITS, Limits


class Projection:
    """Reads events by the paths that are asked for; all of them where `paths` is None."""

    def __init__(
        self,
        paths: Collection[str] | None,
        schema: Schema | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self._paths = None if paths is None else frozenset(paths)
        self._known = frozenset(_prefixes(self._paths or ()))
        self._schema = schema
        self._decimals = frozenset() if schema is None else schema.decimals
        self._limits = limits

    def event(self, text: str | bytes) -> Event:
        """Return the event of a JSON object; EventError if the text is not one."""
        document: Any = parse(text, self._limits, LENIENT_EXACT if self._decimals else LENIENT)
        if type(document) is not dict:
            raise EventError(f"an event is a JSON object, not {name_of(document)}")
        if self._paths is not None:
            self.check_depth(document)
        event = Event(self.projected(document), limits=self._limits)
        return event if self._schema is None else self._schema.read(event)

    def projected(self, document: Document) -> Document:
        """Return the part of a document that is asked for."""
        part: Any = document if self._paths is None else self._object(document, "")
        return rounded(part, self._decimals) if self._decimals else part  # type: ignore[return-value]

    def _object(self, document: Document, prefix: str) -> Document:
        return {
            key: self._value(value, path)
            for key, value in document.items()
            if (path := prefix + key) in self._known
        }

    def _value(self, value: Any, path: str) -> object:
        if type(value) is dict:
            return self._object(value, path + ".")
        if type(value) is list:
            return [self._value(each, path) for each in value]
        return value if path in self._paths else None  # type: ignore[operator]

    def check_depth(self, document: object) -> None:
        """Refuse a document that is nested deeper than the limit."""
        level: list[Any] = [document]
        for _ in range(self._limits.depth_max):
            inner = [
                each
                for value in level
                for each in (value.values() if type(value) is dict else value)
                if type(each) is dict or type(each) is list
            ]
            if not inner:
                return
            level = inner
        raise EventError(f"nested deeper than {self._limits.depth_max} levels")


def _prefixes(paths: Collection[str]) -> set[str]:
    """Return the paths, and all that stands before a dot in them."""
    return {
        path[:end]
        for path in paths
        for end in (*(at for at, each in enumerate(path) if each == "."), len(path))
    }
