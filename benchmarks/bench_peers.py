"""Peers: `select_peers` over the pools of converged peers, beside the exact algebra."""

from __future__ import annotations

import time
from collections.abc import Iterator
from random import Random

import numpy as np

from benchmarks.bench import SEED, Bench, short
from benchmarks.line import Line, micros
from fyke.assembly import assemble_peers
from fyke.peers.geometry.boxes import select_peers
from fyke.peers.geometry.shape import shape_of
from fyke.peers.geometry.space import Space
from fyke.peers.peer import Peer
from fyke.simulation.cycles import Crowd
from fyke.workloads.boxes import BoxesWorkload

CYCLES = 20
ASKED = 400
CHECKED = 20


def lines(bench: Bench) -> Iterator[Line]:
    """Yield what one selection takes, and what a peer takes in a cycle."""
    count = bench.ten_thousand
    bench.say(f"{count:,} peers, {CYCLES} cycles")
    workload = BoxesWorkload(SEED, typed=False)
    system = assemble_peers(Space.of(workload.schema))
    crowd = Crowd(system.make, system.codec, seed=SEED)
    crowd.join(workload.subscriptions(count))
    started = time.process_time()
    crowd.run(CYCLES)
    cycle_s = (time.process_time() - started) / (CYCLES * count)
    fast, exact = _selections(crowd)
    mean, high = float(np.mean(fast)), float(np.percentile(fast, 99))
    yield Line(
        f"select_peers over a converged pool: {short(count)} peers / the exact algebra",
        micros(mean), micros(exact), exact / mean,
        note=f"p99 {1e6 * high:,.0f} µs; bars: mean 40 µs, p99 1 ms",
    )  # fmt: skip
    yield Line(
        f"a peer's cycle, all three layers: {short(count)} peers / one selection",
        micros(cycle_s), micros(mean), mean / cycle_s,
        note=f"40 cycles of all peers would take {cycle_s * 40 * count / 60:.1f} min",
    )  # fmt: skip


def _selections(crowd: Crowd) -> tuple[list[float], float]:
    """Return the seconds of selections for a random neighbour, and of the exact ones."""
    draw = Random(SEED)
    taken, exact = [], []
    for number in range(min(ASKED, 4 * len(crowd.peers))):
        peer = crowd.simulation.node(draw.choice(crowd.peers))
        assert isinstance(peer, Peer)
        [member] = peer.members.values()
        target = draw.choice(member.ring.view or [member.row])
        rows = np.array([row for row in member.links() if row != target], np.int64)
        registry = peer._site.registry
        started = time.process_time()
        found, _ = registry.table.select_peers(rows, target)
        taken.append(time.process_time() - started)
        if number < CHECKED:
            shapes = {row: shape_of(registry.filters[row], registry.space)
                      for row in (target, *rows.tolist())}  # fmt: skip
            others = [(registry.places[row], shapes[row]) for row in rows.tolist()]
            started = time.process_time()
            right = select_peers(registry.places[target], shapes[target], others)
            exact.append(time.process_time() - started)
            assert right <= {registry.places[row] for row in found.tolist()}
    return taken[1:], sum(exact) / len(exact)
