"""Layout: where to draw brokers, so that links are about equally long and few of them cross.

Idea. Brokers start on circles around the centre, each subtree in a sector as wide as it has leaves:
nothing crosses. Then stress majorization moves every broker to where its distances on paper are
most like its distances in the overlay, which straightens and spreads what circles squeeze.
Cost. n² numbers, a fraction of a second for hundreds of brokers; beyond `REFINED_MAX` the circles
stay.
Source. E. Gansner, Y. Koren, S. North: Graph drawing by stress majorization (2004).
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from fyke.overlay.topology import Topology

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Places: TypeAlias = dict[str, tuple[float, float]]

REFINED_MAX: Final = 300
_ROUNDS: Final = 150


def layout(topology: Topology) -> Places:
    """Return a place for every broker. Neighbours are about 1 apart."""
    places = _circles(topology)
    if 2 < len(places) <= REFINED_MAX:
        places = _refined(topology, places)
    return _upright(places)


def _circles(topology: Topology) -> Places:
    """Return places by distance from the centre, in a sector for each subtree.

    Parts that are not linked lie beside each other.
    """
    places: Places = {}
    aside = 0.0
    for broker in topology.brokers:
        if broker in places:
            continue
        root = broker if places else _middle(topology)
        part = _part(topology, root)
        radius = max(x * x + y * y for x, y in part.values()) ** 0.5
        aside += radius
        places |= {name: (x + aside, y) for name, (x, y) in part.items()}
        aside += radius + 2
    return places


def _middle(topology: Topology) -> str:
    """Return the middle of a longest way, found by two searches from end to end."""
    end = list(topology.parents(topology.brokers[0]))[-1]
    parents = topology.parents(end)
    way = [list(parents)[-1]]
    while way[-1] != end:
        way.append(parents[way[-1]])
    return way[len(way) // 2]


def _part(topology: Topology, root: str) -> Places:
    parents = topology.parents(root)
    below: dict[str, list[str]] = {broker: [] for broker in parents}
    for broker, parent in parents.items():
        if broker != parent:
            below[parent].append(broker)
    leaves: dict[str, int] = {}
    for broker in reversed(parents):
        leaves[broker] = sum(leaves[child] for child in below[broker]) or 1
    sectors = {root: (0.0, 2 * pi)}
    places = {}
    for broker, far in topology.distances(root).items():
        start, width = sectors[broker]
        angle = start + width / 2
        places[broker] = (far * cos(angle), far * sin(angle))
        for child in below[broker]:
            share = width * leaves[child] / leaves[broker]
            sectors[child] = (start, share)
            start += share
    return places


def _refined(topology: Topology, places: Places) -> Places:
    """Return better places by stress majorization: each round solves a linear system."""
    import numpy as np

    names = list(places)
    distances = _distances(topology, names)
    weights = distances**-2.0
    np.fill_diagonal(weights, 0.0)
    inverse = np.linalg.pinv(np.diag(weights.sum(1)) - weights)
    at = np.array([places[name] for name in names])
    for _ in range(_ROUNDS):
        apart = np.linalg.norm(at[:, None] - at[None], axis=2)
        np.fill_diagonal(apart, 1.0)
        pull = weights * distances / np.maximum(apart, 1e-9)
        at = inverse @ (pull.sum(1)[:, None] * at - pull @ at)
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, at, strict=True)}


def _distances(topology: Topology, names: list[str]) -> NDArray[np.float64]:
    """Return distances in links. Parts that are not linked are as far apart as they are large."""
    import numpy as np

    far = {name: topology.distances(name) for name in names}
    unknown = max(max(each.values()) for each in far.values()) + 2
    rows: Any = [[far[a].get(b, unknown) for b in names] for a in names]
    found = np.array(rows, dtype=np.float64)
    np.fill_diagonal(found, 1.0)
    return found


def _upright(places: Places) -> Places:
    """Return the places around the origin, turned so that the longer side is horizontal."""
    import numpy as np

    at = np.array(list(places.values()))
    at -= (at.max(0) + at.min(0)) / 2
    if len(at) > 1:
        at = at @ np.linalg.svd(at - at.mean(0), full_matrices=False)[2].T
    return {name: (float(x), float(y)) for name, (x, y) in zip(places, at, strict=True)}
