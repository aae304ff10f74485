"""Live: thousands of adds and removes a second while batches are matched.

Updates follow a schedule in CPU time: after every batch as many are made as the time spent so far
demands, their own cost and that of the background included. The static matcher takes turns.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from itertools import count as numbers_from
from itertools import cycle
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_least, micros
from benchmarks.pairs import Pairs, must_agree, pairs
from benchmarks.references.broadcast import Broadcast
from benchmarks.subjects import Subject, built
from benchmarks.timing import percentile, wait_until_quiet
from fyke.workloads.predicates import Conjunctions

RATE = 5_000
"""Adds a second, and as many removes."""
BATCH = 1_000
TURNS = 6
TURN_S = 1.0
CHECKED = 200


class Stream:
    """Batches of events that pass a matcher, and what they took."""

    def __init__(self, subject: Subject, tables: list[pa.Table]) -> None:
        self.subject = subject
        self._tables = cycle(tables)
        self.restart()

    def restart(self) -> None:
        """What was so far does not count."""
        self.spent = 0.0
        self.events = self.updates = 0
        self.batches: list[float] = []

    def flow(self, seconds: float) -> None:
        """Takes so much CPU time."""
        started = time.process_time()
        before = self.spent
        while (elapsed := time.process_time() - started) < seconds:
            self.spent = before + elapsed
            table = next(self._tables)
            called = time.perf_counter()
            self.subject.matcher.match_batch(table)
            self.batches.append(time.perf_counter() - called)
            self.events += table.num_rows
            self.spent = before + time.process_time() - started
            self.update()
        wait_until_quiet()
        self.spent = before + time.process_time() - started

    def update(self) -> None:
        """A static matcher has nothing to do."""

    @property
    def per_event(self) -> float:
        return self.spent / self.events


class LiveStream(Stream):
    """The same while subscriptions come and go."""

    def __init__(self, subject: Subject, tables: list[pa.Table], new: int) -> None:
        super().__init__(subject, tables)
        self.alive = list(range(subject.count))
        filters = subject.workload.filters(new, subject.count)
        self._new: Iterator[tuple[int, Any]] = zip(
            numbers_from(subject.count), list(filters), strict=False
        )
        self._draw = random.Random(1)

    def update(self) -> None:
        started = time.process_time()
        while self.updates < RATE * (self.spent + time.process_time() - started):
            self._swap()
            self.updates += 1

    def _swap(self) -> None:
        """One comes, one of all that are there goes."""
        matcher, id = self.subject.matcher, self.subject.workload.id
        number, filter = next(self._new)
        matcher.add(id(number), filter)
        self.alive.append(number)
        at = self._draw.randrange(len(self.alive))
        self.alive[at], self.alive[-1] = self.alive[-1], self.alive[at]
        matcher.remove(id(self.alive.pop()))


def lines(bench: Bench) -> Iterator[Line]:
    subject = bench.w1(bench.hundred_thousand)
    workload, batch = subject.workload, bench.events(BATCH)
    turn_s = 0.05 if bench.is_quick else TURN_S
    tables = [workload.columns(batch, number * batch) for number in range(16)]
    bench.say("live: building")
    spare = int(RATE * ((TURNS + 1) * turn_s + 5))
    live = LiveStream(built(workload, subject.count), tables, spare)
    static = Stream(subject, tables)
    for turn in range(TURNS + 1):
        bench.say(f"live: {turn} of {TURNS}")
        for stream in (static, live):
            stream.flow(turn_s)
            if not turn:
                stream.restart()
    checked = workload.columns(bench.events(CHECKED))
    found = live.subject.pairs_of(live.subject.matcher.match_batch(checked))
    must_agree(live=found, numpy=_expected(live, checked.num_rows))
    slowest = max(live.batches) * 1e3, percentile(live.batches, 50) * 1e3
    yield Line(
        f"live, {RATE:,} adds and {RATE:,} removes a second, W1 {short(subject.count)} / static",
        micros(live.per_event), micros(static.per_event), static.per_event / live.per_event,
        bar=at_least(0.4),
        note=(
            f"{live.updates:,} of each; CPU, the background included; batches of {batch:,}; "
            f"the slowest took {slowest[0]:.1f} ms, the median {slowest[1]:.1f} ms (wall)"
        ),
    )  # fmt: skip


def _expected(live: LiveStream, events: int) -> Pairs:
    """What numpy finds among the subscriptions that are left."""
    workload = live.subject.workload
    alive = np.array(live.alive)
    drawn = workload.conjunctions(int(alive.max()) + 1)
    left = Conjunctions(
        *(getattr(drawn, name)[alive] for name in ("attribute", "low", "high", "is_equality"))
    )
    offsets, rows = Broadcast(left, len(workload.attributes)).match(workload.codes(events))
    return pairs(np.repeat(np.arange(events), np.diff(offsets)), alive[rows])
