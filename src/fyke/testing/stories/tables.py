"""Tables of an overlay in a form in which two overlays can be compared: by filters, not by ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from fyke.broker.broker import Broker
from fyke.events.schema import Schema
from fyke.filters.algebra.covering import equivalent
from fyke.filters.filter import Filter
from fyke.filters.language.parser import parse_text
from fyke.nodes.message import SubscriptionKey
from fyke.routing.strategy import Inspected
from fyke.simulation.simulation import Simulation

Row: TypeAlias = tuple[str, str, tuple[str, ...]]
"""Heard or told, from or to whom, and which filters."""


def broker_of(overlay: Simulation, name: str) -> Broker:
    """Return a node that is a broker."""
    node = overlay.node(name)
    assert isinstance(node, Broker)
    return node


def tables(overlay: Simulation, broker: str, names: dict[str, str] | None = None) -> set[Row]:
    """Return what neighbours want and were told to want. `names` stand for filters."""
    strategy = broker_of(overlay, broker).strategy
    held = strategy.tables() if isinstance(strategy, Inspected) else {}
    known = names or {}
    return {
        (which, peer, tuple(sorted(known.get(text, text) for text in texts.values())))
        for which, by_peer in held.items()
        for peer, texts in by_peer.items()
        if texts
    }


def filters_of(overlay: Simulation, broker: str) -> dict[tuple[str, str], list[Filter]]:
    """Return what neighbours want and were told to want, as filters."""
    return {
        (which, peer): [parse_text(text) for text in texts]
        for which, peer, texts in tables(overlay, broker)
    }


def rows_of(overlay: Simulation, broker: str) -> Iterator[tuple[SubscriptionKey, Filter]]:
    """Yield what neighbours want, with its keys."""
    strategy = broker_of(overlay, broker).strategy
    held = strategy.tables() if isinstance(strategy, Inspected) else {}
    for texts in held.get("heard", {}).values():
        for key, text in texts.items():
            yield key, _read(text)


_read = lru_cache(maxsize=4_096)(parse_text)


def names_of(filters: Iterable[Filter], schema: Schema) -> dict[str, str]:
    """Return for the text of each filter the text of the first equivalent one."""
    ordered = sorted(set(map(str, filters)))
    return {
        text: next(each for each in ordered if each == text or _are_equivalent(each, text, schema))
        for text in ordered
    }


@lru_cache(maxsize=16_384)
def _are_equivalent(one: str, other: str, schema: Schema) -> bool:
    return equivalent(parse_text(one), parse_text(other), schema=schema)
