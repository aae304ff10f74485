"""SubscriptionSet: a catalog, an engine and a log of changes, which change together.

Idea. The catalog knows ids and filters by slot, the engine finds slots, the log says which slots
changed while a search ran. A change touches all three, in this order, under one lock.
Invariant. The catalog and the engine hold the same slots; a filter that the engine refuses is
forgotten. The last step of a change is its entry in the log.
Memory. What the engine is handed knows the catalog and not its owner, so that the memory of a
matcher that nobody uses is free at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from fyke.filters.filter import FALSE, Filter
from fyke.matching.arrays import Arrays
from fyke.matching.change_log import ChangeLog
from fyke.matching.engines.contract import Persistent
from fyke.matching.engines.registry import maker

if TYPE_CHECKING:
    from fyke.events.door import Door
    from fyke.events.schema import Schema
    from fyke.matching.asked import Asked
    from fyke.matching.catalog import Catalog

CHUNK: Final = 1_000
"""Subscriptions after which `add_many` releases the lock."""


class SubscriptionSet:
    """Subscriptions that are searched by one engine, which is given by name."""

    def __init__(
        self, engine: str, schema: Schema | None = None, arrays: Arrays | None = None
    ) -> None:
        from fyke.matching.catalog import Catalog

        self.engine_name = engine
        self.schema = schema
        self.lock = threading.RLock()
        self.catalog = Catalog() if arrays is None else Catalog.of(arrays)
        filter_of = partial(_filter_at, self.catalog, self.lock)
        self.engine = maker(engine)(filter_of)
        self.log = ChangeLog(filter_of)
        self._asked: Asked | None = None
        """The paths that the subscriptions read, once JSON has come."""

    def add(self, id: str, filter: Filter) -> None:
        """Add a subscription."""
        with self.lock:
            self._enter(self.catalog.add(id, filter), filter)

    def add_many(self, pairs: Iterable[tuple[str, Filter]]) -> None:
        """Add subscriptions; those before one that is refused stay added."""
        pairs = iter(pairs)
        while self._insert(islice(pairs, CHUNK)):
            pass

    def _insert(self, pairs: Iterable[tuple[str, Filter]]) -> int:
        """Add some subscriptions. Return how many there were."""
        added = 0
        with self.lock:
            for slot, filter in self.catalog.add_many(pairs):
                self._enter(slot, filter)
                added += 1
        return added

    def _enter(self, slot: int, filter: Filter) -> None:
        """Hand a new subscription to the engine; it is forgotten where the engine refuses it."""
        try:
            self.engine.add(slot, filter)
        except BaseException:
            self.catalog.remove(self.catalog.id(slot))
            raise
        self.log.note(slot)
        if self._asked is not None:
            self._asked.add(filter)

    def remove(self, id: str) -> None:
        """Remove a subscription."""
        with self.lock:
            if self._asked is not None:
                self._asked.remove(self.catalog.filter(self.catalog.known(id)))
            slot = self.catalog.remove(id)
            try:
                self.engine.remove(slot)
            finally:
                self.log.note(slot)

    def replace(self, id: str, new: Filter) -> None:
        """Give a subscription another filter; nothing changes where it is refused."""
        with self.lock:
            slot = self.catalog.known(id)
            old = self.catalog.filter(slot)
            self.catalog.replace(id, new)
            try:
                self.engine.remove(slot)
                self.engine.add(slot, new)
            except BaseException:
                self.catalog.replace(id, old)
                self.engine.add(slot, old)
                raise
            finally:
                self.log.note(slot, is_replaced=True)
            if self._asked is not None:
                self._asked.add(new)
                self._asked.remove(old)

    def filter(self, id: str) -> Filter:
        """Return the filter of a subscription."""
        with self.lock:
            return self.catalog.filter(self.catalog.known(id))

    # --- JSON

    def door(self) -> Door:
        """Return the door that reads JSON for the subscriptions that there are now."""
        known = None if self._asked is None else self._asked.known
        return self._made_door() if known is None else known

    def is_current(self, door: Door) -> bool:
        """Return True if the door still reads what subscriptions read; ask under the lock."""
        return self._asked is not None and self._asked.known is door

    def _made_door(self) -> Door:
        with self.lock:
            if self._asked is None:
                from fyke.matching.asked import Asked

                filters = (filter for _, filter in self.catalog.filters())
                self._asked = Asked(filters, self.schema)
            return self._asked.door

    @property
    def read_slowly(self) -> int:
        """The number of JSON texts that could not be read the quick way."""
        return 0 if self._asked is None else self._asked.slow

    # --- the snapshot

    def save(self) -> tuple[dict[str, object], Arrays]:
        """Return facts, as for JSON, and arrays; to be written under the lock."""
        facts: dict[str, object] = {"engine": self.engine_name, "subscriptions": len(self.catalog)}
        if self.schema is not None:
            facts["schema"] = self.schema.to_document()
        arrays = self.catalog.arrays()
        if isinstance(self.engine, Persistent):
            index, details = self.engine.save()
            if index:
                facts["index"] = details
            arrays |= index
        return facts, arrays

    @classmethod
    def load(cls, engine: str, facts: dict[str, Any], arrays: Arrays) -> SubscriptionSet:
        """Return what was saved, searched by the same engine or another one."""
        loaded = cls(engine, schema_in(facts), arrays)
        has_index = facts["engine"] == loaded.engine_name and "index" in facts
        if has_index and isinstance(loaded.engine, Persistent):
            index = {name: each for name, each in arrays.items() if name.startswith("index.")}
            loaded.engine.load(index, facts["index"], loaded.catalog.slots())
            return loaded
        for slot, filter in loaded.catalog.filters():
            loaded.engine.add(slot, filter)
        return loaded


def schema_in(facts: dict[str, Any]) -> Schema | None:
    """Return the schema among the facts of a snapshot."""
    if "schema" not in facts:
        return None
    from fyke.events.schema import Schema

    return Schema.from_document(facts["schema"])


def _filter_at(catalog: Catalog, lock: threading.RLock, slot: int) -> Filter:
    """Return the filter of a slot; FALSE where the slot was given up meanwhile."""
    with lock:
        return catalog.filter(slot) if catalog.is_taken(slot) else FALSE
