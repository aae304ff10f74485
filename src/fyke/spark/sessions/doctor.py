"""The doctor: what every executor of a cluster has, and what to change.

A small job runs on the executors. Its function carries all that it needs, so that it runs where
Fyke is missing, too; each says which Python it is, which versions of the libraries it has, whether
it sees the folders that were named, whether its kernels are compiled, and its memory.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fyke.durable import make_folder
from fyke.spark.sessions.reasons import in_a_sentence
from fyke.spark.sessions.sizes import tasks
from fyke.spark.sessions.workers import REMEDY
from fyke.spark.shipping.kernels import sent_kernels

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

LIBRARIES: Final = ("fyke", "numpy", "numba", "pyarrow", "pyspark")
_SPREAD_S: Final = 0.5
"""Tasks take so long, so that no executor takes all of them."""
_ROOM_MIN: Final = 2**30


@dataclass(frozen=True, slots=True)
class Executor:
    """An executor, as it describes itself."""

    host: str
    process: str
    python: str
    versions: dict[str, str | None]
    sees: dict[str, bool]
    is_warm: bool
    memory: int
    """Of its machine, in bytes."""
    kernels: str = ""
    """A word for what its compiled kernels depend on."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The driver's versions, the executors, and what should be changed."""

    versions: dict[str, str | None]
    executors: tuple[Executor, ...]
    cores: int
    kernels: str = ""
    """Of those that the driver will send; empty if it sends none."""

    @property
    def advice(self) -> list[str]:
        """Return sentences, each with what to do; none where all is well."""
        return list(dict.fromkeys(each for one in self.executors for each in self._of(one)))

    def kernels_of(self, executor: Executor) -> str:
        """Return whether an executor has compiled kernels, or gets those of the driver."""
        if executor.is_warm:
            return "compiled"
        return "sent" if self.kernels and executor.kernels == self.kernels else "none"

    def _of(self, executor: Executor) -> Iterator[str]:
        who, has = f"worker {executor.host}", executor.versions
        if has["fyke"] != self.versions["fyke"]:
            found = f"Fyke {has['fyke']}" if has["fyke"] else "no Fyke"
            here = self.versions["fyke"]
            yield f"{who} has {found} for {executor.python}, the driver has {here}; {REMEDY}"
        for name in LIBRARIES[1:]:
            if has[name] is None:
                yield f"{who} has no {name} for {executor.python}: install it there"
            elif name == "numba" and has[name] != self.versions[name]:
                yield f"{who} has numba {has[name]}: take the driver's, {self.versions[name]}"
        for folder, is_seen in executor.sees.items():
            if not is_seen:
                yield (
                    f"{who} does not see {folder}: use it for nothing that workers read or write; "
                    "name a folder that all see, or a URI"
                )
        if has["fyke"] and self.kernels_of(executor) == "none":
            yield f"{who} has no compiled kernels: its first match takes half a minute longer"
        if executor.memory < _ROOM_MIN:
            yield f"{who} has {executor.memory / 1e9:.1f} GB of memory: compile with more shards="


def examine(session: SparkSession, folders: Sequence[Path] = ()) -> Examination:
    """Ask all executors that take a part in a small job."""
    marks = {str(folder): _mark(folder) for folder in folders}
    count = 2 * tasks(session)
    frame = session.range(0, count, 1, count)
    try:
        with in_a_sentence("the workers cannot run Python"):
            rows = frame.mapInArrow(_looking(marks), "told string").collect()
    finally:
        for mark in marks.values():
            Path(mark).unlink(missing_ok=True)
    told = [Executor(**json.loads(row["told"])) for row in rows]
    found = {(each.host, each.process): each for each in told}
    executors = tuple(found[key] for key in sorted(found))
    return Examination(_versions(), executors, tasks(session), sent_kernels())


def _mark(folder: Path) -> str:
    make_folder(folder)
    mark = folder / f"_mark-{secrets.token_hex(16)}"
    mark.touch()
    return str(mark)


def _versions() -> dict[str, str | None]:
    from fyke.version import __version__

    return {"fyke": __version__, **{name: _version(name) for name in LIBRARIES[1:]}}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _looking(
    marks: dict[str, str],
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what an executor runs: being a closure, it travels whole."""
    libraries, pause = LIBRARIES[1:], _SPREAD_S

    def look(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import json
        import os
        import socket
        import sys
        import time
        from importlib.metadata import PackageNotFoundError, version

        import pyarrow as pa

        time.sleep(pause)
        versions: dict[str, Any] = {}
        for name in libraries:
            try:
                versions[name] = version(name)
            except PackageNotFoundError:
                versions[name] = None
        is_warm, kernels = False, ""
        try:
            from fyke.matching.compiled.kernels.compiling import is_compiled
            from fyke.matching.compiled.kernels.kernel import MODE
            from fyke.matching.compiled.kernels.kernel_cache import kernel_cache
            from fyke.version import __version__

            versions["fyke"], is_warm = __version__, is_compiled()
            folder = kernel_cache(MODE)
            kernels = "" if folder is None else folder.name
        except ImportError:
            versions["fyke"] = None
        told = {
            "host": socket.gethostname(),
            "process": os.getcwd(),
            "python": sys.executable,
            "versions": versions,
            "sees": {folder: os.path.exists(mark) for folder, mark in marks.items()},
            "is_warm": is_warm,
            "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "kernels": kernels,
        }
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"told": [json.dumps(told)]})

    return look
