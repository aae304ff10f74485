"""Crowds: who is at which place, in little memory where most are alone.

One who is alone at a place is held bare; a dictionary, which keeps the order of coming, is made
when a second one comes. What is held must be no dictionary itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=Hashable)


class Crowds(Generic[K, T]):
    """Places with somebody there."""

    __slots__ = ("_at", "total")

    def __init__(self) -> None:
        self._at: dict[K, Any] = {}
        self.total = 0
        """All who are somewhere."""

    def add(self, place: K, one: T) -> bool:
        """Whether nobody was there before."""
        self.total += 1
        there = self._at.setdefault(place, one)
        if there is one:
            return True
        if type(there) is dict:
            there[one] = None
        else:
            self._at[place] = {there: None, one: None}
        return False

    def remove(self, place: K, one: T) -> bool:
        """Whether nobody is left there."""
        self.total -= 1
        there = self._at[place]
        if type(there) is dict:
            del there[one]
            if there:
                return False
        del self._at[place]
        return True

    def at(self, place: K) -> Iterable[T]:
        there = self._at.get(place)
        if there is None:
            return ()
        return there if type(there) is dict else (there,)

    def size(self, place: K) -> int:
        there = self._at.get(place)
        if there is None:
            return 0
        return len(there) if type(there) is dict else 1

    def all(self) -> Iterator[T]:
        """Everybody, as often as they are somewhere."""
        for place in self._at:
            yield from self.at(place)

    def __iter__(self) -> Iterator[K]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)
