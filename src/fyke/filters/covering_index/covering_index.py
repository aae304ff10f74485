"""CoveringIndex: which filters cover one, and which it covers, by ids of any kind.

Equal filters are held once, and asked once (`filter_index`, where the theory is).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from fyke.errors import FykeError, shown
from fyke.filters.covering_index.filter_index import FilterIndex
from fyke.filters.filter import Filter
from fyke.filters.packed.packing import Packing
from fyke.filters.resolution import resolve_values

if TYPE_CHECKING:
    from fyke.events.schema import Schema

K = TypeVar("K", bound=Hashable)


class CoveringIndex(Generic[K]):
    """Filters by id."""

    def __init__(self, schema: Schema | None = None) -> None:
        self._schema = schema
        self._packing = Packing()
        self._filters = FilterIndex(schema, self._packing)
        self._ids: dict[int, dict[K, int]] = {}
        """By slot, with their places in the order of adding."""
        self._slots: dict[K, int] = {}
        self._places = 0

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, id: object) -> bool:
        return id in self._slots

    @property
    def tests(self) -> int:
        """The number of pairs that were compared."""
        return self._filters.tests

    def add(self, id: K, filter: Filter) -> None:
        """Add a filter; FykeError if there is one of this id."""
        if id in self._slots:
            raise FykeError(f"there is a filter {shown(id)} already")
        slot = self._slots[id] = self._filters.hold(self._pack(filter))
        self._places += 1
        self._ids.setdefault(slot, {})[id] = self._places

    def remove(self, id: K) -> None:
        """Remove a filter; FykeError if there is none of this id."""
        slot = self._slots.pop(id, None)
        if slot is None:
            raise FykeError(f"there is no filter {shown(id)}")
        del self._ids[slot][id]
        if not self._ids[slot]:
            del self._ids[slot]
        self._filters.release(slot)

    def covering(self, filter: Filter) -> list[K]:
        """Return the ids of the filters that cover this one, in the order of adding.

        Equal filters count too.
        """
        return self._ids_at(self._filters.coverers(self._pack(filter), self._ids.__contains__))

    def covered(self, filter: Filter) -> list[K]:
        """Return the ids of the filters that this one covers, in the order of adding.

        Equal filters count too.
        """
        return self._ids_at(self._filters.covered(self._pack(filter), self._ids.__contains__))

    def _pack(self, filter: Filter) -> bytes:
        return self._packing.pack(resolve_values(filter, self._schema))

    def _ids_at(self, slots: Iterable[int]) -> list[K]:
        found = [pair for slot in slots for pair in self._ids[slot].items()]
        found.sort(key=lambda pair: pair[1])
        return [id for id, _ in found]
