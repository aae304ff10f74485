"""scan: evaluates every filter. The definition of a match, and the oracle of every index."""

from __future__ import annotations

from fyke.events.event import Event
from fyke.filters.filter import Filter, Test
from fyke.matching.engines.contract import Work


class ScanEngine:
    """Holds the compiled filters and tries each."""

    def __init__(self) -> None:
        self.work = Work()
        self._tests: dict[int, Test] = {}

    @property
    def unguarded(self) -> int:
        return len(self._tests)

    def add(self, slot: int, filter: Filter) -> None:
        self._tests[slot] = filter.test()

    def remove(self, slot: int) -> None:
        del self._tests[slot]

    def match(self, event: Event) -> list[int]:
        self.work.candidates += len(self._tests)
        self.work.checks += len(self._tests)
        attributes = event.attributes
        return sorted([slot for slot, test in self._tests.items() if test(attributes, event)])
