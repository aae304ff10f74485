"""Files and folders that appear whole or not at all, and stay."""

from __future__ import annotations

import ctypes
import errno
import os
import secrets
from pathlib import Path
from typing import Final

_HERE: Final = -100
_EXCHANGE: Final = 2
"""AT_FDCWD and RENAME_EXCHANGE of Linux."""
_CANNOT: Final = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def write_whole(path: Path, text: str) -> None:
    """Replace a file in one step."""
    staging = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
    write_synced(staging, text.encode())
    staging.replace(path)
    sync_folder(path.parent)


def write_synced(path: Path, data: bytes | memoryview) -> None:
    """Write a file whose bytes are on the disk; its name follows when its folder is synced."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents. They are on the disk."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_folder(made.parent)


def publish_folder(staging: Path, path: Path) -> None:
    """Give a folder its final name, once everything in it is on the disk."""
    _sync_all(staging)
    staging.rename(path)
    sync_folder(path.parent)


def replace_folder(staging: Path, path: Path) -> None:
    """Give a folder the name of another one, which is left under the name of the first.

    It is one step where the system can exchange two names: on Linux, on most of its disks.
    Elsewhere there is a moment with neither; `restore_folder` puts back what was there.
    """
    _sync_all(staging)
    if not _exchange(staging, path):
        path.rename(aside(path))
        staging.rename(path)
        aside(path).rename(staging)
    sync_folder(path.parent)


def restore_folder(path: Path) -> None:
    """Put back a folder whose replacement was cut short."""
    if aside(path).exists() and not path.exists():
        aside(path).rename(path)
        sync_folder(path.parent)


def aside(path: Path) -> Path:
    """Return the place of a folder while another one takes its name."""
    return path.with_name(f".{path.name}.aside")


def sync_folder(path: Path) -> None:
    """Put the names in a folder on the disk."""
    if os.name == "posix":  # elsewhere a folder cannot be opened
        _sync(path)


def _sync_all(folder: Path) -> None:
    for root, _, names in os.walk(folder):
        for name in names:
            _sync(Path(root) / name)
        sync_folder(Path(root))


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False if the system or the disk cannot."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if not rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE):
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
