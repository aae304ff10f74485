"""Relief: a broker with little memory prunes what it filters for neighbours.

Idea. What clients want stays exact: their broker has the last word. What a neighbour wants may be
generalised at the price of extra events on that link (PRU-7). When tables and offers pass the limit
(PRU-8), the rows of neighbours are taken in slices, and the pruning that costs least in extra
events comes first (`pruning.queue`), until enough is freed (PRU-Q13). The original is not kept: the
neighbour has it. When rows have gone and there is room again, it is asked for it (`Restate`), last
pruned first; a pruning ends that until the next row goes, so that it never turns in circles.
Example. "symbol = 'A' and price < 10 and size > 5", pruned once, is "symbol = 'A' and price < 10".
Invariant. A row in the table covers what the neighbour told; so does what others are told of it.
A pruned row has the key of the original, so it is taken back, replaced and told again like that.
Shares. How often a condition holds is read from the last events that passed; before any did, it is
guessed from its form.
Cost. At most `SLICE` prunings an input, over `LOOKED_AT` rows. Rows that cannot be pruned further
are looked at once. A pruning is told to the other neighbours as a change of the row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from fyke.events.event import Event
from fyke.filters.filter import Filter, Not
from fyke.matching.statistics import Statistics
from fyke.nodes.message import Control, SubscriptionKey
from fyke.pruning.estimating import estimate
from fyke.pruning.queue import PruningQueue

SLICE: Final = 64
LOOKED_AT: Final = 256
SAMPLE: Final = 64
"""Events that are remembered."""
ROOM: Final = 0.9
"""The share of the limit up to which originals are asked for again."""


class Restate(Control, frozen=True):
    """The sender asks again for subscriptions as the receiver told them, by their keys."""

    keys: tuple[SubscriptionKey, ...]


class Relief:
    """The pruned rows of a broker with a limit in bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.prunings = 0
        self._pruned: dict[SubscriptionKey, int] = {}
        """Bytes that each has freed, the last pruned last."""
        self._asked: dict[SubscriptionKey, None] = {}
        self._open: dict[SubscriptionKey, None] = {}
        """Rows of neighbours that may have something to prune; what was looked at goes last."""
        self._has_room = False
        """Rows have gone since the last pruning."""
        self._events: deque[Event] = deque(maxlen=SAMPLE)

    def __len__(self) -> int:
        return len(self._pruned)

    @property
    def saved(self) -> int:
        return sum(self._pruned.values())

    def see(self, event: Event) -> None:
        """Remember an event."""
        self._events.append(event)

    def add(self, key: SubscriptionKey) -> None:
        """Learn that what a neighbour wants has come, or is another filter now."""
        self._open[key] = None

    def drop(self, key: SubscriptionKey) -> None:
        """Forget a row that is gone."""
        self.forget(key)
        self._open.pop(key, None)
        self._has_room = True

    def forget(self, key: SubscriptionKey) -> None:
        """Forget that a row is pruned."""
        self._pruned.pop(key, None)
        self._asked.pop(key, None)

    def lose(self, keys: Iterable[SubscriptionKey]) -> None:
        """Forget that these originals were asked for: the answers may be lost."""
        for key in keys:
            self._asked.pop(key, None)

    def prune(
        self,
        filter_of: Callable[[SubscriptionKey], Filter],
        freed: Callable[[Filter, Filter], int],
        excess: int,
    ) -> dict[SubscriptionKey, Filter]:
        """Return wider filters for some rows, to free this many bytes if possible."""
        queue = PruningQueue(self._share)
        whole: dict[str, tuple[SubscriptionKey, Filter]] = {}
        for number, key in enumerate(list(islice(self._open, LOOKED_AT))):
            del self._open[key]
            filter = filter_of(key)
            if queue.add(str(number), filter):
                whole[str(number)] = key, filter
                self.add(key)
        found: dict[SubscriptionKey, Filter] = {}
        for _ in range(SLICE):
            pruned = queue.pop() if excess > 0 else None
            if pruned is None:
                break
            key, before = whole[pruned.id]
            gained = freed(found.get(key, before), pruned.filter)
            excess -= gained
            found[key] = pruned.filter
            self._has_room = False
            self.prunings += 1
            self._pruned[key] = self._pruned.pop(key, 0) + gained
        return found

    def missing(self, room: int) -> list[SubscriptionKey]:
        """Return originals to ask for, by key, the last pruned first, as there is room for them."""
        keys: list[SubscriptionKey] = []
        for key in reversed(self._pruned) if self._has_room else ():
            room -= self._pruned[key]
            if room < 0 or len(keys) == SLICE:
                break
            if key not in self._asked:
                keys.append(key)
        self._asked.update(dict.fromkeys(keys))
        return keys

    def _share(self, literal: Filter) -> float:
        if not self._events:
            is_negated = isinstance(literal, Not)
            share = estimate(literal.child if isinstance(literal, Not) else literal, _UNKNOWN)
            return 1 - share if is_negated else share
        held = sum(map(literal.matches, self._events))
        return (held + 0.5) / (len(self._events) + 1)


_UNKNOWN: Final = Statistics()
