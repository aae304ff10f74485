"""Boxes and the points that fall into them, after S2S section 5 (S2S-2, S2S-Q7, S2S-Q9).

An event is a point: a value from 0 to 1 for each of a1, a2, ..., uniform; its type is Point. A
subscription is a closed box, an interval of every attribute:

    type is Point and a1 between 0.421077 and 0.530102 and a2 between ... and a3 between ...

Widths follow a power law with exponent 4 (a width is U**4, U uniform), so that some boxes are wide
and many nearly exact. Centres follow a power law around the middle (0.5 +- 0.5 * U**1.75) or are
uniform (`interest="uniform"`). What would lie outside 0 and 1 is cut off. Each subscription is a
peer of its own (S2S-4). `typed=False` leaves only the box. The paper does not state the exponent of
the centres, and 4 in other words; both can be chosen, in steps of a quarter.

Values have six decimals; laws are tables of whole roots, so that every machine has the same rows.
An event matches about six of a thousand subscriptions where there are three attributes, two of ten
thousand where there are five. Of 10,000 boxes, an event that matches at least two matches up to 215
to 256 of three attributes (paper: 2 to 246), and of five half of such events match two or three.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, TypeAlias

from fyke.errors import FykeError, shown
from fyke.events.domain import Real
from fyke.events.schema import Attribute, EventType, Schema
from fyke.filters.filter import Filter, conjunction
from fyke.filters.predicate import Range, TypeIs
from fyke.workloads.attribute import root
from fyke.workloads.draw import COLUMNS, Codes, Draw, RandomStream, Ranges, row_numbers
from fyke.workloads.drawn import DrawnWorkload, DrawPlan, RecordForm, Wording
from fyke.workloads.form import Fixed, Form, Sentence, Whole
from fyke.workloads.workload import check_size, row_of

DECIMALS: Final = 6
ONE: Final = 10**DECIMALS
MIDDLE: Final = ONE // 2
ATTRIBUTES_MAX: Final = COLUMNS
INTERESTS: Final = ("power_law", "uniform")
EXPONENT_MAX: Final = 16

Box: TypeAlias = tuple[tuple[float, float], ...]
"""The lowest and the highest value of each attribute."""


def power_law(largest: int, power: int, degree: int, steps: int = 1_024) -> Ranges:
    """Return ranges of numbers up to `largest` times U ** (power / degree).

    Each of the equally likely slices of U has a step; numbers are uniform inside.
    """
    ends = [
        root(largest**degree * step**power // steps**power, degree) for step in range(steps + 1)
    ]
    ends[-1] += 1
    return Ranges(ends, [1] * steps)


@lru_cache(maxsize=32)
def _law(largest: int, exponent: float) -> Ranges:
    return power_law(largest, *Fraction(exponent).as_integer_ratio())


@dataclass(frozen=True, slots=True)
class BoxesWorkload(DrawnWorkload):
    """Points, and boxes of as many dimensions as there are attributes."""

    name: ClassVar[str] = "boxes"

    attributes: int = 3
    interest: str = "power_law"
    typed: bool = True
    width_exponent: float = 4
    centre_exponent: float = 1.75

    def __post_init__(self) -> None:
        check_size("attributes", self.attributes, ATTRIBUTES_MAX)
        if self.interest not in INTERESTS:
            expected = " or ".join(INTERESTS)
            raise FykeError(f"the interest in boxes is {expected}, not {shown(self.interest)}")
        for name in ("width_exponent", "centre_exponent"):
            value = getattr(self, name)
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 < value <= EXPONENT_MAX or value % 0.25:
                expected = f"0.25 to {EXPONENT_MAX}, in steps of a quarter"
                raise FykeError(f"{name} is {shown(value)}; expected {expected}")

    def plan(self) -> DrawPlan:
        return _plan(self)

    @property
    def schema(self) -> Schema:
        """The attributes, each from 0 to 1, and the type where there is one."""
        sides = [Attribute(f"a{at}", Real(0, 1)) for at in range(1, self.attributes + 1)]
        return Schema(sides, [EventType("Point")] if self.typed else [])

    def box(self, number: int) -> Box:
        """Return the lowest and the highest value of each attribute that a subscription wants."""
        return row_of(_boxes, self, number)

    def filter(self, number: int) -> Filter:
        sides = [Range(f"a{at}", *ends) for at, ends in enumerate(self.box(number), 1)]
        return conjunction([TypeIs("Point"), *sides] if self.typed else sides)


def _boxes(workload: BoxesWorkload, count: int, start: int) -> list[Box]:
    plan = workload.plan()
    codes = plan.wordings[0].sketch(Draw(plan.filters, row_numbers(count, start))).values()
    ends = [(each / ONE).tolist() for each in codes]
    return list(zip(*map(zip, ends[::2], ends[1::2]), strict=True))


@lru_cache(maxsize=8)
def _plan(workload: BoxesWorkload) -> DrawPlan:
    widths, centres = workload.width_exponent, workload.centre_exponent
    space = _Space(workload.attributes, workload.interest == "uniform", widths, centres)
    names = [f"a{at}" for at in range(1, workload.attributes + 1)]
    value = Fixed(DECIMALS)
    sides = [f"{name} between {{low_{name}}} and {{high_{name}}}" for name in names]
    ends: dict[str, Form] = {f"{end}_{name}": value for name in names for end in ("low", "high")}
    type_is = ["type is Point"] if workload.typed else []
    box = Sentence(" and ".join(type_is + sides), **ends)
    return DrawPlan(
        events=RandomStream(workload.seed, "points"),
        records=(RecordForm("Point", dict.fromkeys(names, value), space.point),),
        filters=RandomStream(workload.seed, "boxes"),
        wordings=(Wording(box, space.box),),
        subscriber=Wording(Sentence("peer-{peer}", peer=Whole()), space.peer),
    )


@dataclass(frozen=True, slots=True)
class _Space:
    """The columns to draw."""

    attributes: int
    is_uniform: bool
    width_exponent: float
    centre_exponent: float

    def point(self, draw: Draw) -> dict[str, Codes]:
        return {f"a{at + 1}": draw.below(at, ONE + 1) for at in range(self.attributes)}

    def box(self, draw: Draw) -> dict[str, Codes]:
        ends: dict[str, Codes] = {}
        for at in range(self.attributes):
            side = draw.seek(draw.number * self.attributes + at)
            width = side.within(_law(ONE, self.width_exponent), 0, 1)
            low = self._centre(side) - width // 2
            beyond = low + width - ONE
            ends[f"low_a{at + 1}"] = low * (low > 0)
            ends[f"high_a{at + 1}"] = ONE + beyond * (beyond < 0)
        return ends

    def _centre(self, side: Draw) -> Codes:
        if self.is_uniform:
            return side.below(2, ONE + 1)
        return MIDDLE + side.within(_law(MIDDLE, self.centre_exponent), 2, 3) * (
            2 * side.below(4, 2) - 1
        )

    def peer(self, draw: Draw) -> dict[str, Codes]:
        return {"peer": draw.number}
