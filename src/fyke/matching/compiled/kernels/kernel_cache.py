"""Kernel cache: the folder in which one process finds the kernels that another one compiled.

numba looks only at the file of a function to see whether its compiled form is stale, not at the
kernels that were compiled into it. So the compiled forms lie in a folder of their own for each
content of the sources of `fyke.matching.compiled`, the versions of what compiles them, and the
kind of processor. Where the package lies does not matter: another environment or a zip finds the
same folder.

The folder is below NUMBA_CACHE_DIR or the user's folder for caches; where that cannot be written,
below the folder for temporary files, with a copy of what the other one held. All processes of a
user on a machine thus find the same folder, Spark's workers among them; one of them compiles.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from fyke.folders import user_cache, writable_folder

PACKAGE: Final = "fyke.matching.compiled"
"""The package whose sources, all of them, name the folder."""
_COMPLETE: Final = "complete"
"""A file of this name says that all kernels are in the folder."""
_LOCK: Final = "lock"
"""A process that compiles holds a lock on this file."""
_COMPILERS: Final = ("numba", "llvmlite", "numpy")


@cache
def kernel_cache(mode: str) -> Path | None:
    """Return the folder of the kernels compiled in a mode; None where there is no place for one."""
    name = f"{mode}-kernels-{_state(files(PACKAGE))}"
    root = os.environ.get("NUMBA_CACHE_DIR") or None
    folder = writable_folder(name, root)
    if folder is not None:
        with suppress(OSError, RuntimeError):
            _install_rebuild((Path(root) if root else user_cache()) / name, folder)
    return folder


def is_complete(mode: str) -> bool:
    folder = kernel_cache(mode)
    return folder is not None and (folder / _COMPLETE).exists()


def set_complete(mode: str) -> None:
    folder = kernel_cache(mode)
    if folder is not None:
        with suppress(OSError):
            (folder / _COMPLETE).touch()


@contextmanager
def alone(mode: str, *, waits: bool = True) -> Iterator[bool]:
    """Wait until no other process compiles to the folder, and keep others waiting meanwhile.

    With `waits` false, yield False at once if there is such a process.
    """
    folder = kernel_cache(mode)
    try:
        import fcntl
    except ImportError:  # not on Windows: two processes at once may both compile
        folder = None
    if folder is None:
        yield True
        return
    with open(folder / _LOCK, "wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # a process forked meanwhile has the file open, too


def _install_rebuild(preferred: Path, folder: Path) -> None:
    """Copy the kernels that came with an image whose disk is read-only."""
    is_new = folder != preferred and not (folder / _COMPLETE).exists()
    if is_new and (preferred / _COMPLETE).exists():
        shutil.copytree(preferred, folder, dirs_exist_ok=True)


def _state(package: Traversable) -> str:
    """Return a name for what the compiled forms depend on."""
    compilers = [f"{name} {version(name)}" for name in _COMPILERS]
    digest = hashlib.sha256(repr((sys.version, compilers, _processor())).encode())
    for name, source in sorted(_sources(package, "")):
        digest.update(f"{name} {len(source)}\n".encode() + source)
    return digest.hexdigest()[:16]


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for each in folder.iterdir():
        if each.is_dir():
            yield from _sources(each, f"{path}{each.name}/")
        elif each.name.endswith(".py"):
            yield path + each.name, each.read_bytes()


def _processor() -> str:
    """Return the features of the processor, or else its name."""
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
        told = [line for line in lines if line.startswith(("model name", "flags", "Features"))]
        return "\n".join([platform.machine(), *told])
    return f"{platform.machine()} {platform.processor()}"
