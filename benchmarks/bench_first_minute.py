"""The first minute on a new machine: no kernels yet, and nobody waits for them.

Each line is a process of its own, with an empty folder for kernels. Times are of the wall, as users
feel them, and so are judged on a machine that is idle; beside them stands the processor's time, and
for stalls those of a timer in a process that does nothing else.
"""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import processes
from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_most

FIRST_S = 3.0
STALL_S = 0.1
ALL_KERNELS_S = 35.0


def lines(bench: Bench) -> Iterator[Line]:
    with tempfile.TemporaryDirectory(prefix="fyke-first-minute-") as name:
        folder = Path(name)
        bench.say("all kernels, compiled by `fyke warm`")
        yield _warm(folder / "warm")
        idle = processes.run("first_minute", "idle", 0)["stall"]
        for case, count, how in _cases(bench):
            bench.say(f"{case} of {count:,}{how}")
            told = _told(folder, case, count, how)
            label = f"{case}, {short(count)} subscriptions{how}, no kernels"
            yield _first(label, told)
            yield _stall(label, told, idle)


def _cases(bench: Bench) -> Iterator[tuple[str, int, str]]:
    yield "match", bench.size(1_000), ""
    if bench.is_quick:
        return
    yield "batch", 1_000, ""
    yield "open", 1_000, ""
    yield "match", 20_000, ""
    yield "match", 100_000, ""
    yield "open", 100_000, ""
    yield "match", 1_000, ", one core"
    yield "match", 1_000, ", nothing can be written"


def _warm(folder: Path) -> Line:
    before = _cpu()
    processes.run("warm", NUMBA_CACHE_DIR=str(folder))
    return Line(
        "all kernels, `fyke warm` on an empty cache", value=_cpu() - before, unit="s",
        bar=at_most(ALL_KERNELS_S), note="CPU, imports included",
    )  # fmt: skip


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _told(folder: Path, case: str, count: int, how: str) -> dict[str, Any]:
    saved = folder / f"snapshot-{count}"
    if case == "open":
        processes.run("first_minute", "save", count, saved, NUMBA_CACHE_DIR=str(folder / "warm"))
    with tempfile.TemporaryDirectory(dir=folder) as empty:
        variables = {"NUMBA_CACHE_DIR": empty}
        if "written" in how:
            variables = _nowhere(Path(empty))
        prefix = ("taskset", "-c", "0") if "core" in how else ()
        return processes.run("first_minute", case, count, saved, prefix=prefix, **variables)


def _nowhere(folder: Path) -> dict[str, str]:
    """Variables of processes that can write nowhere; root could, so that Python is told a lie."""
    lie = "import tempfile\ntempfile.tempdir = '/proc/nonexistent'\n"
    (folder / "sitecustomize.py").write_text(lie)
    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    return {"NUMBA_CACHE_DIR": "/proc/nonexistent", "PYTHONPATH": path}


def _first(label: str, told: dict[str, Any]) -> Line:
    return Line(
        f"first answer: {label}", value=told["first"], unit="s", bar=at_most(FIRST_S),
        note=f"wall, from `import fyke`, without {told['adding']:.2f} s of adding",
    )  # fmt: skip


def _stall(label: str, told: dict[str, Any], idle: float) -> Line:
    return Line(
        f"longest stall: {label}", reference=f"{idle * 1e3:.0f} ms idle",
        value=told["stall"], unit="s", bar=at_most(STALL_S),
        note=(
            f"wall, of a timer of 10 ms; {told['stall_cpu'] * 1e3:.0f} ms CPU; "
            f"the kernels answered after {told['moved']:.0f} s"
        ),
    )  # fmt: skip
