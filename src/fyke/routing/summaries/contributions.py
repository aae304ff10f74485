"""Contributions: what brokers tell each other of summaries, and what each one has been told.

Idea. A contribution is its owner's as of a version. What travels is the difference to what the
neighbour was told: added subscriptions as rows, removed ones as numbers. A neighbour whose version
is another says so (`Held`), and is told what it lacks.
Several sources. Where brokers send to more than one neighbour, an owner's contribution arrives on
several ways. The first to bring a version brings the rows; who brings the same version later is one
more *source* of it. A version is sure as long as the link to one of its sources works.
Invariant. The numbers of an owner are those of the version that is held.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from fyke.nodes.message import Control, NodeId

LIFE_BITS: Final = 14
"""Changes within one number of a life."""
UNKNOWN: Final = -1
"""The version of an owner of whom nothing is known."""
Numbers = frozenset[int]
NO_NUMBERS: Final[Numbers] = frozenset()


class Contribution(Control, frozen=True):
    """The changes in the summaries that the sender holds.

    `owners` are (name, version before or -1, version, view); `removed` the numbers of subscriptions
    that are gone, by owner; `forgotten` owners are no longer held. `added` is a summary.
    """

    owners: tuple[tuple[str, int, int, str], ...]
    removed: dict[str, tuple[int, ...]]
    forgotten: tuple[str, ...]
    added: bytes


class Held(Control, frozen=True):
    """The versions, by owner, of what the receiver told and the sender holds."""

    versions: dict[str, int]


def are_of_one_life(one: int, other: int) -> bool:
    return one >> LIFE_BITS == other >> LIFE_BITS


class Difference(NamedTuple):
    """The changes that a neighbour lacks."""

    owners: tuple[tuple[str, int, int, str], ...]
    removed: dict[str, tuple[int, ...]]
    forgotten: tuple[str, ...]
    added: dict[str, Numbers]


class Told:
    """The version and the numbers that one neighbour was told of each owner."""

    def __init__(self) -> None:
        self._known: dict[NodeId, tuple[int, Numbers]] = {}

    def is_up_to_date(self, versions: Mapping[NodeId, int]) -> bool:
        return {owner: version for owner, (version, _) in self._known.items()} == versions

    def catch_up(
        self, held: Mapping[NodeId, tuple[int, Numbers]], views: Mapping[NodeId, str]
    ) -> Difference | None:
        """Return the changes that the neighbour lacks, and count them as told.

        None if it lacks nothing.
        """
        owners, removed, added = [], {}, {}
        for owner, (version, numbers) in held.items():
            before, known = self._known.get(owner, (UNKNOWN, NO_NUMBERS))
            if before == version:
                continue
            if not are_of_one_life(before, version):
                before, known = UNKNOWN, NO_NUMBERS
            owners.append((owner, before, version, views.get(owner, "")))
            added[owner] = numbers - known
            if known - numbers:
                removed[owner] = tuple(sorted(known - numbers))
        forgotten = tuple(owner for owner in self._known if owner not in held)
        self._known = dict(held)
        if not owners and not forgotten:
            return None
        return Difference(tuple(owners), removed, forgotten, added)

    def correct(self, versions: Mapping[NodeId, int]) -> None:
        """Learn what the neighbour holds; what else it was told is forgotten."""
        nothing = UNKNOWN, NO_NUMBERS
        self._known = {
            owner: known if (known := self._known.get(owner, nothing))[0] == version else nothing
            for owner, version in versions.items()
        }


class Others:
    """The contributions that are held of other brokers, and the neighbours that told them."""

    def __init__(self) -> None:
        self.sources: dict[NodeId, set[NodeId]] = {}
        """By owner, the neighbours that told the version that is held."""
        self.views: dict[NodeId, str] = {}
        self.numbers: dict[NodeId, Numbers] = {}

    def take(self, owner: NodeId, source: NodeId, view: str, numbers: Numbers) -> None:
        """Hold a version that a neighbour is the first to tell."""
        self.sources[owner] = {source}
        self.views[owner] = view
        self.numbers[owner] = numbers

    def confirm(self, owner: NodeId, source: NodeId, is_same: bool) -> None:
        """Learn that a neighbour holds the same version, or no longer does."""
        change = set.add if is_same else set.discard
        change(self.sources[owner], source)

    def are_others(self, owner: NodeId, source: NodeId) -> bool:
        """Return True if another neighbour stands for the version that is held."""
        return bool(self.sources.get(owner, set()) - {source})

    def told_by(self, source: NodeId) -> list[NodeId]:
        return [owner for owner, sources in self.sources.items() if source in sources]

    def leave(self, gone: Iterable[NodeId], owners: Collection[NodeId]) -> list[NodeId]:
        """Take some neighbours out of the sources of owners; return those without any then."""
        left = set(gone)
        for owner in owners:
            self.sources.get(owner, set()).difference_update(left)
        return [owner for owner in owners if owner in self.sources and not self.sources[owner]]

    def drop(self, owners: Iterable[NodeId]) -> None:
        for owner in owners:
            for known in (self.sources, self.views, self.numbers):
                known.pop(owner, None)
