"""Clocks: CPU time of competitors that take turns, the median of single calls, and silence."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

ROUNDS = 3
_SILENCE_S = 0.05
_NOISE_S = 0.005


@dataclass(frozen=True, slots=True)
class Competitor:
    """Work that is timed, and of how many items it consists."""

    label: str
    work: Callable[[], object]
    items: int


def best(*competitors: Competitor, rounds: int = ROUNDS) -> list[float]:
    """The best CPU time per item of each; they take turns, so that all see the same machine.

    Each works once before: caches are filled and kernels compiled.
    """
    found = [float("inf")] * len(competitors)
    for number in range(rounds + 1):
        for at, competitor in enumerate(competitors):
            gc.collect()
            started = time.process_time()
            competitor.work()
            taken = (time.process_time() - started) / competitor.items
            if number:
                found[at] = min(found[at], taken)
    return found


def single_calls(function: Callable[[object], object], arguments: Iterable[object]) -> list[int]:
    """How many nanoseconds of the wall clock each call took."""
    clock, taken = time.perf_counter_ns, []
    for argument in arguments:
        started = clock()
        function(argument)
        taken.append(clock() - started)
    return taken


def percentile(taken: Iterable[float], share: float) -> float:
    return float(np.percentile(list(taken), share))


def wall(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def wait_until_quiet() -> None:
    """Returns when no thread of this process works in the background any more."""
    while True:
        before = time.process_time()
        time.sleep(_SILENCE_S)
        if time.process_time() - before < _NOISE_S:
            return
