"""Snapshots: the subscriptions of a matcher as a folder that is whole or refused.

    manifest.json       format version, engine, count, size and SHA-256 of the data
    subscriptions.bin   per subscription: id and filter, each with its length in front

The folder is written beside its place, synced, and renamed into it, so that a crash leaves the old
snapshot or the new one. On reading, version, size and checksum are verified before any use.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from fyke.errors import FykeError
from fyke.filters import codec
from fyke.filters.filter import Filter

VERSION: Final = 1
_MANIFEST: Final = "manifest.json"
_DATA: Final = "subscriptions.bin"
_LENGTHS: Final = struct.Struct("<II")


def save(path: Path, engine: str, pairs: Iterable[tuple[str, Filter]]) -> None:
    """Writes the folder; an existing snapshot at the place is replaced."""
    if path.exists() and not (path / _MANIFEST).is_file():
        raise FykeError(f"{path} exists and is no snapshot; nothing was written")
    path.parent.mkdir(parents=True, exist_ok=True)
    written = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        count, size, digest = _write_data(written / _DATA, pairs)
        manifest = {
            "version": VERSION,
            "engine": engine,
            "count": count,
            "size": size,
            "sha256": digest,
        }
        _write_synced(written / _MANIFEST, json.dumps(manifest, indent=1).encode())
        _put_in_place(written, path)
    finally:
        shutil.rmtree(written, ignore_errors=True)


def _write_data(path: Path, pairs: Iterable[tuple[str, Filter]]) -> tuple[int, int, str]:
    count = size = 0
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for id, filter in pairs:
            name, encoded = id.encode(), codec.encode(filter)
            record = _LENGTHS.pack(len(name), len(encoded)) + name + encoded
            file.write(record)
            digest.update(record)
            count, size = count + 1, size + len(record)
        file.flush()
        os.fsync(file.fileno())
    return count, size, digest.hexdigest()


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _put_in_place(written: Path, path: Path) -> None:
    """Swaps the folders by renaming; the old one goes away last."""
    old = written.with_name(written.name + ".old")
    if path.exists():
        path.rename(old)
    written.rename(path)
    shutil.rmtree(old, ignore_errors=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def load(path: Path) -> tuple[str, list[tuple[str, Filter]]]:
    """The engine's name and the subscriptions; FykeError says what is wrong with the folder."""
    manifest = _manifest(path)
    try:
        data = (path / _DATA).read_bytes()
    except OSError as error:
        raise FykeError(f"the snapshot {path} has no {_DATA}: {error.strerror}") from None
    if len(data) != manifest["size"]:
        raise FykeError(
            f"the snapshot {path} is torn: {len(data)} bytes of {manifest['size']} in {_DATA}"
        )
    if hashlib.sha256(data).hexdigest() != manifest["sha256"]:
        raise FykeError(f"the snapshot {path} is corrupt: the checksum of {_DATA} differs")
    return str(manifest["engine"]), _records(data)


def _manifest(path: Path) -> dict[str, object]:
    try:
        manifest = json.loads((path / _MANIFEST).read_bytes())
    except OSError as error:
        raise FykeError(f"{path} is no snapshot: {_MANIFEST}: {error.strerror}") from None
    except ValueError:
        raise FykeError(f"the snapshot {path} is corrupt: {_MANIFEST} is not JSON") from None
    if not isinstance(manifest, dict) or manifest.get("version") != VERSION:
        raise FykeError(f"the snapshot {path} is not of format version {VERSION}")
    if not {"engine", "count", "size", "sha256"} <= manifest.keys():
        raise FykeError(f"the snapshot {path} is corrupt: {_MANIFEST} lacks entries")
    return manifest


def _records(data: bytes) -> list[tuple[str, Filter]]:
    records, at = [], 0
    while at < len(data):
        name_length, filter_length = _LENGTHS.unpack_from(data, at)
        at += _LENGTHS.size
        name = data[at : at + name_length].decode()
        at += name_length
        records.append((name, codec.decode(data[at : at + filter_length])))
        at += filter_length
    return records
