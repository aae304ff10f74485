"""Kernels for workers: the driver's compiled forms travel with the session.

The folder of the compiled forms has a name for what they depend on (`kernel_cache`). A worker whose
own folder would have the same name, and is not complete, takes what arrived; any other compiles
once per host, as it would without. The driver compiles nothing for this: it sends what it has.
"""

from __future__ import annotations

import os
import secrets
import shutil
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.matching.compiled.kernels.compiling import compile_all
from fyke.matching.compiled.kernels.kernel import MODE
from fyke.matching.compiled.kernels.kernel_cache import is_complete, kernel_cache, set_complete
from fyke.spark.versions.temporary import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SUFFIXES: Final = (".nbi", ".nbc")


def ship_kernels(session: SparkSession) -> None:
    """Send the driver's compiled kernels to the workers, if it has all of them."""
    folder = kernel_cache(MODE)
    if folder is None or not sent_kernels():
        return
    archive = Path(temporary_folder()) / f"{_name(folder)}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for file in sorted(folder.rglob("*")):
            if file.suffix in _SUFFIXES:
                packed.write(file, file.relative_to(folder).as_posix())
    session.addArtifacts(f"{archive}#{_name(folder)}", archive=True)


def sent_kernels() -> str:
    """Return the name of the kernels that the driver sends; empty if it has not got all."""
    folder = kernel_cache(MODE)
    return folder.name if folder is not None and is_complete(MODE) else ""


def take_kernels() -> None:
    """In a worker: wait until there are kernels, those that arrived or ones compiled here.

    A driver that opens a snapshot to look at it needs none.
    """
    from pyspark import TaskContext

    if TaskContext.get() is not None:
        _unpack()
        compile_all()


@cache
def _unpack() -> None:
    """Put what arrived where kernels are looked for, once in a process."""
    from pyspark import SparkFiles

    folder = kernel_cache(MODE)
    if folder is None or is_complete(MODE):
        return
    arrived = Path(SparkFiles.get(_name(folder)))
    with suppress(OSError):  # a full disk: then they are compiled in memory
        if arrived.is_dir():
            _copy(arrived, folder)
            set_complete(MODE)


def _name(folder: Path) -> str:
    return f"fyke-{folder.name}"


def _copy(arrived: Path, folder: Path) -> None:
    """Copy each file whole: other processes of the host may look at the same time."""
    for file in arrived.rglob("*"):
        if file.suffix in _SUFFIXES:
            target = folder / file.relative_to(arrived)
            target.parent.mkdir(parents=True, exist_ok=True)
            staging = target.with_name(f"{target.name}.{secrets.token_hex(8)}")
            shutil.copyfile(file, staging)
            os.replace(staging, target)
