"""Partitions: several logs in one folder, so that several can read at once.

    log.json            how many there are; does not change
    partition-0/ ...    a log each

What is appended together goes to one partition, whole or not at all; offsets count per partition.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fyke.durable import make_folder, sync_folder, write_synced
from fyke.errors import FykeError, shown
from fyke.logs.disk import DiskLog

_FACTS: Final = "log.json"
COUNT_MAX: Final = 10_000


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of a log on this machine."""

    path: str
    count: int

    @classmethod
    def create(cls, path: str | Path, count: int = 1) -> Partitions:
        """Create a log; one that exists must have as many partitions."""
        if isinstance(count, bool) or not isinstance(count, int) or not 0 < count <= COUNT_MAX:
            raise FykeError(f"partitions={shown(count)}; expected 1 to {COUNT_MAX}")
        folder = Path(path)
        try:
            if folder.exists() and not (folder / _FACTS).exists() and any(folder.iterdir()):
                raise FykeError(f"{path} exists and is no log; nothing was written")
            make_folder(folder)
            _write_once(folder / _FACTS, json.dumps({"partitions": count}))
        except OSError as error:
            raise FykeError(f"the log {path} cannot be made: {error}") from None
        found = cls.open(path)
        if found.count != count:
            raise FykeError(f"the log {path} has {found.count} partitions, not {count}")
        return found

    @classmethod
    def open(cls, path: str | Path) -> Partitions:
        try:
            facts = json.loads((Path(path) / _FACTS).read_text("utf-8"))
            return cls(str(path), int(facts["partitions"]))
        except (OSError, KeyError, TypeError, ValueError):
            raise FykeError(f"{path} is no log; expected a folder with {_FACTS}") from None

    def log(self, number: int) -> DiskLog:
        return DiskLog(Path(self.path) / f"partition-{number}")

    def logs(self) -> list[DiskLog]:
        return [self.log(number) for number in range(self.count)]


def exists(path: str | Path) -> bool:
    return (Path(path) / _FACTS).exists()


def _write_once(path: Path, text: str) -> None:
    """Write a file that appears whole. If several write it, the first one wins."""
    staging = path.with_name(f"{path.name}.{secrets.token_hex(8)}.new")
    write_synced(staging, text.encode())
    try:
        os.link(staging, path)
    except FileExistsError:
        pass
    finally:
        staging.unlink()
    sync_folder(path.parent)
