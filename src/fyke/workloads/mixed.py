"""W1: words and numbers; filters of three to five predicates, one or two of them equalities.

Five dictionaries of 10 to 100,000 words, Zipf; five numbers below a million, uniform. Equalities
and intervals come as (1, 2), (1, 3), (2, 1), (2, 2) or (2, 3), each as likely; an interval is 1 %
to 15 % of the numbers wide, log-uniform. An event matches about six of 100,000 subscriptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import ClassVar, Final

from fyke.workloads.attribute import Attribute, Number, Words, geometric_widths
from fyke.workloads.conjunctive import ConjunctiveWorkload
from fyke.workloads.predicates import Templates

NUMBERS: Final = 1_000_000
SIZES: Final = {"s10": 10, "s100": 100, "s1k": 1_000, "s10k": 10_000, "s100k": 100_000}
SHAPES: Final = ((1, 2), (1, 3), (2, 1), (2, 2), (2, 3))
"""How many equalities and how many intervals."""

_WIDTHS: Final = geometric_widths(NUMBERS // 100, NUMBERS * 15 // 100)
WORD_ATTRIBUTES: Final = tuple(Words(name, size) for name, size in SIZES.items())
NUMBER_ATTRIBUTES: Final = tuple(Number(f"n{at}", NUMBERS, _WIDTHS) for at in range(1, 6))


@dataclass(frozen=True, slots=True)
class MixedWorkload(ConjunctiveWorkload):
    """Conjunctions of equalities and intervals."""

    name: ClassVar[str] = "w1"
    family: ClassVar[str] = "w1"
    attributes: ClassVar[tuple[Attribute, ...]] = WORD_ATTRIBUTES + NUMBER_ATTRIBUTES

    @classmethod
    def templates(cls) -> Templates:
        return _templates()


@lru_cache(maxsize=1)
def _templates() -> Templates:
    return Templates(template for shape in SHAPES for template in _of_shape(*shape))


def _of_shape(equalities: int, intervals: int) -> Iterator[tuple[int, ...]]:
    """A hundred templates, whatever the shape: there are 50 or 100 different ones."""
    words = combinations(range(5), equalities)
    different = [a + b for a, b in product(words, combinations(range(5, 10), intervals))]
    for _ in range(100 // len(different)):
        yield from different
