"""Why a filter accepts or refuses an event.

Its tree with a verdict and the values seen at every node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fyke.events.event import Document, Event, as_event
from fyke.events.value import Value
from fyke.filters.comparison import Compare
from fyke.filters.filter import Filter
from fyke.filters.predicate import Predicate, TypeIs
from fyke.filters.residual import Residual


@dataclass(frozen=True, slots=True)
class Explanation:
    """One node of the tree.

    `seen` holds the attributes that a leaf read and found; those `absent` were missing.
    """

    filter: Filter
    holds: bool
    seen: dict[str, Value]
    absent: tuple[str, ...]
    children: tuple[Explanation, ...]

    def leaves(self) -> Iterator[Explanation]:
        """Yield the nodes that read the event, from left to right."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def __str__(self) -> str:
        """Return the tree that `fyke explain` prints."""
        from fyke.filters.drawing import drawn

        return drawn(self)


def explain(filter: Filter, event: Event | Document) -> Explanation:
    """Return the verdict of every node. All of them are evaluated."""
    event = as_event(event)
    names = _read(filter)
    attributes = event.attributes
    seen = {name: attributes[name] for name in names if name in attributes}
    if isinstance(filter, TypeIs) and event.supertypes:
        seen["type"] = tuple(
            name for name in (attributes.get("type"), *event.supertypes) if isinstance(name, str)
        )
    return Explanation(
        filter=filter,
        holds=filter.matches(event),
        seen=seen,
        absent=tuple(name for name in names if name not in seen),
        children=tuple(explain(child, event) for child in filter.children),
    )


def _read(leaf: Filter) -> tuple[str, ...]:
    match leaf:
        case Compare(attribute, _, other):
            return attribute, other
        case Residual():
            return tuple(sorted(leaf.attributes or ()))
        case Predicate():
            return (leaf.attribute,)
    return ()
