"""Changes: what was said, as rows, and what is still to be worked into them.

Idea. Adding and removing is noted, and worked into the arrays when somebody asks next: a pass over
all boxes for any number of changes. Rows stay as filters said them, so that what is left after
changes are the rows of a new summary; how they are joined (mode, budget) is decided after that.
Example. add, replace, remove of one subscription leave nothing to work in.
Invariant. A subscription is in the rows, or waits, or neither; never both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from fyke.events.domain import Enumeration
from fyke.summaries.constraints import Box
from fyke.summaries.encoding import NUMBER_BITS, SummaryError
from fyke.summaries.line import Ints
from fyke.summaries.table import EMPTY_TABLE, Builder, Table, concat

Key = tuple[int, int]
"""The place of an owner and a number."""


class Changes:
    """The rows as they were said. `orders` are the enumerations by attribute."""

    def __init__(self, orders: Mapping[str, Enumeration]) -> None:
        self._orders = orders
        self._said: Table = EMPTY_TABLE
        self._waiting: dict[Key, list[Box]] = {}
        self._gone: set[Key] = set()

    @property
    def are_waiting(self) -> bool:
        return bool(self._waiting or self._gone)

    @property
    def table(self) -> Table:
        """The rows, with all changes worked in: what goes first, then what comes."""
        if self._gone:
            self._said = without(self._said, self._gone)
            self._gone = set()
        if self._waiting:
            builder = Builder(self._orders)
            for (place, number), boxes in self._waiting.items():
                builder.add(boxes, place, number)
            new = builder.table()
            self._said = concat([self._said, new]) if len(self._said.members) else new
            self._waiting = {}
        return self._said

    def replace(self, said: Table) -> None:
        """Take other rows; what waits is given up."""
        self._said, self._waiting, self._gone = said, {}, set()

    def put(self, key: Key, boxes: list[Box]) -> None:
        """Add a subscription, or give it other boxes."""
        self._gone.add(key)
        self._waiting[key] = boxes

    def drop(self, key: Key) -> None:
        """Remove a subscription, if it is there."""
        self._waiting.pop(key, None)
        self._gone.add(key)

    def highest(self, place: int) -> int:
        """Return the highest number of an owner in the rows; -1 if it has none there."""
        members = self._said.members
        own = members[members[:, 1] == place, 2]
        return int(own.max()) if len(own) else -1


def check_numbers(numbers: Iterable[int]) -> None:
    """Raise SummaryError for what cannot be the number of a subscription."""
    for number in numbers:
        if not 0 <= number < 1 << NUMBER_BITS:
            raise SummaryError(f"a subscription has no number {number}")


def without(table: Table, gone: Iterable[Key]) -> Table:
    """Return a table without some subscriptions."""
    keys = list(gone)
    check_numbers(number for _, number in keys)
    members = table.members.astype(np.int64, copy=False)
    dropped = np.array([place << NUMBER_BITS | number for place, number in keys], np.int64)
    whole: Ints = members[:, 1] << NUMBER_BITS | members[:, 2]
    return table.with_members(table.members[~np.isin(whole, dropped)])
