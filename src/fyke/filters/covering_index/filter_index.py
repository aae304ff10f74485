"""FilterIndex: distinct filters by slot, and which of them may cover one or be covered by it.

Idea. Candidates are read from the edges of what filters accept, then each is decided (DAS-18, for
any Boolean tree). A filter claims what its single predicates ask of every event: values, intervals,
types (`claims`). And it has a footprint: what one way of satisfying it leaves, with the two ends of
every interval (`footprint`). If W covers N, the footprint of N has all that W claims. So each
filter is filed by its claim, to be found as W, and by its footprint, to be found as N. A filter
that claims no value (an alternative) waits at each of the values of which it needs one.
Example. "a < 10" claims a number of `a` up to 10. "a between 2 and 5 and b = 1" leaves 2 to 5,
which is within; so it is asked.
Exact. Filters of one plain predicate per attribute are compared as boxes (DAS-17), all others by
`covers`; the candidates are never too few, so without a limit the answers are those of `covers` for
all pairs.
Shared. Several sets use one index. Each of them knows its own members (`among`).
Cost. Some 200 bytes a filter with its packed form: arrays, no objects. A question compares columns,
some nanoseconds a filter, and decides its candidates. Those that are no boxes take a tenth of a
millisecond each; a `limit` bounds their number.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias
from weakref import WeakValueDictionary, proxy
from zlib import crc32

from fyke.filters.algebra.covering import covers
from fyke.filters.algebra.normal_form import negation_normal_form, simplify
from fyke.filters.covering_index.box import Box, box
from fyke.filters.covering_index.claims import Claim, ClaimIndex, claim
from fyke.filters.covering_index.footprint import Footprint, footprint
from fyke.filters.covering_index.footprint_index import FootprintIndex
from fyke.filters.covering_index.need_index import NeedIndex
from fyke.filters.covering_index.needs import Cost, Needs, cheapest, may_cover, of_leaf
from fyke.filters.filter import And, Filter
from fyke.filters.packed.packing import Packing
from fyke.filters.predicate import Predicate
from fyke.filters.resolution import resolve_values
from fyke.filters.text_predicate import Like, TextPredicate

if TYPE_CHECKING:
    from fyke.events.schema import Schema

Among: TypeAlias = Callable[[int], bool]
"""True for slots in the set that asks."""

_KEPT: Final = 1_024
_VERDICTS: Final = 128


class _Shape:
    """All that an index needs to know of a filter.

    A box, if it is one; its footprint; its claim; and the needs of parts that are leaves.
    """

    __slots__ = ("_normal", "_schema", "box", "claim", "flavour", "footprint", "parts")

    box: Box | None
    footprint: Footprint | None
    claim: Claim
    flavour: int
    """The same for filters with the same patterns of text, which no order brings together."""
    parts: Sequence[Needs]

    def __init__(self, filter: Filter, box: Box | None, schema: Schema | None) -> None:
        self.box = box
        self.footprint = box.footprint() if box else footprint(filter, schema)
        self._schema = schema
        self._normal = normal = filter if self.box else negation_normal_form(simplify(filter))
        parts = normal.children if isinstance(normal, And) else (normal,)
        self.parts = [of_leaf(part) for part in parts if isinstance(part, Predicate)]
        self.claim = claim(self.parts)
        texts = sorted(str(part) for part in parts if isinstance(part, Like | TextPredicate))
        self.flavour = crc32("".join(texts).encode())

    def cheapest(self, cost: Cost) -> Needs | None:
        """Return the needs that cost least; None if it needs nothing."""
        return cheapest(self._normal, cost, self._schema)


class _Memory:
    """Facts about filters that all indices with one schema share: they often hold the same ones.

    The memory ends with the last of them.
    """

    __slots__ = ("__weakref__", "shape")

    def __init__(self, schema: Schema | None) -> None:
        self.shape: Callable[[Filter], _Shape] = lru_cache(maxsize=_KEPT)(
            lambda each: _Shape(each, box(each, schema), schema)
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
        """Pairs that were compared."""
        self._trees = 0
        """Of these, pairs that are no boxes."""
        self._schema = schema
        self._packing = packing or Packing()
        self._memory = _memory(schema)
        self._slots: dict[bytes, int] = {}
        self._filters: list[bytes] = []
        self._holders: list[int] = []
        self._flavours = array("L")
        """A number by slot; filters with the same texts have the same, and are tried first."""
        self._free: list[int] = []
        self._claims = ClaimIndex()
        self._footprints = FootprintIndex()
        index = proxy(self)  # no cycle: an unused index is freed at once

        def decide(wide: bytes, narrow: bytes) -> bool:
            return bool(index._decide(wide, narrow))

        self._verdict = lru_cache(maxsize=_VERDICTS)(decide)
        """Kept because other sets ask the same soon."""
        self._needs: NeedIndex[int] = NeedIndex()
        self._needs_of: dict[int, Needs] = {}
        """The needs of filters that claim no values."""
        self._without_needs: dict[int, None] = {}
        """Filters that need nothing."""
        self._without_footprint: dict[int, None] = {}
        """Filters without a known footprint."""

    def __len__(self) -> int:
        return len(self._slots)

    def resolve(self, packed: bytes) -> bytes:
        """Return a filter with the meaning that the schema gives it."""
        if self._schema is None or not (self._schema.orders or self._schema.timestamps):
            return packed
        filter = self._packing.unpack(packed)
        meant = resolve_values(filter, self._schema)
        return packed if meant is filter else self._packing.pack(meant)

    # --- changes ----------------------------------------------------------------------------------

    def slot(self, packed: bytes) -> int | None:
        """Return the slot of a resolved filter; None if it is not held."""
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

    def _place(self, slot: int, shape: _Shape) -> None:
        if shape.footprint is None:
            self._without_footprint[slot] = None
        else:
            self._footprints.add(shape.footprint, slot)
        if shape.claim.intervals:
            self._claims.add(shape.claim, slot)
            return
        needs = shape.cheapest(self._needs.count)
        if needs is None:
            self._without_needs[slot] = None
            return
        self._needs_of[slot] = tuple(dict.fromkeys(needs))
        for need in self._needs_of[slot]:
            self._needs.add(need, slot)

    def _displace(self, slot: int, shape: _Shape) -> None:
        if shape.footprint is None:
            del self._without_footprint[slot]
        else:
            self._footprints.remove(shape.footprint, slot)
        if shape.claim.intervals:
            self._claims.remove(shape.claim, slot)
        elif slot in self._without_needs:
            del self._without_needs[slot]
        else:
            for need in self._needs_of.pop(slot):
                self._needs.remove(need, slot)

    # --- questions --------------------------------------------------------------------------------

    def coverers(self, packed: bytes, among: Among, limit: int | None = None) -> Iterator[int]:
        """Yield the slots that cover a resolved filter. At most `limit` trees are tried."""
        asked = self._shape(packed)
        met: Iterable[int] = self._slots.values()
        if asked.footprint is not None:
            found = {*self._claims.met_by(asked.footprint), *self._without_needs}
            found.update(self._needs.met_by(asked.footprint))
            met = found
        return self._select(packed, met, among, limit, is_wide=False)

    def covered(self, packed: bytes, among: Among, limit: int | None = None) -> Iterator[int]:
        """Yield the slots that a resolved filter covers. At most `limit` trees are tried."""
        asked = self._shape(packed)
        met: Iterable[int] = self._slots.values()
        if asked.claim.intervals:
            met = {*self._footprints.meeting(asked.claim), *self._without_footprint}
        else:
            needs = asked.cheapest(self._footprints.count)
            if needs is not None:
                met = {*self._footprints.meeting_one(needs), *self._without_footprint}
        return self._select(packed, met, among, limit, is_wide=True)

    def _select(
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

    def _shape(self, packed: bytes) -> _Shape:
        return self._memory.shape(self._packing.unpack(packed))
