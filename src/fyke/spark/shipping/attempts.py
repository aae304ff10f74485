"""Attempts: what tasks put together in a host's cache, and what dead ones left there.

Idea. The files of a task begin with `_attempt-` and a random word; it holds the lock of such a file
for as long as it works. The system gives a lock back when a process dies, however that went. So
whoever gets the lock of somebody else's attempt knows that nobody works on it, and removes it.

    _attempt-5f0c.lock               locked by the task
    _attempt-5f0c-IDENTITY.zip ...   what it has so far

Invariant. What a living task works on is never removed. Where the system has no locks, nothing is.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

ATTEMPT: Final = "_attempt-"
_LOCK: Final = ".lock"


@contextmanager
def attempting(folder: Path) -> Iterator[str]:
    """Hold how names in a folder begin; what is left under them goes away, of dead tasks too."""
    sweep(folder)
    handle, lock = _lock(folder)
    try:
        yield lock.stem
    finally:
        _remove(lock)
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove the attempts that nobody works on."""
    for lock in folder.glob(f"{ATTEMPT}*{_LOCK}"):
        with suppress(OSError):
            handle = os.open(lock, os.O_RDWR)
            try:
                if _takes(handle):
                    _remove(lock)
            finally:
                os.close(handle)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _lock(folder: Path) -> tuple[int, Path]:
    """Make a file and lock it; again, if somebody swept it in the moment between."""
    while True:
        lock = folder / f"{ATTEMPT}{secrets.token_hex(8)}{_LOCK}"
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        _takes(handle)
        if lock.exists():
            return handle, lock
        os.close(handle)


def _takes(handle: int) -> bool:
    """Take the lock of an open file; return False where somebody has it, or there are no locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove(lock: Path) -> None:
    """Remove an attempt; the lock goes last, so that what is cut short is found again."""
    for each in lock.parent.glob(f"{lock.stem}-*"):
        remove(each)
    lock.unlink(missing_ok=True)
