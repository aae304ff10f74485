"""Registry: the profiles that a process has seen, each with a row of the table.

A profile is read once: its filter from bytes, its boxes from the filter. All peers of a process
share a registry, and speak of others by row.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from fyke.errors import FykeError, shown
from fyke.filters import codec
from fyke.filters.filter import Filter
from fyke.filters.resolution import resolve
from fyke.peers.geometry.boxes import Place
from fyke.peers.geometry.shape import BUDGET, shape_of
from fyke.peers.geometry.space import Space
from fyke.peers.geometry.table import FRAGMENTS_MAX, Table
from fyke.peers.messages import Profile

SEQUENCES: Final = 2**63
ROWS_MAX: Final = 2_000_000


class Registry:
    """Rows by profile, and what is known of each row."""

    def __init__(
        self, space: Space, boxes_max: int = BUDGET, fragments_max: int = FRAGMENTS_MAX
    ) -> None:
        self.space = space
        self.table = Table(space, fragments_max)
        self._boxes_max = boxes_max
        self.rows: dict[Profile, int] = {}
        self._members: dict[tuple[str, str], int] = {}
        self.profiles: list[Profile] = []
        self.filters: list[Filter] = []
        self.members: list[int] = []
        """A number of its own for each address and name, by row."""
        self.places: list[Place] = []
        self.notes: dict[int, str] = {}
        """The part of a filter that did not fit into the budget of boxes, by row."""

    def row(self, profile: Profile) -> int:
        """Return the row of a profile; FykeError if it cannot be one."""
        row = self.rows.get(profile)
        return self._add(profile) if row is None else row

    def _add(self, profile: Profile) -> int:
        key = profile.address, profile.name
        if not (profile.address and profile.name and 0 <= profile.sequence < SEQUENCES):
            raise FykeError(f"the profile {shown(key)} has no name or no place in the order")
        if profile.version < 0 or len(self.profiles) >= ROWS_MAX:
            problem = "a negative version" if profile.version < 0 else "no room left"
            raise FykeError(f"the profile {shown(key)}: {problem}")
        filter = codec.decode(profile.filter)
        shape = shape_of(filter, self.space, self._boxes_max)
        tie = blake2b(repr(key).encode(), digest_size=8).digest()
        place = profile.sequence, int.from_bytes(tie) >> 1
        row = self.rows[profile] = self.table.add(place, shape)
        self.profiles.append(profile)
        self.filters.append(resolve(filter, self.space.schema))
        self.members.append(self._members.setdefault(key, len(self._members)))
        self.places.append(place)
        if shape.note:
            self.notes[row] = shape.note
        return row
