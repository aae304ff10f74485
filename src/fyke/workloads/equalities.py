"""W3: twenty dictionaries, four of each size; filters of five equalities.

An event matches about three of ten million subscriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import ClassVar, Final

from fyke.workloads.attribute import Attribute, Words
from fyke.workloads.conjunctive import ConjunctiveWorkload
from fyke.workloads.mixed import SIZES
from fyke.workloads.predicates import Templates

EQUALITIES: Final = 5


@dataclass(frozen=True, slots=True)
class EqualitiesWorkload(ConjunctiveWorkload):
    """Conjunctions of equalities."""

    name: ClassVar[str] = "w3"
    family: ClassVar[str] = "w3"
    attributes: ClassVar[tuple[Attribute, ...]] = tuple(
        Words(name + letter, SIZES[name]) for letter, name in product("abcd", SIZES)
    )

    @classmethod
    def templates(cls) -> Templates:
        return _templates()


@lru_cache(maxsize=1)
def _templates() -> Templates:
    return Templates(combinations(range(len(EqualitiesWorkload.attributes)), EQUALITIES))
