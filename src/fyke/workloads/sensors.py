"""The sensors of a facility and what its devices and people wait for, after DAS (sections 1 and 2).

DAS speaks of facility management and prints no data; this is a facility in its words. Events have
one of six types, all of them a Reading, and every attribute of their type exactly once (DAS-1);
domains are integers, fixed point numbers and enumerations (DAS-4). Buildings, floors and rooms are
uniform (DAS-Q10), what is measured follows the ranges below.

    Temperature   building floor room   celsius -10.0 .. 60.0
    Humidity      building floor room   percent 0 .. 100
    Brightness    building floor room   lux 0 .. 100000
    Occupancy     building floor room   persons 0 .. 60
    Smoke         building floor room   density 0.00 .. 10.00
    Device        building floor room   device, status

A subscription has at most one predicate per attribute, and only the operators =, <, >, in and
between (DAS-2, DAS-5):

    radiator     type is Temperature and building = 'C' and floor = 3 and room = 7 and celsius < 19
    cooler       the same for some rooms in a row, celsius > 26.0
    humidifier   type is Humidity and building = 'C' and floor = 3 and percent < 30
    blind        type is Brightness and building = 'C' and floor = 3 and lux > 20000
    lamp         type is Brightness and building = 'C' and floor = 3 and room = 7 and lux < 200
    cleaner      type is Occupancy and building = 'C' and floor between 2 and 4 and persons = 0
    guard        type is Smoke and building in ('C', 'F') and density > 0.50
    service      type is Device and building = 'C' and device = 'lift' and status = 'fault'

An event matches about 1.5 of ten thousand subscriptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Final

from fyke.workloads.draw import Choice, Codes, Draw, RandomStream, Ranges
from fyke.workloads.drawn import DrawnWorkload, DrawPlan, RecordForm, Sketch, Wording
from fyke.workloads.form import Fixed, Form, Names, Sentence, Whole

BUILDINGS: Final = tuple("ABCDEFGH")
FLOORS: Final = 10
ROOMS: Final = 40
"""On a floor; they are numbered from 1, floors from 0."""
DEVICES: Final = ("radiator", "cooler", "blind", "lamp", "lift")
STATES: Final = ("ok", "worn", "fault", "off")
CONTROLLERS: Final = 5_000

_BY_TYPE: Final = Choice((40, 15, 20, 15, 5, 5))
_BY_KIND: Final = Choice((30, 15, 10, 15, 15, 5, 5, 5))
_BY_STATE: Final = Choice((90, 6, 2, 2))
_CELSIUS: Final = Ranges(
    (-100, 150, 180, 200, 220, 240, 260, 300, 601), (3, 7, 25, 35, 18, 7, 4, 1)
)
"""In tenths."""
_PERCENT: Final = Ranges((0, 20, 30, 40, 60, 75, 101), (2, 10, 30, 45, 10, 3))
_LUX: Final = Ranges((0, 1, 100, 300, 500, 1_000, 10_000, 100_001), (20, 15, 15, 25, 15, 8, 2))
_PERSONS: Final = Ranges((0, 1, 2, 5, 20, 61), (50, 25, 15, 8, 2))
_DENSITY: Final = Ranges((0, 5, 20, 50, 200, 1_001), (900, 80, 15, 4, 1))
"""In hundredths."""


@dataclass(frozen=True, slots=True)
class SensorsWorkload(DrawnWorkload):
    """Readings, and the devices and people that act on them."""

    name: ClassVar[str] = "sensors"
    supertypes: ClassVar[tuple[str, ...]] = ("Reading",)

    def plan(self) -> DrawPlan:
        return _plan(self)


_WHOLE: Final = Whole()
_TENTHS: Final = Fixed(1)
_HUNDREDTHS: Final = Fixed(2)
_BUILDING: Final = Names(BUILDINGS)
_DEVICE: Final = Names(DEVICES)
_PLACE: Final[dict[str, Form]] = {"building": _BUILDING, "floor": _WHOLE, "room": _WHOLE}


@lru_cache(maxsize=8)
def _plan(workload: SensorsWorkload) -> DrawPlan:
    return DrawPlan(
        events=RandomStream(workload.seed, "readings"),
        records=(
            _record("Temperature", _Measured("celsius", _CELSIUS).reading, celsius=_TENTHS),
            _record("Humidity", _Measured("percent", _PERCENT).reading, percent=_WHOLE),
            _record("Brightness", _Measured("lux", _LUX).reading, lux=_WHOLE),
            _record("Occupancy", _Measured("persons", _PERSONS).reading, persons=_WHOLE),
            _record("Smoke", _Measured("density", _DENSITY).reading, density=_HUNDREDTHS),
            _record("Device", _device, device=_DEVICE, status=Names(STATES)),
        ),
        filters=RandomStream(workload.seed, "controllers"),
        wordings=_WORDINGS,
        subscriber=Wording(Sentence("controller-{controller}", controller=_WHOLE), _controller),
        which_record=_type,
        which_wording=_kind,
    )


def _record(type: str, sketch: Sketch, **measured: Form) -> RecordForm:
    return RecordForm(type, {**_PLACE, **measured}, sketch)


def _type(draw: Draw) -> Codes:
    return draw.pick(_BY_TYPE, 0)


def _kind(draw: Draw) -> Codes:
    return draw.pick(_BY_KIND, 0)


def _controller(draw: Draw) -> dict[str, Codes]:
    return {"controller": draw.below(15, CONTROLLERS)}


def _place(draw: Draw) -> dict[str, Codes]:
    building, floor = draw.below(1, len(BUILDINGS)), draw.below(2, FLOORS)
    return {"building": building, "floor": floor, "room": 1 + draw.below(3, ROOMS)}


@dataclass(frozen=True, slots=True)
class _Measured:
    """A place and what is measured there."""

    name: str
    ranges: Ranges

    def reading(self, draw: Draw) -> dict[str, Codes]:
        return {**_place(draw), self.name: draw.within(self.ranges, 4, 5)}


def _device(draw: Draw) -> dict[str, Codes]:
    device = draw.below(4, len(DEVICES))
    return {**_place(draw), "device": device, "status": draw.pick(_BY_STATE, 5)}


@dataclass(frozen=True, slots=True)
class _Limited:
    """A place, and a limit: one of `count` that stand `step` apart."""

    least: int
    step: int
    count: int

    def wish(self, draw: Draw) -> dict[str, Codes]:
        return {**_place(draw), "limit": self.least + self.step * draw.below(4, self.count)}


def _cooler(draw: Draw) -> dict[str, Codes]:
    place, rooms = _place(draw), 2 + draw.below(5, 5)
    first = 1 + (place["room"] - 1) * (ROOMS - 6) // ROOMS
    return {**place, "room": first, "last": first + rooms, "limit": 240 + 5 * draw.below(4, 13)}


def _cleaner(draw: Draw) -> dict[str, Codes]:
    place, floors = _place(draw), draw.below(4, 3)
    lowest = place["floor"] * (FLOORS - 2) // FLOORS
    return {**place, "floor": lowest, "highest": lowest + floors}


def _guard(draw: Draw) -> dict[str, Codes]:
    building = draw.below(1, len(BUILDINGS))
    other = (building + 1 + draw.below(2, len(BUILDINGS) - 1)) % len(BUILDINGS)
    return {"building": building, "other": other, "limit": 10 + 5 * draw.below(4, 39)}


def _service(draw: Draw) -> dict[str, Codes]:
    building, device = draw.below(1, len(BUILDINGS)), draw.below(4, len(DEVICES))
    return {"building": building, "device": device, "states": draw.below(5, 3)}


_FLOOR: Final = "building = '{building}' and floor = {floor}"
_STATES_WANTED: Final = Names(("= 'fault'", "= 'off'", "in ('fault', 'off')"))

_WORDINGS: Final = (
    Wording(
        Sentence(
            f"type is Temperature and {_FLOOR} and room = {{room}} and celsius < {{limit}}",
            **_PLACE,
            limit=_TENTHS,
        ),
        _Limited(160, 5, 11).wish,
    ),
    Wording(
        Sentence(
            f"type is Temperature and {_FLOOR} and room between {{room}} and {{last}}"
            " and celsius > {limit}",
            **_PLACE,
            last=_WHOLE,
            limit=_TENTHS,
        ),
        _cooler,
    ),
    Wording(
        Sentence(f"type is Humidity and {_FLOOR} and percent < {{limit}}", **_PLACE, limit=_WHOLE),
        _Limited(20, 1, 16).wish,
    ),
    Wording(
        Sentence(f"type is Brightness and {_FLOOR} and lux > {{limit}}", **_PLACE, limit=_WHOLE),
        _Limited(5_000, 1_000, 46).wish,
    ),
    Wording(
        Sentence(
            f"type is Brightness and {_FLOOR} and room = {{room}} and lux < {{limit}}",
            **_PLACE,
            limit=_WHOLE,
        ),
        _Limited(50, 50, 10).wish,
    ),
    Wording(
        Sentence(
            "type is Occupancy and building = '{building}'"
            " and floor between {floor} and {highest} and persons = 0",
            **_PLACE,
            highest=_WHOLE,
        ),
        _cleaner,
    ),
    Wording(
        Sentence(
            "type is Smoke and building in ('{building}', '{other}') and density > {limit}",
            **{"building": _BUILDING, "other": _BUILDING, "limit": _HUNDREDTHS},
        ),
        _guard,
    ),
    Wording(
        Sentence(
            "type is Device and building = '{building}' and device = '{device}'"
            " and status {states}",
            **{"building": _BUILDING, "device": _DEVICE, "states": _STATES_WANTED},
        ),
        _service,
    ),
)
