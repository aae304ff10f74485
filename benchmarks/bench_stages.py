"""Multi-stage filtering: a message of the paper's simulation, and a period of renewals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random

from benchmarks.bench import SEED, Bench, short
from benchmarks.bench_simulation import pushes_and_pops
from benchmarks.line import Line, at_most, micros
from benchmarks.timing import Competitor, best
from fyke.assembly import assemble
from fyke.filters.subscription import Subscription
from fyke.nodes.message import Publish, Subscribe
from fyke.overlay.generators import hierarchy
from fyke.simulation.simulation import Simulation
from fyke.traces.trace import Record, Sent
from fyke.workloads.bibliography import BibliographyWorkload

ATTRIBUTES = ("year", "conference", "author", "title")
STAGES = {"Publication": tuple(ATTRIBUTES[: 4 - stage] for stage in range(4))}
READERS = 1_000
EVENTS = 100_000
LEASE_S = 60.0
JOIN_S = 0.05
"""A join has ended by then."""


def lines(bench: Bench) -> Iterator[Line]:
    yield from _messages(bench)
    bench.say("renewals, subscriptions where their clients are")
    yield from _renewals(bench.hundred_thousand, "locality")
    for placement in ("similarity", "random"):
        bench.say(f"renewals, subscriptions attached by {placement}")
        yield from _renewals(bench.hundred_thousand, placement)


# --- messages -------------------------------------------------------------------------------------


def _messages(bench: Bench) -> Iterator[Line]:
    """The paper's tree with 1,000 subscribers at random brokers of the edge."""
    workload, events = BibliographyWorkload(SEED), bench.events(EVENTS)
    overlay = _overlay("locality", None)
    _subscribe(overlay, bench.size(READERS))
    overlay.attach("publisher", "b1")
    published = [Publish(f"e{at}", workload.event(at)) for at in range(events)]
    bench.say(f"{events:,} events in the paper's tree")
    before, started = overlay.messages, time.process_time()
    for publish in published:
        overlay.say("publisher", publish)
        overlay.run()
    messages = max(1, overlay.messages - before)
    taken = (time.process_time() - started) / messages
    (heap,) = best(Competitor("heap", lambda: pushes_and_pops(messages), messages))
    yield Line(
        f"{events:,} events in the paper's tree of stages, CPU a message", micros(taken),
        micros(heap), taken, "s", at_most(25e-6),
        f"{messages:,} messages, all brokers included; a push and a pop of a heap beside it",
    )  # fmt: skip


# --- renewals -------------------------------------------------------------------------------------


def _renewals(count: int, placement: str) -> Iterator[Line]:
    """A period in which nothing changes."""
    seen: list[Sent] = []

    def note(record: Record) -> None:
        if isinstance(record, Sent):
            seen.append(record)

    overlay = _overlay(placement, LEASE_S, note)
    _subscribe(overlay, count)
    overlay.run(until=overlay.now + 4 * LEASE_S)
    seen.clear()
    started = time.process_time()
    overlay.run(until=overlay.now + LEASE_S)
    taken = time.process_time() - started
    kinds = {each.kind for each in seen}
    assert kinds <= {"Renew", "RenewAt"}, kinds
    what = f"a period of renewals, {short(count)} subscriptions by {placement}"
    note_ = f"{taken:.2f} s of CPU at all brokers together"
    yield Line(
        f"{what}, messages between brokers", f"{len(seen)}", "", len(seen), "",
        at_most(150), note_,
    )  # fmt: skip
    largest = max(each.bytes for each in seen)
    bar = at_most(200)
    yield Line(f"{what}, bytes of the largest", f"{largest} B", "", largest, "B", bar)


def _overlay(
    placement: str, lease_s: float | None, write: Callable[[Record], object] | None = None
) -> Simulation:
    topology = hierarchy((10, 10))
    system = assemble("multistage", topology, stages=STAGES, placement=placement, lease_s=lease_s)
    return Simulation(
        topology,
        system.make,
        codec=system.codec,
        write=write,
        seed=SEED,
    )


def _subscribe(overlay: Simulation, count: int) -> None:
    """Let clients of the brokers at the edge subscribe, at random."""
    workload, draw = BibliographyWorkload(SEED), Random(SEED)
    edge = overlay.running[11:]
    for broker in edge:
        overlay.attach(f"c{broker}", broker)
    overlay.run()
    for number in range(count):
        client = f"c{draw.choice(edge)}"
        overlay.say(client, Subscribe(Subscription(f"s{number}", workload.filter(number))))
        overlay.run(until=overlay.now + JOIN_S)
    overlay.run()
