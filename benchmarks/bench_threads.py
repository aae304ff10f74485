"""Two threads that match batches on one matcher, against two threads that spin; wall clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.bench import Bench, short
from benchmarks.line import Line, at_least
from benchmarks.machine import in_threads, spin

EVENTS = 20_000
SPINS = 100_000_000
ROUNDS = 7


def lines(bench: Bench) -> Iterator[Line]:
    for count in (bench.hundred_thousand, bench.million):
        subject = bench.w1(count)
        table = subject.workload.columns(bench.events(EVENTS))
        repeats = 1 if bench.is_quick else 1 + 400_000 // count
        work = _repeated(subject.matcher.match_batch, table, repeats)
        ours, spinning = _scaling(work, spin(SPINS // (1_000 if bench.is_quick else 1)))
        yield Line(
            f"two threads, W1 {short(count)} / spin loop", f"scales {ours:.2f}",
            f"scales {spinning:.2f}", ours / spinning, bar=at_least(0.85),
            note="wall; match_batch on one matcher",
        )  # fmt: skip


def _repeated(match: Callable[[object], object], table: object, times: int) -> Callable[[], object]:
    return lambda: [match(table) for _ in range(times)]


def _scaling(*works: Callable[[], object]) -> list[float]:
    """What two threads do in the time in which one does one, of each work; they take turns."""
    alone, together = ([float("inf")] * len(works) for _ in range(2))
    for _ in range(ROUNDS):
        for at, work in enumerate(works):
            alone[at] = min(alone[at], in_threads(work, 1))
            together[at] = min(together[at], in_threads(work, 2))
    return [2 * one / two for one, two in zip(alone, together, strict=True)]
