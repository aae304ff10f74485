"""The Engine contract: what an index must do, and the record of the work it did.

An engine knows filters by slot, a number that the Matcher gives out and never gives twice. Ids,
texts, explanations and snapshots are the Matcher's business, so an engine is its idea and little
else. `scan.ScanEngine` is the contract as code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from fyke.events.event import Event
from fyke.filters.filter import Filter


@dataclass(slots=True)
class Work:
    """What matching has cost so far."""

    probes: int = 0
    """Questions to the index: a value looked up, a node visited."""
    candidates: int = 0
    """Filters that the index could not rule out."""
    checks: int = 0
    """Filters evaluated as a whole to decide about a candidate."""


class Engine(Protocol):
    """Maps an event to the slots whose filter accepts it.

    Law: for every event, match(event) lists, in ascending order, exactly the slots added and not
    removed whose filter.matches(event). Adding and removing take effect with the next event.
    """

    work: Work

    @property
    def unguarded(self) -> int:
        """How many filters no index entry guards: they are looked at for every event."""
        ...

    def add(self, slot: int, filter: Filter) -> None:
        """Takes a filter into the index. The slot was never used before."""
        ...

    def remove(self, slot: int) -> None:
        """Takes a filter out again. The slot is one that was added."""
        ...

    def match(self, event: Event) -> list[int]: ...
