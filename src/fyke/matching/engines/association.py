"""Association: the owners that use a predicate, and those with enough satisfied predicates.

Idea. The predicate-subscription association table of PRU-5 with the counters of SUM-12. An owner
has a place, a small number; under each predicate stand the places of its users, in ascending order,
as one array of 32-bit words. An event's satisfied predicates select arrays; how often a place
occurs in all of them is its owner's count.
Example. p is used by the owners at 0 and 1, q by the one at 1, which needs 2. With p and q
satisfied, the arrays [0, 1] and [1] give the counts 1 and 2: the second owner has enough.
Invariant. An owner stands once under each of its distinct predicates, so that a count is one of
predicates, not of the lists in which an owner was met (SUM-Q6). A place that nobody has needs more
than can be counted.
Cost. Per event one pass over the selected arrays and, unless these are short, one over the
counters; both at the speed of memory. An update shifts an array per predicate, 4 bytes a user.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable
from typing import Any, Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Owner = TypeVar("Owner")

_NEVER: Final = 2**31 - 1
_NOWHERE: Final = np.empty(0, np.int32)
_SPARSE: Final = 32
"""Counters per occurrence, above which counters are visited one by one."""


class Association(Generic[Owner]):
    """Owners by place, places by the number of a predicate."""

    def __init__(self) -> None:
        self._users: dict[int, array[int]] = {}
        self._owners: dict[int, Owner] = {}
        self._needed = _NOWHERE
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._owners)

    def add(self, owner: Owner, numbers: Iterable[int], needed: int) -> int:
        """Add an owner that needs `needed` of these distinct predicates. Return its place."""
        if not self._free:
            self._grow()
        place = self._free.pop()
        self._owners[place], self._needed[place] = owner, needed
        for number in numbers:
            users = self._users.setdefault(number, array("i"))
            users.insert(bisect_left(users, place), place)
        return place

    def remove(self, place: int, numbers: Iterable[int]) -> None:
        """Take out what was added with these predicates."""
        for number in numbers:
            users = self._users[number]
            del users[bisect_left(users, place)]
            if not users:
                del self._users[number]
        del self._owners[place]
        self._needed[place] = _NEVER
        self._free.append(place)
        if not self._owners:
            self._needed = _NOWHERE
            self._free.clear()

    def _grow(self) -> None:
        """Double the places; the lowest is given out first."""
        taken = self._needed.size
        added = max(taken, 16)
        self._needed = np.concatenate([self._needed, np.full(added, _NEVER, np.int32)])
        self._free.extend(range(taken + added - 1, taken - 1, -1))

    def reached(self, satisfied: Collection[int]) -> list[Owner]:
        """Return the owners that have enough of the satisfied predicates, each given once."""
        users, owners = self._users, self._owners
        met = np.frombuffer(b"".join([users[n] for n in satisfied if n in users]), np.int32)
        if not met.size:
            return []
        return [owners[place] for place in self._enough(met).tolist()]

    def _enough(self, met: npt.NDArray[np.int32]) -> npt.NDArray[np.integer[Any]]:
        """Return the places that occur as often as needed."""
        needed = self._needed
        if met.size * _SPARSE >= needed.size:
            return np.flatnonzero(np.bincount(met, minlength=needed.size) >= needed)
        places, counts = np.unique(met, return_counts=True)
        return places[counts >= needed[places]]
