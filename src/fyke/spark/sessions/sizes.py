"""Sizes: how much a cluster does at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS_MAX: Final = 1_000
"""More are not planned for, however many executors a setting allows."""
_SPLITS: Final = re.compile(r"splits=(?:Some\()?(\d+)")
_EXECUTORS: Final = ("spark.dynamicAllocation.maxExecutors", "spark.executor.instances")


def tasks(session: SparkSession) -> int:
    """Return how many tasks Spark works on at a time: the cores that it has or has asked for.

    Spark cuts a range into as many pieces as there are cores, and says so without running it.
    """
    told = session.sql("explain select id from range(0, 1000000000)").first()
    found = _SPLITS.search(told[0]) if told is not None else None
    here = int(found[1]) if found else 1
    return min(TASKS_MAX, max(here, *(_number(session, name) for name in _EXECUTORS)))


def _number(session: SparkSession, name: str) -> int:
    """Return the cores of the executors that a setting asks for; 0 if it says nothing."""
    count = session.conf.get(name, None) or ""
    cores = session.conf.get("spark.executor.cores", None) or "1"
    return int(count) * int(cores) if count.isdecimal() and cores.isdecimal() else 0
