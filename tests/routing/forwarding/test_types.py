"""Types that are declared and changed while subscriptions are out: who gets what follows them."""

from __future__ import annotations

from random import Random

import pytest

import fyke
from fyke.assembly import assemble
from fyke.events.schema import Schema
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Declare, Publish, Subscribe
from fyke.overlay.topology import Topology
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Rejected

TYPES = ("Thing", "Stock", "Share", "Bond", "Option")
"""Each may have those before it as supertypes."""
FILTERS = (
    *(f"type is {name}" for name in TYPES),
    *(f"type = '{name}' and price < 5" for name in TYPES),
    *("price < 5", "not type is Stock", "type is Share or type is Bond"),
    "type in ('Stock', 'Bond')",
)


class Market:
    """A random tree with a client at each broker and a rendezvous for some types."""

    def __init__(self, strategy: str, draw: Random) -> None:
        self._draw = draw
        brokers = [f"b{number}" for number in range(draw.randint(2, 6))]
        links = [(draw.choice(brokers[: at + 1]), name) for at, name in enumerate(brokers[1:])]
        topology = Topology.of(links)
        owners = {name: draw.choice(brokers) for name in ("", *TYPES) if draw.random() < 0.6}
        system = assemble(strategy, topology, rendezvous={"": brokers[0], **owners}, engine="scan")
        self._trace: list[Record] = []
        self._overlay = Simulation(
            topology, system.make, codec=system.codec, write=self._trace.append
        )
        self.clients = [f"c{number}" for number in range(len(brokers))]
        for client, broker in zip(self.clients, brokers, strict=True):
            self._overlay.attach(client, broker)
        self._documents: dict[str, dict[str, object]] = {}
        self._wanted: dict[str, tuple[str, fyke.Filter]] = {}

    def declare(self, name: str, supertypes: list[str]) -> None:
        self._documents[name] = {"supertypes": supertypes, "attributes": {}}
        self._overlay.say(
            self._draw.choice(self.clients), Declare("type", name, self._documents[name])
        )
        self._settle()

    def subscribe(self, filter: fyke.Filter) -> None:
        """The subscription is still on its way when the next type is declared."""
        id, client = f"s{len(self._wanted)}", self._draw.choice(self.clients)
        self._wanted[id] = client, filter
        self._overlay.say(client, Subscribe(Subscription(id, filter)))

    def _settle(self) -> None:
        self._overlay.run()
        assert [each.reason for each in self._trace if isinstance(each, Rejected)] == []

    def check(self) -> None:
        """Everybody gets what the filters accept of events as the schema knows them."""
        self._settle()
        schema = Schema.from_document({"types": self._documents, "attributes": {}})
        for client in self.clients:
            for name in self._documents:
                event = fyke.Event({"type": name, "price": self._draw.randrange(10)})
                known = schema.validate(event)
                right = {id for id, (_, each) in self._wanted.items() if each.matches(known)}
                assert self._delivered(client, event) == sorted(right), (client, event)

    def _delivered(self, client: str, event: fyke.Event) -> list[str]:
        self._trace.clear()
        self._overlay.say(client, Publish("", event))
        self._settle()
        got = [each for each in self._trace if isinstance(each, Delivered)]
        assert all(each.client == self._wanted[id][0] for each in got for id in each.subscriptions)
        return sorted(id for each in got for id in each.subscriptions)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    "strategy",
    [*("event_forwarding", "subscription_forwarding", "rendezvous", "adaptive"), "pf1", "rn4"],
)
def test_deliveries_follow_the_hierarchy(strategy: str, seed: int) -> None:
    draw = Random(seed)
    market = Market(strategy, draw)
    for at, name in enumerate(TYPES):
        market.declare(name, draw.sample(TYPES[:at], draw.randint(0, min(at, 2))))
        known = [text for text in FILTERS if not any(later in text for later in TYPES[at + 1 :])]
        for text in draw.choices(known, k=2):
            market.subscribe(fyke.parse(text))
    market.check()
    for _ in range(2):
        at = draw.randrange(1, len(TYPES))
        market.declare(TYPES[at], draw.sample(TYPES[:at], draw.randint(0, min(at, 2))))
        market.check()
