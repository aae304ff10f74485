"""Once: which events have been handed to this broker's clients lately.

Idea. Where subscriptions of one broker are attached at several others, copies of one event may come
to it from each of them, and by flooding as well. The first is held against the filters of all its
clients; the others have nothing left to say. Ids are kept in two halves, and the older half goes
when the younger is as old as copies may be.
Invariant. An id is known for at least `memory_s` after it was first seen, and at most twice that.
Cost. An entry for each event that a client of this broker wants, for that long.
"""

from __future__ import annotations

from fyke.nodes.message import EventId


class Once:
    """Ids that have been seen."""

    def __init__(self, memory_s: float) -> None:
        self._memory_s = memory_s
        self._young: set[EventId] = set()
        self._old: set[EventId] = set()
        self._since = 0.0

    def is_first(self, id: EventId, now: float) -> bool:
        """Return True unless this was said of the id before, and see it."""
        if now - self._since >= self._memory_s:
            is_long_ago = now - self._since >= 2 * self._memory_s
            self._old = set() if is_long_ago else self._young
            self._young, self._since = set(), now
        if id in self._young or id in self._old:
            return False
        self._young.add(id)
        return True

    def clear(self) -> None:
        self._young, self._old = set(), set()
