"""The Engine contract: what an index must do, and the record of the work it did.

An engine knows filters by slot, a small number that the Matcher gives out; the slot of a filter
that was removed may come again with another. Ids, texts, explanations and snapshots are the
Matcher's business, so an engine is its idea and little else. `scan.ScanEngine` is the contract as
code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.matching.arrays import Arrays
from fyke.matching.statistics import Statistics

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(slots=True)
class Work:
    """The cost of matching so far."""

    probes: int = 0
    """Questions to the index: a value looked up, a node visited."""
    candidates: int = 0
    """Filters that the index could not rule out."""
    checks: int = 0
    """Filters evaluated as a whole to decide about a candidate."""
    touched: int = 0
    """Pointers and words of bits that intersections of profile sets looked at."""


class Engine(Protocol):
    """Maps an event to the slots whose filter accepts it.

    Law: for every event, match(event) lists, in ascending order, exactly the slots added and not
    removed whose filter.matches(event). Adding and removing take effect with the next event.
    """

    work: Work

    @property
    def unguarded(self) -> int:
        """The number of filters that no index entry guards: every event looks at them."""
        ...

    def add(self, slot: int, filter: Filter) -> None:
        """Take a filter into the index. The slot is not in use."""
        ...

    def remove(self, slot: int) -> None:
        """Take a filter out again. The slot is one that was added."""
        ...

    def match(self, event: Event) -> list[int]: ...


@runtime_checkable
class Persistent(Protocol):
    """An engine whose index is kept in snapshots; others are built again from the filters.

    Law: an engine that took up what another one's `save` gave matches like it.
    """

    def save(self) -> tuple[Arrays, dict[str, object]]:
        """Return the index as arrays, whose names begin with `index.`, and the rest as for JSON.

        Without an index there are no arrays. They are to be read before the next change.
        """
        ...

    def load(
        self,
        arrays: Arrays,
        details: dict[str, Any],
        slots: npt.NDArray[Any],
    ) -> None:
        """Fill an engine that is empty. The arrays are mapped and must not be written.

        Raise FykeError where they are no index of these slots, which ascend.
        """
        ...


@runtime_checkable
class Scouting(Protocol):
    """An engine that can guess which filters nearly accepted an event."""

    def nearest(self, event: Event, count: int) -> list[int]:
        """Return some slots whose filters refuse the event, by few of their clauses."""
        ...


@runtime_checkable
class Reordering(Protocol):
    """An engine that asks one attribute after the other, in an order that it may change."""

    def reorder(self) -> None:
        """Ask first the attributes that have refused most; others may search, add, remove."""
        ...


@runtime_checkable
class Learning(Protocol):
    """An engine whose index depends on what is known about events; its verdicts never do."""

    def learn(self, statistics: Statistics) -> None:
        """Take statistics into account, beside those given before."""
        ...

    def compact(self) -> None:
        """File all filters again by what is known now; others may search, add, remove."""
        ...
