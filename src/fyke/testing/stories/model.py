"""Model: what the clients of a story want, and what works, by the story alone.

It is kept beside the overlay and never asks it: the laws hold the overlay against it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.testing.stories.overlays import clients_of
from fyke.testing.stories.story import Story


@dataclass(slots=True)
class Wish:
    """A subscription with the times of its start and end. Settled: all brokers know of it."""

    id: str
    client: str
    home: str
    filter: Filter
    since: float
    until: float = inf
    is_settled: bool = False

    @property
    def is_live(self) -> bool:
        return self.until == inf


@dataclass(slots=True)
class Said:
    """An event as it was admitted, and the brokers that it has to reach."""

    event: Event
    at: str
    time: float
    is_calm: bool
    reached: frozenset[str]


class Model:
    """The clients of a story, their wishes, and the faults of now."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.place = story.place
        self.topology = story.topology()
        self.owners = story.owners()
        self.clients = clients_of(self.topology)
        self.gone: set[str] = set()
        """Clients that have left."""
        self.wishes: list[Wish] = []
        self.promised: dict[str, Filter] = {}
        self.said: dict[str, Said] = {}
        """Events since the overlay settled last."""
        self.down: set[str] = set()
        self.cut: set[tuple[str, str]] = set()
        self.is_calm = True
        """Nothing has broken since the overlay settled last."""
        self.strategy: str | None = None
        """The strategy that the overlay was last told to change to."""

    @property
    def first(self) -> str:
        """The first broker: it leads, and is the rendezvous of what has no other."""
        return self.topology.brokers[0]

    @property
    def is_whole(self) -> bool:
        return not self.cut and not self.down

    def client(self, at: int) -> str:
        return list(self.clients)[at % len(self.clients)]

    def is_there(self, client: str) -> bool:
        return client not in self.gone and self.clients[client] not in self.down

    def live(self) -> list[Wish]:
        return [wish for wish in self.wishes if wish.is_live]

    def wanting(self, event: Event) -> list[Wish]:
        """Return the live wishes that accept an event."""
        return [wish for wish in self.live() if wish.filter.matches(event)]

    def leave(self, client: str, now: float) -> None:
        """Let a client leave. All its wishes end."""
        self.gone.add(client)
        self.promised.pop(client, None)
        for wish in self.live():
            if wish.client == client:
                wish.until = now

    def lose_calm(self) -> None:
        """Claim nothing of events that are on their way, and less of later ones."""
        self.is_calm = False
        for said in self.said.values():
            said.is_calm, said.reached = False, frozenset()

    def doubt_wishes(self) -> None:
        """Claim no longer that brokers know of the live wishes."""
        for wish in self.live():
            wish.is_settled = False

    def settle(self) -> None:
        """Begin anew, since the overlay has settled. If nothing is broken, all wishes are known."""
        self.said.clear()
        if self.is_whole:
            self.is_calm = True
            for wish in self.live():
                wish.is_settled = True

    def reachable(self, start: str) -> frozenset[str]:
        """Return the brokers that can be reached from this one over links and brokers that work."""
        found = [start]
        for broker in found:
            for other in self.topology.neighbors(broker):
                is_cut = {(broker, other), (other, broker)} & self.cut
                if other not in self.down and not is_cut and other not in found:
                    found.append(other)
        return frozenset(found)
