"""Shape: a filter as a tree of numbered leaves, of which some are still there.

Idea. The only valid pruning takes a child from an And (PRU-9). So whatever was pruned, and in
whatever order, the leaves that are left say what the tree is: a set of bits. Trees that differ only
in their predicates share a shape, and thousands of them are handled at once.
Form. The tree is the structural normal form (PRU-2) with negations in front of leaves: operators of
one kind are joined, nothing else is folded, because `new or used` has to stay two predicates
(PRU-25).
Example. "t and e and (n and p or u and q)" has the leaves t e n p u q and 9 nodes, in preorder. Of
these t, e, the Or, n, p, u and q are children of an And: seven candidates (PRU-X9). Without q the
second And has one child, so that u is now a child of the Or: it is no candidate any more.
Invariant. A node that still has leaves and is a child of an Or always keeps some, so an Or never
loses a child on its own, and the root never goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fyke.filters.filter import And, Filter, Not, Or, conjunction, disjunction, negation
from fyke.filters.predicate import Predicate
from fyke.pruning.selectivity import Arithmetic, Fold, Triple

Key: TypeAlias = bool | tuple[Any, ...]
"""A leaf says whether an index can find it; an operator is its kind and the keys of children."""
AND: Final = "and"
OR: Final = "or"


def read(filter: Filter) -> tuple[Key, list[Filter]]:
    """Return the key of a filter's shape, and its leaves in order, negated where it says so."""
    literals: list[Filter] = []
    return _read(filter, False, literals), literals


def _read(filter: Filter, is_negated: bool, literals: list[Filter]) -> Key:
    if isinstance(filter, And | Or):
        kind = AND if isinstance(filter, And) != is_negated else OR
        keys: list[Any] = [kind]
        for child in filter.children:
            key = _read(child, is_negated, literals)
            if type(key) is tuple and key[0] == kind:
                keys.extend(key[1:])
            else:
                keys.append(key)
        return tuple(keys) if len(keys) > 2 else keys[-1]
    if isinstance(filter, Not):
        return _read(filter.child, not is_negated, literals)
    literals.append(negation(filter) if is_negated else filter)
    return isinstance(filter, Predicate) and not is_negated


@dataclass(frozen=True, slots=True)
class Candidate:
    """A pruning that is possible: the node that would go, and the share of the tree without it."""

    node: int
    share: Triple


class Shape:
    """A tree without its predicates. Nodes are numbered in preorder, leaves from left to right.

    `kept` is always the set of leaves that are there, as bits.
    """

    def __init__(self, key: Key) -> None:
        self.kinds: list[str] = []
        """`and`, `or`, or nothing for a leaf."""
        self.parents: list[int] = []
        self.children: list[list[int]] = []
        self.leaves: list[int] = []
        """The leaves at or below each node, as bits."""
        self._guards: list[bool] = []
        """Of each leaf, whether an index can find it."""
        self._add(key, -1)

    def _add(self, key: Key, parent: int) -> int:
        node = len(self.kinds)
        self.parents.append(parent)
        self.children.append([])
        self.leaves.append(0)
        if isinstance(key, bool):
            self.kinds.append("")
            self.leaves[node] = 1 << len(self._guards)
            self._guards.append(key)
            return node
        self.kinds.append(key[0])
        for each in key[1:]:
            child = self._add(each, node)
            self.children[node].append(child)
            self.leaves[node] |= self.leaves[child]
        return node

    @property
    def size(self) -> int:
        """The number of leaves."""
        return len(self._guards)

    @property
    def whole(self) -> int:
        """All leaves."""
        return self.leaves[0]

    # --- prunings

    def candidates(self, kept: int) -> Iterator[int]:
        """Yield the nodes whose removal is a valid pruning, in preorder."""
        for node in range(1, len(self.kinds)):
            parent = self.parents[node]
            others = self.leaves[parent] & kept & ~self.leaves[node]
            if self.kinds[parent] == AND and self.leaves[node] & kept and others:
                yield node

    def without(self, kept: int, node: int) -> int:
        """Return the leaves that are left by a valid pruning; ValueError if it is none."""
        if node not in self.candidates(kept):
            raise ValueError(f"node {node} is no child of a conjunction that has others")
        return kept & ~self.leaves[node]

    def is_guarded(self, kept: int, node: int = 0) -> bool:
        """Return whether an index can find the tree: every event it accepts has a leaf to go by."""
        if not self.kinds[node]:
            return self._guards[self.leaves[node].bit_length() - 1]
        found = (self.is_guarded(kept, child) for child in self._left(kept, node))
        return any(found) if self.kinds[node] == AND else all(found)

    # --- shares

    def shares(
        self, kept: int, leaves: Any, arithmetic: Arithmetic
    ) -> tuple[Triple, list[Candidate]]:
        """Return the share of the tree, and that of the tree after each possible pruning."""
        folds = {AND: Fold(arithmetic, True), OR: Fold(arithmetic, False)}
        triples = self._triples(kept, leaves, folds)
        others: dict[int, Triple] = {}
        counts: dict[int, int] = {}
        for node in triples:
            if left := self._left(kept, node):
                fold = folds[self.kinds[node]]
                counts[node] = len(left)
                if len(left) > 1:
                    parts = [fold.part(triples[child]) for child in left]
                    others.update(zip(left, fold.all_but_one(parts), strict=True))
        found = []
        for node in self.candidates(kept):
            at = self.parents[node]
            share = folds[AND].share(others[node], counts[at] - 1)
            while (parent := self.parents[at]) >= 0:
                if counts[parent] > 1:
                    fold = folds[self.kinds[parent]]
                    joined = fold.join(others[at], fold.part(share))
                    share = fold.share(joined, counts[parent])
                at = parent
            found.append(Candidate(node, share))
        return triples[0], found

    def share(self, kept: int, leaves: Any, arithmetic: Arithmetic) -> Triple:
        """Return the share of the tree; `leaves` has a number for each leaf."""
        folds = {AND: Fold(arithmetic, True), OR: Fold(arithmetic, False)}
        return self._triples(kept, leaves, folds)[0]

    def _triples(self, kept: int, leaves: Any, folds: dict[str, Fold]) -> dict[int, Triple]:
        """Return the share of each node that is left, by node."""
        found: dict[int, Triple] = {}
        for node in reversed(range(len(self.kinds))):
            if not self.leaves[node] & kept:
                continue
            if not self.kinds[node]:
                share = leaves[self.leaves[node].bit_length() - 1]
                found[node] = share, share, share
                continue
            left, fold = self._left(kept, node), folds[self.kinds[node]]
            if len(left) == 1:
                found[node] = found[left[0]]
            else:
                joined = fold.all([fold.part(found[child]) for child in left])
                found[node] = fold.share(joined, len(left))
        return found

    def _left(self, kept: int, node: int) -> list[int]:
        return [child for child in self.children[node] if self.leaves[child] & kept]

    # --- filters

    def filter(self, kept: int, literals: Sequence[Filter], node: int = 0) -> Filter:
        """Return the filter that is left, in normal form."""
        if not self.kinds[node]:
            return literals[self.leaves[node].bit_length() - 1]
        found = (self.filter(kept, literals, child) for child in self._left(kept, node))
        return conjunction(found) if self.kinds[node] == AND else disjunction(found)


class Shapes:
    """The shapes that were met, each made once."""

    def __init__(self) -> None:
        self._known: dict[Key, Shape] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, key: Key) -> Shape:
        shape = self._known.get(key)
        if shape is None:
            shape = self._known[key] = Shape(key)
        return shape
