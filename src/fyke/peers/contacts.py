"""Contacts: whom a peer has heard of, how lately, and whom to believe.

A profile comes with an age, in cycles since its owner issued it; here it becomes the cycle of this
peer's own clock in which that was (`born`), so that nothing has to be counted up.

First-hand word wins. A peer that speaks for itself is believed. Hearsay is believed where it is
newer: a higher version, unless it was issued before the owner itself said something else. Who could
not be reached is dead, and hearsay from before does not bring it back. The dead of whom nobody
says so are forgotten when they have not been heard of for `age_max` cycles.

At most `contacts_max` are known at a time: a flood of newcomers is turned away until some are
forgotten, and those that are known stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from fyke.errors import FykeError
from fyke.peers.messages import Profile
from fyke.peers.registry import Registry
from fyke.peers.settings import Settings


class Contacts:
    """Rows of others by member, with the cycles that they were born in."""

    def __init__(self, registry: Registry, settings: Settings, ignored: Counter[str]) -> None:
        self._registry = registry
        self._age_max = settings.age_max
        self._most = settings.contacts_max
        self._ignored = ignored
        self.clock = 0
        self.born: dict[int, int] = {}
        """By row; a row is in it iff it is the one that its member has."""
        self._rows: dict[int, int] = {}
        """By member."""
        self._told: dict[int, int] = {}
        """The cycle in which a member last spoke for itself."""
        self._dead: dict[int, int] = {}
        """The cycle in which a member was found to be gone."""
        self.replaced: list[tuple[int, int]] = []
        """Rows, and those that took their place; for the views to follow."""

    def hear(self, profile: Profile) -> int:
        """Take a peer's word about itself. Return its row; FykeError for one too many."""
        known = self._registry.rows.get(profile)
        if len(self.born) >= self._most and known not in self.born:
            self._ignored["flood"] += 1
            raise FykeError(f"{self._most:,} peers are known already; expected no more newcomers")
        row = self._registry.row(profile)
        member = self._registry.members[row]
        self._dead.pop(member, None)
        self._told[member] = self.clock
        self._put(member, row, self.clock)
        return row

    def _news(self, row: int, profile: Profile, born: int) -> int | None:
        """Take hearsay of a row that is not known, of a member that is, or is gone. Return the row
        that its member has, None if it is believed to be gone.
        """
        member = self._registry.members[row]
        if born <= self._dead.get(member, born - 1):
            return None
        known = self._rows.get(member)
        if known is not None:
            version = self._registry.profiles[known].version
            if profile.version <= version or born <= self._told.get(member, born - 1):
                is_lie = profile.version >= version
                self._ignored["contradicted" if is_lie else "outdated"] += 1
                return known
        self._put(member, row, born)
        return row

    def _put(self, member: int, row: int, born: int) -> None:
        known = self._rows.get(member)
        if known != row:
            if known is not None:
                self.born.pop(known, None)
                self.replaced.append((known, row))
            self._rows[member] = row
        self.born[row] = max(born, self.born.get(row, born))

    def bury(self, row: int) -> None:
        """Believe that the member of a row is gone."""
        member = self._registry.members[row]
        self._dead[member] = self.clock
        self._forget(member)

    def _forget(self, member: int) -> None:
        row = self._rows.pop(member, None)
        if row is not None:
            self.born.pop(row, None)

    def at(self, address: str) -> list[int]:
        """Return the rows of all members at an address."""
        profiles = self._registry.profiles
        return [row for row in self.born if profiles[row].address == address]

    @property
    def is_crowded(self) -> bool:
        """Return True if there is hardly any room for newcomers."""
        return 2 * len(self.born) > self._most

    def forget(self, kept: Iterable[int]) -> None:
        """Forget all rows but some, and deaths and words of long ago."""
        needed = set(kept)
        for row in [row for row in self.born if row not in needed]:
            self._forget(self._registry.members[row])
        oldest = self.clock - self._age_max
        for told in (self._dead, self._told):
            for member in [member for member, at in told.items() if at < oldest]:
                del told[member]

    def read(self, profiles: Iterable[Profile], ages: Iterable[int]) -> list[tuple[int, int]]:
        """Take hearsay. Return rows and ages of those that are believed to be there.

        Ten profiles come with every message: what is usual is decided here, without calls.
        """
        clock, age_max, births = self.clock, self._age_max, self.born
        rows, members = self._registry.rows, self._registry.members
        found = []
        for profile, age in zip(profiles, ages, strict=True):
            if age > age_max:
                continue
            row = rows.get(profile)
            if len(births) >= self._most and row not in births:
                self._ignored["flood"] += 1
                continue
            if row is None:
                row = self._new_row(profile)
                if row is None:
                    continue
            born, known = clock - age, births.get(row)
            if known is not None:
                if born > known:
                    births[row] = born
            elif members[row] not in self._rows and members[row] not in self._dead:
                births[row] = born
                self._rows[members[row]] = row
            else:
                news = self._news(row, profile, born)
                if news is None:
                    continue
                row = news
            found.append((row, age))
        return found

    def _new_row(self, profile: Profile) -> int | None:
        try:
            return self._registry.row(profile)
        except FykeError:
            self._ignored["unreadable profile"] += 1
            return None
