"""Memory: the snapshot on disk, and what a process grows by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_most

IDS = "ids."


def lines(bench: Bench) -> Iterator[Line]:
    subject = bench.w1(bench.million)
    sizes = _sizes(bench.subjects.snapshot(subject.workload, subject.count))
    ids = sum(size for name, size in sizes.items() if name.startswith(IDS))
    rest = sum(sizes.values()) - ids
    largest = sorted(sizes, key=sizes.__getitem__, reverse=True)[:4]
    note = ", ".join(f"{name} {sizes[name] / subject.count:.1f} B" for name in largest)
    yield Line(
        f"W1 {short(subject.count)}, snapshot without ids, a subscription",
        f"{rest / 1e6:.1f} MB", f"ids {ids / 1e6:.1f} MB", rest / subject.count, "B",
        at_most(96), note,
    )  # fmt: skip
    bench.say("a process of its own grows")
    grown = processes.run("growth", subject.count)
    yield Line(
        f"W1 {short(subject.count)}, growth of the process, a subscription",
        f"{grown['grown'] / 1e6:.1f} MB", f"empty {grown['empty'] / 1e6:.1f} MB",
        grown["grown"] / subject.count, "B", at_most(300),
        f"resident, ids and {grown['explained']} explanations included; "
        f"peak while building {grown['peak'] / subject.count:.0f} B",
    )  # fmt: skip


def _sizes(snapshot: Path) -> dict[str, int]:
    """The bytes of a snapshot's files by name."""
    return {path.name: path.stat().st_size for path in snapshot.rglob("*") if path.is_file()}
