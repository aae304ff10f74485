"""`make bench`: all figures, each against its bar. `--quick` takes seconds, for a glance."""

from __future__ import annotations

import argparse
import gc
import importlib
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.status import Status

import fyke
from benchmarks import report
from benchmarks.bench import Bench
from benchmarks.line import Line
from benchmarks.machine import use_one_thread
from benchmarks.subjects import compile_kernels

TOPICS = (
    *("filters", "kernel", "table", "million", "single", "trees", "threads", "build", "memory"),
    *("snapshot", "machine", "live", "strings", "sigma", "covering", "simulation", "spark"),
    *("spark_rates", "spark_stream", "placements", "cluster", "first_minute"),
    *("pruning", "rows", "summaries", "typed", "peers", "stages", "door"),
)
"""A module `bench_NAME` each, in an order in which matchers can be shared."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    console = Console()
    use_one_thread()
    lines, failed = [], 0
    started = time.monotonic()
    with console.status("starting") as status:
        bench = Bench(is_quick=options.quick, say=lambda what: _say(status, started, what))
        bench.say("kernels, which are compiled once on a machine")
        fyke.warm()
        compile_kernels(bench.workload("w1"))
        gc.freeze()  # what libraries made is no garbage: looking at it again would cost seconds
        for name in options.only or TOPICS:
            try:
                for line in _lines(name, bench):
                    lines.append(line)
                    console.print(report.one_line(line), soft_wrap=True)
            except Exception:
                failed += 1
                console.print(f"{name}: no figures", style="red")
                console.print(traceback.format_exc(), markup=False, highlight=False)
            gc.collect()
        bench.subjects.close()
    console.print(report.table(lines))
    console.print(f"{report.machine()}; {(time.monotonic() - started) / 60:.1f} minutes")
    if options.markdown:
        report.write(Path(options.markdown), lines)
    return _verdict(console, lines, failed, options.quick)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes; no bar is judged")
    parser.add_argument("--only", nargs="+", choices=TOPICS, metavar="NAME", help=", ".join(TOPICS))
    parser.add_argument("--markdown", metavar="FILE", help="also write the table there")
    return parser.parse_args(arguments)


def _lines(name: str, bench: Bench) -> Iterator[Line]:
    bench.say(name)
    found: Iterator[Line] = importlib.import_module(f"benchmarks.bench_{name}").lines(bench)
    return found


def _say(status: Status, started: float, what: str) -> None:
    status.update(f"{time.monotonic() - started:.0f} s: {what}")


def _verdict(console: Console, lines: list[Line], failed: int, is_quick: bool) -> int:
    missed = [line.name for line in lines if line.is_missed]
    if failed:
        console.print(f"{failed} without figures", style="red")
    if is_quick:
        console.print("a quick run: sizes are too small for the bars, which were not judged")
        missed = []
    for name in missed:
        console.print(f"missed: {name}", style="red", markup=False)
    return 1 if missed or failed else 0


if __name__ == "__main__":
    sys.exit(main())
