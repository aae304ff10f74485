"""Cost: how many messages an event takes at best, by strategy and by who wants it.

Where nothing moves, a strategy knows exactly who wants what, so it has to reach the best possible:
n - 1 links for flooding; else the way from the publisher to the rendezvous (near publishers there
is none, so it is the publisher's broker itself), and from there, or from where the way branches
off, to those who want it: over each link once where brokers act as subscribers, once per subscriber
where events carry addresses, in one step where they go straight.
"""

from __future__ import annotations

from collections.abc import Iterable

from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.overlay.topology import Topology
from fyke.routing.forwarding.variant import Communication, Location, Variant
from fyke.testing.stories.model import Model, Said, Wish


def check_cost(
    model: Model,
    said: Said,
    sent: int,
    variant: Variant,
    schema: Schema,
    let_in: Iterable[Wish] = (),
) -> bool:
    """Raise AssertionError unless an event took the best number of messages.

    Some wishes may have been `let_in` by pruning; then it may be more. Return True if it was.
    """
    wanting = {(wish.home, wish.client) for wish in model.wanting(said.event)}
    rendezvous = _rendezvous(model, said.event, schema)
    least = best(model.topology, variant, said.at, rendezvous, wanting)
    also = {(wish.home, wish.client) for wish in let_in}
    most = best(model.topology, variant, said.at, rendezvous, wanting | also) if also else least
    right = str(least) if least == most else f"{least} to {most}"
    assert least <= sent <= most, f"{said.event} from {said.at} takes {sent} messages, not {right}"
    return sent > least


def _rendezvous(model: Model, event: Event, schema: Schema) -> str | None:
    """Return the broker to which the event has to go, or None if none is known."""
    type_ = event.attributes.get("type")
    if isinstance(type_, tuple):
        return None
    names = [type_, *schema.supertypes(type_)] if isinstance(type_, str) else []
    if schema.types and not set(event.supertypes) <= set(names):
        return None
    owned = [name for name in names if name in model.owners]
    return model.owners.get(owned[0] if owned else "", model.first)


def best(
    topology: Topology,
    variant: Variant,
    publisher: str,
    rendezvous: str | None,
    subscribers: set[tuple[str, str]],
) -> int:
    """Return the messages for an event at a broker. `subscribers` are homes and clients.

    `rendezvous` is None for an event that has none.
    """
    if variant.location is Location.SUBSCRIBERS:
        return len(topology.brokers) - 1
    if variant.location is Location.PUBLISHERS:
        rendezvous = publisher
    if rendezvous is None:
        return len(topology.brokers) - 1
    way = topology.path(publisher, rendezvous)
    if variant.communication is Communication.TRANSPARENT:
        return _span(topology, {*way, *(home for home, _ in subscribers)})
    is_at_end = variant.is_exclusive and variant.location is Location.FIXED
    filters = {rendezvous} if is_at_end else set(way)
    far = [
        min(topology.distances(home)[at] for at in filters)
        for home, _ in subscribers
        if home not in filters
    ]
    is_direct = variant.communication is Communication.DIRECT
    return len(way) - 1 + (len(far) if is_direct else sum(far))


def _span(topology: Topology, ends: set[str]) -> int:
    """Return the links of the smallest part of a tree that joins some of its brokers."""
    parents = topology.parents(next(iter(ends)))
    joined: set[str] = set()
    for end in ends:
        while end not in joined:
            joined.add(end)
            end = parents[end]
    return len(joined) - 1
