"""The Matcher contract: an event to the subscriptions whose set contains it."""

from __future__ import annotations

from typing import Protocol

from fyke.events.event import Document, Event
from fyke.filters.filter import Filter


class Matcher(Protocol):
    """Maps an event to the ids of the subscriptions whose filter accepts it, in the order they were
    added.

    Law: for every event, match(event) lists exactly the ids added and not removed whose
    filter.matches(event). `scan.ScanMatcher` is this sentence as code.
    """

    def add(self, id: str, filter: Filter | str) -> None: ...

    def remove(self, id: str) -> None: ...

    def match(self, event: Event | Document) -> list[str]: ...

    def __len__(self) -> int: ...
