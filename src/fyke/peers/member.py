"""Member: a subscription in its rings. Three views, one exchange per layer and cycle (S2S-10).

    random    links to anybody (`cyclon`)
    near      the closest peers (`vicinity`)
    ring      for every event that this member may want, the next that wants it (`ring`)

A near exchange sends the closest that the sender knows to the receiver; a ring exchange sends whom
the receiver needs as ring links, of all three views. The receiver answers alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from random import Random
from typing import Final

import numpy as np

from fyke.events.event import Event
from fyke.peers.contacts import Contacts
from fyke.peers.cyclon import Cyclon
from fyke.peers.geometry.space import Point
from fyke.peers.history import History
from fyke.peers.messages import Profile
from fyke.peers.registry import Registry
from fyke.peers.ring import RingLinks
from fyke.peers.settings import Settings
from fyke.peers.vicinity import Vicinity

NEW_CYCLES: Final = 10
"""Cycles after which newcomers have found their rings, most of them (figure 9)."""


class Member:
    """A profile, its views, and what it has seen. `draw` is for gossip, `draw_event` for events:
    without repair, publishing changes nothing about the views.
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
        self.random = Cyclon(settings.random_view, settings.shuffle)
        self.near = Vicinity(registry.table, settings, draw)
        self.ring = RingLinks(registry)
        self.history = History(settings.history)
        self._is_old_turn = False
        self._asked: set[int] = set()
        """Ring links not heard of for too long that were asked."""
        self.become(profile)

    def become(self, profile: Profile) -> None:
        """Take another profile; the views follow with the next exchanges."""
        self.profile = profile
        self.row = self._registry.row(profile)
        self.filter = self._registry.filters[self.row]
        self._since = self._contacts.clock
        self.ring.reconsider()

    @property
    def is_new(self) -> bool:
        """Return True while ring links to this member, and its own, may still be missing."""
        return self._contacts.clock - self._since < NEW_CYCLES

    # --- views ------------------------------------------------------------------------------------

    def links(self) -> dict[int, None]:
        """Return the rows of all views."""
        return dict.fromkeys(chain(self.near.view, self.random.view, self.ring.view))

    def expire(self) -> list[int]:
        """Drop those not heard of for too long. Ring links are asked first, and dropped if there
        is still no word of them the next time. Return whom to ask.

        A wide peer has a thousand ring links, and some of those that live are not heard of for
        longer than `age_max`: without a question, their rings would break.
        """
        born, oldest = self._contacts.born, self._contacts.clock - self._settings.age_max
        late = [row for row in self.links() if born.get(row, oldest - 1) < oldest]
        asked = {row for row in self.ring.view if row in late and row not in self._asked}
        for row in late:
            if row not in asked:
                self.replace(row, None)
        self._asked = asked
        return list(asked)

    def replace(self, old: int, new: int | None) -> bool:
        """Follow a member to its new row, or drop it. Return True if it was a ring link."""
        self.random.replace(old, new)
        self.near.replace(old, new)
        return self.ring.replace(old, new, self.row)

    # --- exchanges --------------------------------------------------------------------------------

    def pick_near(self) -> int | None:
        """Return the row to exchange near links with."""
        links = self.near.view or list(self.random.view)
        return self._draw.choice(links) if links else None

    def pick_ring(self) -> int | None:
        """Return the row to exchange ring links with.

        Every other time, that is the one not heard of for longest: it may be gone, or may want
        something else by now.
        """
        self._is_old_turn = not self._is_old_turn
        if self.ring.view and self._is_old_turn:
            born, never = self._contacts.born, -1
            return min(self.ring.view, key=lambda row: born.get(row, never))
        links = self.ring.view or self.near.view or list(self.random.view)
        return self._draw.choice(links) if links else None

    def closest_to(self, target: int) -> list[int]:
        """Return the closest known to a target, for a near exchange with it."""
        return self.near.closest_to(target, self.random.view)

    def keep_closest(self, received: Iterable[int]) -> None:
        """Make the near view anew."""
        self.near.keep_closest(self.row, chain(received, self.random.view))

    def select_for(self, target: int, received: Iterable[int] = ()) -> list[int]:
        """Return the ring links that a target needs, of all that are known."""
        others = [self.row, *self.near.view, *self.random.view, *received]
        rows = np.concatenate((self.ring.rows, np.array(others, np.int64)))
        links, _ = self._table.select_peers(rows, target)
        found: list[int] = links.tolist()
        return found

    def keep_ring(self, received: Iterable[int]) -> None:
        """Take in the ring links that are needed, of all that are known."""
        self.ring.keep(self.row, chain(received, self.near.view, self.random.view))

    # --- events -----------------------------------------------------------------------------------

    def next_for(self, event: Event, point: Point) -> list[int]:
        """Return the ring links that get an event (S2S-14)."""
        return self.ring.next_for(event, point)

    def shortcuts_for(
        self, event: Event, point: Point, wanted: int, without: Iterable[int]
    ) -> list[int]:
        """Return at most `wanted` random near links that want an event (S2S-15)."""
        if not wanted or not self.near.view:
            return []
        rows = self._table.holding(np.array(self.near.view, np.int64), point).tolist()
        filters, taken = self._registry.filters, set(without)
        rows = [row for row in rows if row not in taken and filters[row].matches(event)]
        return rows if len(rows) <= wanted else self._draw_event.sample(rows, wanted)
