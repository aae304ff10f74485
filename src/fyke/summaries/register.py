"""Register: whose subscriptions there are, as of which version, and what they are called.

Idea. Inside, a subscription is the place of its owner and a number, c1 and c2 of its id (SUM-11).
Outside it has an owner with a name, and an id of its own where that is known; a summary that came
without names calls it by its owner and its number, `b7#12`.
Invariant. An owner stands once; a number of an owner has one id at most, an id one number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final

import msgspec
import numpy as np

from fyke.errors import FykeError, shown
from fyke.summaries.encoding import NUMBER_BITS, SummaryError
from fyke.summaries.line import Ints

NUMBERED: Final = "#"
"""Between the owner and the number of a subscription whose id is not known here."""
_Number = Annotated[int, msgspec.Meta(ge=0, lt=1 << NUMBER_BITS)]
_Ids = list[tuple[_Number, list[tuple[_Number, str]]]]


class Register:
    """The owners of a summary, in order."""

    def __init__(self) -> None:
        self.owners: list[str] = []
        self.versions: dict[str, int] = {}
        self.ids: dict[str, dict[str, int]] = {}
        """By owner, the numbers of its ids."""
        self._following: dict[str, int] = {}
        """The next number of each owner, where it is known. A number that has gone does not come
        again: who has been told of it goes by numbers.
        """
        self._given: dict[str, int] = {}
        """The numbers that each owner had given when it was merged or written, as a count."""
        self._named: dict[tuple[int, int], str] | None = None

    def claim(self, owner: str, version: int) -> None:
        """Enter an owner without subscriptions; SummaryError if it is there already."""
        if type(owner) is not str or type(version) is not int or version < 0:
            raise SummaryError(f"{shown(owner)} of version {shown(version)} is no owner")
        if owner in self.versions:
            raise SummaryError(f"two contributions call their owner {shown(owner)}")
        self.owners.append(owner)
        self.versions[owner] = version
        self.ids[owner] = {}

    def place(self, owner: str) -> int:
        """Return where an owner stands (c1)."""
        return self.owners.index(owner)

    def only_owner(self) -> str:
        """Return the owner if there is but one, who need not be named then."""
        if len(self.owners) != 1:
            known = ", ".join(map(shown, self.owners[:10]))
            raise SummaryError(f"say whose subscription it is: owner= one of {known or 'none'}")
        return self.owners[0]

    # --- ids and numbers --------------------------------------------------------------------------

    def enter(self, id: str, owner: str) -> int:
        """Give a new id the next number of its owner (`reserve`)."""
        number = self._following[owner]
        self._following[owner] += 1
        self.ids[owner][id] = number
        self._named = None
        return number

    def reserve(self, owner: str, highest: Callable[[int], int]) -> None:
        """Let the numbers of an owner go on behind all that it has now.

        `highest` tells the highest number in the rows of a place; it is asked once, before the
        first number comes or goes.
        """
        if owner not in self._following:
            named = max(self.ids[owner].values(), default=-1)
            known = max(named, highest(self.place(owner))) + 1
            self._following[owner] = max(known, self._given.get(owner, 0))

    def given(self, owner: str) -> int:
        """Return how many numbers an owner has given for certain; those that have gone count."""
        return max(self._following.get(owner, 0), self._given.get(owner, 0))

    def go_behind(self, owner: str, given: int) -> None:
        """Let the next number of an owner be no less than those that it gave elsewhere."""
        self._given[owner] = max(given, self._given.get(owner, 0))
        if owner in self._following:
            self._following[owner] = max(given, self._following[owner])

    def strike(self, id: str, owner: str) -> None:
        """Forget an id; its number does not come again if it was reserved before."""
        self.ids[owner].pop(id, None)
        self._named = None

    def rename(self, ids: dict[str, dict[str, int]]) -> None:
        """Give owners other numbers for their ids."""
        self.ids.update(ids)
        self._following.clear()
        self._given.clear()
        self._named = None

    def find(self, id: str, owner: str | None) -> tuple[str, int] | None:
        """Return the owner and the number of an id; FykeError if several owners have it."""
        owners = self.owners if owner is None else [owner]
        found = [(name, self.ids[name][id]) for name in owners if id in self.ids.get(name, ())]
        if len(found) > 1:
            names = ", ".join(shown(name) for name, _ in found)
            raise FykeError(f"several owners have a subscription {shown(id)}: {names}; say which")
        return found[0] if found else None

    def read_number(self, id: object) -> tuple[str, int] | None:
        """Return the owner and the number that an id of a subscription without a name says."""
        name, mark, number = str(id).rpartition(NUMBERED)
        if mark and number.isascii() and number.isdigit() and name in self.versions:
            return name, int(number)
        return None

    def name(self, place: int, number: int) -> str:
        """Return the id of a subscription, or its owner and number."""
        named = self.names()
        found = named.get((place, number))
        return f"{self.owners[place]}{NUMBERED}{number}" if found is None else found

    def names(self) -> dict[tuple[int, int], str]:
        """Return all ids by place and number."""
        if self._named is None:
            self._named = {
                (self.place(owner), number): id
                for owner, some in self.ids.items()
                for id, number in some.items()
            }
        return self._named

    # --- as data ----------------------------------------------------------------------------------

    def ids_plain(self) -> list[tuple[int, list[tuple[int, str]]]]:
        """Return the ids of each owner by number, after the count of its numbers.

        The count is 0 where none of the last numbers has gone.
        """
        found = []
        for owner in self.owners:
            some = sorted((number, id) for id, number in self.ids[owner].items())
            given, behind = self.given(owner), some[-1][0] + 1 if some else 0
            found.append((given if given > behind else 0, some))
        return found

    def read_ids(self, plain: Any) -> None:
        """Take in ids; SummaryError if they are not those of these owners."""
        try:
            read = msgspec.convert(plain, _Ids)
            for owner, (given, some) in zip(self.owners, read, strict=True):
                ids = self.ids[owner] = {id: number for number, id in some}
                if any(one >= other for (one, _), (other, _) in pairwise(some)):
                    raise ValueError
                if len(ids) < len(some):
                    raise ValueError
                self.go_behind(owner, given)
        except ValueError:
            raise SummaryError("the summary is damaged: ids are not whole") from None

    # --- some owners, more owners -----------------------------------------------------------------

    def restricted(self, kept: Iterable[str]) -> Register:
        """Return the register of some owners, in the order given."""
        some = Register()
        for owner in kept:
            some.claim(owner, self.versions[owner])
            some.ids[owner] = dict(self.ids[owner])
        some._following = {owner: at for owner, at in self._following.items() if owner in some.ids}
        some._given = {owner: at for owner, at in self._given.items() if owner in some.ids}
        return some

    def extended(self, versions: Mapping[str, int], taken: Mapping[str, int]) -> Register:
        """Return the register with other owners and versions, too, in the order of names.

        `taken` has the highest number that is told of an owner, so that the next one is behind it.
        """
        whole = Register()
        for owner in sorted({*self.owners, *versions}):
            whole.claim(owner, versions.get(owner, self.versions.get(owner, 0)))
            whole.ids[owner] = self.ids.get(owner, {})
        whole._following = {
            owner: max(following, taken.get(owner, -1) + 1)
            for owner, following in self._following.items()
        }
        whole._given = dict(self._given)
        return whole

    def places_in(self, other: Register) -> Ints:
        """Return where each owner stands in another register; -1 where it does not."""
        places = {owner: at for at, owner in enumerate(other.owners)}
        return np.array([places.get(owner, -1) for owner in self.owners], np.int64)


def moved(members: Ints, places: Ints) -> Ints:
    """Return members with their owners elsewhere; those of owners that are nowhere go."""
    if not len(members):
        return members
    changed = members.copy()
    changed[:, 1] = places[members[:, 1]]
    return changed[changed[:, 1] >= 0]


def numbers_of(members: Ints, place: int) -> list[int]:
    """Return the numbers of an owner's subscriptions, in order."""
    found: Sequence[int] = np.unique(members[members[:, 1] == place, 2]).tolist()
    return list(found)
