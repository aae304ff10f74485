"""`make bench`: all ratios, each against its bar. `--quick` takes seconds, for a glance."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from benchmarks import bench_filters


def main() -> int:
    console = Console()
    scale = 0.02 if "--quick" in sys.argv[1:] else 1.0
    table = Table("what", "ours", "reference", "ratio", "bar", title="Ratios, CPU time, one thread")
    missed = 0
    with console.status("measuring") as status:
        for ratio in bench_filters.ratios(scale):
            status.update(f"measured {ratio.name}")
            verdict = "[green]" if ratio.holds else "[red]"
            missed += not ratio.holds
            table.add_row(
                ratio.name,
                f"{ratio.ours} {ratio.ours_s * 1e6:.2f} µs",
                f"{ratio.reference} {ratio.reference_s * 1e6:.2f} µs",
                f"{verdict}{ratio.value:.1f}x",
                f"{ratio.bar:g}x",
            )
    console.print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
