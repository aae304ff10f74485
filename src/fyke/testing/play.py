"""Play: a story on an overlay, with the checks that `strategy` describes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from fyke.assembly import System, assemble
from fyke.events.event import Event
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Message, Publish, Subscribe, Unsubscribe
from fyke.overlay.topology import Topology
from fyke.routing.adaptive import Adaptive
from fyke.routing.epoch import Switch
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.testing import story as told
from fyke.testing.story import Add, Break, Change, Crash, Drop, Say, Settle, Step, Story, Wait
from fyke.testing.tables import names_of, strategy_of, tables
from fyke.traces.trace import Delivered, Record, Rejected

Make: TypeAlias = Callable[[Topology, dict[str, str]], System]
"""A system for a tree and its rendezvous by type."""

LATENCY_S: Final = 0.001
_MESSAGES_MAX: Final = 50_000


def maker(strategy: str | Make) -> Make:
    if not isinstance(strategy, str):
        return strategy
    return lambda topology, owners: assemble(strategy, topology, rendezvous=owners, engine="scan")


@dataclass(slots=True)
class _Wish:
    """A subscription, and when it was made and dropped."""

    id: str
    client: str
    home: str
    filter: Filter
    since: float
    until: float = float("inf")


@dataclass(frozen=True, slots=True)
class _Said:
    """An event, and whether its delivery can be relied on."""

    event: Event
    at: str
    time: float
    is_calm: bool


class Play:
    """A story on its way."""

    def __init__(self, make: Make, story: Story) -> None:
        self._make = make
        self._owners = story.owners()
        self._topology = story.topology()
        self._trace: list[Record] = []
        self._overlay = self._new_overlay(make, self._trace.append)
        self._clients = _clients(self._topology)
        self._wishes: dict[str, _Wish] = {}
        self._said: dict[str, _Said] = {}
        self._got: dict[tuple[str, str], tuple[str, ...]] = {}
        self._down: set[str] = set()
        self._cut: set[tuple[str, str]] = set()
        self._is_calm = True

    def _new_overlay(self, make: Make, write: Callable[[Record], object] | None) -> Simulation:
        """A settled one, with clients and no subscriptions."""
        system = make(self._topology, self._owners)
        network = Network(latency_s=LATENCY_S)
        overlay = Simulation(
            self._topology, system.make, network=network, write=write, codec=system.codec
        )
        for client, home in _clients(self._topology).items():
            overlay.attach(client, home)
        overlay.run(messages_max=_MESSAGES_MAX)
        return overlay

    # --- steps ------------------------------------------------------------------------------------

    def step(self, number: int, step: Step) -> None:
        overlay = self._overlay
        match step:
            case Add(at, filter):
                self._add(f"s{number}", self._client(at), filter)
            case Drop(which):
                live = [wish for wish in self._live() if wish.home not in self._down]
                if live:
                    self._drop(live[which % len(live)])
            case Say(at, event):
                self._say(f"e{number}", self._client(at), event)
            case Wait(latencies):
                until = overlay.now + latencies * LATENCY_S
                overlay.run(until=until, messages_max=_MESSAGES_MAX)
            case Settle():
                self._settle()
            case Break(at) if self._topology.links:
                self._break(self._topology.links[at % len(self._topology.links)])
            case Crash(at):
                self._crash(self._topology.brokers[at % len(self._topology.brokers)])
            case Change(strategy):
                coordinator = self._topology.brokers[0]
                if coordinator not in self._down:
                    self._tell(_client_of(coordinator), Switch(strategy))

    def end(self) -> None:
        """All is mended; then all goes."""
        for broker in sorted(self._down):
            self._crash(broker)
        for link in sorted(self._cut):
            self._break(link)
        self._settle()
        self._check_tables()
        self._probe()
        for wish in self._live():
            self._drop(wish)
        self._settle()
        self._check_empty()
        self._probe()

    def _client(self, at: int) -> str:
        return list(self._clients)[at % len(self._clients)]

    def _live(self) -> list[_Wish]:
        return [wish for wish in self._wishes.values() if wish.until == float("inf")]

    def _tell(self, client: str, message: Message) -> bool:
        if self._clients[client] in self._down:
            return False
        self._overlay.say(client, message)
        self._overlay.run(until=self._overlay.now, messages_max=_MESSAGES_MAX)
        return True

    def _add(self, id: str, client: str, filter: Filter) -> None:
        home = self._clients[client]
        wish = _Wish(id, client, home, filter, self._overlay.now)
        self._wishes[id] = wish
        if not self._tell(client, Subscribe(Subscription(id, filter))):
            del self._wishes[id]

    def _drop(self, wish: _Wish) -> None:
        self._tell(wish.client, Unsubscribe(wish.id))
        wish.until = self._overlay.now

    def _say(self, id: str, client: str, event: Event) -> None:
        home = self._clients[client]
        self._said[id] = _Said(event, home, self._overlay.now, self._is_calm)
        if not self._tell(client, Publish(id, event)):
            del self._said[id]

    def _break(self, link: tuple[str, str]) -> None:
        if link in self._cut:
            self._cut.discard(link)
            self._overlay.heal(*link)
        else:
            self._lose_calm()
            self._cut.add(link)
            self._overlay.cut(*link)

    def _crash(self, broker: str) -> None:
        if broker in self._down:
            self._down.discard(broker)
            self._overlay.restart(broker)
        else:
            self._lose_calm()
            self._down.add(broker)
            self._overlay.crash(broker)

    def _lose_calm(self) -> None:
        """From now on events may be lost; also those on their way."""
        self._is_calm = False
        self._said = {
            id: _Said(said.event, said.at, said.time, is_calm=False)
            for id, said in self._said.items()
        }

    # --- checks -----------------------------------------------------------------------------------

    def _settle(self) -> None:
        assert self._overlay.run(messages_max=_MESSAGES_MAX), "it does not settle"
        self._look_at_trace()
        for id, said in self._said.items():
            if said.is_calm:
                self._check_reached(id, said)
        self._said.clear()
        self._got.clear()
        if not self._cut and not self._down:
            if not self._is_calm:
                self._check_tables()
            self._is_calm = True

    def _look_at_trace(self) -> None:
        for record in self._trace:
            if isinstance(record, Delivered):
                self._check_delivered(record)
            elif isinstance(record, Rejected) and record.about != "Switch":
                raise AssertionError(f"{record.at} rejects {record.about}: {record.reason}")
        self._trace.clear()

    def _check_delivered(self, got: Delivered) -> None:
        what = f"{got.client} gets {got.id} for {', '.join(got.subscriptions)}"
        assert (got.client, got.id) not in self._got, f"{what}, for the second time"
        assert got.id in self._said, f"{what}, which is long over"
        assert got.subscriptions, f"{what} no subscription"
        assert len(set(got.subscriptions)) == len(got.subscriptions), f"{what}: one is twice"
        self._got[got.client, got.id] = got.subscriptions
        for id in got.subscriptions:
            wish = self._wishes.get(id)
            assert wish is not None and wish.client == got.client, f"{what}: {id} is not its own"
            assert wish.since <= got.t <= wish.until, f"{what}: {id} is not live"
            is_wanted = wish.filter.matches(self._said[got.id].event)
            assert is_wanted, f"{what}: {id} does not accept it"

    def _check_reached(self, id: str, said: _Said) -> None:
        distance = self._topology.distances(said.at)
        for wish in self._live():
            reached = wish.since + (distance[wish.home] + 0.001) * LATENCY_S
            if reached < said.time and wish.filter.matches(said.event):
                got = self._got.get((wish.client, id), ())
                assert wish.id in got, (
                    f"{wish.client} of {wish.home} does not get {id} from {said.at} "
                    f"for {wish.id}: {wish.filter}"
                )

    def _probe(self) -> None:
        """One event after the other, from all sides."""
        for number, event in enumerate(told.events()):
            self._overlay.run(until=self._overlay.now + LATENCY_S * len(self._clients))
            self._say(f"p{number}", self._client(number), event)
        self._settle()

    def _check_tables(self) -> None:
        """AssertionError unless they are those of a new overlay."""
        overlay = self._new_overlay(self._remade(), None)
        for wish in self._live():
            overlay.say(wish.client, Subscribe(Subscription(wish.id, wish.filter)))
        overlay.run(messages_max=_MESSAGES_MAX)
        names = names_of(wish.filter for wish in self._live())
        for broker in self._topology.brokers:
            found = tables(self._overlay, broker, names)
            right = tables(overlay, broker, names)
            assert found == right, f"tables of {broker}: {found}\n  of a new one: {right}"

    def _remade(self) -> Make:
        """What makes an overlay with the strategy that is in use now."""
        strategy = strategy_of(self._overlay, self._topology.brokers[0])
        return maker(strategy.current) if isinstance(strategy, Adaptive) else self._make

    def _check_empty(self) -> None:
        for broker in self._topology.brokers:
            left = tables(self._overlay, broker)
            assert not left, f"{broker} still holds {left}"
            stats = self._overlay.node(broker).stats()
            assert stats.rows == stats.subscriptions == stats.forwarded == 0, f"{broker}: {stats}"


def _clients(topology: Topology) -> dict[str, str]:
    """The clients and their brokers."""
    return {
        _client_of(broker, number): broker
        for broker in topology.brokers
        for number in range(told.CLIENTS)
    }


def _client_of(broker: str, number: int = 0) -> str:
    return f"{broker}.{number}"
