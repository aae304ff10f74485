"""The memory that a worker has for subscriptions, and how much may pass the driver.

As far as Spark's settings tell.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.spark.sessions.settings import is_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PYTHON: Final = "spark.executor.pyspark.memory"
_EXECUTOR: Final = "spark.executor.memory"
_CORES: Final = "spark.executor.cores"
_RESULT: Final = "spark.driver.maxResultSize"
WORKER_ADDRESSES: Final = 2 * 2**30
_SIZE: Final = re.compile(r"(\d+)\s*([bkmgtp]?)b?", re.ASCII | re.IGNORECASE)
_UNITS: Final = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "": 2**20}


def room_for_subscriptions(session: SparkSession) -> int:
    """Return the bytes that a worker has for subscriptions.

    They are what Python's limit leaves, or half of this machine's memory or an executor's.
    Snapshots are mapped, so that the workers of a host share what they hold of them. A limit on
    Python bounds addresses, of which a worker with all its libraries has many before it begins.
    """
    limit = in_bytes(session.conf.get(_PYTHON, None))
    if limit is not None:
        limit //= max(1, int(session.conf.get(_CORES, None) or 1))
        return max(limit - WORKER_ADDRESSES, limit // 64)
    if is_here(session.conf.get("spark.master", None)) and hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return (in_bytes(session.conf.get(_EXECUTOR, None)) or 2**30) // 2


def passing_max(session: SparkSession) -> int | None:
    """Return how many bytes of rows may come to the driver; None where there is no limit."""
    text = (session.conf.get(_RESULT, None) or "1g").strip()
    limit = int(text) if text.isdecimal() else in_bytes(text)  # without a unit it is in bytes
    return limit or None


@contextmanager
def enough_memory(for_what: str) -> Iterator[None]:
    """In a worker: say what to do where there is too little memory."""
    try:
        yield
    except MemoryError:
        raise FykeError(
            f"worker {socket.gethostname()} has too little memory {for_what}: compile with more "
            f"shards=, or give Python more ({_PYTHON})"
        ) from None


def in_bytes(text: str | None) -> int | None:
    """Return a size as Spark writes it, `2g` or `512m`; without a unit it is in MiB."""
    found = _SIZE.fullmatch(text.strip()) if text else None
    return int(found[1]) * _UNITS[found[2].lower()] if found else None
