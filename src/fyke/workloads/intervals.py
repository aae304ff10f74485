"""W2: three or ten numbers; filters of three intervals, each 10 % to 30 % wide.

An event matches about eight of a thousand subscriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import ClassVar, Final

from fyke.workloads.attribute import Attribute, Number
from fyke.workloads.conjunctive import ConjunctiveWorkload
from fyke.workloads.draw import Ranges
from fyke.workloads.predicates import Templates

NUMBERS: Final = 1_000_000
INTERVALS: Final = 3

_WIDTHS: Final = Ranges((NUMBERS // 10, NUMBERS * 3 // 10 + 1), (1,))
_ATTRIBUTES: Final = tuple(Number(f"n{at}", NUMBERS, _WIDTHS) for at in range(1, 11))


@dataclass(frozen=True, slots=True)
class ThreeIntervalsWorkload(ConjunctiveWorkload):
    """Every filter speaks about all three attributes."""

    name: ClassVar[str] = "w2_3"
    family: ClassVar[str] = "w2_3"
    attributes: ClassVar[tuple[Attribute, ...]] = _ATTRIBUTES[:3]

    @classmethod
    def templates(cls) -> Templates:
        return _templates(len(cls.attributes))


@dataclass(frozen=True, slots=True)
class ThreeOfTenIntervalsWorkload(ThreeIntervalsWorkload):
    """Every filter speaks about three attributes of ten."""

    name: ClassVar[str] = "w2_10"
    family: ClassVar[str] = "w2_10"
    attributes: ClassVar[tuple[Attribute, ...]] = _ATTRIBUTES


@lru_cache(maxsize=2)
def _templates(attributes: int) -> Templates:
    return Templates(combinations(range(attributes), INTERVALS))
