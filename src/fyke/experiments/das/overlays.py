"""The studies on overlays share one grid, one run, axes and panels.

A study names its site (brokers, rendezvous nodes, profiles), its points (events) and what it
varies; `grid` and `measured` do the rest.

Efficiency is shown twice: events per 1,000 steps of the busiest
broker, and events per second of the broker that took longest, processor time as it was measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

from fyke.experiments.das.deployment import BUS, BUS_RENDEZVOUS, Deployment, Point
from fyke.experiments.das.judging import NAMES, STEPS, TIME
from fyke.experiments.das.workload import Profiles
from fyke.experiments.experiment import Axis, Panel, Parameters
from fyke.experiments.judges import Measure
from fyke.experiments.table import Row, Wanted
from fyke.nodes.message import NodeId
from fyke.overlay.topology import Topology

ENGINE: Final = "interval"
"""The paper's filter."""
EVENTS: Final = {"tiny": 1, "small": 2_000, "paper": 2_000}
"""Events of a point, at least."""
REPEATS: Final = {"tiny": 2, "small": 3, "paper": 3}

LOAD: Final = Axis("load", "messages per event")
DUPLICATION: Final = Axis("duplication", "brokers per profile")
LONG_NAMES: Final = {
    "PF": "profile forwarding",
    "EF": "event forwarding",
    "RN": "rendezvous nodes",
}

# --- running --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Site:
    """Brokers with their rendezvous nodes, and what profiles are like that are registered there."""

    topology: Topology = BUS
    rendezvous: Mapping[str, NodeId] = field(default_factory=lambda: {"": BUS_RENDEZVOUS})
    sigma: int = 1
    types: int = 0
    subscribers: int = 1

    def profiles(self, count: int) -> Profiles:
        return Profiles(self.topology.brokers, count, self.sigma, self.types)

    def deploy(self, strategy: str, count: int) -> Deployment:
        """Register about `count` profiles."""
        return Deployment(
            strategy,
            self.topology,
            self.profiles(count),
            self.rendezvous,
            ENGINE,
            subscribers=self.subscribers,
        )


def grid(scale: str, /, **axes: Iterable[Any]) -> list[Parameters]:
    """Return the parameters of each run: all choices of the axes, the last one varies fastest."""
    sizes = {"events": EVENTS[scale], "repeats": REPEATS[scale]}
    return [{**dict(zip(axes, each, strict=True)), **sizes} for each in product(*axes.values())]


def measured(
    parameters: Parameters, seed: int, points: Sequence[Point], site: Site | None = None
) -> list[Row]:
    """Register profiles once, send the events of each point, and return a row of each.

    A row has the strategy as well.
    """
    strategy = parameters["strategy"]
    overlay = (site or Site()).deploy(strategy, parameters["profiles"])
    at_least, repeats = parameters["events"], parameters["repeats"]
    rows = overlay.curve(points, at_least=at_least, repeats=repeats, seed=seed)
    return [{"strategy": strategy, **row} for row in rows]


# --- panels ---------------------------------------------------------------------------------------


def efficiency_panels(x: Axis, by: str, few: Wanted, **where: Wanted) -> tuple[Panel, ...]:
    """Return a panel per strategy and one of all together, with `few` of the curves.

    Below them stand the same in seconds.
    """
    return tuple(panel for y in (STEPS, TIME) for panel in _four(x, y, by, few, where))


def _four(x: Axis, y: Measure, by: str, few: Wanted, where: dict[str, Wanted]) -> Iterable[Panel]:
    yield from three(x, y, by, where)
    log = replace(y.axis, is_log=True)
    yield Panel(f"(d) all, by {y.name}", x, log, ("strategy", by), {**where, by: few})


def three(x: Axis, y: Measure, by: str, where: Mapping[str, Wanted]) -> Iterable[Panel]:
    """Return a panel per strategy."""
    for letter, name in zip("abc", NAMES, strict=True):
        title = f"({letter}) {LONG_NAMES[name]}, by {y.name}"
        yield Panel(title, x, y.axis, (by,), {**where, "strategy": name})
