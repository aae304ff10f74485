"""Rings: how complete they are, and what events do in them, as functions of a trace (S2S-21).

The ring of an event is all peers that want it, in the order of their sequence ids. A ring link is
in place if the next peer of the ring, in either direction, is among the ring links of a peer: then
its succ(e) or pred(e) is the right one (S2S-Q10), because nobody between the two wants the event.

Promise, checked by `broken_promises`: once rings are complete and nobody fails, every peer that
wants an event gets it, once, nobody else does, and a ring member sends it at most 2 + r times.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fyke.nodes.message import EventId, NodeId, SubscriptionId
from fyke.traces.metrics import EVENT
from fyke.traces.trace import Delivered, Linked, Lost, Record, Sent, Told

Wanted: TypeAlias = Mapping[EventId, Sequence[SubscriptionId]]
"""The subscriptions that want each event."""


@dataclass(frozen=True, slots=True)
class Completeness:
    """The completeness of the rings of some events."""

    links: int
    in_place: int
    rings: int
    complete: int

    @property
    def share_in_place(self) -> float:
        return self.in_place / self.links if self.links else 1.0

    @property
    def share_complete(self) -> float:
        return self.complete / self.rings if self.rings else 1.0


def completeness(linked: Iterable[Linked], wanted: Wanted) -> Completeness:
    """Count the ring links that are in place. A ring of one peer has none."""
    links = in_place = complete = rings = 0
    known = _known(linked)
    for ids in wanted.values():
        if len(ids) < 2:
            continue
        there = sum(_ring(known, ids))
        links += 2 * len(ids)
        in_place += there
        rings += 1
        complete += there == 2 * len(ids)
    return Completeness(links, in_place, rings, complete)


def complete_rings(
    linked: Iterable[Linked], wanted: Wanted
) -> dict[EventId, Sequence[SubscriptionId]]:
    """Return the events whose rings are complete: for them the promise is made."""
    known = _known(linked)
    return {id: ids for id, ids in wanted.items() if len(ids) < 2 or min(_ring(known, ids)) == 2}


def ring_of(linked: Iterable[Linked], ids: Sequence[SubscriptionId]) -> list[int]:
    """Return, for each peer of a ring in its order, how many of the two links between it and the
    next one are in place.
    """
    return _ring(_known(linked), ids)


_Known: TypeAlias = Mapping[SubscriptionId, tuple[int, frozenset[SubscriptionId]]]
_NOBODY: tuple[int, frozenset[SubscriptionId]] = (-1, frozenset())


def _known(linked: Iterable[Linked]) -> _Known:
    return {each.id: (each.sequence, frozenset(each.to)) for each in linked}


def _ring(known: _Known, ids: Sequence[SubscriptionId]) -> list[int]:
    ring = sorted((known.get(id, _NOBODY)[0], id) for id in ids)
    links = [(id, known.get(id, _NOBODY)[1]) for _, id in ring]
    return [
        (b in of_a) + (a in of_b)
        for (a, of_a), (b, of_b) in zip(links, (*links[1:], links[0]), strict=True)
    ]


@dataclass(slots=True)
class Spread:
    """The way of one event."""

    delivered: Counter[SubscriptionId] = field(default_factory=Counter)
    sent: Counter[NodeId] = field(default_factory=Counter)
    received: Counter[NodeId] = field(default_factory=Counter)
    depth: dict[NodeId, int] = field(default_factory=dict)
    """Hops from the first peer that wanted it."""
    publisher: NodeId = ""
    seeks: int = 0
    """Times that its publisher asked for somebody who wants it."""

    @property
    def hops(self) -> int:
        return max(self.depth.values(), default=0)


class Spreading:
    """Takes records. `spreads` has the way of each event."""

    def __init__(self) -> None:
        self.spreads: defaultdict[EventId, Spread] = defaultdict(Spread)

    def add(self, record: Record) -> None:
        match record:
            case Sent(_, at, to, "Publish", id):
                spread = self.spreads[id]
                spread.sent[at] += 1
                spread.received[to] += 1
                if to not in spread.depth:  # records come in the order in which messages arrive
                    spread.depth[to] = spread.depth.get(at, -1) + 1
            case Delivered(_, at, _, id, subscriptions):
                spread = self.spreads[id]
                spread.delivered.update(subscriptions)
                spread.depth.setdefault(at, 0)
            case Lost(_, _, to, "Publish", id):
                self.spreads[id].received[to] -= 1
            case Sent(_, _, _, "Seek", id):
                self.spreads[id].seeks += 1
            case Told(_, at, _, kind, id) if kind == EVENT:
                self.spreads[id].publisher = at


def hit_ratio(spread: Spread, ids: Sequence[SubscriptionId]) -> float:
    """Return the share of wanting subscriptions that got an event."""
    return sum(id in spread.delivered for id in ids) / len(ids) if ids else 1.0


def broken_promises(spreads: Mapping[EventId, Spread], wanted: Wanted, shortcuts: int) -> list[str]:
    """Return the broken promises, a sentence each."""
    found = []
    for id, ids in wanted.items():
        spread = spreads.get(id, Spread())
        missing = [each for each in ids if each not in spread.delivered]
        unwanted = [each for each in spread.delivered if each not in set(ids)]
        twice = [each for each, times in spread.delivered.items() if times > 1]
        for what, them in (
            ("did not get", missing),
            ("got unwanted", unwanted),
            ("got twice", twice),
        ):
            if them:
                found.append(f"{', '.join(them[:3])} {what} {id}")
        for peer, times in spread.sent.items():
            if times > 2 + shortcuts + (peer == spread.publisher):
                found.append(f"{peer} sent {id} {times} times; expected at most {2 + shortcuts}")
    return found
