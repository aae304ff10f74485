"""ChangeLog: the subscriptions that changed, for searches that ran meanwhile.

Idea. A search takes no lock, so it may miss a subscription that is added meanwhile, or find one
that is gone, or half see one whose filter is replaced. So every change is written to a log *after*
it was carried out. A search notes the position of the log before it begins; before it hands out
what it found, it looks at the slots that were logged since once more, by their filters.

    log.running.append(None)                    without a lock, until log.running.pop()
    since = log.position
    slots = engine.match(event)
    if since != log.position: slots = log.settle(slots, event, since)       under the lock

Invariant. What a search may have half seen stands in the log behind the position that it noted: the
last step of a change is its entry.
Cost. An entry for each change while a search runs; a change that no search can have half seen ends
all entries before it. A log that is long is cut, unless a batch is under way (`begin`, `end`); a
single search that began before the cut is told to search again.

All but `position` and `running` is read and called under the matcher's lock.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from fyke.events.event import Event
from fyke.filters.filter import Filter

if TYPE_CHECKING:
    from fyke.events.columns import Columns

ENTRIES_MAX: Final = 4_096


class ChangeLog:
    """The slots that changed lately, in order."""

    def __init__(self, filter_of: Callable[[int], Filter]) -> None:
        self._filter_of = filter_of
        self._log: list[tuple[int, bool]] = []
        """Slots, and whether their filter was replaced."""
        self.position = 0
        """Number of changes so far."""
        self.running: list[None] = []
        """One entry for each single search that runs; adding and removing one need no lock."""
        self._batches = 0

    def begin(self) -> int:
        """Keep the log until the batch that begins is over. Return the position."""
        self._batches += 1
        return self.position

    def end(self) -> None:
        """Note that a batch is over."""
        self._batches -= 1

    def note(self, slot: int, *, is_replaced: bool = False) -> None:
        """Log a change that was carried out."""
        if not self._batches and (not self.running or len(self._log) >= ENTRIES_MAX):
            self._log.clear()
        self._log.append((slot, is_replaced))
        self.position += 1

    def _since(self, position: int) -> list[tuple[int, bool]] | None:
        """Return the entries behind a position; None if some were cut."""
        count = self.position - position
        if count > len(self._log):
            return None
        return self._log[len(self._log) - count :]

    def settle(self, slots: list[int], event: Event, since: int) -> list[int] | None:
        """Return what was found, corrected by what changed since; None means: search again."""
        entries = self._since(since)
        if entries is None:
            return None
        changed = {slot for slot, _ in entries}
        kept = [slot for slot in slots if slot not in changed]
        again = [slot for slot in changed if self._filter_of(slot).matches(event)]
        return sorted([*kept, *again])

    def settle_rows(self, rows: Any, slots: Any, columns: Columns, since: int) -> tuple[Any, Any]:
        """Correct what a batch found: slots that were found, and those that were replaced."""
        import numpy as np

        entries = self._since(since)
        assert entries is not None, "the log is kept while a batch is under way"
        if not entries:
            return rows, slots
        is_changed = np.isin(slots, [slot for slot, _ in entries])
        asked = set(zip(rows[is_changed].tolist(), slots[is_changed].tolist(), strict=True))
        replaced = {slot for slot, is_replaced in entries if is_replaced}
        asked |= {(row, slot) for row in range(columns.rows) for slot in replaced}
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
