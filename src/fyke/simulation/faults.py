"""Faults by the clock: a TOML file says what breaks when, and what comes back.

    faults = [
        { at = 0.5, cut = ["b1", "b2"] },        # a link, until heal = ["b1", "b2"]
        { at = 1.0, crash = ["b3"] },            # brokers, until restart = ["b3"]
        { at = 1.5, part = ["b4", "b5"] },       # some brokers from all others, until join
        { at = 2.0, join = ["b4", "b5"] },
    ]

Times are seconds from the moment when the schedule starts. A schedule is checked against the
topology before anything happens: what it breaks is there, and what comes back was broken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from fyke.errors import FykeError, shown
from fyke.nodes.message import NodeId
from fyke.overlay.topology import Topology
from fyke.section import Section
from fyke.simulation.simulation import Simulation

_ENDS: Final = {"heal": "cut", "restart": "crash", "join": "part"}
KINDS: Final = ("cut", "heal", "crash", "restart", "part", "join")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something breaks or comes back at a time; `what` is one of `KINDS`."""

    at: float
    what: str
    brokers: tuple[NodeId, ...]

    def __str__(self) -> str:
        return f"{self.what} of {', '.join(self.brokers)} at {self.at:g} s"


def read(path: str | Path) -> tuple[Fault, ...]:
    """Return the faults in a file, in the order of their times."""
    return _faults(Section.read(path))


def parse(text: str, place: str = "faults") -> tuple[Fault, ...]:
    return _faults(Section.parse(text, place))


def _faults(whole: Section) -> tuple[Fault, ...]:
    found = [_fault(whole, at, item) for at, item in enumerate(whole.items("faults", "a list"))]
    whole.end()
    return tuple(sorted(found, key=lambda fault: fault.at))


def _fault(whole: Section, at: int, item: Any) -> Fault:
    place = f"faults[{at}]"
    if not isinstance(item, dict):
        whole.fail(f"{place} is {shown(item)}; expected a table with at and one of {_kinds()}")
    table = whole.within(place, item)
    if not table.offers("at"):
        whole.fail(f"{place}.at is missing; expected seconds from the start")
    time = table.number("at", 0.0)
    named = [kind for kind in KINDS if table.offers(kind)]
    if len(named) != 1:
        whole.fail(f"{place} has {' and '.join(named) or 'nothing'}; expected one of {_kinds()}")
    brokers = table.items(named[0], "names of brokers")
    table.end()
    if not brokers or not all(isinstance(name, str) for name in brokers):
        whole.fail(f"{place}.{named[0]} is {shown(brokers)}; expected names of brokers")
    return Fault(time, named[0], tuple(brokers))


def _kinds() -> str:
    return ", ".join(KINDS)


def check(faults: Iterable[Fault], topology: Topology) -> None:
    """Raise FykeError if a fault breaks what is broken, or mends what is whole."""
    broken: set[tuple[str, object]] = set()
    for fault in faults:
        for broken_kind, thing in _things(fault, topology):
            known = (broken_kind, thing)
            if fault.what in _ENDS and known not in broken:
                raise FykeError(f"{fault}: there was no {broken_kind} before")
            if fault.what not in _ENDS and known in broken:
                raise FykeError(f"{fault}: it is broken already")
            broken ^= {known}


def _things(fault: Fault, topology: Topology) -> list[tuple[str, object]]:
    """Return the things that a fault breaks or mends, as pairs of a kind and a name."""
    for broker in fault.brokers:
        if broker not in topology.brokers:
            raise FykeError(f"{fault}: unknown broker {shown(broker)}")
    kind, side = _ENDS.get(fault.what, fault.what), frozenset(fault.brokers)
    if kind == "crash":
        return [(kind, broker) for broker in fault.brokers]
    if kind == "cut":
        a, *others = fault.brokers
        if len(others) != 1 or others[0] not in topology.neighbors(a):
            raise FykeError(f"{fault}: expected two brokers that are linked")
    elif len(side) == len(topology.brokers):
        raise FykeError(f"{fault}: nobody is left on the other side")
    return [(kind, side)]


def schedule(overlay: Simulation, faults: Iterable[Fault]) -> None:
    """Let the faults happen at their times, counted from now."""
    for fault in faults:
        overlay.do(partial(_happen, overlay, fault), overlay.now + fault.at)


def _happen(overlay: Simulation, fault: Fault) -> None:
    match fault.what:
        case "cut":
            overlay.cut(*fault.brokers)
        case "heal":
            overlay.heal(*fault.brokers)
        case "part":
            overlay.part(fault.brokers)
        case "join":
            overlay.join(fault.brokers)
        case "crash":
            for broker in fault.brokers:
                overlay.crash(broker)
        case "restart":
            for broker in fault.brokers:
                overlay.restart(broker)
