"""A tree of stages with readers who wait for publications, and what events do in it.

Events come in at the root. At each node the filters, the events that come and those that match are
counted (MSF-39): a broker's filters are the different ones of its table, and an event matches where
one of them accepts it. A reader is a node of stage 0 with one filter. The broker where it is
attached holds that filter as its own stage needs it, and the reader gets what that lets through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final

from fyke.assembly import assemble
from fyke.broker.broker import Broker
from fyke.errors import FykeError
from fyke.events.schema import Schema
from fyke.experiments.table import Row
from fyke.filters.algebra.weakening import weaken
from fyke.filters.filter import Filter
from fyke.filters.subscription import Subscription
from fyke.matching.matcher import Matcher
from fyke.nodes.message import NodeId, Publish, Subscribe
from fyke.overlay.generators import hierarchy
from fyke.routing.stages.attributes import Stages, weaken_for
from fyke.routing.stages.multistage import Multistage
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Delivered, Record, Sent
from fyke.workloads.bibliography import BibliographyWorkload

ATTRIBUTES: Final = ("year", "conference", "author", "title")
STAGES: Final[Stages] = tuple(ATTRIBUTES[: 4 - stage] for stage in range(4))
CLASSES: Final = {"Publication": STAGES}
RANDOM: Final = "random"
LOCALITY: Final = "locality"
SIMILARITY: Final = "similarity"
WITHOUT_WILDCARDS: Final = "similarity, wildcards as others"
"""Attached where similar ones are, at the edge, whatever a filter leaves open."""
PUBLISHER: Final = "publisher"


class Tree:
    """A root, `fan_out` brokers below it and as many below each of these; readers at brokers.

    Of the filters, the share `wildcards` leaves out the conference or the author, by turns.
    """

    def __init__(
        self, placement: str, fan_out: int, readers: int, seed: int, wildcards: float = 0.0
    ) -> None:
        self._topology = topology = hierarchy((fan_out, fan_out))
        self._root = topology.brokers[0]
        system = assemble(
            "multistage", topology, rendezvous={"": self._root}, stages=CLASSES, engine="compiled"
        )
        self._overlay = Simulation(
            topology, system.make, codec=system.codec, write=self._note, seed=seed
        )
        self._overlay.attach(PUBLISHER, self._root)
        self._overlay.run()
        self._received: Counter[NodeId] = Counter()
        self._forwarded: Counter[NodeId] = Counter()
        self._delivered = 0
        self._last: dict[NodeId, str] = {}
        self._events = 0
        self._workload = BibliographyWorkload(seed)
        self._random = Random(f"multistage {seed} {placement}")
        self._near: dict[str, NodeId] = {}
        self._at: dict[str, NodeId] = {}
        self._exact, self._weak = Matcher(engine="counting"), Matcher(engine="counting")
        edge = topology.brokers[1 + fan_out :]
        for number in range(readers):
            self._add(f"r{number}", self._filter(number, wildcards), placement, edge)

    def _filter(self, number: int, wildcards: float) -> Filter:
        filter = self._workload.filter(number)
        if self._random.random() >= wildcards:
            return filter
        left_out = ("conference", "author")[number % 2]
        return weaken(filter, {"type", *ATTRIBUTES} - {left_out})

    def _add(self, reader: str, filter: Filter, placement: str, edge: tuple[NodeId, ...]) -> None:
        self._near[reader] = self._random.choice(edge)
        at = self._at[reader] = self._place(placement, reader, filter, edge)
        weak = weaken_for(filter, self._stage(at), CLASSES, Schema())
        self._exact.add(reader, filter)
        self._weak.add(reader, weak)
        self._overlay.attach(reader, at)
        self._overlay.say(reader, Subscribe(Subscription(reader, filter)))
        self._overlay.run()

    def _place(
        self, placement: str, reader: str, filter: Filter, edge: tuple[NodeId, ...]
    ) -> NodeId:
        if placement == LOCALITY:
            return self._near[reader]
        if placement == RANDOM:
            return self._random.choice(edge)
        broker, looks = self._root, placement == SIMILARITY
        while child := self._strategy(broker).join(filter, self._random, looks_at_wildcards=looks):
            broker = child
        return broker

    def _strategy(self, name: NodeId) -> Multistage:
        broker = self._overlay.node(name)
        assert isinstance(broker, Broker) and isinstance(broker.strategy, Multistage)
        return broker.strategy

    def _stage(self, name: NodeId) -> int:
        return self._strategy(name).stage

    # --- events -----------------------------------------------------------------------------------

    def _note(self, record: Record) -> None:
        if isinstance(record, Sent):
            if record.kind == "Publish":
                self._received[record.to] += 1
                if self._last.get(record.at) != record.id:
                    self._last[record.at] = record.id
                    self._forwarded[record.at] += 1
        elif isinstance(record, Delivered):
            self._delivered += 1

    def publish(self, count: int) -> None:
        """Publish events at the root, and count what each node sees of them."""
        self._reached: Counter[str] = Counter()
        self._matched: Counter[str] = Counter()
        self._kept: Counter[NodeId] = Counter()
        """Events that a broker has for readers of its own, and for no child."""
        right = 0
        for number in range(count):
            event = self._workload.event(number)
            id = f"e{number}"
            self._overlay.say(PUBLISHER, Publish(id, event))
            self._overlay.run()
            reached, matched = self._weak.match(event), self._exact.match(event)
            self._reached.update(reached)
            self._matched.update(matched)
            brokers = {self._at[reader] for reader in reached}
            self._kept.update(each for each in brokers if self._last.get(each) != id)
            right += len(matched)
        self._received[self._root] += count
        self._events += count
        if self._delivered != right:
            raise FykeError(f"{self._delivered} deliveries; expected {right}")

    def rows(self) -> Iterator[Row]:
        """Return a row for each node: its filters, the events that came, those that matched."""
        weak = {reader: str(self._weak.filter(reader)) for reader in self._at}
        own: dict[NodeId, set[str]] = {}
        for reader, at in self._at.items():
            own.setdefault(at, set()).add(weak[reader])
        for name in self._topology.brokers:
            heard = self._strategy(name).tables()["heard"].values()
            filters = {text for known in heard for text in known.values()} | own.get(name, set())
            matched = self._forwarded[name] + self._kept[name]
            yield self._row(self._stage(name), len(filters), self._received[name], matched)
        distances = {name: self._topology.distances(name) for name in set(self._near.values())}
        for reader, at in self._at.items():
            row = self._row(0, 1, self._reached[reader], self._matched[reader])
            yield {**row, "detour": distances[self._near[reader]][at]}

    def _row(self, stage: int, filters: int, received: int, matched: int) -> Row:
        load = received * filters
        return {
            "stage": stage,
            "filters": filters,
            "received": received,
            "matched": matched,
            "load": load,
            "relative_load": load / (self._events * len(self._at)),
            "match_rate": matched / received if received else None,
        }
