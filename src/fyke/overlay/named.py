"""Topologies by name, so that a command line or an experiment can say `tree`, or `cwix`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fyke.errors import shown
from fyke.overlay import papers
from fyke.overlay.generators import hierarchy, line, random_graph, random_tree, star, tree
from fyke.overlay.topology import Topology, TopologyError

BROKERS: Final = 15
"""Of a generated overlay, where nobody says how many."""

_SIZED: Final[dict[str, Callable[[int, int], Topology]]] = {
    "line": lambda brokers, seed: line(brokers),
    "star": lambda brokers, seed: star(brokers),
    "tree": lambda brokers, seed: tree(brokers),
    "hierarchy": lambda brokers, seed: hierarchy(stages(brokers)),
    "random_tree": random_tree,
    "random_graph": lambda brokers, seed: random_graph(brokers, seed=seed),
    "das_figure_11": lambda brokers, seed: papers.das_figure_11(brokers),
}
_FIXED: Final[dict[str, Callable[[], Topology]]] = {
    "das_bus": papers.das_bus,
    "das_figure_2": papers.das_figure_2,
    "sum_figure_7": papers.sum_figure_7,
    "cwix": papers.cwix,
}
OVERLAYS: Final = (*_SIZED, *_FIXED)


def named(name: str, brokers: int | None = None, seed: int = 0) -> Topology:
    """Return the topology of a name. A paper's network has a size of its own."""
    if name in _SIZED:
        default = 9 if name == "das_figure_11" else BROKERS
        return _SIZED[name](default if brokers is None else brokers, seed)
    if name not in _FIXED:
        raise TopologyError(f"unknown overlay {shown(name)}; expected {', '.join(OVERLAYS)}")
    made = _FIXED[name]()
    if brokers not in (None, len(made.brokers)):
        raise TopologyError(f"{name} has {len(made.brokers)} brokers, not {shown(brokers)}")
    return made


def stages(brokers: int) -> tuple[int, ...]:
    """Return the fan-outs of a hierarchy of about this size: 111 brokers are 1, 10 and 100."""
    if brokers <= 4:
        return (brokers - 1,) if brokers > 1 else ()
    fan_out = max(2, round(((4 * brokers - 3) ** 0.5 - 1) / 2))
    return (fan_out, max(1, round((brokers - 1 - fan_out) / fan_out)))
