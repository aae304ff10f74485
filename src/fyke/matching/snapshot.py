"""Snapshots: arrays and a few facts as a folder that is whole or refused.

    manifest.json     format, version, the name of the data folder, what the matcher says about
                      itself, per array: type, shape, size and SHA-256; and the SHA-256 of all this
    data-5f0c.../     a file per array: its elements, little-endian, from the first byte on

Writing. The arrays go to a new data folder and are synced; then the manifest is replaced by
renaming, which is one step: a crash at any moment leaves the old snapshot or the new one. Other
data folders are removed last; a process that has their files mapped keeps them.
Reading. Version, sizes and checksums are verified before any use; a file is mapped read-only, from
its first byte, so that arrays are aligned and processes share them. A reader that finds files
gone, because another process saves, begins again with the new manifest.
Bounds. Names in a manifest are plain: none leads out of the folder. Types are numbers only.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import mmap
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from fyke.durable import make_folder, write_synced
from fyke.errors import FykeError, shown
from fyke.matching.arrays import Arrays

FORMAT: Final = "fyke snapshot"
VERSION: Final = 5
"""Since 5 a number in a filter is the decimal that is written; it was the nearest float64."""
_MANIFEST: Final = "manifest.json"
_MANIFEST_SIZE_MAX: Final = 2**26
_ARRAY_NAME: Final = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*", re.ASCII)
_DATA_NAME: Final = re.compile(r"data-[0-9a-f]{16}", re.ASCII)
_NEW_MANIFEST: Final = re.compile(r"manifest-[0-9a-f]{16}\.new", re.ASCII)
_TYPES: Final = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
_ATTEMPTS: Final = 100
_READERS: Final = 4


class _Gone(FykeError):
    """A file of the snapshot is not there: torn, or replaced in this moment."""


# --- writing -------------------------------------------------------------------------------------


def save(path: Path, facts: dict[str, object], arrays: Arrays) -> None:
    """Write the folder; an existing snapshot at the place is replaced."""
    try:
        _save(path, facts, arrays)
    except OSError as error:
        raise FykeError(f"the snapshot {path} cannot be written: {error}") from None


def _save(path: Path, facts: dict[str, object], arrays: Arrays) -> None:
    _check_ours(path)
    make_folder(path)
    with _locked(path):
        token = secrets.token_hex(8)
        data = path / f"data-{token}"
        manifest = path / f"manifest-{token}.new"
        try:
            data.mkdir()
            files = {name: _write_array(data, name, array) for name, array in arrays.items()}
            _sync(data)
            write_synced(manifest, _sealed({"data": data.name, "facts": facts, "files": files}))
            manifest.replace(path / _MANIFEST)
        except BaseException:
            manifest.unlink(missing_ok=True)
            shutil.rmtree(data, ignore_errors=True)
            raise
        _sync(path)
        _remove_others(path, data.name)
    _sync(path.parent)


def _check_ours(path: Path) -> None:
    """Raise FykeError if the folder holds anything that no snapshot has: it is not ours."""
    if not path.exists():
        return
    refusal = FykeError(f"{path} exists and is no snapshot; nothing was written")
    if not path.is_dir():
        raise refusal
    for entry in os.scandir(path):
        if entry.name == _MANIFEST:
            if not _is_manifest(path / _MANIFEST):
                raise refusal
        elif not (_DATA_NAME.fullmatch(entry.name) or _NEW_MANIFEST.fullmatch(entry.name)):
            raise refusal


def _is_manifest(path: Path) -> bool:
    """Return True for a manifest of ours, perhaps of another version or damaged."""
    return f'"{FORMAT}"'.encode() in path.read_bytes()[:4096]


def _write_array(folder: Path, name: str, array: npt.NDArray[Any]) -> dict[str, object]:
    if not _ARRAY_NAME.fullmatch(name):
        raise FykeError(f"{shown(name)} is no name for an array of a snapshot")
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    if plain.dtype.str not in _TYPES:
        raise FykeError(f"the array {name} is of type {array.dtype}; expected numbers")
    elements = plain.reshape(-1).view(np.uint8).data
    write_synced(folder / f"{name}.bin", elements)
    return {
        "type": plain.dtype.str,
        "shape": list(array.shape),
        "size": plain.nbytes,
        "sha256": hashlib.sha256(elements).hexdigest(),
    }


def _sealed(content: dict[str, object]) -> bytes:
    content = json.loads(json.dumps({"format": FORMAT, "version": VERSION, **content}))
    return json.dumps({**content, "sha256": _seal(content)}, indent=1).encode()


def _seal(content: dict[str, object]) -> str:
    """Return the checksum of a manifest without its checksum."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _remove_others(path: Path, current: str) -> None:
    """Remove what earlier snapshots and interrupted writers left."""
    for entry in os.scandir(path):
        if _DATA_NAME.fullmatch(entry.name) and entry.name != current:
            shutil.rmtree(entry.path, ignore_errors=True)
        elif _NEW_MANIFEST.fullmatch(entry.name):
            Path(entry.path).unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Put the folder's entries on disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other writers out, where folders can be locked; a crash gives the lock back."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


# --- reading -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _File:
    """The entry of an array in a manifest."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    sha256: str

    @property
    def size(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


def load(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the facts and the arrays, mapped; FykeError says what is wrong with the folder."""
    facts, files, maps = _open(path)
    with ThreadPoolExecutor(_READERS) as readers:
        digests = list(readers.map(_digest, maps.values()))
    arrays: Arrays = {}
    for (name, file), digest in zip(files.items(), digests, strict=True):
        if digest != file.sha256:
            raise FykeError(
                f"the snapshot {path} is corrupt: the checksum of {file.path.name} differs"
            )
        arrays[name] = np.frombuffer(maps[name], file.dtype).reshape(file.shape)
    return facts, arrays


def facts(path: Path) -> dict[str, Any]:
    """Return the facts alone, without a look at the arrays."""
    return _manifest(path, _manifest_text(path))[0]


def identity(path: Path) -> str:
    """Tell what is saved at a path from what was there before or will be later."""
    text = _manifest_text(path)
    _manifest(path, text)
    return _digest(text)


def _open(path: Path) -> tuple[dict[str, Any], dict[str, _File], dict[str, Any]]:
    """Return facts, files and their maps, all of one snapshot, also while another is saved."""
    for attempt in range(_ATTEMPTS):
        text = _manifest_text(path)
        facts, files = _manifest(path, text)
        try:
            return facts, files, {name: _map(path, file) for name, file in files.items()}
        except _Gone:
            if attempt == _ATTEMPTS - 1 or _manifest_text(path) == text:
                raise
    raise AssertionError("the last attempt returns or raises")


def _digest(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()


def _manifest_text(path: Path) -> bytes:
    try:
        with (path / _MANIFEST).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            return file.read(min(size, _MANIFEST_SIZE_MAX))  # room is made for all of it at once
    except OSError as error:
        raise FykeError(f"{path} is no snapshot: {_MANIFEST}: {error.strerror}") from None


def _manifest(path: Path, text: bytes) -> tuple[dict[str, Any], dict[str, _File]]:
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError):
        raise FykeError(f"the snapshot {path} is corrupt: {_MANIFEST} is not JSON") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FykeError(f"{path} is no snapshot: {_MANIFEST} does not say that it is one")
    if manifest.get("version") != VERSION:
        raise FykeError(
            f"the snapshot {path} is of format version {shown(manifest.get('version'))}; expected "
            f"{VERSION}: another release of Fyke wrote it; add its subscriptions to a new Matcher "
            "and save that one"
        )
    if manifest.pop("sha256", None) != _seal(manifest):
        raise FykeError(f"the snapshot {path} is corrupt: the checksum of {_MANIFEST} differs")
    try:
        entries, facts = manifest["files"], manifest["facts"]
        if not isinstance(entries, dict) or not isinstance(facts, dict):
            raise TypeError("files and facts are no objects")
        data = _folder(path, manifest["data"])
        return facts, {name: _file(data, name, entry) for name, entry in entries.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise FykeError(f"the snapshot {path} is corrupt: {_MANIFEST}: {error}") from None


def _folder(path: Path, name: str) -> Path:
    if not _DATA_NAME.fullmatch(name):
        raise ValueError(f"{shown(name)} is no name of a data folder")
    return path / name


def _file(folder: Path, name: str, entry: dict[str, Any]) -> _File:
    """Read an entry; KeyError, TypeError or ValueError where it is not as it should be."""
    if not _ARRAY_NAME.fullmatch(name):
        raise ValueError(f"{shown(name)} is no name of an array")
    shape = tuple(entry["shape"])
    if any(type(extent) is not int or extent < 0 for extent in shape):
        raise ValueError(f"{shown(shape)} is no shape")
    if entry["type"] not in _TYPES:
        raise ValueError(f"{shown(entry['type'])} is no type of numbers")
    file = _File(folder / f"{name}.bin", np.dtype(entry["type"]), shape, entry["sha256"])
    if file.size != entry["size"]:
        raise ValueError(f"the size of {name} is not that of its shape")
    return file


def _map(path: Path, file: _File) -> Any:
    try:
        with file.path.open("rb") as opened:
            found = os.fstat(opened.fileno()).st_size
            if found != file.size:
                raise FykeError(
                    f"the snapshot {path} is torn: {found} bytes of {file.size} in {file.path.name}"
                )
            if not found:
                return b""
            return mmap.mmap(opened.fileno(), found, access=mmap.ACCESS_READ)
    except ValueError:
        raise FykeError(f"the snapshot {path} is torn: {file.path.name} became shorter") from None
    except OSError as error:
        if error.errno == errno.ENOMEM:
            raise MemoryError(f"the snapshot {path} does not fit: {file.size:,} bytes") from None
        raise _Gone(f"the snapshot {path} has no {file.path.name}: {error.strerror}") from None
