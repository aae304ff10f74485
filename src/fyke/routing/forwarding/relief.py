"""Relief: a broker with little memory prunes what it filters for neighbours.

Idea. What clients want stays exact: their broker has the last word. What a neighbour wants may be
generalised at the price of extra events on that link (PRU-7). When tables and offers pass the limit
(PRU-8), the pruning that costs least in extra events comes first, in slices, until enough is freed
(PRU-Q13). The original is not kept: the neighbour has it. When rows have gone and there is room
again, it is asked for it (`Restate`), the dearest first; a pruning ends that until the next row
goes, so that it never turns in circles.
Waiting. Rows wait by the magnitude of what their next pruning costs, in quarters of an octave. The
first of the least is looked at again when its turn comes: where its cost has drifted, it waits with
its like (PRU-22). Each row is one entry of one dictionary: more would eat up what pruning frees.
Example. "symbol = 'A' and price < 10 and size > 5", pruned once, is "symbol = 'A' and price < 10".
Invariant. A row in the table covers what the neighbour told; so does what others are told of it.
A pruned row has the key of the original, so it is taken back, replaced and told again like that.
Shares. How often a condition holds is read from the last events that passed; before any did, it is
guessed from its form.
Cost. At most `SLICE` prunings an input, and twice `LOOKED_AT` rows are looked at. Rows that cannot
be pruned further are looked at once. A pruning is told to the other neighbours as a change of the
row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from math import log2
from typing import Final, TypeAlias

from fyke.events.event import Event
from fyke.filters.filter import Filter, Not
from fyke.matching.statistics import Statistics
from fyke.nodes.message import Control, SubscriptionKey
from fyke.pruning.estimating import estimate
from fyke.pruning.queue import Standing
from fyke.pruning.shape import Shapes
from fyke.pruning.steps import Rules

SLICE: Final = 64
LOOKED_AT: Final = 256
SAMPLE: Final = 64
"""Events that are remembered."""
MAGNITUDES: Final = 4
"""Magnitudes in an octave of costs."""
NEW: Final = -1
NOTHING_LEFT: Final = 1_000_000
"""The magnitude of rows that were not looked at yet, and of those with nothing to prune."""
_Place: TypeAlias = tuple[int, bool]
"""A magnitude, and whether rows are pruned already."""
_RULES: Final = Rules()
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
        self._asked: dict[SubscriptionKey, None] = {}
        self._waiting: dict[_Place, dict[SubscriptionKey, int]] = {}
        """The bytes that each row of a neighbour has freed."""
        self._shapes = Shapes()
        self._has_room = False
        """Rows have gone since the last pruning."""
        self._events: deque[Event] = deque(maxlen=SAMPLE)

    def __len__(self) -> int:
        """Return how many rows are pruned."""
        return sum(len(rows) for (_, is_pruned), rows in self._waiting.items() if is_pruned)

    @property
    def saved(self) -> int:
        return sum(sum(rows.values()) for rows in self._waiting.values())

    def see(self, event: Event) -> None:
        """Remember an event. With the first of them, costs are no guesses any more."""
        if not self._events:
            for place in [place for place in self._waiting if place[0] not in (NEW, NOTHING_LEFT)]:
                self._waiting.setdefault((NEW, place[1]), {}).update(self._waiting.pop(place))
        self._events.append(event)

    def add(self, key: SubscriptionKey) -> None:
        """Learn that a neighbour has told a row: it is new, or as it was before all prunings."""
        self._forget(key)
        self._wait(key, NEW, 0)

    def drop(self, key: SubscriptionKey) -> None:
        """Learn that a row is gone."""
        self._forget(key)
        self._has_room = True

    def _forget(self, key: SubscriptionKey) -> None:
        self._leave(key)
        self._asked.pop(key, None)

    def _wait(self, key: SubscriptionKey, magnitude: int, freed: int) -> None:
        self._waiting.setdefault((magnitude, freed > 0), {})[key] = freed

    def _leave(self, key: SubscriptionKey) -> int:
        """Let a row wait no longer. Return the bytes that it has freed."""
        for place, rows in self._waiting.items():
            if key in rows:
                freed = rows.pop(key)
                if not rows:
                    del self._waiting[place]
                return freed
        return 0

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
        new = chain(*(self._waiting.get((NEW, is_pruned), ()) for is_pruned in (False, True)))
        for key in list(islice(new, LOOKED_AT)):
            self._look(key, filter_of(key))
        found: dict[SubscriptionKey, Filter] = {}
        for _ in range(LOOKED_AT):
            least = self._least()
            if excess <= 0 or len(found) == SLICE or least is None:
                break
            key = next(iter(self._waiting[least]))
            before = found[key] if key in found else filter_of(key)
            looked = self._look(key, before)
            if looked is None or looked[0] > (self._least() or least)[0]:
                continue
            magnitude, standing, node = looked
            standing.prune(node)
            gained = freed(before, standing.filter)
            excess -= gained
            found[key] = standing.filter
            self._has_room = False
            self.prunings += 1
            self._wait(key, magnitude, self._leave(key) + gained)
        return found

    def _least(self) -> _Place | None:
        places = (place for place in self._waiting if place[0] not in (NEW, NOTHING_LEFT))
        return min(places, default=None)

    def _look(self, key: SubscriptionKey, filter: Filter) -> tuple[int, Standing, int] | None:
        """Let a row wait by what its best pruning costs now: its magnitude, and the node that goes.

        Return None for a row that has nothing to prune: it waits no longer.
        """
        freed = self._leave(key)
        standing = Standing.of("", filter, self._shapes)
        best = standing.best(self._share, _RULES)
        if best is None:
            if freed:
                self._wait(key, NOTHING_LEFT, freed)
            return None
        cost, _, node, _ = best
        magnitude = int(MAGNITUDES * log2(1 + cost))
        self._wait(key, magnitude, freed)
        return magnitude, standing, node

    def missing(self, room: int) -> list[SubscriptionKey]:
        """Return originals to ask for, by key, the dearest first, as there is room for them."""
        keys: list[SubscriptionKey] = []
        for key, freed in self._dearest() if self._has_room else ():
            room -= freed
            if room < 0 or len(keys) == SLICE:
                break
            if key not in self._asked:
                keys.append(key)
        self._asked.update(dict.fromkeys(keys))
        return keys

    def _dearest(self) -> Iterator[tuple[SubscriptionKey, int]]:
        """Yield pruned rows, those first whose next pruning costs most."""
        for place in sorted(self._waiting, reverse=True):
            if place[1]:
                yield from reversed(self._waiting[place].items())

    def _share(self, literal: Filter) -> float:
        if not self._events:
            is_negated = isinstance(literal, Not)
            share = estimate(literal.child if isinstance(literal, Not) else literal, _UNKNOWN)
            return 1 - share if is_negated else share
        held = sum(map(literal.matches, self._events))
        return (held + 0.5) / (len(self._events) + 1)


_UNKNOWN: Final = Statistics()
