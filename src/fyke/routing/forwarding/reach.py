"""Reach: which broker is the rendezvous of which event type, and behind which neighbour it is.

A broker says what it is the rendezvous of and what it can reach, whenever a link comes up; news
goes on to the other neighbours (DAS-37). The name "" stands for all types that have none of their
own. Of two brokers that claim one type, the one with the smaller name has it, everywhere.

    Temperature -> b2      type = 'Temperature' goes to b2; with a schema in which Temperature is
    ""          -> b1      a Reading, type is Reading goes to b2 and b1; price < 10 goes to both

An event goes to the rendezvous of its type, or of the nearest supertype that has one. What has no
type, or a number, or null, goes to that of all others. An event of several types, or one that says
it is a kind of something that its type is not by the schema, has no rendezvous.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import And, Filter, Or
from fyke.filters.predicate import In, TypeIs
from fyke.nodes.effect import Send
from fyke.nodes.message import Control, NodeId

COORDINATOR: Final = "*"
"""Not a type: who leads the overlay, if it needs that."""


class Reachable(Control, frozen=True):
    """The rendezvous that the sender is or can reach, and those that it can reach no longer."""

    owners: dict[str, NodeId]
    gone: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.owners or self.gone)


class Reach:
    """The ways of a broker to all rendezvous."""

    def __init__(self, me: NodeId, mine: Iterable[str]) -> None:
        self._me = me
        self._mine = frozenset(mine)
        self._owners = dict.fromkeys(sorted(self._mine), me)
        self._via = dict.fromkeys(self._owners, me)

    def names(self) -> tuple[str, ...]:
        """Return the types that have a rendezvous."""
        return tuple(sorted(self._owners.keys() - {COORDINATOR}))

    def view(self) -> str:
        """Return a text that is the same at all brokers that know the same rendezvous."""
        return repr([(name, self._owners[name]) for name in self.names()])

    def is_mine(self, name: str) -> bool:
        return self._owners.get(name) == self._me

    def owner(self, name: str) -> NodeId | None:
        """Return the broker that is the rendezvous, or None if it is unknown."""
        return self._owners.get(name)

    def via(self, name: str) -> NodeId | None:
        """Return the neighbour on the way to the rendezvous; None if it is here or unknown."""
        via = self._via.get(name)
        return None if via == self._me else via

    def told(self, peer: NodeId) -> Reachable:
        """Return a message with what a neighbour can reach through this broker."""
        owners = sorted(self._owners.items())
        return Reachable({name: owner for name, owner in owners if self._via[name] != peer})

    def hear(self, reachable: Reachable, came_from: NodeId) -> Reachable:
        """Take in what a neighbour can reach. Return what is news.

        A claim is not news if the type belongs to a broker with a smaller name.
        """
        lost = self._lose(name for name in reachable.gone if self._via.get(name) == came_from)
        news = {
            name: owner
            for name, owner in reachable.owners.items()
            if owner <= self._owners.get(name, owner)
            and (self._owners.get(name), self._via.get(name)) != (owner, came_from)
        }
        for name, owner in news.items():
            self._owners[name], self._via[name] = owner, came_from
        return Reachable(lost.owners | news, lost.gone)

    def forget(self, peer: NodeId) -> Reachable:
        """Forget the ways over a neighbour. Return what can be reached no longer."""
        return self._lose(name for name, via in self._via.items() if via == peer)

    def _lose(self, names: Iterable[str]) -> Reachable:
        """Forget the owners of these types. This broker owns them again if it may."""
        gone = tuple(names)
        for name in gone:
            del self._owners[name], self._via[name]
        again = dict.fromkeys((name for name in gone if name in self._mine), self._me)
        self._owners |= again
        self._via |= again
        return Reachable(again, gone)

    def spread(self, news: Reachable, peers: Collection[NodeId], came_from: NodeId) -> list[Send]:
        """Return messages with the news for neighbours.

        The neighbour that told it gets only what this broker has in place of what is gone.
        """
        sends = [Send(peer, news) for peer in peers if peer != came_from]
        mine = {name: owner for name, owner in news.owners.items() if owner == self._me}
        if mine and came_from in peers:
            sends.append(Send(came_from, Reachable(mine)))
        return sends

    # --- types ------------------------------------------------------------------------------------

    def of_event(self, event: Event, schema: Schema) -> str | None:
        """Return the rendezvous of an event, named by a type, or None if there is none."""
        declared = event.attributes.get("type")
        if isinstance(declared, tuple):
            return None
        above = schema.supertypes(declared) if isinstance(declared, str) else ()
        if schema.types and not set(event.supertypes).issubset(above):
            return None
        name = self._of_type(declared, schema)
        return name if name in self._owners else None

    def of_filter(self, filter: Filter, schema: Schema) -> tuple[str, ...]:
        """Return all rendezvous to which events of this filter may go."""
        types = _types(filter, schema)
        if types is None:
            return self.names()
        found = {self._of_type(name, schema) for name in types}
        return tuple(sorted(found.intersection(self._owners)))

    def _of_type(self, name: object, schema: Schema) -> str:
        if isinstance(name, str):
            for each in (name, *schema.supertypes(name)):
                if each in self._owners and each != COORDINATOR:
                    return each
        return ""


def _types(filter: Filter, schema: Schema) -> set[object] | None:
    """Return the types that events of a filter may have, or None if they may have any."""
    if isinstance(filter, In) and filter.attribute == "type":
        return set(filter.values)
    if isinstance(filter, TypeIs) and schema.type(filter.name) is not None:
        return {filter.name, *schema.subtypes(filter.name)}
    if isinstance(filter, And):
        known = [types for types in _each(filter, schema) if types is not None]
        return set.intersection(*known) if known else None
    if isinstance(filter, Or):
        all_ = list(_each(filter, schema))
        return None if None in all_ else set().union(*(types or set() for types in all_))
    return None


def _each(filter: Filter, schema: Schema) -> Iterator[set[object] | None]:
    return (_types(part, schema) for part in filter.children)
