"""Vicinity: links to the closest peers (S2S-8, S2S-9; Voulgaris, van Steen 2005).

Each cycle a member tells one of its near links who is closest to that one, of all that it knows,
and hears the same about itself. Of those that overlap, which are all equally close, some are kept
by chance.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import numpy as np

from fyke.peers.geometry.table import Table
from fyke.peers.settings import Settings


class Vicinity:
    """A view of at most `settings.near_view` rows."""

    def __init__(self, table: Table, settings: Settings, draw: Random) -> None:
        self._table = table
        self._settings = settings
        self._draw = draw
        self.view: list[int] = []

    def closest_to(self, target: int, others: Iterable[int]) -> list[int]:
        """Return the rows to tell a target, of this view and some others."""
        return self._closest(target, others, self._settings.near_exchange)

    def keep_closest(self, own: int, others: Iterable[int]) -> None:
        """Make the view anew, of itself and some others."""
        self.view = self._closest(own, others, self._settings.near_view)

    def _closest(self, target: int, others: Iterable[int], count: int) -> list[int]:
        rows = {**dict.fromkeys(self.view), **dict.fromkeys(others)}
        rows.pop(target, None)
        array, seed = np.array(list(rows), np.int64), self._draw.getrandbits(62)
        found: list[int] = self._table.closest(array, target, count, seed).tolist()
        return found

    def replace(self, old: int, new: int | None) -> None:
        """Put a row in the place of another, or nothing."""
        if old in self.view:
            rows = (new if row == old else row for row in self.view)
            self.view = [row for row in rows if row is not None]
