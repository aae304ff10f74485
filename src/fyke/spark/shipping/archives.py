"""Archives: a snapshot as one file, to be sent from machine to machine."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Final

from fyke.durable import write_synced
from fyke.errors import FykeError, shown

_NAME: Final = re.compile(r"manifest\.json|data-[0-9a-f]{16}/[a-z0-9_.]+\.bin", re.ASCII)
_LEVEL: Final = 1
"""Halves the size at the speed of a fast network."""


def pack(folder: Path, archive: Path) -> None:
    """Write the snapshot in a folder to a zip; the manifest comes last."""
    files = sorted(folder.glob("data-*/*.bin"))
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as packed:
        for file in (*files, folder / "manifest.json"):
            packed.write(file, file.relative_to(folder).as_posix())


def unpack(archive: Path, folder: Path) -> None:
    """Make the folder of a snapshot from a zip; its files are on the disk afterwards."""
    folder.mkdir()
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            if not _NAME.fullmatch(entry.filename):
                raise FykeError(f"{shown(entry.filename)} is no file of a snapshot")
            file = folder / entry.filename
            file.parent.mkdir(exist_ok=True)
            write_synced(file, packed.read(entry))
