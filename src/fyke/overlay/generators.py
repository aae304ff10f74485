"""Topologies of any size. Brokers are named b1, b2, ... in the order in which they come.

    line(3).links                    (("b1", "b2"), ("b2", "b3"))
    hierarchy((2, 3)).brokers        b1, the two below it, the six below those

What is drawn depends on the numbers given and on the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from fyke.errors import shown
from fyke.overlay.topology import Topology, TopologyError

BROKERS_MAX: Final = 100_000


def line(brokers: int) -> Topology:
    """Return a bus: every broker but the first is linked to the one before."""
    return _grown(brokers, lambda at: at - 1)


def star(brokers: int) -> Topology:
    """Return a star: all other brokers are linked to the first."""
    return _grown(brokers, lambda at: 0)


def tree(brokers: int, fan_out: int = 2) -> Topology:
    """Return a balanced tree, filled level by level: each broker has up to `fan_out` below it."""
    fan_out = _checked("fan_out", fan_out)
    return _grown(brokers, lambda at: (at - 1) // fan_out)


def hierarchy(fan_outs: Sequence[int]) -> Topology:
    """Return stages below a root: every broker of stage i has `fan_outs[i]` below it."""
    links: list[tuple[int, int]] = []
    above, total = [0], 1
    for fan_out in fan_outs:
        _checked("a fan-out", fan_out)
        _checked("the number of brokers", total + len(above) * fan_out)
        below = list(range(total, total + len(above) * fan_out))
        links += [(above[at // fan_out], broker) for at, broker in enumerate(below)]
        above, total = below, total + len(below)
    return _named(total, links)


def random_tree(brokers: int, seed: int = 0) -> Topology:
    """Return a random tree. Each tree of these named brokers is equally likely (Pruefer's code)."""
    count = _checked("the number of brokers", brokers)
    draw = Random(f"random tree {seed}")
    return _named(count, _decoded([draw.randrange(count) for _ in range(count - 2)], count))


def random_graph(brokers: int, degree: float = 3.0, seed: int = 0) -> Topology:
    """Return a random tree with further random links, until the mean degree is reached."""
    count = _checked("the number of brokers", brokers)
    if not degree >= 0:
        raise TopologyError(f"the mean degree is {shown(degree)}; expected 0 or more")
    wanted = min(int(count * degree / 2), count * (count - 1) // 2, 10 * BROKERS_MAX)
    draw = Random(f"random graph {seed}")
    code = [draw.randrange(count) for _ in range(count - 2)]
    links = dict.fromkeys(tuple(sorted(link)) for link in _decoded(code, count))
    while len(links) < wanted:
        a, b = draw.randrange(count), draw.randrange(count)
        if a != b:
            links[min(a, b), max(a, b)] = None
    return _named(count, [(a, b) for a, b in links])


def _decoded(code: list[int], count: int) -> list[tuple[int, int]]:
    """Return the links of a Pruefer code: the least leaf goes to the next number of the code."""
    missing = [1] * count
    for each in code:
        missing[each] += 1
    links = []
    least = leaf = next((at for at in range(count) if missing[at] == 1), 0)
    for each in code:
        links.append((leaf, each))
        missing[each] -= 1
        if missing[each] == 1 and each < least:
            leaf = each
        else:
            least = next(at for at in range(least + 1, count) if missing[at] == 1)
            leaf = least
    return [*links, (leaf, count - 1)] if count > 1 else links


def _grown(brokers: int, parent: Callable[[int], int]) -> Topology:
    count = _checked("the number of brokers", brokers)
    return _named(count, [(parent(at), at) for at in range(1, count)])


def _named(brokers: int, links: Sequence[tuple[int, int]]) -> Topology:
    names = [f"b{at}" for at in range(1, brokers + 1)]
    return Topology(tuple(names), tuple((names[a], names[b]) for a, b in links))


def _checked(what: str, number: int) -> int:
    if type(number) is not int or not 1 <= number <= BROKERS_MAX:
        raise TopologyError(f"{what} is {shown(number)}; expected 1 to {BROKERS_MAX:,}")
    return number
