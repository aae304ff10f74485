"""Reach: which broker is the rendezvous of which event type, and behind which neighbour it is.

A broker says what it is the rendezvous of and what it can reach, whenever a link comes up; news
goes on to the other neighbours (DAS-37). The name "" stands for all types that have none of their
own. Of two brokers that claim one type, the one with the smaller name has it, everywhere.

    Temperature -> b2      type = 'Temperature' goes to b2; with a schema in which Temperature is
    ""          -> b1      a Reading, type is Reading goes to b2 and b1; price < 10 goes to both
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from fyke.errors import FykeError, shown
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import And, Filter, Or
from fyke.filters.predicate import In, TypeIs
from fyke.nodes.message import Control, NodeId

COORDINATOR: Final = "*"
"""Not a type: who leads the overlay, if it needs that."""


class Reachable(Control, frozen=True):
    """The rendezvous that the sender is, or can reach: types and brokers."""

    owners: dict[str, NodeId]


class Reach:
    """What a broker knows."""

    def __init__(self, me: NodeId, mine: Iterable[str]) -> None:
        self._me = me
        self._owners = dict.fromkeys(mine, me)
        self._via = dict.fromkeys(self._owners, me)

    def names(self) -> tuple[str, ...]:
        """The types that have a rendezvous."""
        return tuple(sorted(self._owners.keys() - {COORDINATOR}))

    def is_mine(self, name: str) -> bool:
        return self._owners.get(name) == self._me

    def via(self, name: str) -> NodeId | None:
        """The neighbour on the way there; None if this is the place, or it is unknown."""
        via = self._via.get(name)
        return None if via == self._me else via

    def told(self, peer: NodeId) -> Reachable:
        """What a neighbour can reach through this broker."""
        owners = sorted(self._owners.items())
        return Reachable({name: owner for name, owner in owners if self._via[name] != peer})

    def hear(self, reachable: Reachable, came_from: NodeId) -> Reachable:
        """What of it is news; FykeError for a type that belongs to another broker."""
        for name, owner in reachable.owners.items():
            known = self._owners.get(name, owner)
            if known < owner:
                raise FykeError(
                    f"{shown(owner)} claims to be the rendezvous of {_spoken(name)}, but that is "
                    f"{shown(known)}"
                )
        news = {
            name: owner
            for name, owner in reachable.owners.items()
            if (self._owners.get(name), self._via.get(name)) != (owner, came_from)
        }
        for name, owner in news.items():
            self._owners[name], self._via[name] = owner, came_from
        return Reachable(news)

    # --- types ------------------------------------------------------------------------------------

    def of_event(self, event: Event, schema: Schema) -> str:
        """The rendezvous of an event, by the name of a type; FykeError if it has several types."""
        declared = event.attributes.get("type")
        if isinstance(declared, tuple):
            raise FykeError("an event with several types has no rendezvous; give it one type")
        return self._of_type(declared, schema) if isinstance(declared, str) else ""

    def of_filter(self, filter: Filter, schema: Schema) -> tuple[str, ...]:
        """All rendezvous that events of this filter may go to."""
        types = _types(filter, schema)
        if types is None:
            return self.names()
        found = {self._of_type(name, schema) for name in types}
        return tuple(sorted(found.intersection(self._owners)))

    def _of_type(self, name: str, schema: Schema) -> str:
        for each in (name, *schema.supertypes(name)):
            if each in self._owners:
                return each
        return ""


def _types(filter: Filter, schema: Schema) -> set[str] | None:
    """The types that events of a filter have; None for any."""
    if isinstance(filter, In) and filter.attribute == "type":
        return {value for value in filter.values if isinstance(value, str)}
    if isinstance(filter, TypeIs) and schema.type(filter.name) is not None:
        return {filter.name, *schema.subtypes(filter.name)}
    if isinstance(filter, And):
        known = [types for types in _each(filter, schema) if types is not None]
        return set.intersection(*known) if known else None
    if isinstance(filter, Or):
        all_ = list(_each(filter, schema))
        return None if None in all_ else set().union(*(types or set() for types in all_))
    return None


def _each(filter: Filter, schema: Schema) -> Iterator[set[str] | None]:
    return (_types(part, schema) for part in filter.children)


def _spoken(name: str) -> str:
    return f"the type {shown(name)}" if name else "all other types"
