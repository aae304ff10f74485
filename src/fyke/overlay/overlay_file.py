"""An overlay as a person writes it down: a TOML file, every mistake in it named.

links = [["a", "b"], { between = ["b", "c"], latency_s = 0.05, bandwidth = 1e6 }]
brokers = ["a", "b", "c"]        # only needed for those without links

[network]                        # what holds for links that say nothing else
latency_s = 0.001

[rendezvous]                     # the broker where a type's events and subscriptions meet
Stock = "b"
"*" = "a"                        # all other types

[stages]                         # the attributes that each stage of a tree filters on, from stage 0
Stock = [["symbol", "price"], ["symbol", "price"], ["symbol"], []]

[summaries]                      # how brokers that send summaries work
budget = "64 kB"

[clients]                        # who publishes and subscribes where
alice = "a"

Before all tables, `placement = "similarity"` says where subscriptions are attached in a tree of
stages, and `lease_s = 60` that what is not renewed ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from fyke.errors import shown
from fyke.overlay.topology import Topology, TopologyError
from fyke.section import Section

OTHERS: Final = "*"
"""The name, in the file, of the rendezvous of all other types; elsewhere it is ""."""

PLACEMENTS: Final = ("locality", "similarity", "edge", "random")
"""The ways to place a subscription in a tree of stages, the default first."""
LINK_KEYS: Final = ("latency_s", "jitter_s", "bandwidth", "loss", "duplication", "timeout_s")
NETWORK_KEYS: Final = (*LINK_KEYS, "store_s")

Qualities: TypeAlias = Mapping[str, float]
"""Qualities of a link, by the names of `simulation.Network`."""


@dataclass(frozen=True, slots=True)
class OverlayFile:
    """A topology and the other settings of a file."""

    topology: Topology
    network: Qualities = field(default_factory=dict)
    links: Mapping[tuple[str, str], Qualities] = field(default_factory=dict)
    rendezvous: Mapping[str, str] = field(default_factory=dict)
    clients: Mapping[str, str] = field(default_factory=dict)
    stages: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    placement: str = PLACEMENTS[0]
    """The way to place subscriptions in a tree of stages."""
    lease_s: float | None = None
    """In a tree of stages, a subscription ends if it is not renewed this often."""
    summaries: Section | None = None
    """Settings of summaries; the maker of brokers reads them."""


def read(path: str | Path) -> OverlayFile:
    """Return the overlay in a file. FykeError names the file, the key and what was expected."""
    return _overlay(Section.read(path), str(path))


def parse(text: str, place: str = "overlay") -> OverlayFile:
    """Return the overlay in a text."""
    return _overlay(Section.parse(text, place), place)


def _overlay(whole: Section, place: str) -> OverlayFile:
    named = _names(whole, "brokers", whole.items("brokers", "a list of names"))
    links = [_link(whole, at, item) for at, item in enumerate(whole.items("links", "a list"))]
    network = _qualities(whole.section("network"), NETWORK_KEYS)
    rendezvous, clients = whole.options("rendezvous"), whole.options("clients")
    stages = {name: _stages(whole, name, each) for name, each in whole.options("stages").items()}
    placement = whole.choice("placement", PLACEMENTS, PLACEMENTS[0])
    lease_s = whole.seconds("lease_s", 0.0) if whole.offers("lease_s") else None
    summaries = whole.section("summaries")
    whole.end()
    ends = dict.fromkeys(end for link, _ in links for end in link)
    others = [end for end in ends if end not in set(named)]
    try:
        topology = Topology((*named, *others), tuple(link for link, _ in links))
    except TopologyError as refused:
        raise TopologyError(f"{place}: {refused}") from None
    met = _brokers(whole, "rendezvous", rendezvous, topology)
    return OverlayFile(
        topology,
        network,
        {link: qualities for link, qualities in links if qualities},
        {"" if type == OTHERS else type: broker for type, broker in met.items()},
        _brokers(whole, "clients", clients, topology),
        stages,
        placement,
        lease_s,
        summaries,
    )


def _stages(whole: Section, name: str, given: object) -> tuple[tuple[str, ...], ...]:
    if not isinstance(given, list) or not all(
        isinstance(names, list) and all(isinstance(each, str) for each in names) for names in given
    ):
        whole.fail(f"stages.{name} is {shown(given)}; expected a list of names for each stage")
    return tuple(map(tuple, given))


def _link(whole: Section, at: int, item: Any) -> tuple[tuple[str, str], Qualities]:
    """Return a link and its qualities. It is written as two names, or as a table with qualities."""
    place = f"links[{at}]"
    qualities: Qualities = {}
    if isinstance(item, dict):
        table = whole.within(place, item)
        item = table.items("between", "two brokers")
        qualities = _qualities(table, LINK_KEYS)
        place += ".between"
    ends = _names(whole, place, item)
    if len(ends) != 2:
        whole.fail(f"{place} is {shown(item)}; expected two brokers")
    return (ends[0], ends[1]), qualities


def _names(whole: Section, place: str, items: object) -> list[str]:
    if not isinstance(items, list) or not all(isinstance(name, str) and name for name in items):
        whole.fail(f"{place} is {shown(items)}; expected names of brokers")
    return items


def _qualities(table: Section, keys: tuple[str, ...]) -> Qualities:
    found = {key: table.number(key, 0.0) for key in keys if table.offers(key)}
    table.end()
    return found


def _brokers(
    whole: Section, place: str, given: Mapping[str, Any], topology: Topology
) -> dict[str, str]:
    """Return the broker of each name, and fail if it is unknown."""
    for name, broker in given.items():
        if not isinstance(broker, str):
            whole.fail(f"{place}.{name} is {shown(broker)}; expected one broker")
        if broker not in topology.brokers:
            known = ", ".join(topology.brokers[:10])
            whole.fail(f"{place}.{name}: unknown broker {shown(broker)}; there are {known}")
    return dict(given)
