"""The counts of a stream: what came of each batch, a line of JSON each.

    {"batch": 12, "start": 1, "version": 1, "began": 1763281.5, "duration_s": 0.41, "events": 2000,
     "refused": 0, "matches": 2913, "notifications": 1102}

A line is added when all of a batch is published, and synced; so the last line is how far a stream
is, whatever was killed. A batch that is repeated although it has its line is not written again. A
line that was half written is cut off before the next one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Final

from fyke.durable import sync_folder
from fyke.errors import FykeError, shown

_LINE_MAX: Final = 4_096


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """A batch: in which start of the stream it was done, when, and what it brought."""

    batch: int
    start: int
    version: int
    began: float
    duration_s: float
    events: int
    refused: int
    matches: int
    notifications: int

    @property
    def ended(self) -> float:
        return self.began + self.duration_s


@dataclass(frozen=True, slots=True)
class CountsLog:
    """A file of entries."""

    path: str

    def last(self) -> BatchCounts | None:
        """Return the newest entry."""
        try:
            with open(self.path, "rb") as file:
                file.seek(max(0, os.path.getsize(self.path) - 2 * _LINE_MAX))
                lines = file.read().split(b"\n")
        except FileNotFoundError:
            return None
        return None if len(lines) < 2 else self._entry(lines[-2])

    def add(self, entry: BatchCounts) -> None:
        """Add an entry, unless the batch has one."""
        last = self.last()
        if last is not None and entry.batch <= last.batch:
            return
        with open(self.path, "a+b") as file:
            file.truncate(_whole(file))
            file.write(json.dumps(asdict(entry)).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        if last is None:
            sync_folder(Path(self.path).parent)

    def entries(self) -> Iterator[BatchCounts]:
        """Return all entries, oldest first."""
        return self.read(Position())

    def read(self, position: Position) -> Iterator[BatchCounts]:
        """Yield the entries from a position on, which moves along."""
        try:
            with open(self.path, "rb") as file:
                file.seek(position.at)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    position.at += len(line)
                    yield self._entry(line)
        except FileNotFoundError:
            return

    def _entry(self, line: bytes) -> BatchCounts:
        try:
            facts: dict[str, Any] = json.loads(line)
            return BatchCounts(**{field.name: facts[field.name] for field in fields(BatchCounts)})
        except (KeyError, TypeError, ValueError):
            raise FykeError(f"{self.path}: {shown(line)} is no entry of a batch") from None


@dataclass(slots=True)
class Position:
    """The number of bytes of a log that were read."""

    at: int = 0


def _whole(file: BinaryIO) -> int:
    """Return the length of a file without a line that was not finished."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - _LINE_MAX)
    file.seek(start)
    return start + file.read().rfind(b"\n") + 1
