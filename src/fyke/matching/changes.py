"""Changes: what was added, removed and replaced while searches ran.

A search takes no lock, so it may miss a subscription that is added meanwhile, or find one that is
gone, or half see one whose filter is replaced. Changes are noted as long as any search runs; before
a search hands out what it found, the slots noted are looked at again, by their filters.

All of it happens under the matcher's lock, which the caller holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fyke.events.event import Event
from fyke.filters.filter import Filter

if TYPE_CHECKING:
    from fyke.events.columns import Columns


class Changes:
    """The slots that changed since the oldest search began that still runs."""

    def __init__(self, filter_of: Callable[[int], Filter]) -> None:
        self._filter_of = filter_of
        self._searches = 0
        self._changed: set[int] = set()
        self._replaced: set[int] = set()
        """Those among them whose filter was replaced."""

    def begin(self) -> None:
        """A search begins."""
        self._searches += 1

    def end(self) -> None:
        """A search is over."""
        self._searches -= 1
        if not self._searches:
            self._changed.clear()
            self._replaced.clear()

    def note(self, slot: int, *, is_replaced: bool = False) -> None:
        """Takes note of a change that a search may have missed or half seen."""
        if self._searches:
            self._changed.add(slot)
            if is_replaced:
                self._replaced.add(slot)

    def settled(self, slots: list[int], event: Event) -> list[int]:
        """What was found, with those slots that changed meanwhile looked at again."""
        if not self._changed:
            return slots
        kept = [slot for slot in slots if slot not in self._changed]
        again = [slot for slot in self._changed if self._filter_of(slot).matches(event)]
        return sorted([*kept, *again])

    def settled_rows(self, rows: Any, slots: Any, columns: Columns) -> tuple[Any, Any]:
        """The same for many rows: slots that were found, and those whose filter was replaced."""
        import numpy as np

        if not self._changed:
            return rows, slots
        is_changed = np.isin(slots, list(self._changed))
        asked = set(zip(rows[is_changed].tolist(), slots[is_changed].tolist(), strict=True))
        asked |= {(row, slot) for row in range(columns.rows) for slot in self._replaced}
        again = [
            (row, slot)
            for row, slot in sorted(asked)
            if self._filter_of(slot).matches(columns.event(row))
        ]
        added = np.array(again, np.int64).reshape(-1, 2)
        rows = np.concatenate([rows[~is_changed], added[:, 0]])
        slots = np.concatenate([slots[~is_changed], added[:, 1]]).astype(slots.dtype)
        order = np.argsort(rows, kind="stable")
        return rows[order], slots[order]
