"""Where compiled kernels lie from one process to the next.

numba looks only at the file of a function to see whether its compiled form is stale, not at the
kernels that were compiled into it. So the compiled forms lie in a folder of their own for each
state of this package's sources, its place, and the versions of Python and numba.

The folder is below NUMBA_CACHE_DIR or the user's folder for caches; where that cannot be written,
below the folder for temporary files, with a copy of what the other one held. All processes of a
user on a machine thus find the same folder, Spark's workers among them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final

from fyke.folders import user_cache, writable_folder

_COMPLETE: Final = "complete"
"""A file of this name says that all kernels are in the folder."""


@cache
def kernel_cache(mode: str) -> Path | None:
    """The folder of the kernels compiled in a mode; None where there is no place for one."""
    name = f"{mode}-kernels-{_state()}"
    root = os.environ.get("NUMBA_CACHE_DIR") or None
    folder = writable_folder(name, root)
    if folder is not None:
        with suppress(OSError, RuntimeError):
            _take_over((Path(root) if root else user_cache()) / name, folder)
    return folder


def is_complete(mode: str) -> bool:
    folder = kernel_cache(mode)
    return folder is not None and (folder / _COMPLETE).exists()


def set_complete(mode: str) -> None:
    folder = kernel_cache(mode)
    if folder is not None:
        with suppress(OSError):
            (folder / _COMPLETE).touch()


def _take_over(preferred: Path, folder: Path) -> None:
    """Kernels that come ready with an image whose disk is read-only."""
    is_new = folder != preferred and not (folder / _COMPLETE).exists()
    if is_new and (preferred / _COMPLETE).exists():
        shutil.copytree(preferred, folder, dirs_exist_ok=True)


def _state() -> str:
    """A name for what the compiled forms depend on."""
    package = Path(__file__).resolve().parent
    digest = hashlib.sha256(f"{package} {sys.version} {version('numba')}".encode())
    for path in sorted(package.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
