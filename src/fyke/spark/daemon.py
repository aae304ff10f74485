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

import gc
import os
import sys


def load() -> None:
    """Loads what workers that run our functions need."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import pyspark.worker  # noqa: F401

    from fyke.matching.compiled.kernel import is_warm
    from fyke.matching.compiled.warming import use_all

    if is_warm():  # otherwise the first worker that matches says that it compiles
        use_all()


if __name__ == "__main__":
    from pyspark.daemon import manager

    if sys.argv[1:] == ["pyspark.worker"]:
        load()
    gc.collect()
    gc.freeze()
    manager()
