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

A stream has a folder batch=12 for batch 12 in journal/, notifications and refused events, a folder
version=2 for version 2 in subscriptions/ and refused subscriptions, and more:

batches.ndjson            the ledger: a line per batch
checkpoint/               where Spark is in the stream, and which version batches saw
sample/                   a few events

A run replaces what an earlier one left, but a stream goes on with its own, and with nothing else.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fyke.errors import FykeError
from fyke.spark.durable import write_whole

_MARK: Final = "pipeline.json"
_STREAM: Final = "stream"
_NAMES: Final = (
    *("events", "subscriptions", "compiled", "journal", "statistics.parquet", "summary.json"),
    *("notifications.parquet", "notifications.ndjson", "report.html"),
    *("refused-events.ndjson", "refused-subscriptions.ndjson"),
    *("batches.ndjson", "checkpoint", "sample"),
)


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder of a run."""

    path: Path

    @classmethod
    def begin(cls, path: Path, description: Mapping[str, Any]) -> Folder:
        """A folder without results; those of an earlier run are removed, other files never."""
        with _troubles(path):
            if _stream_at(path) is not None:
                raise FykeError(
                    f"{path} holds the results of a stream, which another run must not replace; "
                    "--out names another folder"
                )
            return cls._cleared(path, description)

    @classmethod
    def resume(cls, path: Path, stream: Mapping[str, Any]) -> Folder:
        """The folder of a stream: a new one, or the one in which this very stream goes on."""
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
            return cls._cleared(path, {_STREAM: stream})

    @classmethod
    def _cleared(cls, path: Path, description: Mapping[str, Any]) -> Folder:
        if path.exists() and not _may_be_used(path):
            raise FykeError(
                f"{path} exists and holds no results of a pipeline; nothing was written. "
                "--out names another folder"
            )
        path.mkdir(parents=True, exist_ok=True)
        for name in _NAMES:
            _remove(path / name)
        write_whole(path / _MARK, json.dumps(description, indent=1) + "\n")
        return cls(path)

    @contextmanager
    def held(self) -> Iterator[None]:
        """While this process works on the folder, no other one does."""
        with open(self.path / _MARK, "rb") as mark:
            try:
                import fcntl

                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except ImportError:  # Windows; two at once would have to be meant
                pass
            except OSError:
                raise FykeError(f"{self.path} is being written to by another run") from None
            yield

    def clear(self, name: str) -> None:
        """Removes one of the results."""
        with _troubles(self.path):
            _remove(Path(self.at(name)))

    def at(self, name: str) -> str:
        """The path of one of the results."""
        assert name in _NAMES, name
        return str(self.path / name)

    def write(self, name: str, text: str) -> None:
        with _troubles(self.path):
            write_whole(Path(self.at(name)), text)

    def names(self) -> list[str]:
        """What was written."""
        return [name for name in _NAMES if (self.path / name).exists()]


@contextmanager
def _troubles(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as refused:
        raise FykeError(f"{path}: {refused.strerror or refused}") from None


def _stream_at(path: Path) -> dict[str, Any] | None:
    """The stream whose folder it is, if it is one's."""
    try:
        found = json.loads((path / _MARK).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        raise FykeError(f"{path / _MARK} cannot be read; --out names another folder") from None
    stream = found.get(_STREAM) if isinstance(found, dict) else None
    return stream if isinstance(stream, dict) else None


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The first setting in which two streams differ."""
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
