"""Asked: which paths the subscriptions of a matcher read, counted while they come and go.

Two subscriptions may read one path, so each path has a count. The door (`events.door`) is made
anew when a path is added, or loses its last reader: an event is checked at the paths that are
read now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fyke.events.door import Door
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.reads import reads


class Asked:
    """Paths with the number of their readers. The caller holds the owner's lock."""

    def __init__(self, filters: Iterable[Filter], schema: Schema | None = None) -> None:
        self._paths: Counter[str] = Counter()
        self._everything = 0
        """The number of subscriptions that read all of an event."""
        self._schema = schema
        self.known: Door | None = None
        """The door that reads the paths that are asked for now, if it has been made."""
        self._slow = 0
        for filter in filters:
            self.add(filter)

    @property
    def door(self) -> Door:
        """The door that reads the paths that are asked for now."""
        if self.known is None:
            paths = None if self._everything else self._paths.keys()
            self.known = Door(paths, self._schema)
        return self.known

    @property
    def slow(self) -> int:
        """The number of texts that went by the slow door, of this door and of those before."""
        return self._slow + (0 if self.known is None else self.known.slow)

    def add(self, filter: Filter) -> None:
        """Take note of a subscription that came."""
        self._count(filter, 1)

    def remove(self, filter: Filter) -> None:
        """Take note of a subscription that went."""
        self._count(filter, -1)

    def _count(self, filter: Filter, by: int) -> None:
        paths = reads(filter)
        if paths is None:
            self._everything += by
            if self._everything == max(by, 0):
                self._forget()
            return
        for path in paths:
            self._paths[path] += by
            if self._paths[path] == max(by, 0):
                self._forget()
                if by < 0:
                    del self._paths[path]

    def _forget(self) -> None:
        if self.known is not None:
            self._slow += self.known.slow
            self.known = None
