"""Interests: all filters that a broker holds events against, in one matcher.

Idea. Local delivery and the strategy ask about the same event one after the other. Their filters
are in one matcher, in groups of their own; the last answer is kept, so a broker searches once for
an event, whoever asks.
Invariant. What a group finds are the keys that it put in and whose filters accept the event.
Cost. One search per event, and a dictionary entry beside each filter.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count
from typing import Any, Generic, TypeVar

from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.resolution import resolve
from fyke.matching.matcher import Matcher
from fyke.nodes.node import Stats

K = TypeVar("K", bound=Hashable)


class Interests:
    """Groups of filters, which are known here by their numbers. `engine` is the matcher's."""

    def __init__(self, engine: str = "compiled") -> None:
        self._matcher = Matcher(engine=engine)
        self._entries: dict[str, tuple[int, Any]] = {}
        self._names = map(str, count())
        self._event: Event | None = None
        self._found: dict[int, list[Any]] = {}
        self._schema: Schema | None = None
        self._said: dict[str, Filter] = {}
        """The filters that mean something else under the schema, as they came."""
        self.groups = count()
        """Numbers for groups."""

    def add(self, group: int, key: Hashable, filter: Filter) -> str:
        """Return the name under which the matcher knows it."""
        name = next(self._names)
        self._matcher.add(name, self._resolved(name, filter))
        self._entries[name] = group, key
        self._forget()
        return name

    def agree(self, schema: Schema) -> None:
        """Go by another schema: it may order what filters compare."""
        known, self._schema = self._schema, schema
        if not any(each.orders or each.timestamps for each in (known, schema) if each is not None):
            return
        for name in self._entries:
            held = self._matcher.filter(name)
            resolved = self._resolved(name, self._said.pop(name, held))
            if resolved != held:
                self._matcher.replace(name, resolved)
        self._forget()

    def _resolved(self, name: str, filter: Filter) -> Filter:
        resolved = resolve(filter, self._schema)
        if resolved != filter:
            self._said[name] = filter
        return resolved

    def remove(self, name: str) -> None:
        self._matcher.remove(name)
        self._said.pop(name, None)
        del self._entries[name]
        self._forget()

    def _forget(self) -> None:
        """Drop the last answer: it is no longer right."""
        self._event, self._found = None, {}

    def find(self, event: Event) -> dict[int, list[Any]]:
        """Return the keys of the filters that accept an event, by group."""
        if event is not self._event:
            found: dict[int, list[Any]] = {}
            for name in self._matcher.match(event):
                group, key = self._entries[name]
                found.setdefault(group, []).append(key)
            self._event, self._found = event, found
        return self._found

    def count(self, stats: Stats) -> None:
        """Add what is searched, and how much of that was done."""
        done = self._matcher.stats()
        stats.filtered += len(self._entries)
        stats.matched += done.events
        stats.probes += done.work.probes
        stats.candidates += done.work.candidates
        stats.checks += done.work.checks


class Group(Generic[K]):
    """Filters by key, among those of a broker."""

    __slots__ = ("_interests", "_names", "_number")

    def __init__(self, interests: Interests) -> None:
        self._interests = interests
        self._number = next(interests.groups)
        self._names: dict[K, str] = {}

    def __len__(self) -> int:
        return len(self._names)

    def add(self, key: K, filter: Filter) -> None:
        self._names[key] = self._interests.add(self._number, key, filter)

    def remove(self, key: K) -> None:
        self._interests.remove(self._names.pop(key))

    def match(self, event: Event) -> list[K]:
        """Return the keys whose filters accept an event."""
        if not self._names:
            return []
        return self._interests.find(event).get(self._number, [])

    def clear(self) -> None:
        """Take all filters out: nobody asks any more."""
        for key in list(self._names):
            self.remove(key)
