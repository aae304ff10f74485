"""Cyclon: random links by shuffling (S2S-7; Voulgaris, Gavidia, van Steen 2005).

Each cycle a member takes its oldest link out of its view and swaps a few links with that peer; it
gets in return what the other gives away. Links change all the time, like cards in a deck, the
number of links to a peer stays about the same, and a link to the dead goes when it is the oldest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random


class Cyclon:
    """A view of at most `size` rows, each with the cycle in which it was born."""

    def __init__(self, size: int, exchange: int) -> None:
        self._size = size
        self._exchange = exchange
        self.view: dict[int, int] = {}

    def start(self, random: Random) -> tuple[int, list[int]] | None:
        """Take out the oldest link. Return it, and what to send there beside oneself."""
        if not self.view:
            return None
        oldest = min(self.view, key=self.view.__getitem__)
        del self.view[oldest]
        return oldest, self.sample(random, self._exchange - 1)

    def sample(self, random: Random, count: int | None = None) -> list[int]:
        """Return some links by chance."""
        wanted = self._exchange if count is None else count
        links = list(self.view)
        return links if len(links) <= wanted else random.sample(links, wanted)

    def merge(self, received: Iterable[tuple[int, int]], sent: Sequence[int], own: int) -> None:
        """Take links in: first into empty places, then for those that were sent."""
        view, free = self.view, list(sent)
        for row, born in received:
            if row == own or row in view:
                continue
            while len(view) >= self._size and free:
                view.pop(free.pop(), None)
            if len(view) < self._size:
                view[row] = born

    def replace(self, old: int, new: int | None) -> None:
        """Put a row in the place of another, or nothing."""
        born = self.view.pop(old, None)
        if born is not None and new is not None:
            self.view[new] = born
