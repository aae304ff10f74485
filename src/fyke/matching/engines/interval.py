"""interval: one array of intervals per attribute, and the intersection of what they select.

Idea. Each attribute has a node: an interval array from its values to profile sets, and the set of
profiles that do not constrain it. A value selects an edge; the edge's profiles and the indifferent
ones are those that this attribute does not refuse. Intersecting over all attributes leaves the
profiles that match, and once nothing is left the event is refused without looking further (DAS-10).

Example (DAS-X1). p1: a=10, b=20, c=50; p2: 40, 10, 80; p3 and p5: 40, 20, 100; p4: a=40, c=100.
The event a=40, b=10, c=80 selects {p2,p3,p4,p5}, then {p2,p4}, then {p2}: p2 matches.

Invariant. A profile is, at each node, in the edges that its constraint covers, or it is indifferent
there. Hence a filter none of whose profiles survives does not accept the event.

Cost. Per event, for each attribute of the index, a binary search and an intersection, O(profiles /
64) words or less; half of the attributes where early refusal is even. Adding and removing cost
O(edges) for wide intervals. Memory is quadratic at worst: an engine for up to some ten thousand
profiles.

Source. DAS 4.1 (DAS-9 to DAS-14). Differs:
- Indifferent profiles are stored once per node instead of in each of its edges, and joined to the
  selected edge. The selected set is the paper's; an insert need not touch every edge.
- The paper has a structure per event type. Here `type is T` is an attribute like the others, so
  that subtypes and filters without a type have a place; put it first to the same effect.
- Filters are any trees over any values. `profile` says how they become profiles, and which of the
  profiles that survive need a check of their filter. A list selects the edges of all its elements.
- The order of attributes is theirs of appearance until `reorder` (DAS-14): as given, or by the
  share of profiles that each attribute was seen to leave over. `Matcher.compact` asks for it, and
  the engine itself after `reorder_every` events.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

from fyke.events.event import Event
from fyke.filters.algebra.intervals import Cut
from fyke.filters.filter import Filter, Test
from fyke.matching.engines.contract import Work
from fyke.matching.engines.indices import Indices
from fyke.matching.engines.interval_array import IntervalArray
from fyke.matching.engines.interval_parameters import DEFAULT, Parameters
from fyke.matching.engines.places import Dimension, places
from fyke.matching.engines.profile import Constraint, Profile, profiles
from fyke.matching.engines.profile_set import (
    Members,
    ProfileSet,
    count,
    indices,
    intersection,
    union,
)


class IntervalNode:
    """The intervals of one attribute, and the profiles that do not constrain it."""

    __slots__ = ("array", "constrained", "indifferent", "loose", "survivors", "tried")

    def __init__(self, parameters: Parameters) -> None:
        self.array = IntervalArray(parameters)
        self.indifferent = ProfileSet(parameters)
        self.loose: set[int] = set()
        self.constrained = 0
        self.tried = self.survivors = 0

    def insert(self, index: int, constraint: Constraint | None, total: int) -> None:
        if constraint is None:
            self.indifferent.add(index, total)
        else:
            self.array.insert(index, constraint.spans, total)
            self.constrained += 1
            if constraint.loose:
                self.loose.add(index)
        self._fit(total)

    def remove(self, index: int, constraint: Constraint | None, total: int) -> None:
        if constraint is None:
            self.indifferent.remove(index, total)
        else:
            self.array.remove(index, constraint.spans, total)
            self.constrained -= 1
            self.loose.discard(index)
        self._fit(total)

    def _fit(self, total: int) -> None:
        self.indifferent.fit(total)
        self.array.fit(total)

    def selected(self, where: Sequence[Cut], is_list: bool) -> Members:
        """Return the profiles that are not refused; a loose constraint refuses no list."""
        passed = sorted(self.loose) if is_list else ()
        return union((self.indifferent.members, self.array.selected(where), passed))


class IntervalEngine:
    """Profiles under indices, a node per attribute in the order of evaluation."""

    def __init__(self, parameters: Parameters = DEFAULT) -> None:
        self.work = Work()
        self.nodes: dict[Dimension, IntervalNode] = {}
        self._parameters = parameters
        self._tests: dict[int, Test] = {}
        self._unguarded: set[int] = set()
        self._taken: dict[int, list[int]] = {}
        self._profiles: dict[int, Profile] = {}
        self._slots: dict[int, int] = {}
        self._indices = Indices()
        self._changing = threading.Lock()
        self._seen = 0

    @property
    def unguarded(self) -> int:
        return len(self._unguarded)

    # --- filters

    def add(self, slot: int, filter: Filter) -> None:
        found = profiles(filter, self._parameters.boxes_max, self._parameters.spans_max)
        self._tests[slot] = filter.test()
        if not all(each.constraints for each in found):
            self._unguarded.add(slot)
            return
        with self._changing:
            self._taken[slot] = [self._insert(slot, each) for each in found]

    def _insert(self, slot: int, profile: Profile) -> int:
        for dimension in profile.constraints:
            if dimension not in self.nodes:
                self.nodes[dimension] = self._node()
        index = self._indices.take()
        self._profiles[index], self._slots[index] = profile, slot
        for dimension, node in self.nodes.items():
            node.insert(index, profile.constraints.get(dimension), len(self._profiles))
        return index

    def _node(self) -> IntervalNode:
        """Return a node to which everybody so far is indifferent."""
        node = IntervalNode(self._parameters)
        for index in sorted(self._profiles):
            node.insert(index, None, len(self._profiles))
        return node

    def remove(self, slot: int) -> None:
        del self._tests[slot]
        self._unguarded.discard(slot)
        with self._changing:
            for index in self._taken.pop(slot, ()):
                self._delete(index)

    def _delete(self, index: int) -> None:
        profile = self._profiles.pop(index)
        del self._slots[index]
        self._indices.release(index)
        for dimension, node in list(self.nodes.items()):
            node.remove(index, profile.constraints.get(dimension), len(self._profiles))
            if not node.constrained:
                del self.nodes[dimension]

    def reorder(self, order: Sequence[Dimension] | None = None) -> None:
        """Evaluate the attributes in this order, those that are not named afterwards.

        Without an order, those come first that have left the fewest profiles over since the last
        time.
        """
        with self._changing:
            if order is None:
                order = sorted(self.nodes, key=lambda each: _survival(self.nodes[each]))
            rest = (each for each in self.nodes if each not in order)
            self.nodes = {each: self.nodes[each] for each in (*order, *rest) if each in self.nodes}
            for node in self.nodes.values():
                node.tried = node.survivors = 0

    # --- events

    def match(self, event: Event) -> list[int]:
        self._count()
        surviving, doubted = self._survivors(event)
        sure: set[int] = set()
        unsure = set(self._unguarded)
        for index in indices(surviving):
            doubtful = any(index in loose for loose in doubted)
            certain = self._profiles[index].exact and not doubtful
            (sure if certain else unsure).add(self._slots[index])
        unsure -= sure
        self.work.candidates += len(sure) + len(unsure)
        self.work.checks += len(unsure)
        tests, attributes = self._tests, event.attributes
        sure.update(slot for slot in unsure if tests[slot](attributes, event))
        return sorted(sure)

    def _count(self) -> None:
        """Count an event; reorder after every `reorder_every` events."""
        self._seen += 1
        every = self._parameters.reorder_every
        if every and self._seen % every == 0:
            self.reorder()

    def selections(self, event: Event) -> Iterator[tuple[Dimension, Members]]:
        """Yield the profiles that each attribute selects, in the order of evaluation."""
        for dimension, node in self.nodes.items():
            yield dimension, node.selected(*places(event, dimension))

    def _survivors(self, event: Event) -> tuple[Members, list[set[int]]]:
        """Return the profiles that all attributes select; and, per list, those it passed unseen."""
        found: Members | None = None
        before = len(self._profiles)
        doubted: list[set[int]] = []
        for dimension, node in list(self.nodes.items()):
            where, is_list = places(event, dimension)
            self.work.probes += len(where)
            selected = node.selected(where, is_list)
            if is_list and node.loose:
                doubted.append(node.loose)
            found = selected if found is None else intersection(found, selected, self.work)
            after = count(found)
            node.tried += before
            node.survivors += after
            if not after:
                break
            before = after
        return (() if found is None else found), doubted


def _survival(node: IntervalNode) -> float:
    return node.survivors / node.tried if node.tried else 1.0
