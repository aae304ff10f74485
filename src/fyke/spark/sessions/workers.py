"""Workers: do they have a Python with Fyke, the same one as the driver, and see what it sees?

A function that workers do not find ends in a trace that says `No module named 'fyke'`. So the first
call on a cluster runs a small job whose function carries all that it needs, and says what to do.
Where Spark runs on this machine, workers find what the driver finds, and nothing is asked.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fyke.durable import make_folder
from fyke.errors import FykeError
from fyke.spark.sessions.connect import is_remote, is_served_here, session_id, shares_disk
from fyke.spark.sessions.reasons import in_a_sentence
from fyke.spark.sessions.settings import is_here
from fyke.spark.sessions.sizes import tasks
from fyke.spark.shipping.kernels import ship_kernels

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

REMEDY: Final = (
    "install the driver's there, with its libraries, or send it: fyke.spark.session(..., ship=True)"
)
_FOUND: Final = "host string, python string, fyke string"
_checked: set[tuple[str, str]] = set()


def check_workers(session: SparkSession) -> None:
    """Raise FykeError where a worker lacks Fyke or has another version; send compiled kernels.

    Done once per session.
    """
    is_ours = not is_remote(session) or is_served_here(session)
    if is_ours and is_here(session.conf.get("spark.master", None)):
        return
    key = str(session.conf.get("spark.app.id", None)), session_id(session)
    if key in _checked:
        return
    here = _version()
    frame = session.range(0, 2 * tasks(session), 1, 2 * tasks(session))
    with in_a_sentence("the workers cannot run Fyke"):
        found = frame.mapInArrow(looking(), _FOUND).distinct().collect()
    for row in found:
        if row["fyke"] != here:
            has = f"Fyke {row['fyke']}" if row["fyke"] else "no Fyke"
            raise FykeError(
                f"worker {row['host']} has {has} for {row['python']}, the driver has {here}; "
                f"{REMEDY}"
            )
    ship_kernels(session)
    _checked.add(key)


def check_seen(session: SparkSession, folder: Path) -> None:
    """Raise FykeError where a worker does not see a folder of the driver's."""
    if shares_disk(session):
        return
    make_folder(folder)
    mark = folder / f"_mark-{secrets.token_hex(16)}"
    mark.touch()
    try:
        host = blind_worker(session, mark)
    finally:
        mark.unlink(missing_ok=True)
    if host is not None:
        raise FykeError(
            f"worker {host} does not see {folder}: name a folder that the driver and all workers "
            "see"
        )


def blind_worker(session: SparkSession, file: Path) -> str | None:
    """Return the name of a worker that does not see a file of the driver's, if there is one."""
    frame = session.range(0, 2 * tasks(session), 1, 2 * tasks(session))
    with in_a_sentence("the workers cannot run Fyke"):
        found = frame.mapInArrow(missing(str(file)), "host string").collect()
    return str(found[0]["host"]) if found else None


def missing(path: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what a worker runs to say that it does not see a path."""

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import os
        import socket

        import pyarrow as pa

        for _ in batches:
            if not os.path.exists(path):
                yield pa.RecordBatch.from_pydict({"host": [socket.gethostname()]})

    return look


def _version() -> str:
    from fyke.version import __version__

    return __version__


def looking() -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what a worker runs: being a closure, it travels whole."""

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import socket
        import sys

        import pyarrow as pa

        for _ in batches:
            try:
                from fyke.version import __version__

                version: Any = __version__
            except ImportError:
                version = None
            row = {"host": socket.gethostname(), "python": sys.executable, "fyke": version}
            schema = pa.schema([(name, pa.string()) for name in row])
            yield pa.RecordBatch.from_pylist([row], schema)

    return look
