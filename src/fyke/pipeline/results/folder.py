"""The folder of results: what a run writes, and nothing else.

pipeline.json             marks the folder as ours, and says which stream it belongs to
events/                   generated events, Parquet
subscriptions/            the subscriptions that are used, Parquet
compiled/                 the same for matching, mapped by workers
journal/                  what matching wrote: docs/pipeline.md
notifications.parquet/    notifications.ndjson/
refused-events.ndjson/    refused-subscriptions.ndjson/, where there were any
statistics.parquet/       matches of each subscription
summary.json, report.html

With `tables`, all that Spark writes lies in a folder or a place by URI of its own, in `run-` and a
random number; summary.json comes last there, too, and makes it count. Only compiled/, the summary
and the report are in the folder then, whose pipeline.json names the tables.

A stream has a folder batch=12 for batch 12 in journal/, notifications and refused events, a folder
version=2 for version 2 in subscriptions/ and refused subscriptions, and more:

batches.ndjson            the counts of each batch, a line each
checkpoint/               where Spark is in the stream, and which version batches saw
sample/                   a few events

A stream goes on with its own folder, and with nothing else. Any other run replaces what an earlier
one left, and in one step: it writes to a folder beside it, `.NAME.run-` and a random number, which
takes the name at the end. So whatever happens to a run, the folder holds the old results or the new
ones. What a run that was killed left beside it is removed by the next one; files of others move
with the name.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fyke.durable import (
    aside,
    make_folder,
    publish_folder,
    replace_folder,
    restore_folder,
    sync_folder,
    write_whole,
)
from fyke.errors import FykeError
from fyke.spark.versions.places import below, told

_MARK: Final = "pipeline.json"
_STREAM: Final = "stream"
_NAMES: Final = (
    *("events", "subscriptions", "compiled", "journal", "statistics.parquet", "summary.json"),
    *("notifications.parquet", "notifications.ndjson", "report.html"),
    *("refused-events.ndjson", "refused-subscriptions.ndjson"),
    *("batches.ndjson", "checkpoint", "sample"),
)
_OURS: Final = re.compile(rf"({'|'.join(map(re.escape, (_MARK, *_NAMES)))})(\.\d+-[0-9a-f]+\.new)?")
"""With what a killed process left of a file that it replaced."""
_DRIVERS: Final = ("compiled", "report.html", "summary.json")
"""The files that the driver writes itself."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a run."""

    path: Path
    tables: str | None = None
    """The place of Spark's tables, if they are not there."""

    @classmethod
    def resume(cls, path: Path, stream: Mapping[str, Any]) -> Folder:
        """Open the folder of a stream: a new one, or that in which this very stream goes on."""
        with _troubles(path):
            found = _stream_at(path)
            if found == stream:
                return cls(path)
            if found is None and (path / _MARK).exists():
                raise FykeError(
                    f"{path} holds the results of a run that was no stream; --out names another "
                    "folder"
                )
            if found is not None and (path / "batches.ndjson").exists():
                raise FykeError(f"{path} holds another stream: {_difference(found, stream)}")
            if found is not None:
                with cls(path).held():  # someone may be about to write there
                    pass
            return cls._clear(path, {_STREAM: stream})

    @classmethod
    def _clear(cls, path: Path, description: Mapping[str, Any]) -> Folder:
        _check_ours(path)
        make_folder(path)
        for name in _NAMES:
            _remove(path / name)
        return cls(path)._mark(description)

    def _mark(self, description: Mapping[str, Any]) -> Folder:
        write_whole(self.path / _MARK, json.dumps(description, indent=1) + "\n")
        return self

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other processes out while this one works on the folder."""
        with _lock(self.path) as is_free:
            if not is_free or not (self.path / _MARK).exists():
                raise FykeError(f"{self.path} is being written to by another run")
            yield

    def clear(self, name: str) -> None:
        """Remove one of the results."""
        with _troubles(self.path):
            _remove(Path(self.at(name)))

    def at(self, name: str) -> str:
        """Return the path of one of the results."""
        assert name in _NAMES, name
        if self.tables is not None and name not in _DRIVERS:
            return below(self.tables, name)
        return str(self.path / name)

    def write(self, name: str, text: str) -> None:
        with _troubles(self.path):
            write_whole(Path(self.at(name)), text)

    def names(self) -> list[str]:
        """Return what was written."""
        return [name for name in _NAMES if (self.path / name).exists()]


def is_result(path: str, out: Path) -> bool:
    """Return True if a path leads to what a run writes in its folder."""
    there, folder = Path(os.path.realpath(path)), Path(os.path.realpath(out))
    below = there.relative_to(folder).parts if there.is_relative_to(folder) else ()
    return below[:1] in [(name,) for name in _NAMES]


@contextmanager
def replacing(
    path: Path, description: Mapping[str, Any], tables: str | None = None
) -> Iterator[Folder]:
    """Make a folder for the results of a run, which takes the place of `path` when all went well.

    Until then `path` stays as it is, and also if anything is raised. Tables are written below
    `tables`, if it is given, under a new name.
    """
    path = Path(os.path.realpath(path))
    with _troubles(path):
        _check_replaceable(path)
        make_folder(path.parent)
        run = f"run-{secrets.token_hex(8)}"
        staging = path.with_name(f".{path.name}.{run}")
        staging.mkdir()
    if tables is not None:
        tables = below(tables, run)
        description = {**description, "tables": told(tables)}
    try:
        with _troubles(path):
            folder = Folder(staging, tables)._mark(description)
        with folder.held():
            with _troubles(path):
                _tidy(path, staging)
            yield folder
            _publish(staging, path)
    finally:
        _discard(staging, path)


def _publish(staging: Path, path: Path) -> None:
    try:
        _check_replaceable(path)  # hours may have passed
        if path.exists():
            replace_folder(staging, path)
        else:
            publish_folder(staging, path)
    except (OSError, FykeError) as refused:
        restore_folder(path)
        kept = path.with_name(staging.name.removeprefix("."))
        staging.rename(kept)
        reason = getattr(refused, "strerror", None) or refused
        raise FykeError(
            f"the results are in {kept}: they cannot replace {path}: {reason}"
        ) from None


def _tidy(path: Path, staging: Path) -> None:
    """Remove what runs that were killed left beside the folder of results."""
    restore_folder(path)
    name = re.compile(re.escape(f".{path.name}.run-") + "[0-9a-f]{16}")
    others = [each for each in path.parent.iterdir() if name.fullmatch(each.name)]
    for other in {*others, aside(path)} - {staging}:
        with _lock(other) as is_free:
            if not is_free:
                raise FykeError(f"{path} is being written to by another run")
            _discard(other, path)


def _discard(leftover: Path, path: Path) -> None:
    """Remove results that are not wanted; what others put beside them goes to the folder."""
    with suppress(OSError):  # Spark's processes may be at it still; the next run comes by again
        for each in sorted(leftover.iterdir()):
            if _OURS.fullmatch(each.name):
                shutil.rmtree(each, ignore_errors=True) if each.is_dir() else each.unlink()
            elif path.is_dir() and not os.path.lexists(path / each.name):
                each.rename(path / each.name)
                sync_folder(path)
        leftover.rmdir()


@contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Yield True if nobody works on a folder; while this lasts, nobody else does."""
    try:
        import fcntl
    except ImportError:  # Windows; two at once would have to be meant
        yield True
        return
    try:
        mark = open(folder / _MARK, "r+b")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        yield True
        return
    with mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


@contextmanager
def _troubles(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as refused:
        where = f"{refused.filename}: " if refused.filename else ""
        raise FykeError(
            f"output.path is {str(path)!r}; expected a folder that can be written: "
            f"{where}{refused.strerror or refused}"
        ) from None


def _check_replaceable(path: Path) -> None:
    """Raise FykeError unless a run that is no stream may replace what is there."""
    if _stream_at(path) is not None:
        raise FykeError(
            f"{path} holds the results of a stream, which another run must not replace; "
            "--out names another folder"
        )
    _check_ours(path)
    if os.path.ismount(path):
        raise FykeError(
            f"output.path is {str(path)!r}, where a disk begins; expected a folder on it, which "
            "can be renamed"
        )


def _check_ours(path: Path) -> None:
    if path.exists() and not _may_be_used(path):
        raise FykeError(
            f"{path} exists and holds no results of a pipeline; nothing was written. "
            "--out names another folder"
        )


def _stream_at(path: Path) -> dict[str, Any] | None:
    """Return the stream whose folder it is, if it is one's."""
    try:
        found = json.loads((path / _MARK).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        raise FykeError(f"{path / _MARK} cannot be read; --out names another folder") from None
    stream = found.get(_STREAM) if isinstance(found, dict) else None
    return stream if isinstance(stream, dict) else None


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return the first setting in which two streams differ."""
    name = next(key for key in [*found, *wanted] if found.get(key) != wanted.get(key))
    there, here = (json.dumps(each.get(name)) for each in (found, wanted))
    return f"its {name} is {there}, here it is {here}; --out names another folder"


def _may_be_used(path: Path) -> bool:
    return path.is_dir() and ((path / _MARK).exists() or not any(path.iterdir()))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
