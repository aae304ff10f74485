"""History: the events that a member has seen of late, and to whom it sent them (S2S-16)."""

from __future__ import annotations

from collections.abc import Iterator

from fyke.nodes.message import EventId, Publish


class History:
    """At most `size` events; the oldest go first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._seen: dict[EventId, tuple[Publish, set[int], int]] = {}

    def __contains__(self, id: EventId) -> bool:
        return id in self._seen

    def add(self, publish: Publish, clock: int) -> set[int]:
        """Remember an event. Return the rows it is sent to, for the caller to add to."""
        if len(self._seen) >= self._size:
            del self._seen[next(iter(self._seen))]
        sent: set[int] = set()
        self._seen[publish.id] = publish, sent, clock
        return sent

    def get(self, id: EventId) -> tuple[Publish, set[int]] | None:
        found = self._seen.get(id)
        return None if found is None else found[:2]

    def since(self, clock: int) -> Iterator[Publish]:
        """Return the events since a cycle, the latest first."""
        for publish, _, at in reversed(self._seen.values()):
            if at < clock:
                return
            yield publish
