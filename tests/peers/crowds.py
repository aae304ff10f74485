"""Crowds of peers for tests, and the check that every trace has to pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from fyke.filters.subscription import Subscription
from fyke.nodes.message import NodeId
from fyke.nodes.node import Node
from fyke.peers.geometry.space import Space
from fyke.peers.messages import PeerCodec
from fyke.peers.peer import Peer
from fyke.peers.registry import Registry
from fyke.peers.settings import Settings
from fyke.simulation.cycles import Crowd
from fyke.simulation.network import Network
from fyke.traces.rings import Spreading, broken_promises, completeness
from fyke.workloads.boxes import BoxesWorkload

MakePeer = Callable[[NodeId, Iterable[NodeId], Registry, Settings, Random], Node]


def crowd_of(
    workload: BoxesWorkload,
    count: int,
    *,
    settings: Settings | None = None,
    make: MakePeer = Peer,
    network: Network | None = None,
    seed: int = 0,
    in_bytes: bool = False,
    registry: Registry | None = None,
) -> tuple[Crowd, Spreading]:
    """Return peers with a box each, and what becomes of their events."""
    chosen = settings or Settings()
    shared = registry or Registry(Space.of(workload.schema))
    spreading = Spreading()
    crowd = Crowd(
        lambda name, introducers, random: make(name, introducers, shared, chosen, random),
        PeerCodec(),
        seed=seed,
        network=network,
        write=spreading.add,
        in_bytes=in_bytes,
        in_cycles=chosen.period_s is None,
    )
    crowd.join(boxes(workload, count))
    return crowd, spreading


def boxes(workload: BoxesWorkload, count: int) -> list[Subscription]:
    return list(workload.subscriptions(count))


def judge(
    crowd: Crowd, spreading: Spreading, events: int = 60, shortcuts: int = 1, seed: int = 99
) -> list[str]:
    """Publish events and return what was promised and not kept; incomplete rings first."""
    workload = BoxesWorkload(seed, typed=False)
    drawn = crowd.judging_events(workload, events)
    wanted = crowd.wanted(drawn)
    found = completeness(crowd.note_links(), wanted)
    problems = [] if found.complete == found.rings else [f"rings: {found}"]
    for id, event in drawn.items():
        crowd.publish(id, event)
    return problems + broken_promises(spreading.spreads, wanted, shortcuts)
