"""Ring links: for every event that a member may want, the next peer in either direction that wants
it (S2S-11). Never cut down, or rings would break (S2S-Q6).

Who was considered once and is not needed beside the links never will be, as long as nobody goes:
what covers its part of the member's space is still there. So most exchanges change nothing, and
nothing is computed; who is new is held against the links that are there (`Table.extend`). Only when
a link goes, or the member itself wants something else, all are asked again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from fyke.events.event import Event
from fyke.peers.geometry.space import Point
from fyke.peers.geometry.table import Needs, Rows
from fyke.peers.registry import Registry

_CONSIDERED_MAX: Final = 10_000


class RingLinks:
    """Rows in the cyclic order of sequence ids, beginning behind the member's own."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._table = registry.table
        self.rows: Rows = np.empty(0, np.int64)
        self._needs: Needs = np.empty(0, np.uint8)
        self.view: list[int] = []
        """The same rows."""
        self._considered: set[int] = set()

    def keep(self, own: int, known: Iterable[int]) -> None:
        """Take in the rows that a member needs, of all that it knows."""
        considered = self._considered
        fresh = [row for row in known if row not in considered and row != own]
        if not fresh and considered:
            return
        came = np.array(fresh, np.int64)
        if considered:
            self._put(*self._table.extend(self.rows, self._needs, came, own))
        else:
            considered.update(self.view)
            self._put(*self._table.select_peers(np.concatenate((self.rows, came)), own))
        considered.update(fresh)
        if len(considered) > _CONSIDERED_MAX:
            self._considered = set(self.view)

    def _put(self, rows: Rows, needs: Needs) -> None:
        if len(rows) != len(self.rows) or (rows != self.rows).any():
            self.rows, self.view = rows, rows.tolist()
        self._needs = needs

    def reconsider(self) -> None:
        """Ask for all again, the next time."""
        self._considered.clear()

    def replace(self, old: int, new: int | None, own: int) -> bool:
        """Put a row in the place of another, or nothing. Return True if the old one was there."""
        if old not in self.view:
            return False
        left = [row for row in self.view if row != old]
        if new is not None and new != own:
            left.append(new)
        self.rows = self._table.going_round(np.array(left, np.int64), own)
        self.view = self.rows.tolist()
        self.reconsider()
        return True

    def next_for(self, event: Event, point: Point) -> list[int]:
        """Return succ(e) and pred(e): the first in either direction that want it (S2S-14)."""
        rows = self._table.holding(self.rows, point).tolist()
        filters = self._registry.filters
        found = []
        for direction in (rows, reversed(rows)):
            for row in direction:
                if filters[row].matches(event):
                    found.append(row)
                    break
        return list(dict.fromkeys(found))
