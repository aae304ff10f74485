"""Interests: all filters that a broker holds events against, in one matcher.

Idea. Local delivery and the strategy ask about the same event one after the other. Their filters
are in one matcher, in groups of their own; the last answer is kept, so a broker searches once for
an event, whoever asks. The matcher's ids are the keys themselves, as text, so nothing is held
beside them.
Example. ("athens", "cheap") of group 1 is known to the matcher as "1:6:athenscheap".
Invariant. What a group finds are the keys that it put in and whose filters accept the event.
Cost. One search per event; some 20 bytes beside what the matcher takes for a filter.
"""

from __future__ import annotations

from itertools import count
from typing import Any, Generic, TypeVar

from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.resolution import resolve
from fyke.matching.matcher import Matcher
from fyke.nodes.message import SubscriptionId, SubscriptionKey
from fyke.nodes.node import Stats

K = TypeVar("K", SubscriptionKey, SubscriptionId)


class Interests:
    """Groups of filters in one matcher, by number. `engine` is the matcher's."""

    def __init__(self, engine: str = "compiled") -> None:
        self._matcher = Matcher(engine=engine)
        self._event: Event | None = None
        self._found: dict[int, list[str]] = {}
        self._schema: Schema | None = None
        self._said: dict[str, Filter] = {}
        """The filters that mean something else under the schema, as they came."""
        self.groups = count()
        """Numbers for groups."""

    def add(self, group: int, key: str, filter: Filter) -> None:
        name = f"{group}:{key}"
        self._matcher.add(name, self._resolve(name, filter))
        self._forget()

    def agree(self, schema: Schema) -> None:
        """Use another schema. It may order what filters compare."""
        known, self._schema = self._schema, schema
        if not any(each.orders or each.timestamps for each in (known, schema) if each is not None):
            return
        for name, held in list(self._matcher.items()):
            resolved = self._resolve(name, self._said.pop(name, held))
            if resolved != held:
                self._matcher.replace(name, resolved)
        self._forget()

    def _resolve(self, name: str, filter: Filter) -> Filter:
        resolved = resolve(filter, self._schema)
        if resolved != filter:
            self._said[name] = filter
        return resolved

    def remove(self, group: int, key: str) -> None:
        name = f"{group}:{key}"
        self._matcher.remove(name)
        self._said.pop(name, None)
        self._forget()

    def of(self, group: int) -> list[str]:
        """Return the keys of a group."""
        start = f"{group}:"
        return [name[len(start) :] for name in self._matcher if name.startswith(start)]

    def _forget(self) -> None:
        """Forget the last answer."""
        self._event, self._found = None, {}

    def find(self, event: Event) -> dict[int, list[str]]:
        """Return the keys of the filters that accept an event, by group."""
        if event is not self._event:
            found: dict[int, list[str]] = {}
            for name in self._matcher.match(event):
                group, _, key = name.partition(":")
                found.setdefault(int(group), []).append(key)
            self._event, self._found = event, found
        return self._found

    def count(self, stats: Stats) -> None:
        """Add the sizes and the work of the matcher."""
        done = self._matcher.stats()
        stats.filtered += len(self._matcher)
        stats.matched += done.events
        stats.probes += done.work.probes
        stats.candidates += done.work.candidates
        stats.checks += done.work.checks


class FilterGroup(Generic[K]):
    """Filters by key, part of a broker's filters."""

    __slots__ = ("_interests", "_number", "_size")

    def __init__(self, interests: Interests) -> None:
        self._interests = interests
        self._number = next(interests.groups)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, key: K, filter: Filter) -> None:
        self._interests.add(self._number, _text(key), filter)
        self._size += 1

    def remove(self, key: K) -> None:
        self._interests.remove(self._number, _text(key))
        self._size -= 1

    def match(self, event: Event) -> list[K]:
        """Return the keys whose filters accept an event."""
        if not self._size:
            return []
        found = self._interests.find(event).get(self._number, [])
        return [_key(text) for text in found]

    def clear(self) -> None:
        """Remove all filters."""
        for text in self._interests.of(self._number):
            self._interests.remove(self._number, text)
        self._size = 0


def _text(key: SubscriptionKey | SubscriptionId) -> str:
    """Return a key as text. In a pair, a length says where the first part ends."""
    return f":{key}" if isinstance(key, str) else f"{len(key[0])}:{key[0]}{key[1]}"


def _key(text: str) -> Any:
    length, _, rest = text.partition(":")
    return (rest[: int(length)], rest[int(length) :]) if length else rest
