"""Exactly: what kernels leave open, decided by the filters themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from fyke.events.event import Event
from fyke.filters.filter import Filter, Test
from fyke.matching.compiled.program import opaque_parts

EventOf: TypeAlias = Callable[[int], Event]

_KEPT_MAX: Final = 8_192
_kept: Final[dict[int, tuple[Filter, list[Test]]]] = {}
"""The tests of opaque parts by the filter's id; an id means a filter as long as it is kept."""


class Exactly:
    """Answers about events by number; `doubts.Check`."""

    __slots__ = ("_event", "_event_of", "_filter_of", "_row")

    def __init__(self, filter_of: Callable[[int], Filter], event_of: EventOf) -> None:
        self._filter_of = filter_of
        self._event_of = event_of
        self._row = -1
        self._event: Event | None = None

    def filter(self, event: int, slot: int) -> bool:
        return self._filter_of(slot).matches(self._at(event))

    def part(self, event: int, slot: int, number: int) -> bool:
        seen = self._at(event)
        parts = _parts(self._filter_of(slot))
        return number < len(parts) and parts[number](seen.attributes, seen)

    def _at(self, row: int) -> Event:
        """The event of a row; questions about one row come together."""
        if row != self._row or self._event is None:
            self._row, self._event = row, self._event_of(row)
        return self._event


def _parts(filter: Filter) -> list[Test]:
    """Kept by identity: comparing two equal filters costs more than what is looked up."""
    kept = _kept.get(id(filter))
    if kept is None:
        if len(_kept) >= _KEPT_MAX:
            _kept.clear()
        kept = _kept[id(filter)] = filter, [part.test() for part in opaque_parts(filter)]
    return kept[1]
