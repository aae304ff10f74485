"""Subjects: our matchers over the named workloads, built once and shared by the lines of a run."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.pairs import Lists, Pairs, pairs, pairs_of_lists
from benchmarks.timing import Competitor, wait_until_quiet
from fyke.events.columns import Columns, read
from fyke.matching.compiled.engine import CompiledEngine
from fyke.matching.matcher import Matcher
from fyke.workloads.workload import ColumnarWorkload

CHUNK = 8_192
SEEN_BEFORE = 50_000_000
"""Events from this number on warm a matcher up; the measured ones are others."""
WARM_UP = 4_096
NO_TREES = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Encoded:
    """Events as codes: what the kernel is given."""

    count: int
    codes: Any
    columns: Columns


@dataclass(frozen=True, slots=True)
class Subject:
    """An engine that holds the first `count` subscriptions of a workload, by their numbers."""

    workload: Any
    count: int
    engine: Any
    matcher: Any
    """The matcher around the engine; None where an engine stands alone."""
    build_s: float
    """CPU time from filters to the first match, background work included."""

    def encoded(self, events: int) -> Encoded:
        return self.encode(self.workload.columns(events))

    def encode(self, table: pa.Table) -> Encoded:
        columns = read(table)
        return Encoded(table.num_rows, self.engine.code(columns), columns)

    def kernel(self, encoded: Encoded) -> Lists:
        """Codes in, lists of slots out."""
        found: Lists = self.engine.match_codes(encoded.codes, encoded.columns.event)
        return found

    def numbered_table(self, table: pa.Table) -> pa.Table:
        """Arrow columns in, an Arrow table out: `match_batch` but for the strings of the ids."""
        offsets, slots = self.kernel(self.encode(table))
        events = np.repeat(np.arange(table.num_rows), np.diff(offsets))
        return pa.table({"event": events, "subscription": slots})

    def competitor(self, label: str, encoded: Encoded) -> Competitor:
        return Competitor(label, lambda: self.kernel(encoded), encoded.count)

    def pairs(self, events: int) -> Pairs:
        """What the kernel finds for the first events of the workload."""
        return pairs_of_lists(self.kernel(self.encoded(events)), events)

    def pairs_of(self, table: pa.Table) -> Pairs:
        """The pairs of a table (event, subscription) with ids."""
        prefix = len(self.workload.id(0)) - 1
        numbers = pc.cast(pc.utf8_slice_codeunits(table["subscription"], prefix), pa.int64())
        return pairs(table["event"].to_numpy(), numbers.to_numpy())


class Subjects:
    """Builds subjects and keeps those of W1, which many lines are about."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int], Subject] = {}
        self._folder = tempfile.TemporaryDirectory(prefix="fyke-bench-")

    def kept(self, workload: ColumnarWorkload, count: int) -> Subject:
        """A subject that later lines will ask for again."""
        key = workload.name, count
        if key not in self._kept:
            self._kept[key] = built(workload, count)
        return self._kept[key]

    def forget(self, workload: ColumnarWorkload, count: int) -> None:
        self._kept.pop((workload.name, count), None)

    def snapshot(self, workload: ColumnarWorkload, count: int) -> Path:
        """The folder where the matcher of a kept subject is saved."""
        path = Path(self._folder.name) / f"{workload.name}-{count}"
        if not path.exists():
            self.kept(workload, count).matcher.save(path)
        return path

    def close(self) -> None:
        self._kept.clear()
        self._folder.cleanup()


def built(workload: ColumnarWorkload, count: int, *, from_text: bool = False) -> Subject:
    """A matcher of `count` subscriptions that has been warmed up."""
    matcher = Matcher("compiled")
    generating = 0.0
    started = time.process_time()
    for first in range(0, count, CHUNK):
        before = time.thread_time()
        size = min(CHUNK, count - first)
        made = workload.texts(size, first) if from_text else workload.filters(size, first)
        given = [(workload.id(number), each) for number, each in enumerate(made, first)]
        generating += time.thread_time() - before
        matcher.add_many(given)
    matcher.match(workload.event(SEEN_BEFORE))
    wait_until_quiet()
    build_s = time.process_time() - started - generating
    subject = Subject(workload, count, matcher.engine, matcher, build_s)
    _warm_up(subject)
    return subject


def built_flat(workload: ColumnarWorkload, count: int) -> Subject:
    """Flat access clusters: the engine alone, which plants no trees."""
    engine = CompiledEngine(workload.filter, tree_from=NO_TREES)
    for slot, filter in enumerate(workload.filters(count)):
        engine.add(slot, filter)
    subject = Subject(workload, count, engine, None, 0.0)
    _warm_up(subject)
    return subject


def compile_kernels(workload: ColumnarWorkload) -> None:
    """Builds and merges a little, so that no clock runs while something is compiled."""
    few = 2_000
    subject = built(workload, few)
    for number, filter in enumerate(workload.filters(few, few), few):
        subject.matcher.add(workload.id(number), filter)
        subject.matcher.remove(workload.id(number - few))
        if number % 100 == 0:
            subject.matcher.match_batch(workload.columns(10))
    wait_until_quiet()


def _warm_up(subject: Subject) -> None:
    """Kernels are compiled, statistics learned, merges done."""
    table = subject.workload.columns(WARM_UP, SEEN_BEFORE)
    for _ in range(2):
        if subject.matcher is None:
            subject.numbered_table(table)
        else:
            subject.matcher.match_batch(table)
            subject.matcher.match(subject.workload.event(SEEN_BEFORE + WARM_UP))
        wait_until_quiet()
