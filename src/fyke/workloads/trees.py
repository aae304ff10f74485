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
from typing import TYPE_CHECKING, ClassVar, Final

from fyke.filters.filter import Filter, conjunction, disjunction, negation
from fyke.workloads.attribute import Attribute
from fyke.workloads.conjunctive import FlatWorkload, blocks
from fyke.workloads.draw import Stream
from fyke.workloads.mixed import WORD_ATTRIBUTES, MixedWorkload
from fyke.workloads.predicates import PredicateSource, Templates
from fyke.workloads.workload import in_order

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from fyke.workloads.vector_draw import Words as Draws

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
    attributes: ClassVar[tuple[Attribute, ...]] = MixedWorkload.attributes

    guarded: bool = False

    def filter(self, number: int) -> Filter:
        shapes, source = _sources(self.seed)
        if shapes.below(number, _IS_TREE, 1_000) >= TREES_PER_MILLE:
            return MixedWorkload(self.seed).filter(number)
        negated = [shapes.below(number, leaf, 1_000) < NEGATED_PER_MILLE for leaf in range(LEAVES)]
        return self._tree(source.draw(number), negated)

    def filters(self, count: int, start: int = 0) -> Iterator[Filter]:
        from fyke.workloads.vector_draw import half, numbers, scale

        shapes, _ = _sources(self.seed)
        for first, size in blocks(count, start):
            rows = numbers(size, first)
            is_tree = scale(half(shapes, rows, _IS_TREE), 1_000) < TREES_PER_MILLE
            trees = self._trees(rows[is_tree])
            conjunctions = MixedWorkload(self.seed).filters(size, first)
            for filter, replaced in zip(conjunctions, is_tree.tolist(), strict=True):
                yield next(trees) if replaced else filter

    def text_column(self, count: int, start: int = 0) -> pa.Array:
        import numpy as np
        import pyarrow as pa

        from fyke.workloads.vector_draw import half, numbers, scale

        rows = numbers(count, start)
        is_tree = scale(half(_sources(self.seed)[0], rows, _IS_TREE), 1_000) < TREES_PER_MILLE
        flat = MixedWorkload(self.seed).texts_of(rows[~is_tree])
        places = [np.flatnonzero(~is_tree), np.flatnonzero(is_tree)]
        tables = [pa.table({"filter": texts}) for texts in (flat, self._tree_texts(rows[is_tree]))]
        return in_order(tables, places)["filter"].combine_chunks()

    def _tree_texts(self, numbers: Draws) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        shapes, source = _sources(self.seed)
        leaves = source.texts(source.draw_many(numbers))
        for leaf in range(1 if self.guarded else 0, LEAVES):
            sign = pa.array(["", "not "]).take(_is_negated(shapes, numbers, leaf).astype("int8"))
            leaves[leaf] = pc.binary_join_element_wise(sign, leaves[leaf], "")
        a, b, c, d, e, f = leaves
        return pc.binary_join_element_wise(
            *(a, " and (", b, " or ", c, ") and (", d, " or ", e, " and ", f, ")"), ""
        )

    def _trees(self, numbers: Draws) -> Iterator[Filter]:
        shapes, source = _sources(self.seed)
        negated = [_is_negated(shapes, numbers, leaf).tolist() for leaf in range(LEAVES)]
        leaves = source.predicates(source.draw_many(numbers))
        return map(self._tree, leaves, zip(*negated, strict=True))

    def _tree(self, leaves: Sequence[Filter], negated: Sequence[bool]) -> Filter:
        a, b, c, d, e, f = (
            negation(leaf) if is_negated else leaf
            for leaf, is_negated in zip(leaves, negated, strict=True)
        )
        if self.guarded:
            a = leaves[0]
        return conjunction((a, disjunction((b, c)), disjunction((d, conjunction((e, f))))))


def _is_negated(shapes: Stream, numbers: Draws, leaf: int) -> NDArray[np.bool_]:
    from fyke.workloads.vector_draw import half, scale

    return scale(half(shapes, numbers, leaf), 1_000) < NEGATED_PER_MILLE


@lru_cache(maxsize=8)
def _sources(seed: int) -> tuple[Stream, PredicateSource]:
    source = PredicateSource(seed, "w4 trees", TreesWorkload.attributes, _templates())
    return Stream(seed, "w4 shapes"), source


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
