"""tree: one level per attribute, a path per profile, and an event that walks down.

Idea. The root filters the first attribute, its children the second, and so on (Gough and Smith).
Edges carry what profiles ask of the attribute of their level; a profile that asks nothing there
goes along the `*` edge; profiles lie where their path ends. An event follows the edges that accept
its value, and the profiles it passes match. Equal beginnings of profiles are tested once.

Example (DAS-X1). p1: a=10, b=20, c=50; p2: 40, 10, 80; p3 and p5: 40, 20, 100; p4: a=40, c=100.

    a=10 - b=20 - c=50   p1
    a=40 - b=10 - c=80   p2
         - b=20 - c=100  p3 p5
         -  *   - c=100  p4

The event 40, 20, 100 ends at p3, p5 and p4.

Stars. The paper follows `*` only where no other edge accepts, and so loses p4 for that event; the
correction DAS-Q5 copies p4 below b=10 and b=20. We follow the accepting edges and `*`: the same
verdicts, and the tree stays linear, whereas copies multiply with every level that a profile skips.
For the same reason an interval is one edge, not one per piece that others cut it into; the node's
interval array says which edges accept a value. A run of `*` edges is stored as its end: a node has
a branch for each attribute that comes next on some path.

Invariant. A profile lies at the end of exactly one path, which names its constraints in the order
of levels. An event reaches it iff it satisfies them all (by lists: see `profile`).

Cost. Per event the nodes reached: few where early levels select well, all where nothing does. A
binary search at each. Memory: a node per distinct beginning of a profile, at most one per
constraint, and the arrays of a node with many overlapping intervals.

Source. DAS 4.1.1 (DAS-8, DAS-9, DAS-Q5). The order of levels is the one given, then that of
appearance. It decides about the cost: equalities belong above intervals, because below an attribute
with many overlapping intervals an event walks many ways at once. Any filter of the algebra is
accepted, by way of `profile` and a check where needed.
"""

from __future__ import annotations

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
from fyke.matching.engines.profile_set import indices


class TreeNode:
    """A node of paths: the profiles that end here, and a branch per attribute that comes next."""

    __slots__ = ("branches", "checked", "ending")

    def __init__(self) -> None:
        self.ending: set[int] = set()
        """Slots of exact profiles."""
        self.checked: set[int] = set()
        """Slots of the others."""
        self.branches: dict[Dimension, Branch] = {}

    @property
    def is_empty(self) -> bool:
        return not (self.ending or self.checked or self.branches)


class Branch:
    """The edges of a node for one attribute, numbered; the array finds those that accept."""

    __slots__ = ("_array", "_indices", "_loose", "_numbers", "ends")

    def __init__(self, parameters: Parameters) -> None:
        self.ends: dict[int, TreeNode] = {}
        self._numbers: dict[Constraint, int] = {}
        self._array = IntervalArray(parameters)
        self._indices = Indices()
        self._loose: set[int] = set()

    def end(self, constraint: Constraint) -> TreeNode:
        """Return the node at the end of an edge, which is made if there is none."""
        number = self._numbers.get(constraint)
        if number is not None:
            return self.ends[number]
        number = self._numbers[constraint] = self._indices.take()
        node = self.ends[number] = TreeNode()
        self._array.insert(number, constraint.spans, len(self.ends))
        self._array.fit(len(self.ends))
        if constraint.loose:
            self._loose.add(number)
        return node

    def remove(self, constraint: Constraint) -> None:
        number = self._numbers.pop(constraint)
        del self.ends[number]
        self._indices.release(number)
        self._array.remove(number, constraint.spans, len(self.ends))
        self._array.fit(len(self.ends))
        self._loose.discard(number)

    def followed(self, where: Sequence[Cut], is_list: bool) -> Iterator[tuple[TreeNode, bool]]:
        """Yield the nodes that an event reaches, with True where a loose edge let it pass."""
        loose = self._loose if is_list else ()
        for number in indices(self._array.selected(where)):
            if number not in loose:
                yield self.ends[number], False
        for number in loose:
            yield self.ends[number], True


class TreeEngine:
    """The root, and the levels in their order."""

    def __init__(self, order: Sequence[Dimension] = (), parameters: Parameters = DEFAULT) -> None:
        self.work = Work()
        self.root = TreeNode()
        self._order = {dimension: level for level, dimension in enumerate(order)}
        self._levels: dict[Dimension, int] = {}
        self._uses: dict[Dimension, int] = {}
        self._next_level = len(self._order)
        self._parameters = parameters
        self._tests: dict[int, Test] = {}
        self._unguarded: set[int] = set()
        self._taken: dict[int, tuple[Profile, ...]] = {}

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
        self._taken[slot] = found
        for each in found:
            self._use(each)
            node = self.root
            for dimension, constraint in self._path(each):
                if dimension not in node.branches:
                    node.branches[dimension] = Branch(self._parameters)
                node = node.branches[dimension].end(constraint)
            (node.ending if each.exact else node.checked).add(slot)

    def remove(self, slot: int) -> None:
        del self._tests[slot]
        self._unguarded.discard(slot)
        for each in self._taken.pop(slot, ()):
            self._delete(slot, each)
            self._disuse(each)

    def _delete(self, slot: int, profile: Profile) -> None:
        """Take a profile from the end of its path, and the nodes that only this path has."""
        path = self._path(profile)
        nodes = [self.root]
        for dimension, constraint in path:
            nodes.append(nodes[-1].branches[dimension].end(constraint))
        (nodes[-1].ending if profile.exact else nodes[-1].checked).remove(slot)
        for (dimension, constraint), parent, node in zip(
            reversed(path), reversed(nodes[:-1]), reversed(nodes), strict=False
        ):
            if not node.is_empty:
                return
            parent.branches[dimension].remove(constraint)
            if not parent.branches[dimension].ends:
                del parent.branches[dimension]

    def _path(self, profile: Profile) -> list[tuple[Dimension, Constraint]]:
        return sorted(profile.constraints.items(), key=lambda each: self._levels[each[0]])

    def _use(self, profile: Profile) -> None:
        for dimension in profile.constraints:
            self._uses[dimension] = self._uses.get(dimension, 0) + 1
            if dimension not in self._levels:
                self._levels[dimension] = self._order.get(dimension, self._next_level)
                self._next_level += 1

    def _disuse(self, profile: Profile) -> None:
        """Forget the levels that have no edges any more; one may come back as the last."""
        for dimension in profile.constraints:
            self._uses[dimension] -= 1
            if not self._uses[dimension]:
                del self._uses[dimension], self._levels[dimension]

    # --- events

    def match(self, event: Event) -> list[int]:
        sure: set[int] = set()
        unsure = set(self._unguarded)
        for node, doubtful in self._reached(event):
            (unsure if doubtful else sure).update(node.ending)
            unsure.update(node.checked)
        unsure -= sure
        self.work.candidates += len(sure) + len(unsure)
        self.work.checks += len(unsure)
        tests, attributes = self._tests, event.attributes
        sure.update(slot for slot in unsure if tests[slot](attributes, event))
        return sorted(sure)

    def _reached(self, event: Event) -> Iterator[tuple[TreeNode, bool]]:
        """Yield the nodes on the event's ways down, with True where a loose edge let it pass."""
        located: dict[Dimension, tuple[list[Cut], bool]] = {}
        todo = [(self.root, False)]
        while todo:
            node, doubtful = todo.pop()
            yield node, doubtful
            for dimension, branch in node.branches.items():
                if dimension not in located:
                    located[dimension] = places(event, dimension)
                where, is_list = located[dimension]
                self.work.probes += len(where)
                for end, passed in branch.followed(where, is_list):
                    todo.append((end, doubtful or passed))
