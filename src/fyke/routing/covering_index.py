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

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from fyke.errors import FykeError, shown
from fyke.filters.covering import covers
from fyke.filters.filter import Filter
from fyke.routing.covering.needs import Needs, may_cover
from fyke.routing.covering.shape import Shape, shape
from fyke.routing.covering.standing import Standing
from fyke.routing.covering.waiting import Waiting

if TYPE_CHECKING:
    from fyke.events.schema import Schema


class _Entry:
    """A filter, and all ids that have it, with their places in the order of adding."""

    __slots__ = ("_shape", "filter", "ids", "schema", "waits")

    def __init__(self, filter: Filter, schema: Schema | None) -> None:
        self.filter = filter
        self.schema = schema
        self.ids: dict[str, int] | tuple[str, int] | None = None
        self.waits: Needs | None = None
        """Where it waits; None where it needs nothing."""
        made = _shape(filter, schema)
        self._shape = None if made.box else made

    @property
    def shape(self) -> Shape:
        """That of a box is made again when it was forgotten: there are many of them."""
        return self._shape or _shape(self.filter, self.schema)

    def add(self, id: str, place: int) -> None:
        if self.ids is None:
            self.ids = id, place
        else:
            self.ids = (
                {**dict(self.named()), id: place} if isinstance(self.ids, tuple) else self.ids
            )
            self.ids[id] = place

    def remove(self, id: str) -> bool:
        """Whether none is left."""
        if isinstance(self.ids, dict):
            del self.ids[id]
            return not self.ids
        return True

    def named(self) -> Iterable[tuple[str, int]]:
        if isinstance(self.ids, dict):
            return self.ids.items()
        return () if self.ids is None else (self.ids,)


_shape = lru_cache(maxsize=16_384)(shape)


class CoveringIndex:
    """Filters by id. `tests` counts the pairs that were held against each other."""

    def __init__(self, schema: Schema | None = None) -> None:
        self.tests = 0
        self._schema = schema
        self._entries: dict[Filter, _Entry] = {}
        self._by_id: dict[str, _Entry] = {}
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

    def add(self, id: str, filter: Filter) -> None:
        """FykeError if there is one of this id."""
        if id in self._by_id:
            raise FykeError(f"there is a filter {shown(id)} already")
        entry = self._entries.get(filter)
        if entry is None:
            entry = self._entries[filter] = _Entry(filter, self._schema)
            self._place(entry)
        self._places += 1
        entry.add(id, self._places)
        self._by_id[id] = entry

    def remove(self, id: str) -> None:
        """FykeError if there is none."""
        entry = self._by_id.pop(id, None)
        if entry is None:
            raise FykeError(f"there is no filter {shown(id)}")
        if entry.remove(id):
            del self._entries[entry.filter]
            self._displace(entry)

    def covering(self, filter: Filter) -> list[str]:
        """The ids of the filters that cover this one, equal ones too, in the order of adding."""
        asked = _shape(filter, self._schema)
        met: Iterable[_Entry] = self._entries.values()
        if asked.footprint is not None:
            met = dict.fromkeys(self._waiting.met_by(asked.footprint))
            met |= self._anywhere
        covers = self._covers
        return _ids(each for each in met if covers(each.filter, each.shape, filter, asked))

    def covered(self, filter: Filter) -> list[str]:
        """The ids of the filters that this one covers, equal ones too, in the order of adding."""
        asked = _shape(filter, self._schema)
        needs = asked.cheapest(self._standing.crowd)
        met: Iterable[_Entry] = self._entries.values()
        if needs is not None:
            met = dict.fromkeys(self._standing.meeting(needs))
            met |= self._unsaid
        covers = self._covers
        return _ids(each for each in met if covers(filter, asked, each.filter, each.shape))

    def _covers(self, wide: Filter, ours: Shape, narrow: Filter, theirs: Shape) -> bool:
        if ours is theirs or wide == narrow:
            return True
        if ours.box is not None and theirs.box is not None:
            verdict = ours.box.covers(theirs.box)
            if verdict is not None:
                self.tests += 1
                return verdict
        elif theirs.footprint is not None and not may_cover(ours.parts, theirs.footprint):
            return False
        self.tests += 1
        return covers(wide, narrow, schema=self._schema)

    # --- places -----------------------------------------------------------------------------------

    def _place(self, entry: _Entry) -> None:
        shape = entry.shape
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
        footprint = entry.shape.footprint
        if footprint is None:
            del self._unsaid[entry]
        else:
            self._standing.remove(footprint, entry)
        if entry.waits is None:
            del self._anywhere[entry]
            return
        for need in entry.waits:
            self._waiting.remove(need, entry)


def _ids(entries: Iterable[_Entry]) -> list[str]:
    found = [pair for entry in entries for pair in entry.named()]
    if len(found) > 1:
        found.sort(key=_place_of)
    return [id for id, _ in found]


def _place_of(named: tuple[str, int]) -> int:
    return named[1]
