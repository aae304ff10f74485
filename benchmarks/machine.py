"""The machine: one thread for all libraries, what memory delivers, how threads scale."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa

from benchmarks.timing import wall

MEBIBYTE = 1 << 20


def use_one_thread() -> None:
    """For the libraries that would take more."""
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    numba.set_num_threads(1)


@numba.njit(nogil=True, cache=True)
def _read(words: Any) -> Any:
    total = np.int64(0)
    for at in range(len(words)):
        total += words[at]
    return total


@numba.njit(nogil=True, cache=True)
def _spin(steps: int) -> Any:
    state = np.uint64(88172645463325252)
    for _ in range(steps):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
    return state


def bandwidth(mebibytes: int, read_bytes: int) -> float:
    """Bytes a second that one thread reads, again and again from as much memory."""
    words = np.ones(mebibytes * MEBIBYTE // 8, np.int64)
    repeats = max(1, read_bytes // words.nbytes)
    _read(words)
    taken = min(wall(lambda: [_read(words) for _ in range(repeats)]) for _ in range(7))
    return repeats * words.nbytes / taken


def spin(steps: int) -> Callable[[], object]:
    """Work that needs nothing but a core."""
    _spin(1)
    return lambda: _spin(steps)


def in_threads(work: Callable[[], object], count: int) -> float:
    """Wall time until `count` threads that began together have done the same work."""
    gate = threading.Barrier(count + 1)

    def body() -> None:
        gate.wait()
        work()

    threads = [threading.Thread(target=body) for _ in range(count)]
    for thread in threads:
        thread.start()
    gate.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    return time.perf_counter() - started


def resident_bytes() -> int:
    """What of this process lies in memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise OSError("the system does not tell how much memory a process takes")


def available_bytes() -> int:
    """What processes can still take."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise OSError("the system does not tell how much memory there is")
