"""The paper's model of sizes and hops (SUM-26 to SUM-34), and the walks of events, on any graph."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from random import Random

from fyke.overlay.named import named
from fyke.overlay.topology import Topology
from fyke.routing.summaries.neighbourhood import Neighbourhood, natural


@dataclass(frozen=True, slots=True)
class SizeModel:
    """Tables 1 and 2. A subscription has half of the attributes, 40 % of them arithmetic."""

    n_t: int = 10
    n_sr: int = 2
    sst: int = 4
    sid: int = 4
    ssv: int = 10
    subscription: int = 50

    def summary(self, brokers: int, sigma: int, p: float) -> float:
        """Return the bytes of a summary of so many brokers (eq. 1 and 2, SUM-31)."""
        arithmetic, strings = 0.4 * self.n_t, 0.6 * self.n_t
        ids = brokers * sigma / 2
        distinct = (1 - p) * ids
        aacs = (2 * self.n_sr + distinct) * self.sst + ids * self.sid
        return arithmetic * aacs + strings * (distinct * self.ssv + ids * self.sid)


def topology_of(name: str, seed: int) -> Topology:
    """Return `cwix`, or a random graph of 20 to 33 brokers."""
    if name == "cwix":
        return named(name)
    return named("random_graph", Random(f"brokers {seed}").randint(20, 33), seed)


class Forest:
    """The brokers that send summaries to each other, and what each then holds (Algorithm 2)."""

    def __init__(self, topology: Topology, fan_out: int = 1, degree_max: int | None = None) -> None:
        self.topology = topology
        adjacent = {broker: topology.neighbors(broker) for broker in topology.brokers}
        self.maps = {
            broker: Neighbourhood(broker, adjacent, degree_max, fan_out)
            for broker in topology.brokers
        }
        any_map = self.maps[topology.brokers[0]]
        self.targets = {broker: any_map.targets(broker) for broker in topology.brokers}
        self.merged: dict[str, frozenset[str]] = {}
        order = sorted(topology.brokers, key=lambda each: (any_map.degree(each), natural(each)))
        held: dict[str, set[str]] = {broker: {broker} for broker in order}
        for broker in order:
            for to in self.targets[broker]:
                held[to] |= held[broker]
        self.merged = {broker: frozenset(some) for broker, some in held.items()}

    @property
    def hops(self) -> int:
        return sum(map(len, self.targets.values()))

    def bandwidth(self, model: SizeModel, sigma: int, p: float) -> float:
        return sum(
            len(to) * model.summary(len(self.merged[broker]), sigma, p)
            for broker, to in self.targets.items()
        )

    def storage(self, model: SizeModel, sigma: int, p: float) -> float:
        return sum(model.summary(len(some), sigma, p) for some in self.merged.values())

    def walk(self, start: str) -> list[str]:
        """Return the brokers that examine an event, in order (Algorithm 3)."""
        examined: set[str] = set()
        at, found = start, []
        while True:
            found.append(at)
            examined |= self.merged[at]
            left = [each for each in self.topology.brokers if each not in examined]
            if not left:
                return found
            at = min(left, key=self.maps[at].search_rank())


class Siena:
    """A spanning tree of each source, and a probability of being subsumed (SUM-27, SUM-28).

    `forwarded` is an expectation, so it needs no seeds.
    """

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.parents = {root: topology.parents(root) for root in topology.brokers}
        self._degree_max = max(map(topology.degree, topology.brokers))

    def forwarded(self, p: float) -> float:
        """Return the messages of one subscription of each broker."""
        total = 0.0
        for root, parents in self.parents.items():
            reached = {root: 1.0}
            for broker, parent in parents.items():
                if broker != root:
                    subsumed = p * self.topology.degree(parent) / self._degree_max
                    reached[broker] = reached[parent] * (1 - subsumed)
                    total += reached[broker]
        return total

    def edges(self, root: str, ends: Collection[str]) -> int:
        """Return the links of the tree of a source that lead to some brokers."""
        parents, joined = self.parents[root], {root}
        for end in ends:
            while end not in joined:
                joined.add(end)
                end = parents[end]
        return len(joined) - 1


def mean_distance(topology: Topology) -> float:
    brokers = topology.brokers
    total = sum(sum(topology.distances(each).values()) for each in brokers)
    return total / (len(brokers) * (len(brokers) - 1))


@lru_cache(maxsize=64)
def graph(name: str, seed: int) -> tuple[Forest, Siena]:
    topology = topology_of(name, seed)
    return Forest(topology), Siena(topology)
