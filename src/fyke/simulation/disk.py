"""Disk: what is safe at a node, and what waits until something else is.

A list of effects is one transaction, in order: its records become safe together, and what the node
asked for after the first of them waits until then, also what later inputs led to. If the node stops
before, none of that happens. What waited behind a transaction is the next one.
"""

from __future__ import annotations

from collections.abc import Iterable

from fyke.nodes.effect import Effect, Key, Store
from fyke.nodes.message import Message


class Disk:
    """The disk of one node. It outlives the node's crashes."""

    __slots__ = ("_waiting", "is_writing", "records")

    def __init__(self) -> None:
        self.records: dict[Key, Message] = {}
        self.start()

    def start(self) -> None:
        """Begin another life of the node, without writes under way."""
        self.is_writing = False
        self._waiting: list[Effect] = []

    def keep(self, stores: Iterable[Store]) -> None:
        """Make records safe. A record of None forgets its key."""
        self.is_writing = False
        for store in stores:
            if store.record is None:
                self.records.pop(store.key, None)
            else:
                self.records[store.key] = store.record

    def wait(self, effects: Iterable[Effect]) -> None:
        """Add effects behind those that wait."""
        self._waiting += effects

    def take(self) -> list[Effect]:
        """Return the effects that wait, in order, and wait for them no longer."""
        waiting, self._waiting = self._waiting, []
        return waiting
