"""The networks that papers measured on, as far as their texts fix them.

Drawings are lost; each function says what was reconstructed, and from what.
"""

from __future__ import annotations

from typing import Final

from fyke.errors import shown
from fyke.overlay.topology import Topology, TopologyError

_FIG_11: Final = "1-2 2-3 2-4 2-5 1-6 1-7 3-8 3-9"
_FIG_2: Final = "1-3 2-3 3-4 4-5 4-6"
_FIG_7: Final = "1-2 2-5 3-5 4-5 5-6 5-7 7-8 8-9 8-10 10-11 11-12 11-13"
_CWIX: Final = (
    "1-2 1-3 1-13 2-16 3-4 4-16 4-5 5-7 5-13 6-7 7-8 8-10 9-10 9-19 10-11 10-18 11-12 12-13 13-14 "
    "13-15 14-15 16-17 16-18 18-24 19-20 20-21 21-22 22-23 22-24"
)


def das_bus() -> Topology:
    """Return four brokers in a row, the setting of most experiments. B2 is the rendezvous."""
    return _read("1-2 2-3 3-4")


def das_figure_11(brokers: int = 9) -> Topology:
    """Return the first of B1 to B9: a tree that fits all that the text says (DAS-Q11)."""
    if type(brokers) is not int or not 1 <= brokers <= 9:
        raise TopologyError(f"figure 11 has 1 to 9 brokers, not {shown(brokers)}")
    whole = _read(_FIG_11)
    names = whole.brokers[:brokers]
    return Topology(names, tuple(link for link in whole.links if link[1] in names))


def das_figure_2() -> Topology:
    """Return the example of an overlay. The links of B1 and B2 are a choice (DAS-Q12)."""
    return _read(_FIG_2)


def sum_figure_7() -> Topology:
    """Return the tree of the example, which the text determines (SUM-X7)."""
    return _read(_FIG_7)


def cwix() -> Topology:
    """Return 24 brokers of a US backbone, with cycles: Topology Zoo's Cwix (SUM-E1 to SUM-E4)."""
    return _read(_CWIX)


def _read(links: str) -> Topology:
    pairs = [tuple(map(int, link.split("-"))) for link in links.split()]
    names = [f"B{at}" for at in range(1, max(map(max, pairs)) + 1)]
    return Topology(tuple(names), tuple((names[a - 1], names[b - 1]) for a, b in pairs))
