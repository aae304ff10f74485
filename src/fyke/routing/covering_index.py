"""CoveringIndex: which filters cover one, and which it covers, without looking at all of them.

Idea. Candidates are read from the edges of what filters accept, then each is decided (DAS-18, for
any Boolean tree). A filter has needs, of which every event it accepts meets one: an equality, an
interval, a type (`needs`). And it has a footprint: what one way of satisfying it leaves, with the
two ends of every interval (`footprint`). If W covers N, the footprint of N meets the needs of W.
So each filter waits at its cheapest needs for those it may cover, and stands with its footprint
for those that may cover it.
Example. "a < 10" waits at the numbers of `a` up to 10. "a between 2 and 5 and b = 1" begins there
at 2, so it asks "a < 10"; and "a < 10", looking for what it covers, finds it among what begins or
ends between -oo and 10, whichever is less.
Exact. Filters of one plain predicate per attribute are compared as boxes (DAS-17), all others by
`covers`; the candidates are never too few, so the answers are those of `covers` for all pairs.
Cost. Equal filters are held once. An update takes a few dictionary operations, one of a balanced
tree per interval; a question takes O(log n) and its candidates. What no search could satisfy, and
what needs nothing (a residual, an alternative to a negation), is a candidate always.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar
from weakref import WeakValueDictionary

from fyke.errors import FykeError, shown
from fyke.filters.covering import covers
from fyke.filters.filter import Filter
from fyke.filters.resolution import resolve_values
from fyke.routing.covering.box import Box, box
from fyke.routing.covering.needs import Needs, may_cover
from fyke.routing.covering.shape import Shape
from fyke.routing.covering.standing import Standing
from fyke.routing.covering.waiting import Waiting

if TYPE_CHECKING:
    from fyke.events.schema import Schema


K = TypeVar("K", bound=Hashable)

_BOXES: Final = 262_144
_SHAPES: Final = 4_096


class _Entry:
    """A filter, and all ids that have it, with their places in the order of adding."""

    __slots__ = ("box", "filter", "ids", "shape", "waits")

    def __init__(self, filter: Filter, shape: Shape) -> None:
        self.filter = filter
        self.ids: dict[Any, int] | tuple[Any, int] | None = None
        self.box = shape.box
        self.shape = None if shape.box else shape
        """That of a box is made again when it is wanted: there are many of them."""
        self.waits: Needs | None = None
        """Where it waits; None where it needs nothing."""

    def add(self, id: Hashable, place: int) -> None:
        if self.ids is None:
            self.ids = id, place
            return
        if isinstance(self.ids, tuple):
            self.ids = dict([self.ids])
        self.ids[id] = place

    def remove(self, id: Hashable) -> bool:
        """Return True if none is left."""
        if isinstance(self.ids, dict):
            del self.ids[id]
            return not self.ids
        return True

    def named(self) -> Iterable[tuple[Any, int]]:
        if isinstance(self.ids, dict):
            return self.ids.items()
        return () if self.ids is None else (self.ids,)


class _Memory:
    """What is known of filters, for all indices with one schema: they often hold the same ones.
    It ends with the last of them.
    """

    __slots__ = ("__weakref__", "shape")

    def __init__(self, schema: Schema | None) -> None:
        boxes = lru_cache(maxsize=_BOXES)(partial(box, schema=schema))
        self.shape: Callable[[Filter], Shape] = lru_cache(maxsize=_SHAPES)(
            lambda each: Shape(each, boxes(each), schema)
        )


_MEMORIES: Final[WeakValueDictionary[Schema | None, _Memory]] = WeakValueDictionary()


def _memory(schema: Schema | None) -> _Memory:
    known = _MEMORIES.get(schema)
    if known is None:
        known = _MEMORIES[schema] = _Memory(schema)
    return known


class CoveringIndex(Generic[K]):
    """Filters by id of any kind. `tests` counts the pairs that were held against each other."""

    def __init__(self, schema: Schema | None = None) -> None:
        self.tests = 0
        self._schema = schema
        self._memory = _memory(schema)
        self._entries: dict[Filter, _Entry] = {}
        self._by_id: dict[K, _Entry] = {}
        self._places = 0
        self._waiting: Waiting[_Entry] = Waiting()
        self._standing: Standing[_Entry] = Standing()
        self._anywhere: dict[_Entry, None] = {}
        """Those that need nothing."""
        self._unsaid: dict[_Entry, None] = {}
        """Those of which no footprint is known."""

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id: object) -> bool:
        return id in self._by_id

    def add(self, id: K, filter: Filter) -> None:
        """FykeError if there is one of this id."""
        if id in self._by_id:
            raise FykeError(f"there is a filter {shown(id)} already")
        filter = resolve_values(filter, self._schema)
        entry = self._entries.get(filter)
        if entry is None:
            shape = self._memory.shape(filter)
            entry = self._entries[filter] = _Entry(filter, shape)
            self._place(entry, shape)
        self._places += 1
        entry.add(id, self._places)
        self._by_id[id] = entry

    def remove(self, id: K) -> None:
        """FykeError if there is none."""
        entry = self._by_id.pop(id, None)
        if entry is None:
            raise FykeError(f"there is no filter {shown(id)}")
        if entry.remove(id):
            del self._entries[entry.filter]
            self._displace(entry)

    def covering(self, filter: Filter) -> list[K]:
        """The ids of the filters that cover this one, equal ones too, in the order of adding."""
        return _ids(self._coverers(resolve_values(filter, self._schema)))

    def coverer(self, filter: Filter) -> K | None:
        """Return one that covers this one, or is equal; None if there is none."""
        filter = resolve_values(filter, self._schema)
        entry = self._entries.get(filter) or next(self._coverers(filter), None)
        return None if entry is None else next(iter(entry.named()))[0]

    def _coverers(self, filter: Filter) -> Iterator[_Entry]:
        asked = self._memory.shape(filter)
        met: Iterable[_Entry] = self._entries.values()
        if asked.footprint is not None:
            met = dict.fromkeys(self._waiting.met_by(asked.footprint))
            met |= self._anywhere
        return (each for each in met if self._covers(each.filter, each.box, filter, asked.box))

    def covered(self, filter: Filter) -> list[K]:
        """The ids of the filters that this one covers, equal ones too, in the order of adding."""
        filter = resolve_values(filter, self._schema)
        asked = self._memory.shape(filter)
        needs = asked.cheapest(self._standing.crowd)
        met: Iterable[_Entry] = self._entries.values()
        if needs is not None:
            met = dict.fromkeys(self._standing.meeting(needs))
            met |= self._unsaid
        return _ids(each for each in met if self._covers(filter, asked.box, each.filter, each.box))

    def _covers(self, wide: Filter, ours: Box | None, narrow: Filter, theirs: Box | None) -> bool:
        if ours is not None and theirs is not None:
            verdict = ours.covers(theirs)
            if verdict is not None:
                self.tests += 1
                return verdict
        elif not self._may_cover(wide, narrow):
            return False
        self.tests += 1
        return covers(wide, narrow, schema=self._schema)

    def _may_cover(self, wide: Filter, narrow: Filter) -> bool:
        footprint = self._shape(narrow).footprint
        return footprint is None or may_cover(self._shape(wide).parts, footprint)

    def _shape(self, filter: Filter) -> Shape:
        entry = self._entries.get(filter)
        return (entry and entry.shape) or self._memory.shape(filter)

    # --- places -----------------------------------------------------------------------------------

    def _place(self, entry: _Entry, shape: Shape) -> None:
        if shape.footprint is None:
            self._unsaid[entry] = None
        else:
            self._standing.add(shape.footprint, entry)
        needs = shape.cheapest(self._waiting.crowd)
        if needs is None:
            self._anywhere[entry] = None
            return
        entry.waits = needs if len(needs) == 1 else tuple(dict.fromkeys(needs))
        for need in entry.waits:
            self._waiting.add(need, entry)

    def _displace(self, entry: _Entry) -> None:
        footprint = (entry.shape or self._memory.shape(entry.filter)).footprint
        if footprint is None:
            del self._unsaid[entry]
        else:
            self._standing.remove(footprint, entry)
        if entry.waits is None:
            del self._anywhere[entry]
            return
        for need in entry.waits:
            self._waiting.remove(need, entry)


def _ids(entries: Iterable[_Entry]) -> list[Any]:
    found = [pair for entry in entries for pair in entry.named()]
    if len(found) > 1:
        found.sort(key=_place_of)
    return [id for id, _ in found]


def _place_of(named: tuple[Any, int]) -> int:
    return named[1]
