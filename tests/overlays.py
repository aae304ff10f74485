"""A small overlay for tests: the scan engine, and a client `c<broker>` at every broker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import fyke
from fyke.assembly import assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Message, Publish, Subscribe
from fyke.overlay.topology import Topology
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Rejected

LINE = (("a", "b"), ("b", "c"), ("c", "d"))


class Overlay:
    """`options` are those of `assemble`. What is said settles before the next is."""

    def __init__(
        self,
        strategy: str,
        links: Iterable[tuple[str, str]] = LINE,
        network: Network | None = None,
        in_bytes: bool = False,
        seed: int = 0,
        **options: object,
    ) -> None:
        self.topology = Topology.of(links)
        options = {"engine": "scan", **options}
        self.system = assemble(strategy, self.topology, **options)  # type: ignore[arg-type]
        self.trace: list[Record] = []
        self.run = Simulation(
            self.topology,
            self.system.make,
            seed=seed,
            network=network,
            write=self.trace.append,
            codec=self.system.codec,
            in_bytes=in_bytes,
        )
        for broker in self.topology.brokers:
            self.run.attach(f"c{broker}", broker)
        self.settle()

    def settle(self) -> None:
        assert self.run.run(messages_max=100_000)

    def say(self, client: str, message: Message) -> list[str]:
        """Return why it was refused."""
        before = len(self.trace)
        self.run.say(client, message)
        self.settle()
        return [each.reason for each in self.trace[before:] if isinstance(each, Rejected)]

    def subscribe(self, client: str, id: str, text: str) -> list[str]:
        return self.say(client, Subscribe(Subscription(id, fyke.parse(text))))

    def publish(
        self, client: str, event: fyke.Event | Mapping[str, object], id: str = ""
    ) -> list[tuple[str, tuple[str, ...]]]:
        """Return who got it, with which subscriptions, in order of names."""
        before = len(self.trace)
        whole = event if isinstance(event, fyke.Event) else fyke.Event(dict(event))
        assert self.say(client, Publish(id, whole)) == []
        return delivered(self.trace[before:])


def delivered(records: Iterable[Record]) -> list[tuple[str, tuple[str, ...]]]:
    got = (each for each in records if isinstance(each, Delivered))
    return sorted((each.client, tuple(sorted(each.subscriptions))) for each in got)
