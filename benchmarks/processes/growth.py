"""What this process grows by when a matcher of W1 takes in subscriptions: `growth COUNT`."""

from __future__ import annotations

import gc
import json
import resource
import sys

from benchmarks.bench import SEED
from benchmarks.machine import resident_bytes, use_one_thread
from benchmarks.subjects import CHUNK
from benchmarks.timing import wait_until_quiet
from fyke.matching.matcher import Matcher
from fyke.workloads.named import workload
from fyke.workloads.workload import ColumnarWorkload

EVENTS = 1_000
EXPLAINED = 1_000
FEW = 200


def main(count: int) -> None:
    use_one_thread()
    w1 = workload("w1", SEED)
    assert isinstance(w1, ColumnarWorkload)
    _prepare(w1)
    gc.collect()
    wait_until_quiet()
    empty = resident_bytes()
    matcher = _filled(w1, count)
    explained = _use(matcher, w1)
    gc.collect()
    wait_until_quiet()
    grown = resident_bytes() - empty
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - empty
    print(json.dumps({"empty": empty, "grown": grown, "peak": peak, "explained": explained}))


def _prepare(w1: ColumnarWorkload) -> None:
    """What is not the matcher's: libraries, kernels, and the room in which filters are made."""
    list(w1.filters(CHUNK))
    _use(_filled(w1, FEW), w1)


def _filled(w1: ColumnarWorkload, count: int) -> Matcher:
    """Filters are generated, added and thrown away, some at a time."""
    matcher = Matcher("compiled")
    for first in range(0, count, CHUNK):
        size = min(CHUNK, count - first)
        made = enumerate(w1.filters(size, first), first)
        matcher.add_many([(w1.id(number), each) for number, each in made])
    return matcher


def _use(matcher: Matcher, w1: ColumnarWorkload) -> int:
    """Matches and explains; how often it explained."""
    matcher.match_batch(w1.columns(EVENTS))
    wait_until_quiet()
    event = w1.event(0)
    numbers = range(0, len(matcher), max(1, len(matcher) // EXPLAINED))
    for number in numbers:
        matcher.explain(event, w1.id(number))
    return len(numbers)


if __name__ == "__main__":
    main(int(sys.argv[1]))
