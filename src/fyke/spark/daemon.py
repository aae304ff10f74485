"""The parent of Spark's Python workers on this machine: forks them with everything loaded.

Spark runs `python -m fyke.spark.daemon WORKER` (its setting spark.python.daemon.module) and asks it
for workers, which it forks. Spark's own daemon forks first and lets each worker import; and after
each task a worker collects garbage, which takes the longer the more it has imported. Here the
libraries and the compiled kernels are loaded once, before the first fork, in memory that the
workers share; and all that was loaded is kept out of the collector's sight.

Spark forks before imports because of threads, which do not survive a fork. What is loaded here
starts none that would be missed: numpy is told to work in one thread, Arrow makes its threads when
first used and again after a fork.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress
from typing import Final
from zipimport import zipimporter

_MMAP_THRESHOLD: Final = -3
"""The name of glibc's `mallopt` for it."""
_LARGE: Final = 1 << 19


def load() -> None:
    """Load what workers that run our functions need."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # others keep what was freed
    import pyspark.worker  # noqa: F401

    import fyke.matching.batch
    import fyke.matching.catalog
    import fyke.spark.matching  # noqa: F401
    from fyke.matching.compiled.kernels.compiling import is_compiled, warm

    if is_compiled():  # otherwise the first worker that matches says that it compiles
        warm()


def share() -> None:
    """Make workers write to as little as possible of what they share, and keep little."""
    _close_archives()
    _give_back_large()
    gc.collect()
    gc.freeze()


def _close_archives() -> None:
    """Remove the importers of archives: new ones are made when they are needed.

    Spark lets a worker invalidate Python's caches of modules, and every importer of a package in
    `pyspark.zip` then reads the list of the whole archive anew: 14 MB in each worker. Those that
    are made when they are needed share one list.
    """
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]


def _give_back_large() -> None:
    """Let large arrays go back to the system when they are freed.

    By itself, glibc learns from the first ones to keep them, and 20 MB of holes in each worker.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)


if __name__ == "__main__":
    from pyspark.daemon import manager

    if sys.argv[1:] == ["pyspark.worker"]:
        load()
    share()
    manager()
