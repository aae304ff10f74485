"""The package itself as a zip, for workers that do not have it, or have another version."""

from __future__ import annotations

import zipfile
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from fyke.errors import FykeError
from fyke.spark.sessions.reasons import in_a_sentence
from fyke.spark.versions.temporary import temporary_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EPOCH: Final = (2000, 1, 1, 0, 0, 0)


def ship_package(session: SparkSession) -> None:
    """Send this package to the workers of a session; they import it before any other."""
    archive = pack_package()
    with in_a_sentence("the package cannot be sent to the workers"):
        session.addArtifacts(str(archive), pyfile=True)


def pack_package() -> Path:
    """Write a zip of the package, the same for the same sources, named after what is in it."""
    root = Path(__file__).parents[2]
    if not root.is_dir():
        raise FykeError(f"ship=True needs Fyke in a folder, not in {root.parent}")
    archive = Path(temporary_folder()) / "fyke.zip"
    digest = sha256()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted(root.rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                data = file.read_bytes()
                name = file.relative_to(root.parent).as_posix()
                digest.update(f"{name} {len(data)} ".encode() + data)
                made.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)
    return archive.rename(archive.with_name(f"fyke-{digest.hexdigest()[:16]}.zip"))
