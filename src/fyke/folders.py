"""Folders of this user for what can be made again: compiled kernels, a shim around Java.

What lies in them is executed. So the folder for temporary files, where every user may write, is
used only through a folder in it that belongs to this user and that no other user can write to.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def writable_folder(name: str, root: str | None = None) -> Path | None:
    """Return the folder `name` below `root` (the user's caches), else below the temporary folder.

    Return None if neither can be written.
    """
    for parent in _parents(root):
        if _can_be_written(parent / name):
            return parent / name
    return None


def user_cache() -> Path:
    """Return the user's folder for caches, by the custom of the system."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "fyke"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fyke"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fyke"


def _parents(root: str | None) -> Iterator[Path]:
    with suppress(RuntimeError):  # a user without a home
        yield Path(root) if root else user_cache()
    private = _private_folder()
    if private is not None:
        yield private


def _private_folder() -> Path | None:
    if sys.platform == "win32":  # the temporary folder is the user's own
        return Path(tempfile.gettempdir()) / "fyke"
    try:
        folder = Path(tempfile.gettempdir()) / f"fyke-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        state = folder.lstat()
    except OSError:
        return None
    is_ours = stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid()
    return folder if is_ours and not state.st_mode & 0o022 else None


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
