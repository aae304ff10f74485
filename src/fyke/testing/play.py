"""Play: a story on an overlay, with the checks that `strategy` describes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import Final, TypeAlias

from fyke.assembly import System, assemble, variant_of
from fyke.broker.doorway import admitted, check_announced, check_filter
from fyke.errors import FykeError
from fyke.events.event import Event
from fyke.events.schema import Schema
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.nodes.message import (
    Advertise,
    Declare,
    Disconnect,
    Message,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from fyke.overlay.topology import Topology
from fyke.routing.adaptive import Adaptive
from fyke.routing.epoch import Switch
from fyke.routing.leases import GRACE
from fyke.routing.placing import Placing
from fyke.routing.variant import Variant
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.testing import story as told
from fyke.testing.cost import best
from fyke.testing.covering import check_covers
from fyke.testing.footprint import footprint
from fyke.testing.places import check_placed
from fyke.testing.story import (
    Add,
    Break,
    Change,
    Crash,
    Define,
    Drop,
    Leave,
    Promise,
    Say,
    Settle,
    Step,
    Story,
    Wait,
)
from fyke.testing.tables import broker_of, filters_of, names_of, tables
from fyke.traces.trace import Delivered, Record, Rejected, Sent

Make: TypeAlias = Callable[[Topology, dict[str, str], str], System]
"""A system for a tree, its rendezvous by type, and an engine."""

LATENCY_S: Final = 0.001
_MESSAGES_MAX: Final = 50_000
LEASES: Final = 5
"""Periods after which what nobody renews has ended everywhere."""
_PROBE: Final = "probe"
_IN_ORDER: Final = ("fyke.routing.covering",)
"""Modules whose sizes depend on the order in which filters came."""


def maker(strategy: str | Make) -> Make:
    if not isinstance(strategy, str):
        return strategy
    return lambda topology, owners, engine: assemble(
        strategy, topology, rendezvous=owners, engine=engine
    )


def _adaptive(first: str) -> Make:
    return lambda topology, owners, engine: assemble(
        "adaptive", topology, rendezvous=owners, engine=engine, first=first
    )


@dataclass(slots=True)
class _Wish:
    """A subscription, when it was made and dropped, and whether all brokers know of it."""

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
class _Said:
    """An event as it was admitted, and the brokers that it has to reach."""

    event: Event
    at: str
    time: float
    is_calm: bool
    reached: frozenset[str]


class Play:
    """A story on its way. `checked` counts how often each law was put to the test.

    `variant` says what an event may cost at best, where the strategy does not say so itself. With
    `is_plain`, a subscription is told as it is, so it takes no more than a message for each link.
    Where brokers prune, `exact` makes an overlay of those that do not, whose tables ours cover.
    """

    def __init__(
        self,
        make: Make,
        story: Story,
        variant: Variant | None = None,
        is_plain: bool = False,
        settles_s: float = 0.0,
        lease_s: float = 0.0,
        exact: Make | None = None,
    ) -> None:
        self.checked: Counter[str] = Counter()
        self._exact = exact
        self._make = make
        self._variant = variant
        self._is_plain = is_plain
        self._settles_s = settles_s
        self._lease_s = lease_s
        self._broken: dict[str | tuple[str, str], float] = {}
        """Since when."""
        self._place = story.place
        self._owners = story.owners()
        self._topology = story.topology()
        self._trace: list[Record] = []
        self._overlay = self._new_overlay(make, self._trace.append)
        self._clients = _clients(self._topology)
        self._gone: set[str] = set()
        self._wishes: list[_Wish] = []
        self._promised: dict[str, Filter] = {}
        self._said: dict[str, _Said] = {}
        self._got: dict[tuple[str, str], tuple[str, ...]] = {}
        self._down: set[str] = set()
        self._cut: set[tuple[str, str]] = set()
        self._is_calm = True
        self._wanted: str | None = None
        """The strategy that the overlay was last told to change to."""
        self._refused: Counter[tuple[str, str]] = Counter()
        """What has to be refused until the overlay settles: by client and kind of message."""

    def _new_overlay(self, make: Make, write: Callable[[Record], object] | None) -> Simulation:
        """Return a settled one, with clients and no subscriptions."""
        place = self._place
        system = make(self._topology, self._owners, place.engine)
        network = Network(
            latency_s=LATENCY_S,
            jitter_s=place.jitter * LATENCY_S,
            bandwidth=place.bandwidth,
            store_s=place.store_s,
        )
        overlay = Simulation(
            self._topology,
            system.make,
            network=network,
            write=write,
            codec=system.codec,
            in_bytes=place.in_bytes,
        )
        for client, home in _clients(self._topology).items():
            overlay.attach(client, home)
        overlay.run(messages_max=_MESSAGES_MAX)
        return overlay

    # --- steps ------------------------------------------------------------------------------------

    def step(self, number: int, step: Step) -> None:
        match step:
            case Add(at, id, filter):
                self._add(f"s{id}", self._client(at), filter)
            case Drop(which):
                live = [wish for wish in self._live() if wish.home not in self._down]
                if live:
                    self._drop(live[which % len(live)])
            case Say(at, event):
                self._say(f"e{number}", self._client(at), event)
            case Promise(at, filter):
                self._promise(self._client(at), filter)
            case Leave(at):
                self._leave(self._client(at))
            case Define(at, which):
                self._define(self._client(at), which)
            case Wait(latencies):
                self._run(latencies * LATENCY_S)
            case Settle():
                self._settle()
            case Break(at) if self._topology.links:
                self._break(self._topology.links[at % len(self._topology.links)])
            case Crash(at):
                self._crash(self._topology.brokers[at % len(self._topology.brokers)])
            case Change(strategy):
                self._change(strategy)

    def end(self) -> None:
        """Mend all; then let all go."""
        for broker in sorted(self._down):
            self._crash(broker)
        for link in sorted(self._cut):
            self._break(link)
        self._settle()
        self._run(LEASES * self._lease_s)
        self._check_tables()
        for client in list(self._promised):
            self._promise(client, self._promised[client])
        self._probe()
        self._check_footprint()
        self._check_cost_of_a_wish()
        for wish in self._live():
            self._drop(wish)
        self._settle()
        self._run(LEASES * self._lease_s)
        self._check_empty()
        self._probe()
        for client in self._clients:
            if client not in self._gone:
                self._leave(client)
        self._settle()
        self._check_footprint()

    def _client(self, at: int) -> str:
        return list(self._clients)[at % len(self._clients)]

    def _live(self) -> list[_Wish]:
        return [wish for wish in self._wishes if wish.is_live]

    def _run(self, seconds: float) -> None:
        self._overlay.run(until=self._overlay.now + seconds, messages_max=_MESSAGES_MAX)

    def _schema(self, broker: str) -> Schema:
        return broker_of(self._overlay, broker).schema

    def _tell(self, client: str, message: Message, *, is_refused: bool = False) -> None:
        """Tell a broker something; what it refuses is counted when the overlay has settled."""
        self._refused[client, type(message).__name__] += is_refused
        self._overlay.say(client, message)
        self._run(0)

    def _is_there(self, client: str) -> bool:
        return client not in self._gone and self._clients[client] not in self._down

    def _add(self, id: str, client: str, filter: Filter) -> None:
        home = self._clients[client]
        if not self._is_there(client):
            return
        known = [wish for wish in self._live() if (wish.home, wish.id) == (home, id)]
        subscribe = Subscribe(Subscription(id, filter))
        if known and known[0].client != client:
            self._tell(client, subscribe, is_refused=True)
            return
        if _refuses(lambda: check_filter(filter, self._schema(home))):
            self._tell(client, subscribe, is_refused=True)
            return
        for wish in known:
            self._drop(wish)
        self._wishes.append(_Wish(id, client, home, filter, self._overlay.now))
        self._tell(client, subscribe)

    def _drop(self, wish: _Wish) -> None:
        if not self._is_there(wish.client):
            return
        self._tell(wish.client, Unsubscribe(wish.id))
        wish.until = self._overlay.now

    def _say(self, id: str, client: str, event: Event) -> None:
        home = self._clients[client]
        if not self._is_there(client):
            return
        promised = [self._promised[client]] if client in self._promised else []
        try:
            event = admitted(event, self._schema(home))
            check_announced(event, promised, self._schema(home))
        except FykeError:
            self._tell(client, Publish(id, event), is_refused=True)
            return
        reached = frozenset(self._reachable(home))
        self._said[id] = _Said(event, home, self._overlay.now, self._is_calm, reached)
        self._tell(client, Publish(id, event))

    def _promise(self, client: str, filter: Filter) -> None:
        if not self._is_there(client):
            return
        if client in self._promised:
            del self._promised[client]
            self._tell(client, Unadvertise("ad"))
            return
        is_refused = _refuses(lambda: check_filter(filter, self._schema(self._clients[client])))
        if not is_refused:
            self._promised[client] = filter
        self._tell(client, Advertise("ad", filter), is_refused=is_refused)

    def _leave(self, client: str) -> None:
        home = self._clients[client]
        if home in self._down:
            return
        if client in self._gone:
            self._gone.discard(client)
            self._overlay.attach(client, home)
            return
        self._tell(client, Disconnect())
        self._gone.add(client)
        self._promised.pop(client, None)
        for wish in self._live():
            if wish.client == client:
                wish.until = self._overlay.now
        self._tell(client, Publish("late", Event({"a": 1})), is_refused=True)

    def _define(self, client: str, which: int) -> None:
        if not self._is_there(client):
            return
        self._tell(client, Declare(*told.declaration(which)))

    def _change(self, strategy: str) -> None:
        coordinator = self._topology.brokers[0]
        client = next((each for each in self._clients if self._clients[each] == coordinator), "")
        if not self._is_there(client):
            return
        seen = len(self._trace)
        self._tell(client, Switch(strategy))
        if not any(isinstance(each, Rejected) for each in self._trace[seen:]):
            self._wanted = strategy

    # --- faults -----------------------------------------------------------------------------------

    def _break(self, link: tuple[str, str]) -> None:
        if link in self._cut:
            self._cut.discard(link)
            self._overlay.heal(*link)
            self._mended(link)
        else:
            self._lose_calm()
            self._cut.add(link)
            self._broken[link] = self._overlay.now
            self._overlay.cut(*link)

    def _crash(self, broker: str) -> None:
        if broker in self._down:
            self._down.discard(broker)
            self._overlay.restart(broker)
            self._mended(broker)
        else:
            if self._place.store_s:  # what was said is safe
                self._run(self._place.store_s * 1_000)
            self._lose_calm()
            self._wanted = None  # it may be forgotten by the one who was told
            self._down.add(broker)
            self._broken[broker] = self._overlay.now
            self._overlay.crash(broker)

    def _mended(self, what: str | tuple[str, str]) -> None:
        """Claim nothing of what may have ended meanwhile: it has to be told again."""
        since = self._broken.pop(what)
        if self._lease_s and self._overlay.now - since > (GRACE - 1) * self._lease_s:
            for wish in self._live():
                wish.is_settled = False

    def _lose_calm(self) -> None:
        """Claim nothing of events that are on their way, and less of those that follow."""
        self._is_calm = False
        for said in self._said.values():
            said.is_calm, said.reached = False, frozenset()

    def _reachable(self, start: str) -> set[str]:
        """Return the brokers that run and can be reached from one over links that work."""
        found = [start]
        for broker in found:
            for other in self._topology.neighbors(broker):
                is_cut = {(broker, other), (other, broker)} & self._cut
                if other not in self._down and not is_cut and other not in found:
                    found.append(other)
        return set(found)

    # --- checks -----------------------------------------------------------------------------------

    def _settle(self) -> None:
        assert self._overlay.run(messages_max=_MESSAGES_MAX), "it does not settle"
        self._look_at_trace()
        for id, said in self._said.items():
            self._check_reached(id, said)
        self._said.clear()
        self._got.clear()
        if not self._cut and not self._down:
            self._check_agreement()
            if not self._is_calm:
                self._check_tables()
            self._is_calm = True
            for wish in self._live():
                wish.is_settled = True

    def _look_at_trace(self) -> None:
        refused: Counter[tuple[str, str]] = Counter()
        reasons = []
        for record in self._trace:
            if isinstance(record, Delivered):
                self._check_delivered(record)
            elif isinstance(record, Rejected) and record.about not in ("Declare", "Switch"):
                refused[record.to, record.about] += 1
                reasons.append(record.reason)
            elif isinstance(record, Sent) and record.kind == "Poll":
                self._wanted = None  # it weighs on its own
            elif isinstance(record, Rejected) and record.about == "Switch" and self._place.store_s:
                self._wanted = None  # that answer came late, to whichever
        expected = +self._refused
        assert refused == expected, f"refused are {refused}, not {expected}: {reasons}"
        self.checked["refused"] += refused.total()
        self._refused.clear()
        self._trace.clear()

    def _check_delivered(self, got: Delivered) -> None:
        what = f"{got.client} gets {got.id} for {', '.join(got.subscriptions)}"
        assert (got.client, got.id) not in self._got, f"{what}, for the second time"
        assert got.id in self._said, f"{what}, which is long over"
        assert got.subscriptions, f"{what} no subscription"
        assert len(set(got.subscriptions)) == len(got.subscriptions), f"{what}: one is twice"
        self._got[got.client, got.id] = got.subscriptions
        event = self._said[got.id].event
        for id in got.subscriptions:
            own = [wish for wish in self._wishes if (wish.client, wish.id) == (got.client, id)]
            assert own, f"{what}: {id} is not its own"
            slack = self._place.store_s * 1_000
            live = [wish for wish in own if wish.since <= got.t <= wish.until + slack]
            assert live, f"{what}: {id} is not live"
            assert any(wish.filter.matches(event) for wish in live), f"{what}: {id} refuses it"

    def _check_reached(self, id: str, said: _Said) -> None:
        """AssertionError if a client does not get what it should, whatever is broken elsewhere."""
        distance = self._topology.distances(said.at)
        for wish in self._live():
            if wish.home not in said.reached or not wish.filter.matches(said.event):
                continue
            travels = (distance[wish.home] + 0.001) * LATENCY_S
            arrives = wish.since + travels + self._settles_s
            is_timely = said.is_calm and self._place.is_even and arrives < said.time
            if not is_timely and not wish.is_settled:
                continue
            self.checked["reached" if said.is_calm else "reached amid faults"] += 1
            assert wish.id in self._got.get((wish.client, id), ()), (
                f"{wish.client} of {wish.home} does not get {id} from {said.at} "
                f"for {wish.id}: {wish.filter}"
            )

    def _check_agreement(self) -> None:
        """AssertionError unless all brokers have one schema, and the strategy they were told."""
        brokers = [broker_of(self._overlay, name) for name in self._topology.brokers]
        assert len({str(each.schema.to_document()) for each in brokers}) == 1, "schemas differ"
        adaptive = [each.strategy for each in brokers if isinstance(each.strategy, Adaptive)]
        if not adaptive:
            return
        names = {each.current for each in adaptive}
        assert len(names) == 1, f"strategies differ: {sorted(names)}"
        for each in adaptive:
            assert each.epochs == 1, f"{each.epochs} epochs are left"
        if self._wanted is not None:
            assert variant_of(names.pop()) == variant_of(self._wanted), "it has not changed"
            self.checked["changed"] += 1
        self._wanted = None

    # --- at the end -------------------------------------------------------------------------------

    def _probe(self) -> None:
        """Publish one event after the other, from all sides, and see what each costs."""
        for number, event in enumerate(told.events()):
            id = f"{_PROBE}{number}"
            self._overlay.run(messages_max=_MESSAGES_MAX)
            seen = len(self._trace)
            variant = self._current_variant()
            self._say(id, self._client(number), event)
            self._overlay.run(messages_max=_MESSAGES_MAX)
            if variant is not None and id in self._said:
                records = self._trace[seen:]
                sent = sum(isinstance(each, Sent) and each.id == id for each in records)
                self._check_cost(self._said[id], variant, sent)
        self._settle()

    def _current_variant(self) -> Variant | None:
        strategy = broker_of(self._overlay, self._topology.brokers[0]).strategy
        return variant_of(strategy.current) if isinstance(strategy, Adaptive) else self._variant

    def _check_cost(self, said: _Said, variant: Variant, sent: int) -> None:
        wanting = {
            (wish.home, wish.client) for wish in self._live() if wish.filter.matches(said.event)
        }
        rendezvous = self._rendezvous(said.event, self._schema(said.at))
        right = best(self._topology, variant, said.at, rendezvous, wanting)
        is_right = sent == right if self._exact is None else sent >= right  # who prunes pays more
        assert is_right, f"{said.event} from {said.at} takes {sent} messages, not {right}"
        self.checked["cost"] += 1

    def _rendezvous(self, event: Event, schema: Schema) -> str | None:
        type_ = event.attributes.get("type")
        if isinstance(type_, tuple):
            return None
        names = [type_, *schema.supertypes(type_)] if isinstance(type_, str) else []
        if schema.types and not set(event.supertypes) <= set(names):
            return None
        owned = [name for name in names if name in self._owners]
        return self._owners.get(owned[0] if owned else "", self._topology.brokers[0])

    def _check_cost_of_a_wish(self) -> None:
        """AssertionError if one more subscription takes more than a message for each link."""
        client = next(iter(self._clients))
        if not self._is_plain or client in self._gone:
            return
        self._add("one more", client, told.filters()[0])
        self._overlay.run(messages_max=_MESSAGES_MAX)
        sent = sum(isinstance(each, Sent) for each in self._trace)
        links = len(self._topology.links)
        assert sent <= links, f"a subscription takes {sent} messages over {links} links"
        self.checked["cost of a subscription"] += 1
        self._settle()

    def _check_tables(self) -> None:
        """AssertionError unless they are those of a new overlay, or cover them."""
        if self._is_placing():
            fitting = _fitting(self._schema(self._topology.brokers[0]))
            for wish in self._live():
                check_placed(self._overlay, wish.home, wish.id, wish.filter, fitting)
                self.checked["placed"] += 1
            return
        overlay = self._remade()
        if self._exact is not None:
            self._check_covering(overlay)
            return
        schema = self._schema(self._topology.brokers[0])
        names = names_of((wish.filter for wish in self._live()), schema)
        for broker in self._topology.brokers:
            found = tables(self._overlay, broker, names)
            right = tables(overlay, broker, names)
            assert found == right, f"tables of {broker}: {found}\n  of a new one: {right}"
        self.checked["tables"] += 1

    def _is_placing(self) -> bool:
        return isinstance(broker_of(self._overlay, self._topology.brokers[0]).strategy, Placing)

    def _check_covering(self, overlay: Simulation) -> None:
        """AssertionError if a broker would lose an event that one that does not prune would not."""
        for broker in self._topology.brokers:
            found, right = (filters_of(each, broker) for each in (self._overlay, overlay))
            for side, narrow in right.items():
                wide = found.get(side, [])
                accepted = check_covers(
                    lambda event, wide=wide: any(each.matches(event) for each in wide),  # type: ignore[misc]
                    lambda event, narrow=narrow: any(each.matches(event) for each in narrow),  # type: ignore[misc]
                    told.events(),
                )
                self.checked["covered"] += accepted
            stats = self._overlay.node(broker).stats()
            self.checked["pruned"] += stats.pruned
        self.checked["tables"] += 1

    def _remade(self) -> Simulation:
        """Return an overlay that has seen nothing but what holds now."""
        strategy = broker_of(self._overlay, self._topology.brokers[0]).strategy
        make = self._exact or self._make
        if isinstance(strategy, Adaptive):
            make = _adaptive(strategy.current)
        overlay = self._new_overlay(make, None)
        for wish in self._live():  # also what would be refused, once types are declared
            overlay.say(wish.client, Subscribe(Subscription(wish.id, wish.filter)))
        overlay.run(messages_max=_MESSAGES_MAX)
        schema = self._schema(self._topology.brokers[0]).to_document()
        client = next(iter(self._clients))
        for what in ("attribute", "type"):
            documents = schema[f"{what}s"]
            assert isinstance(documents, dict)
            for name in _supertypes_first(documents):
                overlay.say(client, Declare(what, name, documents[name]))
        overlay.run(messages_max=_MESSAGES_MAX)
        return overlay

    def _check_empty(self) -> None:
        for broker in self._topology.brokers:
            left = tables(self._overlay, broker)
            assert not left, f"{broker} still holds {left}"
            stats = self._overlay.node(broker).stats()
            assert stats.rows == stats.subscriptions == stats.forwarded == 0, f"{broker}: {stats}"
            assert stats.filtered == 0, f"{broker} holds events against {stats.filtered} filters"

    def _check_footprint(self) -> None:
        """AssertionError if a broker is larger than one that has seen nothing but what holds.

        While there are filters, it may know the answers for the last event, and another of two
        equal filters may be the one that is used.
        """
        if self._is_placing() and self._live():
            return
        overlay = self._remade()
        for client in self._gone:
            overlay.say(client, Disconnect())
        overlay.run(messages_max=_MESSAGES_MAX)
        wishes = len(self._live())
        allowed = Counter(Interests=4 + 2 * wishes if wishes else 0, Table=4 if wishes else 0)
        passed = _IN_ORDER if wishes else ()
        for broker in self._topology.brokers:
            ours, new = self._overlay.node(broker), overlay.node(broker)
            if self._exact is not None and wishes:
                continue  # what is pruned depends on the order in which all came
            left = footprint(ours, passed) - footprint(new, passed)
            said = 8 * (1 + self._topology.degree(broker))
            left -= allowed + Counter(Declarations=2 * len(told.TYPES) + 4, Adaptive=2, Epoch=said)
            assert not left, f"{broker} keeps {dict(left)}"
        self.checked["footprint"] += 1


def _fitting(schema: Schema) -> list[Event]:
    """Return the events of stories that a schema admits, as it knows them."""
    found = []
    for event in told.events():
        with suppress(FykeError):
            found.append(admitted(event, schema))
    return found


def _refuses(check: Callable[[], None]) -> bool:
    try:
        check()
    except FykeError:
        return True
    return False


def _supertypes_first(documents: dict[str, dict[str, object]]) -> list[str]:
    """Return the names of types in an order in which they can be declared."""
    order: list[str] = []
    while len(order) < len(documents):
        for name, document in documents.items():
            above = document.get("supertypes", [])
            assert isinstance(above, list)
            if name not in order and all(each in order for each in above):
                order.append(name)
    return order


def _clients(topology: Topology) -> dict[str, str]:
    """Return the clients and their brokers."""
    return {
        f"{broker}.{number}": broker
        for broker in topology.brokers
        for number in range(told.CLIENTS)
    }
