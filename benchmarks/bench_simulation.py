"""The simulation: events flood a tree of brokers, and everything is traced to a file."""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench import SEED, Bench
from benchmarks.line import Line, at_least, micros
from benchmarks.timing import Competitor, best
from fyke.assembly import assemble
from fyke.overlay.generators import tree
from fyke.simulation.scenario import Scenario
from fyke.traces.metrics import Meter
from fyke.traces.trace import read
from fyke.traces.trace_file import TraceFile
from fyke.workloads.named import workload

BROKERS = 100
EVENTS = 4_000
ENTRIES = 1_000
"""That wait in the reference's heap, about as many as in the simulation's."""


def lines(bench: Bench) -> Iterator[Line]:
    events = bench.events(EVENTS)
    messages = events * (BROKERS - 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        bench.say(f"a flood of {messages:,} messages, traced")
        traced, heap = best(
            Competitor("simulation", lambda: _flood(events, path), messages),
            Competitor("heap", lambda: pushes_and_pops(messages), messages),
        )
        rate = 1 / traced
        yield Line(
            f"flooding a tree of {BROKERS} brokers, traced to a file, messages a second",
            micros(traced), micros(heap), rate, "/s", at_least(100_000, aim=150_000),
            f"a message costs {traced / heap:.1f} pushes and pops of a heap",
        )  # fmt: skip
        bench.say("metrics of the trace")
        (measured,) = best(Competitor("metrics", lambda: _measure(path), messages))
        yield Line(
            "metrics of that trace, read from the file, messages a second", micros(measured),
            "", 1 / measured, "/s",
        )  # fmt: skip


def _flood(events: int, path: Path) -> None:
    topology = tree(BROKERS)
    system = assemble("event_forwarding", topology, engine="scan")
    scenario = Scenario(topology, workload("stock", SEED), 0, events, SEED)
    with TraceFile(path) as trace:
        overlay = scenario.play(system.make, system.codec, trace.write)
    assert overlay.messages == events * (BROKERS - 1)


def pushes_and_pops(entries: int) -> None:
    """The bare queue of a simulation: each entry is as large as one of its own."""
    queue: list[tuple[float, int, None, str, None, None, int]] = []
    push, pop = heapq.heappush, heapq.heappop
    for number in range(entries):
        push(queue, (float(number % ENTRIES), number, None, "b1", None, None, 0))
        if len(queue) >= ENTRIES:
            pop(queue)


def _measure(path: Path) -> None:
    meter = Meter(tree(BROKERS))
    for record in read(path):
        meter.add(record)
    assert meter.summary().network_load == BROKERS - 1
