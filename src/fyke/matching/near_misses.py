"""Near misses: the subscriptions that nearly accepted an event, with the clauses that failed."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from fyke.errors import printable
from fyke.events.event import Event
from fyke.filters.explanation import Explanation, explain
from fyke.filters.filter import And, Filter
from fyke.matching.engines.contract import Scouting
from fyke.matching.subscription_set import SubscriptionSet

SUSPECTS_MIN: Final = 2_000
"""Subscriptions that are looked at, at least, if there are as many."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A subscription that refused an event, with the clauses that failed."""

    id: str
    failed: tuple[Explanation, ...]
    held: int


class NearMisses(list[NearMiss]):
    """Near misses, the nearest first; as text they are a table."""

    def __str__(self) -> str:
        """Return a row for each clause that failed, with what it saw."""
        from fyke.filters.drawing import columns, seen_in

        rows = [("subscription", "held", "failed", "seen")]
        for miss in self:
            first = (printable(miss.id), str(miss.held))
            for clause in miss.failed:
                parts = str(clause.filter), seen_in(clause.leaves())
                rows.append((*first, *map(printable, parts)))  # type: ignore[arg-type]
                first = ("", "")
        return columns(rows)


def near_misses(subscriptions: SubscriptionSet, event: Event, limit: int) -> NearMisses:
    """Return the subscriptions of which the fewest clauses failed, then those of which most held.

    Among very many subscriptions, those that the engine guesses to be nearest are looked at.
    """
    with subscriptions.lock:
        misses = (
            _miss(subscriptions.catalog.id(slot), filter, event)
            for slot, filter in _suspects(subscriptions, event, limit)
        )
        nearest = heapq.nsmallest(
            limit,
            (miss for miss in misses if miss is not None),
            key=lambda miss: (len(miss.failed), -miss.held),
        )
    return NearMisses(nearest)


def _suspects(
    subscriptions: SubscriptionSet, event: Event, limit: int
) -> Iterable[tuple[int, Filter]]:
    catalog, engine = subscriptions.catalog, subscriptions.engine
    if len(catalog) <= SUSPECTS_MIN or not isinstance(engine, Scouting):
        return catalog.filters()
    slots = engine.nearest(event, max(SUSPECTS_MIN, 10 * limit))
    return ((slot, catalog.filter(slot)) for slot in slots)


def _miss(id: str, filter: Filter, event: Event) -> NearMiss | None:
    clauses = filter.children if isinstance(filter, And) else (filter,)
    failed = [clause for clause in clauses if not clause.matches(event)]
    if not failed:
        return None
    explained = tuple(explain(clause, event) for clause in failed)
    return NearMiss(id, explained, len(clauses) - len(failed))
