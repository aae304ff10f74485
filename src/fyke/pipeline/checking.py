"""Checks before Spark starts: a run has something to read, and can read it.

A mistake costs a second then, instead of a minute, and is named by its setting. What Spark alone
can see (addresses, files of a server elsewhere, options of its readers) is left to Spark.
"""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from fyke.errors import FykeError, shown
from fyke.logs import partitions
from fyke.pipeline.configuration import Pipeline, Place
from fyke.pipeline.results import folder
from fyke.pipeline.sources import paths
from fyke.pipeline.sources.origins import Files, Log, Origin
from fyke.spark.sessions.settings import is_here

_PARQUET: Final = (b"PAR1", b"PARE")
"""The first bytes of such files; the latter are encrypted."""
_PARTITION: Final = re.compile(r"([^/=]+)=")


def check(pipeline: Pipeline) -> None:
    """Raise FykeError, before anything is started or written, if the run cannot succeed."""
    if find_spec("matplotlib") is None:
        raise FykeError("the report needs matplotlib: pip install 'fyke[pipeline]'")
    if pipeline.is_stream and pipeline.tables is not None:
        raise FykeError(
            "output.tables is for runs that end; a stream keeps its batches in output.path, a "
            "folder that the driver and all workers see"
        )
    for name, origin in (("events", pipeline.events), ("subscriptions", pipeline.subscriptions)):
        path = paths.local(origin.path) if isinstance(origin, Files | Log) else None
        if path is None or not _sees_our_files(pipeline.place):
            continue
        if folder.is_result(path, pipeline.out):
            raise FykeError(
                f"{name}.path is {path!r}; expected a place outside of the results in "
                "output.path, which the run replaces"
            )
        _check_there(name, origin, path)


def _sees_our_files(place: Place) -> bool:
    """Return True if Spark's driver runs on this machine."""
    remote = place.remote
    if remote is None and place.master is None:
        remote = os.environ.get("SPARK_REMOTE") or None
    return remote is None or is_here(remote)


def _check_there(name: str, origin: Origin, path: str) -> None:
    match origin:
        case Log() if not partitions.exists(path):
            raise FykeError(f"{name}.path is {path!r}; expected the folder of a log")
        case Files(is_stream=True) if not paths.fixed_part(path).is_dir():
            there = paths.fixed_part(path)
            raise FykeError(f"{name}.path is {path!r}, but there is no folder {there}")
        case Files(is_stream=False):
            _check_files(name, origin, path)


def _check_files(name: str, origin: Files, path: str) -> None:
    found = paths.places(path)
    if not found:
        near = paths.meant(path)
        raise FykeError(
            f"{name}.path is {path!r}; expected a file, a folder or a pattern of files that are "
            "there" + (f"; did you mean {near!r}?" if near else "")
        )
    for place in found:
        if not os.access(place, os.R_OK):
            raise FykeError(f"{name}.path is {path!r}; expected files that may be read: {place}")
    if origin.format == "parquet" and not origin.options:  # options may say which files it is
        _check_columns(name, origin, path)


def _check_columns(name: str, origin: Files, path: str) -> None:
    """Return the columns of the first Parquet file and of the folders that it is in."""
    file = next(iter(paths.files(path)), None)
    if file is None or not _is_parquet(file):
        raise FykeError(f"{name}.path is {path!r}; expected Parquet files, not {file or 'nothing'}")
    try:
        columns = [*pq.read_schema(file).names, *_PARTITION.findall(str(Path(file).parent))]
    except (pa.ArrowException, OSError):
        return  # Spark may have the keys, or knows better what is wrong
    if origin.key is not None and origin.key not in columns:
        known = ", ".join(map(shown, columns))
        raise FykeError(f"{name}.key is {origin.key!r}; expected a column of {file}: {known}")
    for column in () if origin.key is not None else ("id", "filter"):
        if column not in columns:
            raise FykeError(f"{name}.path is {path!r}; expected a column {column!r} in {file}")


def _is_parquet(file: str) -> bool:
    with open(file, "rb") as opened:
        return opened.read(4) in _PARQUET
