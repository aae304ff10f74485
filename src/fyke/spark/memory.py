"""How much memory a worker has, as far as Spark's settings tell."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from fyke.spark.settings import is_here

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PYTHON: Final = "spark.executor.pyspark.memory"
_EXECUTOR: Final = "spark.executor.memory"
_CORES: Final = "spark.executor.cores"
_SIZE: Final = re.compile(r"(\d+)\s*([bkmgtp]?)b?", re.ASCII | re.IGNORECASE)
_UNITS: Final = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50, "": 2**20}


def worker_memory(session: SparkSession) -> int:
    """In bytes: Python's limit, if there is one; this machine's memory; or that of executors.

    Snapshots are mapped, so that the workers of a host share what they hold of them.
    """
    limit = in_bytes(session.conf.get(_PYTHON, None))
    if limit is not None:
        return limit // max(1, int(session.conf.get(_CORES, None) or 1))
    if is_here(session.conf.get("spark.master", None)) and hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return in_bytes(session.conf.get(_EXECUTOR, None)) or 2**30


def in_bytes(text: str | None) -> int | None:
    """A size as Spark writes it, `2g` or `512m`; without a unit it is in MiB."""
    found = _SIZE.fullmatch(text.strip()) if text else None
    return int(found[1]) * _UNITS[found[2].lower()] if found else None
