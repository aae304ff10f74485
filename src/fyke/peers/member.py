"""Member: a subscription in its rings. Three views, one exchange per layer and cycle (S2S-10).

    random    links to anybody (`cyclon`)
    near      the closest peers: of those that overlap, some by chance (S2S-8, S2S-9)
    ring      for each direction and every event that this member may want, the next peer that
              wants it (S2S-11); never cut down, or rings would break (S2S-Q6)

A near exchange sends the closest that the sender knows to the receiver; a ring exchange sends whom
the receiver needs as ring links, of all three views. The receiver answers alike.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from random import Random
from typing import Final

import numpy as np

from fyke.events.event import Event
from fyke.peers.contacts import Contacts
from fyke.peers.cyclon import Cyclon
from fyke.peers.geometry.space import Point
from fyke.peers.geometry.table import Rows
from fyke.peers.messages import Profile
from fyke.peers.registry import Registry
from fyke.peers.settings import Settings

_NOBODY: Final[Rows] = np.empty(0, np.int64)
_CONSIDERED_MAX: Final = 10_000


class Member:
    """A profile and its views. `draw` is for gossip, `draw_event` for events: without repair,
    publishing changes nothing about the views.
    """

    def __init__(
        self,
        profile: Profile,
        registry: Registry,
        contacts: Contacts,
        settings: Settings,
        draw: Random,
        draw_event: Random,
    ) -> None:
        self._registry = registry
        self._table = registry.table
        self._contacts = contacts
        self._settings = settings
        self._draw = draw
        self._draw_event = draw_event
        self.cyclon = Cyclon(settings.random_view, settings.shuffle)
        self.near: list[int] = []
        self.ring: list[int] = []
        """In ascending order of sequence ids, beginning behind this member."""
        self._ring_rows: Rows = _NOBODY
        self._is_old_turn = False
        self._considered: set[int] = set()
        """Ring links, and those that are not needed beside them. They never will be as long as
        nobody goes: what covers their part of this member's space is still there.
        """
        self.become(profile)

    def become(self, profile: Profile) -> None:
        """Take another profile; the views follow with the next exchanges."""
        self.profile = profile
        self.row = self._registry.row(profile)
        self.filter = self._registry.filters[self.row]
        self._considered.clear()

    # --- views ------------------------------------------------------------------------------------

    def links(self) -> dict[int, None]:
        """Return the rows of all views."""
        return {
            **dict.fromkeys(self.near),
            **dict.fromkeys(self.cyclon.view),
            **dict.fromkeys(self.ring),
        }

    def expire(self) -> None:
        """Drop those not heard of for too long."""
        born, oldest = self._contacts.born, self._contacts.clock - self._settings.age_max
        for row in [row for row in self.links() if born.get(row, oldest - 1) < oldest]:
            self.remove(row)

    def replace(self, old: int, new: int) -> None:
        """Follow a member to its new row."""
        self._swap(old, new)

    def remove(self, row: int) -> bool:
        """Drop a row from all views. Return True if it was a ring link."""
        was_there = row in self.ring
        self._swap(row, None)
        return was_there

    def _swap(self, old: int, new: int | None) -> None:
        born = self.cyclon.view.pop(old, None)
        if born is not None and new is not None:
            self.cyclon.view[new] = born
        if old in self.near:
            self.near = [
                r for r in (new if row == old else row for row in self.near) if r is not None
            ]
        if old in self.ring:
            others = [row for row in self.ring if row != old]
            self._set_ring(others if new is None or new == self.row else [*others, new])
            self._considered.clear()

    def _set_ring(self, rows: Sequence[int] | Rows) -> None:
        ordered = self._table.order(np.array(rows, np.int64)).tolist() if len(rows) else []
        places, own = self._registry.places, self._registry.places[self.row]
        start = bisect_right(ordered, own, key=places.__getitem__)
        self.ring = ordered[start:] + ordered[:start]
        self._ring_rows = np.array(self.ring, np.int64)

    # --- exchanges --------------------------------------------------------------------------------

    def pick_near(self) -> int | None:
        """Return whom to exchange near links with."""
        links = self.near or list(self.cyclon.view)
        return self._draw.choice(links) if links else None

    def pick_ring(self) -> int | None:
        """Return whom to exchange ring links with: every other time the one not heard of longest,
        which may be gone or may want something else by now.
        """
        self._is_old_turn = not self._is_old_turn
        if self.ring and self._is_old_turn:
            born, never = self._contacts.born, -1
            return min(self.ring, key=lambda row: born.get(row, never))
        links = self.ring or self.near or list(self.cyclon.view)
        return self._draw.choice(links) if links else None

    def closest_to(self, target: int) -> list[int]:
        """Return the closest known to a target, for a near exchange with it."""
        rows = {**dict.fromkeys(self.near), **self.cyclon.view}
        rows.pop(target, None)
        return self._closest(rows, target, self._settings.near_exchange)

    def keep_closest(self, received: Iterable[int]) -> None:
        """Make the near view anew."""
        rows = {**dict.fromkeys(self.near), **dict.fromkeys(received), **self.cyclon.view}
        rows.pop(self.row, None)
        self.near = self._closest(rows, self.row, self._settings.near_view)

    def _closest(self, rows: Iterable[int], target: int, count: int) -> list[int]:
        array = np.array(list(rows), np.int64)
        found: list[int] = self._table.closest(
            array, target, count, self._draw.getrandbits(62)
        ).tolist()
        return found

    def select_for(self, target: int, received: Iterable[int] = ()) -> list[int]:
        """Return the ring links that a target needs, of all that are known."""
        rows = self.links()
        rows.update(dict.fromkeys(received))
        rows.pop(target, None)
        rows[self.row] = None
        overlapping = self._table.overlapping(np.array(list(rows), np.int64), target)
        found: list[int] = self._table.select_peers(overlapping, target).tolist()
        return found

    def keep_ring(self, received: Iterable[int]) -> None:
        """Make the ring links anew, of all that are known; nothing to do if all were considered."""
        considered = self._considered
        fresh = {row: None for row in (*received, *self.near, *self.cyclon.view)
                 if row not in considered}  # fmt: skip
        fresh.pop(self.row, None)
        if not fresh and considered:
            return
        rows = {**dict.fromkeys(self.ring), **fresh}
        overlapping = self._table.overlapping(np.array(list(rows), np.int64), self.row)
        self._set_ring(self._table.select_peers(overlapping, self.row))
        if len(considered) > _CONSIDERED_MAX:
            considered.clear()
        considered.update(rows)

    # --- events -----------------------------------------------------------------------------------

    def next_for(self, event: Event, point: Point) -> list[int]:
        """Return succ(e) and pred(e): the first in either direction that want it (S2S-14)."""
        rows = self._table.holding(self._ring_rows, point).tolist()
        filters = self._registry.filters
        found = []
        for direction in (rows, reversed(rows)):
            for row in direction:
                if filters[row].matches(event):
                    found.append(row)
                    break
        return list(dict.fromkeys(found))

    def shortcuts_for(self, event: Event, point: Point, without: Iterable[int]) -> list[int]:
        """Return r random near links that want an event (S2S-15)."""
        wanted = self._settings.shortcuts
        if not wanted or not self.near:
            return []
        rows = self._table.holding(np.array(self.near, np.int64), point).tolist()
        filters, taken = self._registry.filters, set(without)
        rows = [row for row in rows if row not in taken and filters[row].matches(event)]
        return rows if len(rows) <= wanted else self._draw_event.sample(rows, wanted)
