"""Real covering (SUM-27, read soundly): what a source forwards, and what finding a match takes.

Each source has a spanning tree, and covering counts only among the subscriptions of one source. So
a subscription that another one of its source covers stays at home, and all others go to everybody:
the same ones over every link of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence

from fyke.events.event import Event
from fyke.filters.covering_index.filter_index import FilterIndex
from fyke.filters.filter import Filter
from fyke.filters.packed.packing import Packing
from fyke.routing.forwarding.covering_set import CoveringSet


def upper(filters: Sequence[Filter]) -> list[Filter]:
    """Return those that no other one covers."""
    packing = Packing()
    kept = CoveringSet(FilterIndex(packing=packing))
    found: dict[str, Filter] = {}
    by_id = {str(at): filter for at, filter in enumerate(filters)}
    for id, filter in by_id.items():
        entered, left = kept.add(("", id), packing.pack(filter))
        for _, each in left:
            del found[each]
        found.update((each, by_id[each]) for _, each in entered)
    return list(found.values())


def text_bytes(filters: Sequence[Filter]) -> int:
    return sum(len(str(each)) + 1 for each in filters)


def steps(table: Sequence[Filter], event: Event) -> int:
    """Return how many predicates are looked at when a table of conjunctions is scanned."""
    looked_at = 0
    for filter in table:
        for part in filter.children or (filter,):
            looked_at += 1
            if not part.matches(event):
                break
    return looked_at
