"""Opening a snapshot, checksums verified, here and in a new process."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_most
from benchmarks.pairs import must_agree
from benchmarks.subjects import Subject
from benchmarks.timing import wall
from fyke.matching.matcher import Matcher

ROUNDS = 5
CHECKED = 500


def lines(bench: Bench) -> Iterator[Line]:
    subject = bench.w1(bench.million)
    path = bench.subjects.snapshot(subject.workload, subject.count)
    opened = Matcher.open(path)
    again = Subject(subject.workload, subject.count, opened.engine, opened, 0.0)
    checked = bench.events(CHECKED)
    must_agree(saved=subject.pairs(checked), opened=again.pairs(checked))
    before = time.process_time()
    taken = min(wall(lambda: Matcher.open(path)) for _ in range(ROUNDS))
    cpu = (time.process_time() - before) / ROUNDS
    size = sum(each.stat().st_size for each in path.rglob("*"))
    yield Line(
        f"open a snapshot of {short(subject.count)}", f"{size / 1e6:.0f} MB", value=taken,
        unit="s", bar=at_most(0.5), note=f"wall, checksums verified; {cpu:.2f} s CPU",
    )  # fmt: skip
    bench.say("new processes")
    runs = [_new_process(path) for _ in range(2 if bench.is_quick else ROUNDS)]
    least = min(runs[1:], key=lambda each: each["whole"])
    yield Line(
        f"new process to its first match on {short(subject.count)}",
        value=least["whole"], unit="s", bar=at_most(1.5),
        note=(
            f"wall, from starting Python; kernels cached; imports {least['imported']:.2f} s, "
            f"open {least['opened']:.2f} s, first match {least['matched']:.2f} s"
        ),
    )  # fmt: skip


def _new_process(path: object) -> dict[str, float]:
    started = time.time()
    told = processes.run("first_match", path)
    return {**told, "whole": told["at"] - started}
