"""Counts the cache lines of a snapshot's index that an event touches: `touched FOLDER EVENTS`.

Runs with FYKE_KERNELS=plain, where the kernels are Python and read arrays by index: the arrays of
the index are replaced by ones that remember which of their cache lines were read.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from benchmarks.bench import SEED
from fyke.matching.compiled.kernels.frames import Frame
from fyke.matching.matcher import Matcher
from fyke.workloads.named import workload

LINE = 64


class Watched:
    """An array that adds the cache lines it is read from to a set."""

    def __init__(self, array: np.ndarray[Any, Any], lines: set[tuple[int, int]]) -> None:
        self._array, self._lines = array, lines
        self._per_line = LINE // array.itemsize
        self._name = id(array)

    def __getitem__(self, at: Any) -> Any:
        for place in np.atleast_1d(at).tolist():
            self._lines.add((self._name, place // self._per_line))
        return self._array[at]

    def __len__(self) -> int:
        return len(self._array)


def main(path: str, events: int) -> None:
    matcher: Any = Matcher.open(path)
    w1 = workload("w1", SEED)
    lines: set[tuple[int, int]] = set()
    for segment in matcher.engine._segments:
        group = segment.index_frame.group
        watched = (Watched(each, lines) if isinstance(each, np.ndarray) else each for each in group)
        segment.index_frame = Frame(type(group)(*watched))
        segment.slots = Watched(segment.slots, lines)
    total = 0
    for event in w1.events(events):
        lines.clear()
        matcher.match(event)
        total += len(lines) * LINE
    print(json.dumps({"bytes": total / events}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
