"""A ratio: ours against a reference, timed alternately so that both see the same machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Ratio:
    """One line of the report. `bar` is the ratio that the project promises."""

    name: str
    ours: str
    ours_s: float
    reference: str
    reference_s: float
    bar: float

    @property
    def value(self) -> float:
        return self.reference_s / self.ours_s

    @property
    def holds(self) -> bool:
        return self.value >= self.bar


def measure(
    name: str,
    *,
    ours: tuple[str, Callable[[], object], int],
    reference: tuple[str, Callable[[], object], int],
    bar: float,
) -> Ratio:
    """Times both, each given as (label, work, items of the work); the best CPU time per item."""
    best = {ours[0]: float("inf"), reference[0]: float("inf")}
    for _ in range(ROUNDS):
        for label, work, items in (ours, reference):
            gc.collect()
            started = time.process_time()
            work()
            best[label] = min(best[label], (time.process_time() - started) / items)
    return Ratio(name, ours[0], best[ours[0]], reference[0], best[reference[0]], bar)
