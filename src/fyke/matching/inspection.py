"""Inspection: a share of the events is matched again, and a share is shown to a function.

The self check evaluates every filter: a difference is counted, and the right answer returned.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fyke.errors import FykeError, shown
from fyke.events.event import Event

if TYPE_CHECKING:
    from fyke.events.columns import Columns
    from fyke.matching.catalog import Catalog


class Inspection:
    """Looks at what searches found. The caller holds the matcher's lock."""

    def __init__(self, self_check: float, seed: int) -> None:
        self._checked = _share("self_check", self_check)
        self._watched = 0.0
        self._watch: Callable[[Event], None] | None = None
        self._random = random.Random(seed)
        self.is_on = self_check > 0
        """False where no event is looked at."""
        self.checks = 0
        self.failures = 0

    def watch(self, seen: Callable[[Event], None] | None, share: float) -> None:
        """Show a share of the events to a function from now on; None ends it."""
        self._watched, self._watch = _share("share", share), seen
        self.is_on = self._checked > 0 or seen is not None

    def of_event(self, event: Event, slots: list[int], catalog: Catalog) -> list[int]:
        """Return the slots that were found, or the right ones where the event was checked."""
        if self._checked and self._random.random() < self._checked:
            slots = self._check(event, slots, catalog)
        if self._watch is not None and self._random.random() < self._watched:
            self._watch(event)
        return slots

    def of_rows(self, rows: Any, slots: Any, columns: Columns, catalog: Catalog) -> tuple[Any, Any]:
        """Return the same for the rows and slots of a batch."""
        import numpy as np

        for row in range(columns.rows if self._checked else 0):
            if self._random.random() < self._checked:
                begin, end = np.searchsorted(rows, [row, row + 1])
                right = self._check(columns.event(row), slots[begin:end].tolist(), catalog)
                rows = np.concatenate([rows[:begin], np.full(len(right), row), rows[end:]])
                slots = np.concatenate([slots[:begin], right, slots[end:]]).astype(slots.dtype)
        for row in range(0 if self._watch is None else columns.rows):
            if self._watch is not None and self._random.random() < self._watched:
                self._watch(columns.event(row))
        return rows, slots

    def _check(self, event: Event, slots: list[int], catalog: Catalog) -> list[int]:
        right = [slot for slot, filter in catalog.filters() if filter.matches(event)]
        self.checks += 1
        self.failures += right != sorted(slots)
        return right


def _share(name: str, share: float) -> float:
    if not 0 <= share <= 1:
        raise FykeError(f"{name} is {shown(share)}; expected a share from 0 to 1")
    return share
