"""Peers: forty cycles and the rings they make; `select_peers` over the pools of converged peers,
beside the exact algebra; what those that stay get while others come and go.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from random import Random
from statistics import fmean

import numpy as np

from benchmarks.bench import SEED, Bench, short
from benchmarks.line import Line, at_least, at_most, micros
from fyke.assembly import assemble_peers
from fyke.experiments.sub2sub import churn
from fyke.experiments.sub2sub.overlay import MAIN
from fyke.peers.geometry.boxes import select_peers
from fyke.peers.geometry.shape import shape_of
from fyke.peers.geometry.space import Space
from fyke.peers.peer import Peer
from fyke.simulation.cycles import Crowd
from fyke.traces.rings import Wanted, completeness
from fyke.workloads.boxes import BoxesWorkload

CYCLES = 40
EVERY = 5
"""Cycles between two looks at the rings."""
ASKED = 2_000
CHECKED = 20
MEAN_S = 40e-6
P99_S = 1e-3
CYCLES_S = 360.0
MEMORY_GB = 4.0
JUDGED = 2_000
"""Events whose rings are looked at."""
UNSEEN = 1_000_003
LATE = 20
"""Cycles that open rings are given beyond the forty."""
SETTLED = 99.9


def lines(bench: Bench) -> Iterator[Line]:
    """Yield what one selection takes, what forty cycles take, and what churn costs."""
    count = bench.ten_thousand
    bench.say(f"{count:,} peers, {CYCLES} cycles")
    workload = BoxesWorkload(SEED, typed=False)
    system = assemble_peers(Space.of(workload.schema))
    crowd = Crowd(system.make, system.codec, seed=SEED)
    crowd.join(workload.subscriptions(count))
    drawn = crowd.judging_events(BoxesWorkload(SEED + UNSEEN, typed=False), bench.events(JUDGED))
    wanted = crowd.wanted(drawn)
    cycles_s, shares = 0.0, []
    for cycle in range(EVERY, CYCLES + 1, EVERY):
        started = time.process_time()
        crowd.run(EVERY)
        cycles_s += time.process_time() - started
        share = completeness(crowd.note_links(), wanted).share_complete
        shares.append(f"{cycle}: {share:.2%}")
    memory_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    fast, exact = _selections(crowd)
    mean, high = float(np.mean(fast)), float(np.percentile(fast, 99))
    name = f"select_peers over a converged pool: {short(count)} peers"
    times = f"{exact / mean:,.0f} times as fast"
    yield Line(f"{name} / the exact algebra", micros(mean), micros(exact), mean, "s",
               at_most(MEAN_S), times)  # fmt: skip
    yield Line(f"{name}, p99", micros(high), micros(mean), high, "s", at_most(P99_S))
    yield Line(f"{CYCLES} cycles, all three layers: {short(count)} peers", value=cycles_s, unit="s",
               bar=at_most(CYCLES_S), note="CPU of one core")  # fmt: skip
    yield Line(f"memory of these cycles: {short(count)} peers", value=memory_gb, unit="GB",
               bar=at_most(MEMORY_GB), note="most that the process held so far")  # fmt: skip
    yield _rings(crowd, wanted, shares)
    yield _churn(bench.size(1_000))


def _rings(crowd: Crowd, wanted: Wanted, shares: list[str]) -> Line:
    """Return how many rings are complete now; and go on until all of them are."""
    first = found = completeness(crowd.note_links(), wanted)
    cycle = CYCLES
    while found.complete < found.rings and cycle < CYCLES + LATE:
        crowd.run()
        cycle += 1
        found = completeness(crowd.note_links(), wanted)
    when = f"all after {cycle}" if found.complete == found.rings else f"not all after {cycle}"
    return Line(
        f"complete rings after {CYCLES} cycles, of {len(wanted):,} events",
        f"{first.share_complete:.2%}", "100 % (paper)", 100 * first.share_complete, "%",
        note=f"{first.share_in_place:.3%} of the links; {when}; rings by cycle {', '.join(shares)}",
    )  # fmt: skip


def _churn(count: int) -> Line:
    """Return the hit ratio of settled peers where 1 % are replaced in every cycle, with repair and
    without it.
    """
    (settled, everybody), (without, all_without) = (_hits(count, each) for each in (True, False))
    return Line(
        f"1 % churn a cycle, repair: hit ratio of settled peers, {short(count)} peers",
        f"{settled:.3f} %", f"{without:.3f} % without repair", settled, "%", at_least(SETTLED),
        f"all live peers: {everybody:.3f} %, {all_without:.3f} % without repair",
    )  # fmt: skip


def _hits(count: int, repairs: bool) -> tuple[float, float]:
    """Return the hit ratios of settled peers, and of all."""
    attributes, interest = MAIN
    rows = churn.run(
        {"attributes": attributes, "interest": interest, "peers": count, "events": 100,
         "warm": 25, "cycles": 24, "what": "churn", "share": 0.01, "repairs": repairs},
        SEED,
    )  # fmt: skip
    settled, everybody = (fmean(row[name] for row in rows) for name in ("settled", "hit"))
    return settled, everybody


def _selections(crowd: Crowd) -> tuple[list[float], float]:
    """Return the seconds of selections for a random neighbour, and of the exact ones."""
    draw = Random(SEED)
    taken, exact = [], []
    for number in range(min(ASKED, 4 * len(crowd.peers))):
        peer = crowd.simulation.node(draw.choice(crowd.peers))
        assert isinstance(peer, Peer)
        [member] = peer.members.values()
        target = draw.choice(member.ring.view or [member.row])
        pool = (member.row, *member.links())
        rows = np.array([row for row in pool if row != target], np.int64)
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
