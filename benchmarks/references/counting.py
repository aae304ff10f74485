"""Our own `counting` engine, which is slow to build and takes much memory."""

from __future__ import annotations

import time

from benchmarks.machine import available_bytes, resident_bytes
from benchmarks.pairs import Pairs, lists, pairs_of_lists
from benchmarks.timing import Competitor
from fyke.matching.engines.counting import CountingEngine
from fyke.workloads.workload import ColumnarWorkload

PATIENCE_S = 300.0
MEMORY_SHARE = 0.7


class Counting:
    """The engine over the first subscriptions of a workload."""

    def __init__(self, workload: ColumnarWorkload, count: int) -> None:
        self._workload = workload
        self._engine = CountingEngine()
        self._bytes, self._seconds = resident_bytes(), 0.0
        self.count = 0
        self.grow(count)
        self._bytes = resident_bytes() - self._bytes

    def grow(self, count: int) -> None:
        """Adds the subscriptions up to `count`."""
        started = time.process_time()
        new = self._workload.filters(count - self.count, self.count)
        for slot, filter in enumerate(new, self.count):
            self._engine.add(slot, filter)
        self.count = count
        self._seconds += time.process_time() - started

    def why_not_more(self, count: int) -> str:
        """Why it cannot grow to `count`, judged by what it took so far; empty where it can."""
        times = count / self.count
        if self._seconds * times > PATIENCE_S:
            return f"building would take {self._seconds * times:.0f} s"
        if self._bytes * times > MEMORY_SHARE * available_bytes():
            return f"it would take {self._bytes * times / 2**30:.1f} GiB"
        return ""

    def pairs(self, events: int) -> Pairs:
        found = [self._engine.match(event) for event in self._workload.events(events)]
        return pairs_of_lists(lists(found), events)

    def competitor(self, events: int) -> Competitor:
        given, match = list(self._workload.events(events)), self._engine.match
        return Competitor("counting", lambda: [match(event) for event in given], events)
