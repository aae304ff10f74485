"""Bench: what every topic is given: the sizes of the run and the subjects it shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.subjects import Subject, Subjects
from fyke.workloads.named import workload
from fyke.workloads.workload import ColumnarWorkload

SEED = 0
_QUICK_SHARE = 200


@dataclass(frozen=True, slots=True)
class Bench:
    """A run. Quick runs are a two hundredth in size: their figures say only that all works."""

    is_quick: bool = False
    say: Callable[[str], None] = print
    subjects: Subjects = field(default_factory=Subjects)

    @property
    def million(self) -> int:
        return self.size(1_000_000)

    @property
    def hundred_thousand(self) -> int:
        return self.size(100_000)

    @property
    def ten_thousand(self) -> int:
        return self.size(10_000)

    def size(self, full: int) -> int:
        """A number of subscriptions, as large as the run allows."""
        return max(50, full // _QUICK_SHARE) if self.is_quick else full

    def events(self, full: int) -> int:
        """A number of events, likewise."""
        return min(full, 40) if self.is_quick else full

    def workload(self, name: str) -> ColumnarWorkload:
        found = workload(name, SEED)
        assert isinstance(found, ColumnarWorkload)
        return found

    def w1(self, count: int) -> Subject:
        """W1, which many lines are about."""
        self.say(f"W1 of {count:,} subscriptions")
        return self.subjects.kept(self.workload("w1"), count)


def short(count: int) -> str:
    """1,000,000 as 1M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if count >= size and count % size == 0:
            return f"{count // size}{letter}"
    return f"{count:,}"
