"""scan: evaluates every filter. The definition of a match, and the oracle of every index."""

from __future__ import annotations

from collections.abc import Iterable

from fyke.errors import FykeError, shown
from fyke.events.event import Document, Event, as_event
from fyke.filters.dialects import parse
from fyke.filters.filter import Filter, Test


class ScanMatcher:
    """Holds the filters and tries each."""

    def __init__(self) -> None:
        self._filters: dict[str, Filter] = {}
        self._tests: dict[str, Test] = {}

    def add(self, id: str, filter: Filter | str) -> None:
        if id in self._filters:
            raise FykeError(f"the subscription id {shown(id)} is taken")
        parsed = parse(filter) if isinstance(filter, str) else filter
        self._tests[id] = parsed.test()
        self._filters[id] = parsed

    def add_many(self, pairs: Iterable[tuple[str, Filter | str]]) -> None:
        for id, filter in pairs:
            self.add(id, filter)

    def remove(self, id: str) -> None:
        if id not in self._filters:
            raise FykeError(f"there is no subscription {shown(id)}")
        del self._filters[id], self._tests[id]

    def match(self, event: Event | Document) -> list[str]:
        event = as_event(event)
        attributes = event.attributes
        return [id for id, test in self._tests.items() if test(attributes, event)]

    def __len__(self) -> int:
        return len(self._filters)
