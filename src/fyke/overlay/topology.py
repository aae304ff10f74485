"""Topology: which brokers there are and which of them are linked.

    Topology.of([("a", "b"), ("b", "c")]).path("a", "c")          ("a", "b", "c")

Most strategies need a tree: between two brokers there is one way, so no event arrives twice and
"the way it came" is well defined (DAS-25). `check_tree` says what is wrong with a graph otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fyke.errors import FykeError, shown


class TopologyError(FykeError):
    """A graph is not an overlay, or the strategy cannot use it."""


@dataclass(frozen=True, slots=True)
class Topology:
    """Brokers in the order in which they were named, and the links between them."""

    brokers: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    _neighbors: Mapping[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        neighbors: dict[str, list[str]] = {}
        for broker in self.brokers:
            if not isinstance(broker, str) or not broker:
                raise TopologyError(f"a broker's name is {shown(broker)}; expected a text")
            if broker in neighbors:
                raise TopologyError(f"the broker {shown(broker)} is named twice")
            neighbors[broker] = []
        if not neighbors:
            raise TopologyError("an overlay without brokers")
        linked: set[tuple[str, str]] = set()
        for link in self.links:
            a, b = _ends(link, neighbors)
            if (a, b) in linked:
                raise TopologyError(f"{shown(a)} and {shown(b)} are linked twice")
            linked |= {(a, b), (b, a)}
            neighbors[a].append(b)
            neighbors[b].append(a)
        fixed = {broker: tuple(others) for broker, others in neighbors.items()}
        object.__setattr__(self, "_neighbors", fixed)

    @classmethod
    def of(cls, links: Iterable[tuple[str, str]], brokers: Iterable[str] = ()) -> Topology:
        """Return a topology of the brokers of these links, and of others by name."""
        links = tuple(links)
        named = dict.fromkeys(brokers) | dict.fromkeys(end for link in links for end in link)
        return cls(tuple(named), links)

    def neighbors(self, broker: str) -> tuple[str, ...]:
        try:
            return self._neighbors[broker]
        except KeyError:
            known = ", ".join(self.brokers[:10])
            raise TopologyError(f"unknown broker {shown(broker)}; there are {known}") from None

    def degree(self, broker: str) -> int:
        return len(self.neighbors(broker))

    # --- ways -------------------------------------------------------------------------------------

    def parents(self, root: str) -> dict[str, str]:
        """Return for each broker that can be reached the next one on a shortest way to the root."""
        found: dict[str, str] = {root: root}
        waiting = deque([root])
        while waiting:
            broker = waiting.popleft()
            for other in self.neighbors(broker):
                if other not in found:
                    found[other] = broker
                    waiting.append(other)
        return found

    def path(self, start: str, end: str) -> tuple[str, ...]:
        """Return a shortest way, with both ends."""
        parents = self.parents(end)
        if start not in parents:
            raise TopologyError(f"there is no way from {shown(start)} to {shown(end)}")
        way = [start]
        while way[-1] != end:
            way.append(parents[way[-1]])
        return tuple(way)

    def distances(self, root: str) -> dict[str, int]:
        """Return the links between each broker that can be reached and the root."""
        found = {root: 0}
        for broker, parent in self.parents(root).items():
            if broker != root:
                found[broker] = found[parent] + 1
        return found

    def center(self) -> str:
        """Return the first broker with the least sum of distances to all others."""
        far = self._far_in_tree() if self.is_tree() else self._far()
        return min(self.brokers, key=far.__getitem__)

    def _far(self) -> dict[str, int]:
        """Return for each broker the sum of its distances to all that it reaches."""
        return {broker: sum(self.distances(broker).values()) for broker in self.brokers}

    def _far_in_tree(self) -> dict[str, int]:
        """Return the same in linear time.

        A step down comes nearer to all brokers below, and goes away from all others.
        """
        root = self.brokers[0]
        parents = self.parents(root)
        below = dict.fromkeys(parents, 1)
        for broker in reversed(parents):
            if broker != root:
                below[parents[broker]] += below[broker]
        far = {root: sum(self.distances(root).values())}
        for broker, parent in parents.items():
            if broker != root:
                far[broker] = far[parent] + len(self.brokers) - 2 * below[broker]
        return far

    # --- trees ------------------------------------------------------------------------------------

    def is_tree(self) -> bool:
        try:
            self.check_tree()
        except TopologyError:
            return False
        return True

    def check_tree(self) -> None:
        """Raise a TopologyError unless there is exactly one way between any two brokers."""
        self.check_connected("not a tree: ")
        if len(self.links) >= len(self.brokers):
            raise TopologyError(f"not a tree: there is a cycle, {' - '.join(self._cycle())}")

    def check_connected(self, what: str = "not connected: ") -> None:
        """Raise a TopologyError, which begins with `what`, unless all brokers are connected."""
        reached = self.parents(self.brokers[0])
        for broker in self.brokers:
            if broker not in reached:
                first = shown(self.brokers[0])
                raise TopologyError(f"{what}there is no way from {first} to {shown(broker)}")

    def _cycle(self) -> list[str]:
        """Return a cycle: two ways from the first broker to where they meet."""
        parents = self.parents(self.brokers[0])
        tree = {link for pair in parents.items() for link in (pair, pair[::-1])}
        a, b = next(link for link in self.links if link not in tree)
        above = [a]
        while above[-1] != parents[above[-1]]:
            above.append(parents[above[-1]])
        way = [b]
        while way[-1] not in above:
            way.append(parents[way[-1]])
        return [*above[: above.index(way[-1])], *reversed(way), a]


def _ends(link: object, known: Mapping[str, object]) -> tuple[str, str]:
    """Return the two brokers of a link. TopologyError unless both are known and differ."""
    if not isinstance(link, tuple) or len(link) != 2:
        raise TopologyError(f"a link is {shown(link)}; expected two brokers")
    a, b = link
    for end in link:
        if not isinstance(end, str) or end not in known:
            problem = f"unknown broker {shown(end)}"
            raise TopologyError(f"a link from {shown(a)} to {shown(b)}: {problem}")
    if a == b:
        raise TopologyError(f"the broker {shown(a)} is linked to itself")
    return a, b
