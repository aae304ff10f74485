"""A tree of stages with readers who wait for publications, and what events do in it.

Readers come to brokers of the edge and join by messages (`readers`). Events come in at the root. At
each node the filters, the events that come and those that match are counted (MSF-39): a broker's
filters are the different ones of its table, and an event matches where one of them accepts it. A
reader is a node of stage 0 with one filter, counted apart: the broker where it is attached holds
that filter as its own stage needs it, and the reader gets what that lets through.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Final

from fyke.events.schema import Schema
from fyke.experiments.multistage.readers import Readers
from fyke.experiments.table import Row
from fyke.filters.algebra.weakening import weaken
from fyke.filters.filter import Filter
from fyke.matching.matcher import Matcher
from fyke.nodes.message import NodeId
from fyke.overlay.generators import hierarchy
from fyke.routing.stages.attributes import Stages, weaken_for
from fyke.routing.stages.placing import Placing
from fyke.traces.trace import Record, Sent
from fyke.workloads.bibliography import BibliographyWorkload

ATTRIBUTES: Final = ("year", "conference", "author", "title")
STAGES: Final[Stages] = tuple(ATTRIBUTES[: 4 - stage] for stage in range(4))
CLASSES: Final = {"Publication": STAGES}


class Tree(Readers):
    """A root, `fan_out` brokers below it and as many below each of these; readers at brokers.

    Of the filters, the share `wildcards` leaves out the conference or the author, by turns.
    """

    def __init__(
        self, placement: str, fan_out: int, readers: int, seed: int, wildcards: float = 0.0
    ) -> None:
        self._forwarded: Counter[NodeId] = Counter()
        self._last: dict[NodeId, str] = {}
        """The last event that a broker has passed on."""
        topology = hierarchy((fan_out, fan_out))
        super().__init__(topology, seed, "multistage", stages=CLASSES, placement=placement)
        self._topology = topology
        self._workload = BibliographyWorkload(seed)
        draw = Random(f"multistage {seed}")
        filters = {f"r{number}": self._filter(number, wildcards, draw) for number in range(readers)}
        self.subscribe(filters)
        self._at = {reader: self._place(reader) for reader in filters}
        self._weak = Matcher(engine="counting")
        for reader, filter in filters.items():
            stage = self.strategy(self._at[reader]).stage
            self._weak.add(reader, weaken_for(filter, stage, CLASSES, Schema()))

    def _filter(self, number: int, wildcards: float, draw: Random) -> Filter:
        filter = self._workload.filter(number)
        if draw.random() >= wildcards:
            return filter
        left_out = ("conference", "author")[number % 2]
        return weaken(filter, {"type", *ATTRIBUTES} - {left_out})

    def _place(self, reader: str) -> NodeId:
        """Return where a reader is attached: at the end of its walk, or at its home."""
        home = self._homes[reader]
        strategy = self.strategy(home)
        return strategy.places()[reader] if isinstance(strategy, Placing) else home

    # --- events -----------------------------------------------------------------------------------

    def _note(self, record: Record) -> None:
        super()._note(record)
        if not isinstance(record, Sent) or record.kind != "Publish" or record.straight:
            return
        if self._last.get(record.at) != record.id:
            self._last[record.at] = record.id
            self._forwarded[record.at] += 1

    def draw(self, count: int) -> None:
        """Publish so many events at the root, and count what each node sees of them."""
        self.forget()
        self._forwarded.clear()
        self._reached: Counter[str] = Counter()
        self._matched: Counter[str] = Counter()
        self._kept: Counter[NodeId] = Counter()
        """Events that a broker has for readers of its own, and for no child."""
        for number in range(count):
            event = self._workload.event(number)
            self.publish([event])
            reached = self._weak.match(event)
            self._reached.update(reached)
            self._matched.update(self._exact.match(event))
            brokers = {self._at[reader] for reader in reached}
            self._kept.update(each for each in brokers if self._last.get(each) != self._last_id)

    def rows(self) -> Iterator[Row]:
        """Return a row for each node: its filters, the events that came, those that matched."""
        own: dict[NodeId, set[str]] = {}
        for reader, at in self._at.items():
            own.setdefault(at, set()).add(str(self._weak.filter(reader)))
        for name in self._topology.brokers:
            heard = self.strategy(name).tables()["heard"].values()
            filters = {text for known in heard for text in known.values()} | own.get(name, set())
            matched = self._forwarded[name] + self._kept[name]
            yield self._row(self.stages[name], len(filters), self.received[name], matched)
        distances = {name: self._topology.distances(name) for name in self.edge}
        for reader, at in self._at.items():
            row = self._row(0, 1, self._reached[reader], self._matched[reader])
            yield {**row, "detour": distances[self._homes[reader]][at]}

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
