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
from typing import TYPE_CHECKING

from fyke.errors import FykeError, shown
from fyke.filters.covering import covers
from fyke.filters.filter import Filter
from fyke.filters.normal_form import negation_normal_form, simplify
from fyke.routing.box import Box, box
from fyke.routing.footprint import Footprint, footprint
from fyke.routing.needs import Need, Needs, cheapest, may_cover, outline
from fyke.routing.places import Standing, Waiting

if TYPE_CHECKING:
    from fyke.events.schema import Schema


class _Entry:
    """A filter, all ids that have it, and where it is to be found."""

    __slots__ = ("box", "filter", "footprint", "ids", "normal", "number", "outline", "waits")

    def __init__(self, number: int, filter: Filter, schema: Schema | None) -> None:
        self.number = number
        self.filter = filter
        self.ids: dict[str, int] = {}
        """With their places in the order of adding."""
        self.waits: list[tuple[Need, int]] = []
        self.box: Box | None = box(filter, schema)
        self.footprint: Footprint | None = (
            self.box.footprint() if self.box else footprint(filter, schema)
        )
        self.normal = filter if self.box else negation_normal_form(simplify(filter))
        self.outline: Needs = outline(self.normal)


class CoveringIndex:
    """Filters by id. `tests` counts the pairs that were held against each other."""

    def __init__(self, schema: Schema | None = None) -> None:
        self.tests = 0
        self._schema = schema
        self._entries: dict[Filter, _Entry] = {}
        self._by_id: dict[str, _Entry] = {}
        self._numbers = 0
        self._waiting = Waiting()
        self._standing = Standing()
        self._held: dict[int, _Entry] = {}
        """By number; entries have several, one for each place at which they wait."""
        self._anywhere: dict[int, None] = {}
        """Those that need nothing."""
        self._unsaid: dict[int, None] = {}
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
            entry = self._entries[filter] = _Entry(self._next(), filter, self._schema)
            self._place(entry)
        entry.ids[id] = self._next()
        self._by_id[id] = entry

    def remove(self, id: str) -> None:
        """FykeError if there is none."""
        entry = self._by_id.pop(id, None)
        if entry is None:
            raise FykeError(f"there is no filter {shown(id)}")
        del entry.ids[id]
        if not entry.ids:
            del self._entries[entry.filter]
            self._displace(entry)

    def covering(self, filter: Filter) -> list[str]:
        """The ids of the filters that cover this one, equal ones too, in the order of adding."""
        asked = self._asked(filter)
        numbers: Iterable[int] = self._held
        if asked.footprint is not None:
            numbers = (*self._waiting.met_by(asked.footprint), *self._anywhere)
        return _ids([each for each in self._met(numbers) if self._covers(each, asked)])

    def covered(self, filter: Filter) -> list[str]:
        """The ids of the filters that this one covers, equal ones too, in the order of adding."""
        asked = self._asked(filter)
        needs = cheapest(asked.normal, self._standing.crowd, self._schema)
        numbers: Iterable[int] = self._held
        if needs is not None:
            numbers = (*self._standing.meeting(needs), *self._unsaid)
        return _ids([each for each in self._met(numbers) if self._covers(asked, each)])

    # --- entries ----------------------------------------------------------------------------------

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers

    def _asked(self, filter: Filter) -> _Entry:
        return self._entries.get(filter) or _Entry(0, filter, self._schema)

    def _met(self, numbers: Iterable[int]) -> Iterable[_Entry]:
        """Each entry once."""
        held = self._held
        return {(entry := held[number]).number: entry for number in numbers}.values()

    def _covers(self, wide: _Entry, narrow: _Entry) -> bool:
        if wide is narrow:
            return True
        if narrow.footprint is not None and not may_cover(wide.outline, narrow.footprint):
            return False
        self.tests += 1
        if wide.box is not None and narrow.box is not None:
            verdict = wide.box.covers(narrow.box)
            if verdict is not None:
                return verdict
        return covers(wide.filter, narrow.filter, schema=self._schema)

    def _place(self, entry: _Entry) -> None:
        self._held[entry.number] = entry
        if entry.footprint is None:
            self._unsaid[entry.number] = None
        else:
            self._standing.add(entry.footprint, entry.number)
        needs = cheapest(entry.normal, self._waiting.crowd, self._schema)
        if needs is None:
            self._anywhere[entry.number] = None
            return
        for need in needs:
            number = self._next()
            self._held[number] = entry
            self._waiting.add(need, number)
            entry.waits.append((need, number))

    def _displace(self, entry: _Entry) -> None:
        del self._held[entry.number]
        if entry.footprint is None:
            del self._unsaid[entry.number]
        else:
            self._standing.remove(entry.footprint, entry.number)
        self._anywhere.pop(entry.number, None)
        for need, number in entry.waits:
            self._waiting.remove(need, number)
            del self._held[number]


def _ids(entries: list[_Entry]) -> list[str]:
    if len(entries) == 1:
        return list(entries[0].ids)
    places = {id: place for entry in entries for id, place in entry.ids.items()}
    return sorted(places, key=places.__getitem__)
