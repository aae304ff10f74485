"""Searcher: an event or a batch in, ids out, while subscriptions come and go.

Idea. The engine searches without a lock. Under the lock, what it found is corrected by the changes
of that time (`change_log`), counted, and turned into ids.
Doors. JSON is read at the paths that subscriptions read (`asked`). A subscription that came while
an event was read may read another path: then the door is out of date, the answer is None, and the
text is read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fyke.events.event import Event
from fyke.matching.inspection import Inspection
from fyke.matching.subscription_set import SubscriptionSet

if TYPE_CHECKING:
    import pyarrow as pa

    from fyke.events.columns import Columns
    from fyke.events.door import Door
    from fyke.matching.lines import LineMatches


class Searcher:
    """Searches subscriptions; any number of threads may."""

    def __init__(self, subscriptions: SubscriptionSet, inspection: Inspection) -> None:
        self._subscriptions = subscriptions
        self._lock = subscriptions.lock
        self._catalog = subscriptions.catalog
        self._engine = subscriptions.engine
        self._log = subscriptions.log
        self._inspection = inspection
        self.events = self.matches = 0

    def ids(self, event: Event, door: Door | None = None) -> list[str] | None:
        """Return the ids; None if the event came by a door that is out of date."""
        self._log.running.append(None)
        try:
            while True:
                since = self._log.position
                slots = self._engine.match(event)
                with self._lock:
                    if since != self._log.position:
                        settled = self._log.settle(slots, event, since)
                        if settled is None:
                            continue
                        slots = settled
                    if door is not None and not self._subscriptions.is_current(door):
                        return None
                    self.events += 1
                    if self._inspection.is_on:
                        slots = self._inspection.of_event(event, slots, self._catalog)
                    self.matches += len(slots)
                    return self._catalog.names(slots) if slots else []
        finally:
            self._log.running.pop()

    def ids_of_json(self, text: bytes | str) -> list[str]:
        """Return the ids for the event of a JSON object."""
        while True:
            door = self._subscriptions.door()
            ids = self.ids(door.event(text), door)
            if ids is not None:
                return ids

    def ids_of_cloudevents(self, text: bytes | str) -> list[list[str]]:
        """Return the ids for each CloudEvent of a JSON text."""
        from fyke.events.cloudevents_door import read_all

        while True:
            door = self._subscriptions.door()
            found = [self.ids(event, door) for event in read_all(text, door)]
            if None not in found:
                return found  # type: ignore[return-value]

    def ids_of_lines(
        self, lines: Sequence[bytes] | None, first: int, *, is_coded: bool
    ) -> LineMatches:
        """Return the matches of a block of JSON lines; None stands for a line that is too long."""
        from fyke.matching.lines import line_matches, too_long

        if lines is None:
            return too_long(first)
        while True:
            door = self._subscriptions.door()
            block = door.block(lines)
            parts = [
                self.rows(first + places, each, door, is_coded=is_coded)
                for places, each in block.parts
            ]
            if None not in parts:
                return line_matches(block, first, parts)  # type: ignore[arg-type]

    def rows(
        self, numbers: Any, columns: Columns, door: Door | None = None, *, is_coded: bool = False
    ) -> tuple[pa.Array, pa.Array] | None:
        """Return row numbers and ids of all matches; `numbers` may be the first one alone.

        None if the rows came by a door that is out of date.
        """
        import numpy as np
        import pyarrow as pa

        from fyke.matching.batch import match_columns

        with self._searching() as since:
            offsets, slots = match_columns(self._engine, columns)
            with self._lock:
                if door is not None and not self._subscriptions.is_current(door):
                    return None
                rows = np.repeat(np.arange(columns.rows), np.diff(offsets))
                rows, slots = self._log.settle_rows(rows, slots, columns, since)
                if self._inspection.is_on:
                    rows, slots = self._inspection.of_rows(rows, slots, columns, self._catalog)
                self.events += columns.rows
                self.matches += len(slots)
                if is_coded:
                    ids = self._catalog.coded_ids(slots)
                else:
                    ids = self._catalog.ids(slots).cast(pa.string())
        if isinstance(numbers, int):
            return pa.array(rows + numbers if numbers else rows), ids
        return pa.array(numbers[rows]), ids

    @contextmanager
    def _searching(self) -> Iterator[int]:
        """Keep the log of changes for a batch. Yield the position where it begins."""
        with self._lock:
            since = self._log.begin()
        try:
            yield since
        finally:
            with self._lock:
                self._log.end()
