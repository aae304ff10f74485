"""W4: the events of W1; 30 % of the filters are trees, the others are those of W1.

    A and (B or C) and (D or (E and F))

A is an equality, B to F are equalities or intervals as in W1, all on distinct attributes. A tenth
of the predicates is negated, of A too; with `guarded` A is not, so that an equality is necessary
for every match. An event matches about two of a thousand subscriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import ClassVar, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from fyke.filters.filter import Filter, conjunction, disjunction, negation
from fyke.workloads.attribute import CodedAttribute
from fyke.workloads.conjunctive import WORD_ATTRIBUTES, FlatWorkload, MixedWorkload
from fyke.workloads.draw import Codes, RandomStream, row_numbers
from fyke.workloads.predicates import PredicateSource, Templates
from fyke.workloads.workload import in_order

LEAVES: Final = 6
TREES_PER_MILLE: Final = 300
NEGATED_PER_MILLE: Final = 100

_IS_TREE: Final = LEAVES
"""The column after those that say which predicates are negated."""


@dataclass(frozen=True, slots=True)
class TreesWorkload(FlatWorkload):
    """Boolean trees among conjunctions."""

    name: ClassVar[str] = "w4"
    family: ClassVar[str] = MixedWorkload.family
    attributes: ClassVar[tuple[CodedAttribute, ...]] = MixedWorkload.attributes

    guarded: bool = False

    def make_filters(self, count: int, start: int) -> Iterator[Filter]:
        rows = row_numbers(count, start)
        is_tree = self._is_tree(rows)
        trees = self._trees(rows[is_tree])
        conjunctions = MixedWorkload(self.seed).make_filters(count, start)
        for filter, replaced in zip(conjunctions, is_tree.tolist(), strict=True):
            yield next(trees) if replaced else filter

    def text_column(self, count: int, start: int = 0) -> pa.Array:
        rows = row_numbers(count, start)
        is_tree = self._is_tree(rows)
        flat = MixedWorkload(self.seed).texts_of(rows[~is_tree])
        places = [np.flatnonzero(~is_tree), np.flatnonzero(is_tree)]
        tables = [pa.table({"filter": texts}) for texts in (flat, self._tree_texts(rows[is_tree]))]
        return in_order(tables, places)["filter"].combine_chunks()

    def _is_tree(self, numbers: Codes) -> NDArray[np.bool_]:
        return _sources(self.seed)[0].below(numbers, _IS_TREE, 1_000) < TREES_PER_MILLE

    def _tree_texts(self, numbers: Codes) -> pa.Array:
        shapes, source = _sources(self.seed)
        leaves = source.texts(source.draw(numbers))
        for leaf in range(1 if self.guarded else 0, LEAVES):
            sign = pa.array(["", "not "]).take(_is_negated(shapes, numbers, leaf).astype("int8"))
            leaves[leaf] = pc.binary_join_element_wise(sign, leaves[leaf], "")
        a, b, c, d, e, f = leaves
        return pc.binary_join_element_wise(
            *(a, " and (", b, " or ", c, ") and (", d, " or ", e, " and ", f, ")"), ""
        )

    def _trees(self, numbers: Codes) -> Iterator[Filter]:
        shapes, source = _sources(self.seed)
        negated = [_is_negated(shapes, numbers, leaf).tolist() for leaf in range(LEAVES)]
        leaves = source.predicates(source.draw(numbers))
        return map(self._tree, leaves, zip(*negated, strict=True))

    def _tree(self, leaves: Sequence[Filter], negated: Sequence[bool]) -> Filter:
        a, b, c, d, e, f = (
            negation(leaf) if is_negated else leaf
            for leaf, is_negated in zip(leaves, negated, strict=True)
        )
        if self.guarded:
            a = leaves[0]
        return conjunction((a, disjunction((b, c)), disjunction((d, conjunction((e, f))))))


def _is_negated(shapes: RandomStream, numbers: Codes, leaf: int) -> NDArray[np.bool_]:
    return shapes.below(numbers, leaf, 1_000) < NEGATED_PER_MILLE


@lru_cache(maxsize=8)
def _sources(seed: int) -> tuple[RandomStream, PredicateSource]:
    source = PredicateSource(seed, "w4 trees", TreesWorkload.attributes, _templates())
    return RandomStream(seed, "w4 shapes"), source


@lru_cache(maxsize=1)
def _templates() -> Templates:
    return Templates(
        (a, *pair, d, *rest)
        for a in range(len(WORD_ATTRIBUTES))
        for pair in combinations(_others(a), 2)
        for d in _others(a, *pair)
        for rest in combinations(_others(a, *pair, d), 2)
    )


def _others(*taken: int) -> list[int]:
    return [at for at in range(len(TreesWorkload.attributes)) if at not in taken]
