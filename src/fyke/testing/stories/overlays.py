"""Overlays for stories: the same brokers, clients and network, with nothing said yet.

overlay = settled_overlay(story, maker("rendezvous"), trace.append)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from fyke.assembly import ADAPTIVE, System, assemble
from fyke.overlay.topology import Topology
from fyke.simulation.network import Network
from fyke.simulation.simulation import Simulation
from fyke.testing.stories.story import CLIENTS, Story
from fyke.traces.trace import Record

Make: TypeAlias = Callable[[Topology, dict[str, str], str], System]
"""A system for a tree, its rendezvous by type, and an engine."""

LATENCY_S: Final = 0.001
MESSAGES_MAX: Final = 50_000
"""Messages after which an overlay is taken never to settle."""


def maker(strategy: str | Make, first: str = "event_forwarding") -> Make:
    """Return a maker of overlays. An adaptive overlay starts with `first`."""
    if not isinstance(strategy, str):
        return strategy
    return lambda topology, owners, engine: assemble(
        strategy, topology, rendezvous=owners, engine=engine, first=first
    )


def adaptive_maker(first: str) -> Make:
    return maker(ADAPTIVE, first)


def clients_of(topology: Topology) -> dict[str, str]:
    """Return the clients and their brokers."""
    return {
        f"{broker}.{number}": broker for broker in topology.brokers for number in range(CLIENTS)
    }


def settled_overlay(
    story: Story, make: Make, write: Callable[[Record], object] | None = None
) -> Simulation:
    """Return the overlay of a story, settled, with clients and without subscriptions."""
    topology, place = story.topology(), story.place
    system = make(topology, story.owners(), place.engine)
    network = Network(
        latency_s=LATENCY_S,
        jitter_s=place.jitter * LATENCY_S,
        bandwidth=place.bandwidth,
        store_s=place.store_s,
    )
    overlay = Simulation(
        topology,
        system.make,
        network=network,
        write=write,
        codec=system.codec,
        in_bytes=place.in_bytes,
    )
    for client, home in clients_of(topology).items():
        overlay.attach(client, home)
    settle(overlay)
    return overlay


def settle(overlay: Simulation) -> None:
    """Run an overlay until nothing moves. Raise AssertionError if it never settles."""
    assert overlay.run(messages_max=MESSAGES_MAX), "it does not settle"
