"""Files and folders that appear whole or not at all, and stay."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Replaces a file in one step."""
    staging = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
    with staging.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    staging.replace(path)
    sync_folder(path.parent)


def publish_folder(staging: Path, path: Path) -> None:
    """Gives a folder its final name, once everything in it is on the disk."""
    for root, _, names in os.walk(staging):
        for name in names:
            _sync(Path(root) / name)
        sync_folder(Path(root))
    staging.rename(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """The names in a folder are on the disk."""
    if os.name == "posix":  # elsewhere a folder cannot be opened
        _sync(path)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
