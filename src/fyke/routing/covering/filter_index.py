"""FilterIndex: distinct filters by slot, and which of them may cover one or be covered by it.

Idea. Candidates are read from the edges of what filters accept, then each is decided (DAS-18, for
any Boolean tree). A filter claims what its single predicates ask of every event: values, intervals,
types (`claims`). And it has a footprint: what one way of satisfying it leaves, with the two ends of
every interval (`footprint`). If W covers N, the footprint of N has all that W claims. So each
filter is filed by its claim, for those it may cover, and stands with its footprint for those that
may cover it. One that claims no value (an alternative) waits at each of what it needs one of.
Example. "a < 10" claims a number of `a` up to 10. "a between 2 and 5 and b = 1" leaves 2 to 5,
which is within; so it is asked.
Exact. Filters of one plain predicate per attribute are compared as boxes (DAS-17), all others by
`covers`; the candidates are never too few, so without a limit the answers are those of `covers` for
all pairs.
Shared. Several sets use one index: who is in which set they know themselves (`among`).
Cost. Some 200 bytes a filter with its packed form: arrays, no objects. A question compares columns,
some nanoseconds a filter, and decides its candidates; with a `limit` only so many of those that
are no boxes, which take a tenth of a millisecond each.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias
from weakref import WeakValueDictionary, proxy

from fyke.filters.covering import covers
from fyke.filters.filter import Filter
from fyke.filters.resolution import resolve_values
from fyke.routing.covering.box import box
from fyke.routing.covering.claims import Claims
from fyke.routing.covering.needs import Needs, may_cover
from fyke.routing.covering.shape import Shape
from fyke.routing.covering.standing import Standing
from fyke.routing.covering.waiting import Waiting
from fyke.routing.packing import Packing

if TYPE_CHECKING:
    from fyke.events.schema import Schema

Among: TypeAlias = Callable[[int], bool]
"""Whether a slot is in the set that asks."""

_KEPT: Final = 1_024
_VERDICTS: Final = 128


class _Memory:
    """What is known of filters, for all indices with one schema: they often hold the same ones.
    It ends with the last of them.
    """

    __slots__ = ("__weakref__", "shape")

    def __init__(self, schema: Schema | None) -> None:
        self.shape: Callable[[Filter], Shape] = lru_cache(maxsize=_KEPT)(
            lambda each: Shape(each, box(each, schema), schema)
        )


_MEMORIES: Final[WeakValueDictionary[Schema | None, _Memory]] = WeakValueDictionary()


def _memory(schema: Schema | None) -> _Memory:
    known = _MEMORIES.get(schema)
    if known is None:
        known = _MEMORIES[schema] = _Memory(schema)
    return known


class FilterIndex:
    """Packed filters by slot, as often as they are held."""

    def __init__(self, schema: Schema | None = None, packing: Packing | None = None) -> None:
        self.tests = 0
        """Pairs that were held against each other."""
        self._trees = 0
        """Of these, pairs that are no boxes."""
        self._schema = schema
        self._packing = packing or Packing()
        self._memory = _memory(schema)
        self._slots: dict[bytes, int] = {}
        self._filters: list[bytes] = []
        self._holders: list[int] = []
        self._flavours = array("L")
        """Of filters that are alike in their texts: these are tried first."""
        self._free: list[int] = []
        self._claims = Claims()
        self._standing = Standing()
        index = proxy(self)  # so one that nobody holds goes at once

        def decide(wide: bytes, narrow: bytes) -> bool:
            return bool(index._decide(wide, narrow))

        self._verdict = lru_cache(maxsize=_VERDICTS)(decide)
        """Kept for the other sets, which ask the same at once."""
        self._waiting: Waiting[int] = Waiting()
        self._waits: dict[int, Needs] = {}
        """Where those wait that claim no values."""
        self._anywhere: dict[int, None] = {}
        """Those that need nothing."""
        self._unsaid: dict[int, None] = {}
        """Those of which no footprint is known."""

    def __len__(self) -> int:
        return len(self._slots)

    def resolved(self, packed: bytes) -> bytes:
        """Return what a filter means by the schema."""
        if self._schema is None or not (self._schema.orders or self._schema.timestamps):
            return packed
        filter = self._packing.unpack(packed)
        meant = resolve_values(filter, self._schema)
        return packed if meant is filter else self._packing.pack(meant)

    # --- changes ----------------------------------------------------------------------------------

    def slot(self, packed: bytes) -> int | None:
        """Return where a resolved filter is."""
        return self._slots.get(packed)

    def filter(self, slot: int) -> bytes:
        return self._filters[slot]

    def hold(self, packed: bytes) -> int:
        """Return the slot of a resolved filter, which is held once more."""
        slot = self._slots.get(packed)
        if slot is None:
            slot = self._free.pop() if self._free else len(self._filters)
            if slot == len(self._filters):
                self._filters.append(packed)
                self._holders.append(0)
                self._flavours.append(0)
            self._filters[slot] = packed
            self._slots[packed] = slot
            shape = self._shape(packed)
            self._flavours[slot] = shape.flavour
            self._place(slot, shape)
        self._holders[slot] += 1
        return slot

    def release(self, slot: int) -> None:
        """Hold it once less."""
        self._holders[slot] -= 1
        if self._holders[slot]:
            return
        packed = self._filters[slot]
        self._displace(slot, self._shape(packed))
        del self._slots[packed]
        self._filters[slot] = b""
        self._free.append(slot)
        if not self._slots:
            self._filters, self._holders, self._free = [], [], []
            self._flavours = array("L")
            self._verdict.cache_clear()  # what is packed from now on may have other names

    def _place(self, slot: int, shape: Shape) -> None:
        if shape.footprint is None:
            self._unsaid[slot] = None
        else:
            self._standing.add(shape.footprint, slot)
        if shape.claim.intervals:
            self._claims.add(shape.claim, slot)
            return
        needs = shape.cheapest(self._waiting.crowd)
        if needs is None:
            self._anywhere[slot] = None
            return
        self._waits[slot] = tuple(dict.fromkeys(needs))
        for need in self._waits[slot]:
            self._waiting.add(need, slot)

    def _displace(self, slot: int, shape: Shape) -> None:
        if shape.footprint is None:
            del self._unsaid[slot]
        else:
            self._standing.remove(shape.footprint, slot)
        if shape.claim.intervals:
            self._claims.remove(shape.claim, slot)
        elif slot in self._anywhere:
            del self._anywhere[slot]
        else:
            for need in self._waits.pop(slot):
                self._waiting.remove(need, slot)

    # --- questions --------------------------------------------------------------------------------

    def coverers(self, packed: bytes, among: Among, limit: int | None = None) -> Iterator[int]:
        """Return those that cover a resolved filter; of trees at most `limit` are tried."""
        asked = self._shape(packed)
        met: Iterable[int] = self._slots.values()
        if asked.footprint is not None:
            found = {*self._claims.met_by(asked.footprint), *self._anywhere}
            found.update(self._waiting.met_by(asked.footprint))
            met = found
        return self._decided(packed, met, among, limit, is_wide=False)

    def covered(self, packed: bytes, among: Among, limit: int | None = None) -> Iterator[int]:
        """Return those that a resolved filter covers, by slot."""
        asked = self._shape(packed)
        met: Iterable[int] = self._slots.values()
        if asked.claim.intervals:
            met = {*self._standing.meeting(asked.claim), *self._unsaid}
        else:
            needs = asked.cheapest(self._standing.crowd)
            if needs is not None:
                met = {*self._standing.meeting_one(needs), *self._unsaid}
        return self._decided(packed, met, among, limit, is_wide=True)

    def _decided(
        self, packed: bytes, met: Iterable[int], among: Among, limit: int | None, is_wide: bool
    ) -> Iterator[int]:
        before, mine = self._trees, self._shape(packed).flavour
        order = sorted(filter(among, met), key=lambda slot: (self._flavours[slot] != mine, slot))
        for slot in order:
            if limit is not None and self._trees - before >= limit:
                return
            pair = (packed, self._filters[slot]) if is_wide else (self._filters[slot], packed)
            if self._verdict(*pair):
                yield slot

    def _decide(self, wide: bytes, narrow: bytes) -> bool:
        return self._covers(self._packing.unpack(wide), self._packing.unpack(narrow))

    def _covers(self, wide: Filter, narrow: Filter) -> bool:
        verdict = self._as_boxes(wide, narrow)
        if verdict is not None:
            return verdict
        self._trees += 1
        if not self._may_cover(wide, narrow):
            return False
        self.tests += 1
        return covers(wide, narrow, schema=self._schema)

    def _as_boxes(self, wide: Filter, narrow: Filter) -> bool | None:
        ours = self._memory.shape(wide).box
        theirs = None if ours is None else self._memory.shape(narrow).box
        if ours is None or theirs is None:
            return None
        verdict = ours.covers(theirs)
        self.tests += verdict is not None
        return verdict

    def _may_cover(self, wide: Filter, narrow: Filter) -> bool:
        footprint = self._memory.shape(narrow).footprint
        return footprint is None or may_cover(self._memory.shape(wide).parts, footprint)

    def _shape(self, packed: bytes) -> Shape:
        return self._memory.shape(self._packing.unpack(packed))
