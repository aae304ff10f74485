"""IntervalArray: from a value to the profiles that accept it, by one binary search.

Idea. The ends of all constraints on an attribute cut its domain into edges, inside which the same
profiles accept. A sorted array holds the bounds between edges, a parallel array the profile set of
each edge (DAS-9). Every operator is a union of such edges.

Example. p: a = 40 and q: a > 60 (DAS-X5).

    bounds     just before 40 | just after 40 | just after 60 | end of the numbers
    edges   {}                {p}             {}              {q}                 {}

Invariant. Neighbouring edges hold different sets: an insert splits an edge only at an end of its
spans, a removal joins what has become equal, which can only be at the removed ends (DAS-13).

Cost. Lookup O(log edges). Insert and remove touch each edge that the spans cover: O(edges) for a
wide interval. Memory: edges x profiles in the worst case, as bits.

Source. DAS 4.1.1 and 4.1.2. Differs: the paper's domains are finite and an entry is the last value
of its edge (39, 40, 60, 100 above, over [0, 100]); ours are dense, so the bounds are cuts between
values, and further kinds of values lie behind the numbers. The bounds are a Python list, which
grows by its own rule.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from fyke.filters.algebra.intervals import Cut, Spans
from fyke.matching.engines.interval_parameters import Parameters
from fyke.matching.engines.places import BEGIN, END
from fyke.matching.engines.profile_set import Members, ProfileSet, union


class IntervalArray:
    """Bounds and edges; edge i lies between bound i - 1 and bound i."""

    __slots__ = ("_fitted", "bounds", "edges")

    def __init__(self, parameters: Parameters) -> None:
        self.bounds: list[Cut] = []
        self.edges: list[ProfileSet] = [ProfileSet(parameters)]
        self._fitted = 0

    def at(self, place: Cut) -> ProfileSet:
        """Return the set of the edge on which a value lies, given as the cut just before it."""
        return self.edges[bisect_right(self.bounds, place)]

    def selected(self, where: Sequence[Cut]) -> Members:
        """Return all that the edges at some places hold."""
        if len(where) == 1:
            return self.at(where[0]).members
        chosen = {bisect_right(self.bounds, place) for place in where}
        return union([self.edges[at].members for at in chosen])

    def insert(self, index: int, spans: Spans, total: int) -> None:
        for low, high in spans:
            first = self._split(low)
            last = self._split(high, first)
            for edge in self.edges[first:last]:
                edge.add(index, total)

    def remove(self, index: int, spans: Spans, total: int) -> None:
        """Undo an insert; the spans are those that were inserted."""
        for low, high in spans:
            first, last = bisect_right(self.bounds, low), bisect_right(self.bounds, high)
            if high == END:
                last = len(self.edges)
            for edge in self.edges[first:last]:
                edge.remove(index, total)
        for low, high in spans:
            self._join(low)
            self._join(high)

    def fit(self, total: int) -> None:
        """Let all sets reconsider their form once the profiles have become a quarter more or
        fewer; sets that change do so anyway.
        """
        if 4 * abs(total - self._fitted) > self._fitted:
            self._fitted = total
            for edge in self.edges:
                edge.fit(total)

    def _split(self, cut: Cut, first: int = 0) -> int:
        """Make the cut a bound, not before place `first`. Return the edge that begins there."""
        if cut == BEGIN:
            return 0
        if cut == END:
            return len(self.edges)
        at = bisect_left(self.bounds, cut, first)
        if at == len(self.bounds) or self.bounds[at] != cut:
            self.bounds.insert(at, cut)
            self.edges.insert(at, self.edges[at].copy())
        return at + 1

    def _join(self, cut: Cut) -> None:
        at = bisect_left(self.bounds, cut)
        if at == len(self.bounds) or self.bounds[at] != cut:
            return
        if self.edges[at].same(self.edges[at + 1]):
            del self.bounds[at], self.edges[at + 1]
